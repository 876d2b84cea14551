//! Detects how a terminal can show pictures, from its environment variables.
//!
//! | variable | meaning |
//! |---|---|
//! | `TMUX`, `STY`, `ZELLIJ`, `TERM=tmux…`/`screen…` | a multiplexer, which redraws cells and would tear a picture: none is drawn |
//! | `TERM=dumb` or none | not a capable terminal: none is drawn |
//! | `KITTY_WINDOW_ID`, `TERM=xterm-kitty`, `xterm-ghostty`, `TERM_PROGRAM=ghostty`, `KONSOLE_VERSION` from 22.04 | kitty's graphics protocol |
//! | `TERM_PROGRAM=iTerm.app`, `WezTerm`, `rio`; `LC_TERMINAL=iTerm2`, which ssh passes on | iTerm2's inline images |
//! | `TERM=foot…`, `mlterm…`, `contour…`, `yaft…`; `TERM_PROGRAM=mintty` | sixel |
//! | `COLORTERM=truecolor`/`24bit`, `WT_SESSION`, `TERM=…-direct` | blocks in 24-bit color |
//! | `NO_COLOR` | no blocks, since they consist of colors only |
//!
//! xterm, VS Code and Windows Terminal support sixel only in some versions or settings, which no
//! variable reveals. They get blocks unless `--preview sixel` is given.

use super::GraphicsMode;
use super::blocks::Colors;

/// The best mode that is certain to work; `None` if a picture could garble the terminal.
pub(super) fn mode(variable: impl Fn(&str) -> Option<String>) -> Option<GraphicsMode> {
    let term = variable("TERM").unwrap_or_default();
    let program = variable("TERM_PROGRAM").unwrap_or_default();
    let is_set = |name: &str| variable(name).is_some();
    let term_is = |names: &[&str]| names.iter().any(|name| term.starts_with(name));
    let multiplexed = ["TMUX", "STY", "ZELLIJ"].into_iter().any(is_set);
    if multiplexed || term_is(&["tmux", "screen"]) || term == "dumb" {
        return None;
    }
    // Windows sets no `TERM`, but its terminal draws blocks.
    if term.is_empty() && !is_set("WT_SESSION") {
        return None;
    }
    let konsole = variable("KONSOLE_VERSION").and_then(|version| version.parse().ok());
    if is_set("KITTY_WINDOW_ID")
        || term_is(&["xterm-kitty", "xterm-ghostty"])
        || program == "ghostty"
        || konsole.is_some_and(|version: u32| version >= 220_400)
    {
        return Some(GraphicsMode::Kitty);
    }
    let remote = variable("LC_TERMINAL").is_some_and(|name| name == "iTerm2");
    if remote || ["iTerm.app", "WezTerm", "rio"].contains(&program.as_str()) {
        return Some(GraphicsMode::Iterm2);
    }
    if term_is(&["foot", "mlterm", "contour", "yaft"]) || program == "mintty" {
        return Some(GraphicsMode::Sixel);
    }
    (!is_set("NO_COLOR")).then(|| GraphicsMode::Blocks(colors(variable)))
}

/// The number of colors for blocks.
pub(super) fn colors(variable: impl Fn(&str) -> Option<String>) -> Colors {
    let depth = variable("COLORTERM").unwrap_or_default();
    let direct = variable("TERM").is_some_and(|term| term.ends_with("-direct"));
    if ["truecolor", "24bit"].contains(&depth.as_str())
        || variable("WT_SESSION").is_some()
        || direct
    {
        Colors::True
    } else {
        Colors::Palette
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_terminal_gets_what_it_can_show() {
        const BLOCKS: Option<GraphicsMode> = Some(GraphicsMode::Blocks(Colors::True));
        const FEW: Option<GraphicsMode> = Some(GraphicsMode::Blocks(Colors::Palette));
        let table: &[(&str, Option<GraphicsMode>)] = &[
            ("", None),
            ("TERM=dumb", None),
            ("TERM=xterm-256color", FEW),
            ("TERM=xterm-256color COLORTERM=truecolor", BLOCKS),
            ("TERM=xterm-256color COLORTERM=24bit", BLOCKS),
            ("TERM=xterm-256color COLORTERM=truecolor NO_COLOR=1", None),
            ("TERM=xterm-direct", BLOCKS),
            ("TERM=linux", FEW),
            ("WT_SESSION=guid", BLOCKS),
            ("TERM=xterm-256color TERM_PROGRAM=vscode COLORTERM=truecolor", BLOCKS),
            ("TERM=xterm-256color TERM_PROGRAM=Apple_Terminal", FEW),
            ("TERM=xterm-kitty KITTY_WINDOW_ID=1", Some(GraphicsMode::Kitty)),
            ("TERM=xterm-kitty", Some(GraphicsMode::Kitty)),
            ("TERM=xterm-kitty NO_COLOR=1", Some(GraphicsMode::Kitty)),
            ("TERM=xterm-ghostty", Some(GraphicsMode::Kitty)),
            ("TERM=xterm-256color TERM_PROGRAM=ghostty", Some(GraphicsMode::Kitty)),
            ("TERM=xterm-256color KONSOLE_VERSION=230804", Some(GraphicsMode::Kitty)),
            ("TERM=xterm-256color COLORTERM=truecolor KONSOLE_VERSION=211203", BLOCKS),
            ("TERM=xterm-256color TERM_PROGRAM=iTerm.app", Some(GraphicsMode::Iterm2)),
            ("TERM=xterm-256color LC_TERMINAL=iTerm2", Some(GraphicsMode::Iterm2)),
            ("TERM=xterm-256color TERM_PROGRAM=WezTerm", Some(GraphicsMode::Iterm2)),
            ("TERM=foot", Some(GraphicsMode::Sixel)),
            ("TERM=foot-extra", Some(GraphicsMode::Sixel)),
            ("TERM=xterm TERM_PROGRAM=mintty", Some(GraphicsMode::Sixel)),
            ("TERM=mlterm-256color", Some(GraphicsMode::Sixel)),
            // A multiplexer hides the terminal around it.
            ("TERM=tmux-256color COLORTERM=truecolor", None),
            ("TERM=xterm-kitty KITTY_WINDOW_ID=1 TMUX=/tmp/tmux-0/default,1,0", None),
            ("TERM=screen-256color TERM_PROGRAM=tmux LC_TERMINAL=iTerm2", None),
            ("TERM=xterm-256color COLORTERM=truecolor STY=1.pts", None),
            ("TERM=xterm-256color COLORTERM=truecolor ZELLIJ=0", None),
        ];
        for (variables, expected) in table {
            let variable = |name: &str| {
                let mut pairs = variables.split(' ').filter_map(|pair| pair.split_once('='));
                pairs.find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
            };
            assert_eq!(mode(variable), *expected, "{variables}");
        }
    }
}
