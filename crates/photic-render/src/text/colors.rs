//! Colors of code, from the grammar of its language.
//!
//! Every color has a contrast of at least [`MIN_CONTRAST`] to the background: models cannot read
//! pale comments.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use syntect::easy::HighlightLines;
use syntect::highlighting::{Color, FontStyle, Style};
use syntect::parsing::{SyntaxReference, SyntaxSet};
use two_face::theme::{EmbeddedLazyThemeSet, EmbeddedThemeName};

use super::rows::RowPiece;
use crate::request::Theme;

/// Red, green, blue.
pub(crate) type Rgb = [u8; 3];

/// Color and weight of a character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ink {
    pub(crate) color: Rgb,
    pub(crate) bold: bool,
}

/// The colors of a sheet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Palette {
    pub(crate) paper: Rgb,
    pub(crate) text: Rgb,
    /// Color of line numbers.
    pub(crate) faint: Rgb,
}

/// The colors of a page.
pub(crate) struct ColoredCode {
    pub(crate) palette: Palette,
    /// `true` if all of it was colored.
    pub(crate) complete: bool,
    /// For each line, the end of each piece in bytes and its ink.
    lines: BTreeMap<usize, Vec<(usize, Ink)>>,
    starts: BTreeMap<(usize, usize), Vec<Ink>>,
}

/// Grammars, loaded once: a page may have a hundred blocks of code.
static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);
/// Themes, loaded once.
static THEMES: LazyLock<EmbeddedLazyThemeSet> = LazyLock::new(two_face::theme::extra);

/// Smallest contrast ratio, as WCAG requires for text.
const MIN_CONTRAST: f64 = 4.5;
/// Largest text before the end of a page that is read for coloring.
const MAX_BYTES: usize = 512 << 10;
/// Longest line that is colored; longer ones are data and slow for grammars.
const MAX_LINE: usize = 4 << 10;

impl Palette {
    /// The palette of a theme.
    pub(crate) fn of(theme: Theme) -> Self {
        match theme {
            Theme::Light => Self { paper: [255; 3], text: [28, 30, 33], faint: [115; 3] },
            Theme::Dark => Self { paper: [30, 31, 34], text: [225, 227, 230], faint: [150; 3] },
        }
    }
}

impl ColoredCode {
    /// The ink of each character of a row.
    pub(crate) fn inks(&self, row: &RowPiece) -> Vec<Ink> {
        self.starts.get(&(row.line, row.bytes.start)).cloned().unwrap_or_default()
    }
}

/// Colors the rows of a page. Grammars start at the first line.
///
/// `name` is a file name, an extension, or a language. Every color is readable on the background.
pub(crate) fn of(
    lines: &[&str],
    shown: &[RowPiece],
    name: Option<&str>,
    theme: Theme,
    ground: Rgb,
) -> ColoredCode {
    let palette = Palette { paper: ground, ..Palette::of(theme) };
    let mut colored =
        ColoredCode { palette, complete: true, lines: BTreeMap::new(), starts: BTreeMap::new() };
    let (Some(first), Some(last)) = (shown.first(), shown.last()) else { return colored };
    if let Some(name) = name {
        color(&mut colored, lines, first.line..=last.line, name, theme);
    }
    let plain = Ink { color: palette.text, bold: false };
    for row in shown {
        let pieces = colored.lines.get(&row.line).map_or(&[][..], Vec::as_slice);
        let text = lines[row.line][row.bytes.clone()].char_indices();
        let inks = text.map(|(at, _)| {
            let at = row.bytes.start + at;
            pieces.iter().find(|(end, _)| at < *end).map_or(plain, |(_, ink)| *ink)
        });
        let inks = inks.collect();
        colored.starts.insert((row.line, row.bytes.start), inks);
    }
    colored
}

/// Colors lines by a grammar.
fn color(
    colored: &mut ColoredCode,
    lines: &[&str],
    shown: std::ops::RangeInclusive<usize>,
    name: &str,
    theme: Theme,
) {
    let syntaxes: &SyntaxSet = &SYNTAXES;
    let Some(syntax) = syntax(syntaxes, name, lines.first().copied().unwrap_or_default()) else {
        return;
    };
    let before: usize = lines[..=*shown.end()].iter().map(|line| line.len() + 1).sum();
    if before > MAX_BYTES {
        colored.complete = false;
        return;
    }
    let theme = THEMES.get(match theme {
        Theme::Light => EmbeddedThemeName::InspiredGithub,
        Theme::Dark => EmbeddedThemeName::OneHalfDark,
    });
    let mut grammar = HighlightLines::new(syntax, theme);
    let paper = colored.palette.paper;
    for (number, line) in lines.iter().enumerate().take(shown.end() + 1) {
        if line.len() > MAX_LINE {
            colored.complete &= !shown.contains(&number);
            continue;
        }
        let line = format!("{line}\n");
        let Ok(pieces) = grammar.highlight_line(&line, syntaxes) else { continue };
        if shown.contains(&number) {
            let mut end = 0;
            let change = if syntax.name == "Diff" { change(&line, paper) } else { None };
            let pieces = pieces.into_iter().map(|(style, text)| {
                end += text.len();
                let ink = ink(style, paper);
                (end, Ink { color: change.unwrap_or(ink.color), ..ink })
            });
            colored.lines.insert(number, pieces.collect());
        }
    }
}

/// The color of an added or removed line; themes only change its background.
fn change(line: &str, paper: Rgb) -> Option<Rgb> {
    match line.as_bytes().first()? {
        b'+' => Some(readable([20, 125, 50], paper)),
        b'-' => Some(readable([195, 30, 35], paper)),
        _ => None,
    }
}

/// Finds the grammar by name, extension, or first line.
fn syntax<'s>(syntaxes: &'s SyntaxSet, name: &str, first: &str) -> Option<&'s SyntaxReference> {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let ending = file.rsplit('.').next().unwrap_or(file);
    let found = syntaxes
        .find_syntax_by_extension(file)
        .or_else(|| syntaxes.find_syntax_by_token(ending))
        .or_else(|| syntaxes.find_syntax_by_first_line(first))?;
    (found.name != syntaxes.find_syntax_plain_text().name).then_some(found)
}

/// The ink of a style.
fn ink(style: Style, paper: Rgb) -> Ink {
    let Color { r, g, b, .. } = style.foreground;
    let bold = style.font_style.contains(FontStyle::BOLD);
    Ink { color: readable([r, g, b], paper), bold }
}

/// Moves a color away from the background until it is readable.
pub(crate) fn readable(color: Rgb, paper: Rgb) -> Rgb {
    let away = if luminance(paper) > 0.5 { 0.0 } else { 255.0 };
    let moved = |step: u32| {
        let part = f64::from(step) / 20.0;
        color.map(|sample| (f64::from(sample) * (1.0 - part) + away * part).round() as u8)
    };
    let steps = (0..=20).map(moved);
    steps.into_iter().find(|color| contrast(*color, paper) >= MIN_CONTRAST).unwrap_or(moved(20))
}

/// The contrast ratio of WCAG.
fn contrast(one: Rgb, other: Rgb) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// The relative luminance of WCAG.
fn luminance(color: Rgb) -> f64 {
    let [r, g, b] = color.map(|sample| {
        let sample = f64::from(sample) / 255.0;
        if sample <= 0.04045 { sample / 12.92 } else { ((sample + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::rows;

    #[test]
    fn every_color_can_be_read() {
        for theme in [Theme::Light, Theme::Dark] {
            let palette = Palette::of(theme);
            for color in [palette.text, palette.faint] {
                assert!(contrast(color, palette.paper) >= MIN_CONTRAST, "{theme:?} {color:?}");
            }
            for color in [[255, 255, 0], [200; 3], [40; 3], [0, 0, 255], palette.paper] {
                let color = readable(color, palette.paper);
                assert!(contrast(color, palette.paper) >= MIN_CONTRAST, "{theme:?} {color:?}");
            }
        }
        assert_eq!(readable([0, 0, 120], [255; 3]), [0, 0, 120], "what can be read stays");
    }

    fn inks(text: &str, name: Option<&str>) -> Vec<Ink> {
        let lines: Vec<&str> = text.lines().collect();
        let shown = rows::of(&lines, 88);
        let colored = of(&lines, &shown, name, Theme::Light, [255; 3]);
        shown.iter().flat_map(|row| colored.inks(row)).collect()
    }

    #[test]
    fn code_is_colored_by_its_name_or_first_line() {
        let code = "fn main() { let x = \"text\"; } // why\n";
        let distinct = |inks: Vec<Ink>| {
            let colors: std::collections::BTreeSet<Rgb> =
                inks.iter().map(|ink| ink.color).collect();
            colors.len()
        };
        assert_eq!(distinct(inks(code, None)), 1);
        assert_eq!(distinct(inks(code, Some("notes.unknown"))), 1);
        assert!(distinct(inks(code, Some("src/main.rs"))) > 2);
        assert!(distinct(inks("#!/bin/bash\necho \"$x\" # y\n", Some("run"))) > 2);
        let changes = inks("+new\n-old\n same\n", Some("a.diff"));
        assert_ne!(
            changes[1].color, changes[5].color,
            "what is new is not colored as what was old"
        );
        assert_eq!(inks(code, Some("a.rs")).len(), code.trim_end().chars().count());
    }
}
