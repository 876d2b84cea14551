//! A job costs no more than it may.

use photic_mock::Options;

use super::BatchTest;
use crate::{stderr, stdout};

/// Returns the cost in dollars by the token counts of the mock provider.
fn billed(place: &BatchTest) -> f64 {
    let journal = place.mock.journal();
    journal.iter().map(|entry| entry.input_tokens as f64 * 2.5 / 1e6).sum()
}

#[test]
fn a_job_stops_before_it_costs_more_and_goes_on_with_more_money() {
    let place = BatchTest::new(60, Options::default());
    let capped = |dollars: &str| place.run(&["--price", "2.5/0", "--spend-at-most", dollars]);
    let output = capped("0.02");
    let words = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("could exceed the limit of $0.0200"), "{words}");
    assert!(words.contains("raise `--spend-at-most`"), "{words}");
    let first = place.asked();
    assert!(first > 5 && first < 60, "{first} were asked");
    let spent = billed(&place);
    assert!(spent <= 0.02 && spent > 0.01, "{spent}");
    // It is the job that may cost so much, and not each run of it.
    assert_eq!((capped("0.02").status.code(), place.asked()), (Some(1), first));
    let output = capped("1");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    place.all_named_right(&stdout(&output));
    assert_eq!(place.asked(), 60);
}

#[test]
fn several_processes_have_one_cap() {
    let place = BatchTest::new(60, Options::default());
    let flags = ["--price", "2.5/0", "--spend-at-most", "0.02", "--chunk", "10"];
    let all = [place.start(&flags), place.start(&flags), place.start(&flags)];
    for child in all {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    }
    let spent = billed(&place);
    assert!(spent <= 0.02 && spent > 0.005, "{spent}");
}

#[test]
fn a_cap_needs_a_price() {
    let place = BatchTest::new(1, Options::default());
    let mut command = place.command("list.txt", &["--spend-at-most", "1", "--wire", "openai-chat"]);
    let output = command.args(["--price", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let base = format!("{}/v1", place.mock.url());
    let mut command = crate::photic();
    command.args(["inspect", "--batch"]).arg(place.folder.join("list.txt"));
    command.args(["--question", "?", "--model", "own-model", "--base-url", &base]);
    let command = command.args(&place.record);
    let output = command.args(["--spend-at-most", "1"]).output().unwrap();
    let words = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(words.contains("the price of `openai/own-model` is unknown"), "{words}");
    assert_eq!(place.asked(), 0);
}
