//! `view` in a real terminal: a pseudoterminal of 40 columns and 30 lines.

use std::fs::File;
use std::io::Read as _;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::root;

/// 64 by 48 pixels in four flat colors.
const PICTURE: &str = "captures/images/bars.png";

/// Runs `photic view` in a pseudo-terminal with only these environment variables and returns its
fn in_terminal(variables: &[(&str, &str)], arguments: &[&str]) -> String {
    shown(variables, &[&["view", PICTURE], arguments].concat())
}

/// Runs a command in a pseudo-terminal and returns its output. It must succeed.
pub(crate) fn shown(variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let (shown, is_success) = in_terminal_with_status(variables, arguments);
    assert!(is_success, "{shown}");
    shown
}

/// Runs a command in a pseudo-terminal and returns its output, and `true` if it succeeded.
pub(crate) fn in_terminal_with_status(
    variables: &[(&str, &str)],
    arguments: &[&str],
) -> (String, bool) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let inside = File::options().read(true).write(true).open(name).unwrap();
    let size = Winsize { ws_row: 30, ws_col: 40, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&inside, size).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_photic"))
        .args(arguments)
        .current_dir(root())
        .env_clear()
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(inside.try_clone().unwrap())
        .stderr(inside)
        .spawn()
        .unwrap();
    // The reader ends with an error when the last process has left the terminal.
    let mut shown = Vec::new();
    let _ = File::from(terminal).read_to_end(&mut shown);
    let is_success = child.wait().unwrap().success();
    (String::from_utf8(shown).unwrap(), is_success)
}

const TRUE_COLOR: [(&str, &str); 2] = [("TERM", "xterm-256color"), ("COLORTERM", "truecolor")];

#[test]
fn a_terminal_with_colors_is_drawn_in_blocks() {
    let shown = in_terminal(&TRUE_COLOR, &[]);
    // 64 by 48 becomes 40 by 30: as wide as the terminal, two rows a line.
    let lines: Vec<usize> = shown.lines().map(|line| line.matches('▀').count()).collect();
    assert_eq!(lines.iter().filter(|cells| **cells == 40).count(), 15, "{shown:?}");
    assert!(shown.contains("\x1b[38;2;"), "{shown:?}");
    assert!(shown.contains("64x48"), "the facts follow: {shown:?}");
}

#[test]
fn a_terminal_that_knows_pictures_gets_one() {
    let shown = in_terminal(&[("TERM", "xterm-kitty"), ("KITTY_WINDOW_ID", "1")], &[]);
    assert!(shown.starts_with("\x1b_Ga=T,"), "{shown:?}");
    assert!(shown.contains("64x48"), "the facts follow: {shown:?}");
    let shown = in_terminal(&TRUE_COLOR, &["--preview", "iterm2"]);
    assert!(shown.starts_with("\x1b]1337;File="), "{shown:?}");
}

#[test]
fn nothing_is_drawn_in_tmux_nor_as_json_nor_when_told() {
    let multiplexed = [TRUE_COLOR[0], TRUE_COLOR[1], ("TMUX", "/tmp/tmux-0/default,1,0")];
    let shown = [
        in_terminal(&multiplexed, &[]),
        in_terminal(&TRUE_COLOR, &["--json"]),
        in_terminal(&TRUE_COLOR, &["--preview", "none"]),
    ];
    for shown in shown {
        assert!(!shown.contains('▀') && !shown.contains("\x1b_G"), "{shown:?}");
        assert!(shown.contains("64"), "the facts are there: {shown:?}");
    }
}

#[test]
fn nothing_is_drawn_into_a_pipe_unless_asked_for_by_name() {
    let piped = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_photic"))
            .args(["view", PICTURE])
            .args(arguments)
            .current_dir(root())
            .env_clear()
            .envs(TRUE_COLOR)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(!piped(&[]).contains('\x1b'));
    assert!(piped(&["--preview", "sixel"]).starts_with("\x1bP0;1;0q"));
}
