//! Tests of the summary.

use std::collections::BTreeSet;

use super::*;

/// A run without requests.
fn nothing() -> Counts {
    Counts {
        answered: 0,
        unanswered: 0,
        others: 0,
        changed: 0,
        visible: 0,
        fixes: BTreeMap::new(),
        retired: BTreeMap::new(),
        passed: BTreeMap::new(),
        failures: Vec::new(),
        tokens: TokenUse::default(),
        sessions: Vec::new(),
        lost_turns: 0,
    }
}

fn failed(host: Option<&str>, reason: &str, requests: u64) -> FailedRequests {
    FailedRequests { host: host.map(str::to_owned), reason: reason.to_owned(), requests }
}

fn text(counts: &Counts) -> String {
    counts.text(None, &RecordedIn::Nowhere)
}

#[test]
fn a_run_without_requests_gets_a_hint() {
    let counts = nothing();
    assert!(
        text(&counts).starts_with("photic: no requests; the command may not read `OPENAI_BASE")
    );
    let own = counts.text(Some("Agent: set `baseUrl`."), &RecordedIn::Nowhere);
    assert_eq!(own, "photic: no requests; Agent: set `baseUrl`.");
    let others = text(&Counts { others: 2, ..nothing() });
    assert!(others.starts_with("photic: no requests to a model, 2 of another kind; "), "{others}");
}

#[test]
fn failures_are_no_absence_of_requests() {
    let counts = Counts {
        unanswered: 3,
        failures: vec![
            failed(Some("127.0.0.1:9"), "connection refused", 2),
            failed(None, "no upstream", 1),
        ],
        ..nothing()
    };
    assert_eq!(
        text(&counts),
        "photic: 3 requests, 3 failed\n\
         \x20 failed        2 requests to 127.0.0.1:9: connection refused\n\
         \x20 failed        1 request, sent nowhere: no upstream"
    );
}

#[test]
fn repairs_and_what_was_left_out_are_listed() {
    assert_eq!(text(&Counts { answered: 1, ..nothing() }), "photic: 1 request, nothing to repair");
    let counts = Counts {
        answered: 12,
        changed: 3,
        visible: 2,
        fixes: BTreeMap::from([("rewrote", 1), ("hoisted", 6), ("filled_empty", 2)]),
        retired: BTreeMap::from([
            ("over_count", Retired { requests: 12, most: 26 }),
            ("retired", Retired { requests: 1, most: 1 }),
        ]),
        passed: BTreeMap::from([("off", 1), ("unknown_path", 2)]),
        ..nothing()
    };
    assert_eq!(
        text(&counts),
        "photic: 12 requests, 3 changed\n\
         \x20 made visible  2 images (hoisted 6, rewrote 1)\n\
         \x20 repaired      filled empty 2\n\
         \x20 left out      up to 26 images in 12 requests (over count)\n\
         \x20 left out      up to 1 image in 1 request (retired)\n\
         \x20 unread        3 requests (off 1, unknown path 2)"
    );
}

#[test]
fn nothing_was_visible_in_a_rejected_request() {
    let fixes = BTreeMap::from([("hoisted", 1)]);
    let failures = vec![failed(Some("h"), "HTTP 400", 1)];
    let counts = Counts { answered: 1, changed: 1, fixes, failures, ..nothing() };
    assert_eq!(
        text(&counts),
        "photic: 1 request, 1 changed, 1 failed\n\
         \x20 failed        1 request to h: HTTP 400\n\
         \x20 repaired      hoisted 1"
    );
}

#[test]
fn tokens_and_dollars_are_known_or_said_to_be_unknown() {
    let tokens = TokenUse {
        reported: 2,
        unreported: 0,
        input: 48_210,
        cached: 40_000,
        output: 1204,
        input_usd: 0.03125,
        output_usd: 0.0301,
        unpriced_outputs: 0,
        unpriced: BTreeSet::new(),
    };
    let says = |tokens: TokenUse| text(&Counts { answered: 2, tokens, ..nothing() });
    assert_eq!(
        says(tokens.clone()),
        "photic: 2 requests, nothing to repair\n\
         \x20 tokens        48,210 input (40,000 from the cache), 1,204 output\n\
         \x20 dollars       0.0312 for the input at list price; 0.0301 for the output"
    );
    let unpriced = |count| says(TokenUse { unpriced_outputs: count, ..tokens.clone() });
    assert!(unpriced(2).ends_with("; output unknown: no list price"));
    assert!(unpriced(1).ends_with("; 0.0301 for the output, without 1 reply"));
    let some =
        TokenUse { unreported: 1, unpriced: BTreeSet::from(["mine".to_owned()]), ..tokens.clone() };
    let said = says(some);
    assert!(said.contains("output; not reported in 1 reply\n"), "{said}");
    assert!(said.contains("at list price, without `mine`, whose price is unknown; "), "{said}");
    let none = TokenUse { input_usd: 0.0, unpriced: BTreeSet::from(["m".to_owned()]), ..tokens };
    assert!(says(none).ends_with("\n  dollars       unknown: no list price for `m`"));
    let silent = TokenUse { unreported: 3, ..TokenUse::default() };
    assert!(says(silent).ends_with("\n  tokens        not reported by the provider (3 replies)"));
}

#[test]
fn a_session_is_named_with_the_command_that_shows_it() {
    let one = SessionTurns { session: "s_1".to_owned(), turns: 2 };
    let counts = Counts { answered: 2, sessions: vec![one], ..nothing() };
    let says = |counts: &Counts, directory: &str| {
        counts.text(None, &RecordedIn::Directory(PathBuf::from(directory)))
    };
    let said = says(&counts, "/a/b");
    let line = "\n  session       s_1, 2 turns: photic session show s_1 --store /a/b";
    assert!(said.ends_with(line), "{said}");
    assert!(says(&counts, "/it's").ends_with(r" --store '/it'\''s'"));
    assert!(counts.text(None, &RecordedIn::Fleet).ends_with("  session       s_1, 2 turns"));
    let lost = Counts { lost_turns: 1, ..counts };
    assert!(says(&lost, "/a").ends_with("\n  session       1 turn could not be recorded"));
    let none = Counts { answered: 1, ..nothing() };
    assert!(says(&none, "/a").ends_with("\n  session       none: no turn was recorded"));
}
