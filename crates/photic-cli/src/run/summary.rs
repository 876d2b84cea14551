//! The summary line: what the gateway did for the command.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use photic_gateway::{Retired, Tally};

use crate::style::{counted, grouped};

/// Repairs that show the model an image it would not have seen.
const MADE_VISIBLE: [&str; 2] = ["hoisted", "rewrote"];

/// The summary.
pub(crate) fn of(tally: &Tally) -> String {
    let mut line = line(tally.requests(), tally.changed(), &tally.fixes());
    line.push_str(&left_out(&tally.retired()));
    line
}

/// Counts of requests and repairs.
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
    // Writing to a string cannot fail.
    let _ = write!(line, ", {} changed", grouped(changed));
    if visible > 0 {
        let _ = write!(line, ": {} made visible ({})", times(visible, "image"), list(&images));
    }
    if !others.is_empty() {
        let _ = write!(line, "{} {}", if visible > 0 { "; also" } else { ":" }, list(&others));
    }
    line
}

/// Counts of images left out, such as `; over count: 12 requests left out up to 26 images`.
fn left_out(retired: &BTreeMap<&'static str, Retired>) -> String {
    let one = |(reason, Retired { requests, most }): (&&str, &Retired)| {
        let (reason, requests) = (reason.replace('_', " "), times(*requests, "request"));
        format!("; {reason}: {requests} left out up to {}", times(*most, "image"))
    };
    retired.iter().map(one).collect()
}

/// A count with its noun.
fn times(number: u64, thing: &str) -> String {
    counted(usize::try_from(number).unwrap_or(usize::MAX), thing)
}

/// A list such as `hoisted 6, rewrote 1`.
fn list(fixes: &[(&&'static str, &u64)]) -> String {
    let one =
        |(name, count): &(&&str, &u64)| format!("{} {}", name.replace('_', " "), grouped(**count));
    fixes.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_is_said() {
        assert_eq!(left_out(&BTreeMap::new()), "");
        let retired = BTreeMap::from([
            ("over_count", Retired { requests: 12, most: 26 }),
            ("retired", Retired { requests: 1, most: 1 }),
        ]);
        assert_eq!(
            left_out(&retired),
            "; over count: 12 requests left out up to 26 images; retired: 1 request left out up \
             to 1 image"
        );
    }

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
