//! A provider that is overloaded, down, or never answers.

use photic_mock::{Chart, Misbehavior, Options};

use super::BatchTest;
use crate::{stderr, stdout};

fn misbehaving(kind: Misbehavior) -> Options {
    Options { misbehave: vec![kind], ..Options::default() }
}

#[test]
fn a_provider_that_asks_to_wait_is_left_alone_for_as_long() {
    let place = BatchTest::new(40, misbehaving(Misbehavior::Busy));
    let output = place.run(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    place.all_named_right(&stdout(&output));
    let journal = place.mock.journal();
    let told = journal.iter().filter(|entry| entry.status == 429).count();
    assert!(told >= 4, "it was busy {told} times");
    let early = journal.iter().filter(|entry| entry.violations.contains(&"too_early".to_owned()));
    assert_eq!(early.count(), 0, "nobody came back before the time");
}

#[test]
fn a_provider_that_is_down_is_not_asked_for_ever() {
    let place = BatchTest::new(40, misbehaving(Misbehavior::ServerError));
    let output = place.run(&["--at-once", "40", "--attempts", "2"]);
    let words = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(
        words.contains("stopped:") && words.contains("asking `openai/gpt-4o` failed"),
        "{words}"
    );
    assert!(place.asked() > 10 && place.asked() <= 40 * 2, "{}", place.asked());
}

#[test]
fn a_model_that_is_not_there_is_asked_about_a_few_pictures_only() {
    let options = Options { models: vec!["another".into()], ..Options::default() };
    let place = BatchTest::new(40, options);
    let output = place.run(&["--at-once", "2"]);
    let words = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("does not exist") && !words.contains("sk-secret"), "{words}");
    assert!(place.asked() <= 2, "{}", place.asked());
}

#[test]
fn a_picture_that_is_refused_is_an_answer_and_not_asked_about_again() {
    let limits = photic::profile::Limits { edge: Some(40), ..photic::profile::Limits::default() };
    let place = BatchTest::new(3, Options { limits: Some(limits), ..Options::default() });
    let output = place.run(&[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    for line in stdout(&output).lines() {
        assert!(line.contains(r#""refused":{"code":"request_failed""#), "{line}");
    }
    assert_eq!(place.asked(), 3);
    let again = place.run(&[]);
    assert_eq!((again.status.code(), again.stdout), (Some(1), output.stdout));
    assert_eq!(place.asked(), 3);
}

#[test]
fn a_picture_that_changed_is_asked_about_anew() {
    let mut place = BatchTest::new(5, Options::default());
    assert_eq!(place.run(&[]).status.code(), Some(0));
    place.charts[2] = Chart::of(99);
    place.write("2.png", place.charts[2].png().unwrap());
    let output = place.run(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    place.all_named_right(&stdout(&output));
    assert_eq!(place.asked(), 6);
}

#[test]
fn answers_are_forgotten_when_they_are_old_and_only_then() {
    let place = BatchTest::new(2, Options::default());
    assert_eq!(place.run(&[]).status.code(), Some(0));
    let record = place.folder.join("record");
    for (days, asked) in [("1", 2), ("0", 4)] {
        let mut gc = crate::photic();
        gc.args(["session", "gc", "--answers", days, "--store"]).arg(&record);
        assert_eq!(gc.output().unwrap().status.code(), Some(0));
        assert_eq!((place.run(&[]).status.code(), place.asked()), (Some(0), asked), "{days}");
    }
}
