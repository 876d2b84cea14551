//! Formats errors, hints and numbers; colors are used only in terminals.

use std::collections::BTreeMap;
use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use photic::Reason;
use photic::profile::Basis;

/// Errors.
pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
/// Warnings.
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
/// Success.
pub(crate) const GREEN: Style = AnsiColor::Green.on_default().bold();
/// Hints and identifiers.
pub(crate) const CYAN: Style = AnsiColor::Cyan.on_default();
/// Secondary text.
pub(crate) const DIM: Style = Style::new().dimmed();

/// Advice what to do next, attached to an error as context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hint(pub(crate) &'static str);

impl std::fmt::Display for Hint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

/// Prints an error, its causes, and its hint.
pub(crate) fn error(error: &anyhow::Error) {
    let hint = error.downcast_ref::<Hint>();
    let mut causes = error.chain().skip(usize::from(hint.is_some()));
    if let Some(first) = causes.next() {
        anstream::eprintln!("{RED}error:{RED:#} {first}");
    }
    for cause in causes {
        anstream::eprintln!("{DIM}cause:{DIM:#} {cause}");
    }
    if let Some(hint) = hint {
        anstream::eprintln!("\n{CYAN}hint:{CYAN:#} {hint}");
    }
}

/// Writes progress to standard error. A failure is ignored: the work does not depend on it.
pub(crate) fn progress(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// A count with its noun: `1 image`, `2 images`.
pub(crate) fn counted(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(number as u64))
}

/// A number with thousands separators.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A word of a command line, in quotes if a shell would change it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |one: char| one.is_alphanumeric() || "/._-+=:@".contains(one);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A size in bytes, rounded for people.
pub(crate) fn byte_size(number: u64) -> String {
    match number {
        0..10_000 => format!("{} B", grouped(number)),
        10_000..10_000_000 => format!("{} kB", grouped(number / 1000)),
        _ => format!("{} MB", grouped(number / 1_000_000)),
    }
}

/// A number of tokens with its certainty: `1,560 tokens`, `about 1,560 tokens`, or
/// `about 1,560 tokens (model unknown; at most 2,730)`.
pub(crate) fn estimated(tokens: u64, most: u64, basis: Basis) -> String {
    let number = grouped(tokens);
    match basis {
        Basis::Published => format!("{number} tokens"),
        Basis::Assumed => format!("about {number} tokens"),
        Basis::Unknown => {
            format!("about {number} tokens (model unknown; at most {})", grouped(most))
        }
    }
}

/// Describes how many media a request leaves out, and why; `None` if there are none.
pub(crate) fn left_out(retired: &BTreeMap<Reason, usize>) -> Option<String> {
    let total: usize = retired.values().sum();
    let says: Vec<&str> = retired.keys().map(|reason| reason.says()).collect();
    let counts: Vec<String> =
        retired.iter().map(|(reason, count)| format!("{} {count}", reason.name())).collect();
    let total = match total {
        0 => return None,
        1 => "1 picture or document".to_owned(),
        more => format!("{} pictures or documents", grouped(more as u64)),
    };
    Some(format!("{total}: {} ({})", says.join("; "), counts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_counted_by_reason() {
        let says = |retired: &[(Reason, usize)]| left_out(&retired.iter().copied().collect());
        assert_eq!(says(&[]), None);
        assert_eq!(
            says(&[(Reason::OverCount, 1)]).unwrap(),
            "1 picture or document: this endpoint accepts no more of them in one request \
             (over_count 1)"
        );
        assert_eq!(
            says(&[(Reason::OverBudget, 1), (Reason::Retired, 2)]).unwrap(),
            "3 pictures or documents: the request would be larger than this endpoint accepts; it \
             was left out to save cost (over_budget 1, retired 2)"
        );
    }

    #[test]
    fn tokens_say_how_they_are_known() {
        assert_eq!(estimated(1560, 1560, Basis::Published), "1,560 tokens");
        assert_eq!(estimated(1560, 1560, Basis::Assumed), "about 1,560 tokens");
        let unknown = estimated(1560, 2730, Basis::Unknown);
        assert_eq!(unknown, "about 1,560 tokens (model unknown; at most 2,730)");
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(grouped),
            ["0", "999", "1,000", "1,234,567"].map(str::to_owned)
        );
    }
}
