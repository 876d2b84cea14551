//! The one line at the end: what the gateway did for the command.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use photic_gateway::Tally;

use crate::style::{counted, grouped};

/// Fixes that put an image before the model which it would not have seen.
const MADE_VISIBLE: [&str; 2] = ["hoisted", "rewrote"];

pub(crate) fn of(tally: &Tally) -> String {
    line(tally.requests(), tally.changed(), &tally.fixes())
}

fn line(requests: u64, changed: u64, fixes: &BTreeMap<&'static str, u64>) -> String {
    if requests == 0 {
        return "photic: no requests; the command may not read `OPENAI_BASE_URL` or \
                `ANTHROPIC_BASE_URL`"
            .to_owned();
    }
    let mut line = format!("photic: {}", times(requests, "request"));
    if changed == 0 {
        line.push_str(", nothing to repair");
        return line;
    }
    let (images, others): (Vec<_>, Vec<_>) =
        fixes.iter().partition(|(name, _)| MADE_VISIBLE.contains(*name));
    let visible: u64 = images.iter().map(|(_, count)| **count).sum();
    // Written to a string: cannot fail.
    let _ = write!(line, ", {} changed", grouped(changed));
    if visible > 0 {
        let _ = write!(line, ": {} made visible ({})", times(visible, "image"), list(&images));
    }
    if !others.is_empty() {
        let _ = write!(line, "{} {}", if visible > 0 { "; also" } else { ":" }, list(&others));
    }
    line
}

fn times(number: u64, thing: &str) -> String {
    counted(usize::try_from(number).unwrap_or(usize::MAX), thing)
}

/// As in `hoisted 6, rewrote 1`.
fn list(fixes: &[(&&'static str, &u64)]) -> String {
    let one =
        |(name, count): &(&&str, &u64)| format!("{} {}", name.replace('_', " "), grouped(**count));
    fixes.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let line = |requests, changed, fixes: &[(&'static str, u64)]| {
            line(requests, changed, &fixes.iter().copied().collect())
        };
        assert_eq!(line(1, 0, &[]), "photic: 1 request, nothing to repair");
        assert_eq!(
            line(12, 3, &[("rewrote", 1), ("hoisted", 6), ("filled_empty", 2)]),
            "photic: 12 requests, 3 changed: 7 images made visible (hoisted 6, rewrote 1); \
             also filled empty 2"
        );
        assert_eq!(line(2, 1, &[("remade", 1)]), "photic: 2 requests, 1 changed: remade 1");
        assert!(line(0, 0, &[]).contains("`OPENAI_BASE_URL`"));
    }
}
