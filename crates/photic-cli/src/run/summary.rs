//! The summary line: what the gateway did for the command.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use photic_gateway::{Retired, Tally};
use serde_json::{Value, json};

use crate::style::{counted, grouped};

/// Repairs that show the model an image it would not have seen.
const MADE_VISIBLE: [&str; 2] = ["hoisted", "rewrote"];

/// The summary. If there were no requests, it ends with the hint of a known agent.
pub(crate) fn of(tally: &Tally, hint: Option<&str>) -> String {
    let passed = tally.passed();
    if tally.requests() == 0 && !passed.is_empty() {
        return format!("photic: {}", passed_unread(&passed));
    }
    let mut line = line(tally.requests(), tally.changed(), &tally.fixes(), hint);
    if !passed.is_empty() {
        let _ = write!(line, "; {}", passed_unread(&passed));
    }
    line.push_str(&left_out(&tally.retired()));
    line
}

/// The counts as JSON. `preparing_us` is the time until turns were ready to be sent.
pub(crate) fn report(tally: &Tally) -> Value {
    let (bytes_in, bytes_sent) = tally.bytes();
    let preparing_us = u64::try_from(tally.preparing().as_micros()).unwrap_or(u64::MAX);
    json!({
        "turns": tally.requests(),
        "changed": tally.changed(),
        "fixes": tally.fixes(),
        "bytes_in": bytes_in,
        "bytes_sent": bytes_sent,
        "preparing_us": preparing_us,
    })
}

/// Counts of requests and repairs.
fn line(
    requests: u64,
    changed: u64,
    fixes: &BTreeMap<&'static str, u64>,
    hint: Option<&str>,
) -> String {
    if requests == 0 {
        let general = "the command may not read `OPENAI_BASE_URL` or `ANTHROPIC_BASE_URL`";
        return format!("photic: no requests; {}", hint.unwrap_or(general));
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

/// Counts of requests passed on unread, such as `2 requests passed on unread (unknown path 2)`.
fn passed_unread(passed: &BTreeMap<&'static str, u64>) -> String {
    let all = passed.iter().collect::<Vec<_>>();
    format!("{} passed on unread ({})", times(passed.values().sum(), "request"), list(&all))
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
    fn what_was_not_read_is_said() {
        let passed = BTreeMap::from([("off", 1), ("unknown_path", 2)]);
        let says = "3 requests passed on unread (off 1, unknown path 2)";
        assert_eq!(passed_unread(&passed), says);
    }

    #[test]
    fn lines() {
        let line = |requests, changed, fixes: &[(&'static str, u64)]| {
            line(requests, changed, &fixes.iter().copied().collect(), None)
        };
        assert_eq!(line(1, 0, &[]), "photic: 1 request, nothing to repair");
        assert_eq!(
            line(12, 3, &[("rewrote", 1), ("hoisted", 6), ("filled_empty", 2)]),
            "photic: 12 requests, 3 changed: 7 images made visible (hoisted 6, rewrote 1); \
             also filled empty 2"
        );
        assert_eq!(line(2, 1, &[("remade", 1)]), "photic: 2 requests, 1 changed: remade 1");
        assert!(line(0, 0, &[]).contains("`OPENAI_BASE_URL`"));
        let hint = Some("Agent: set `baseUrl`.");
        let line = super::line(0, 0, &BTreeMap::new(), hint);
        assert_eq!(line, "photic: no requests; Agent: set `baseUrl`.");
    }
}
