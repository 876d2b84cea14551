//! Eyes of our own, without a provider: good ones, late ones, and some that mix things up.

use std::cell::RefCell;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic::{Profile, Wire};
use photic_pixels::chart::{ChartReading, read_chart};
use photic_probe::{
    AskOutcome, PicturePosition, ProbeFinding, ProbeSettings, ProbeTarget, Task, Verdict,
};
use serde_json::Value;

/// Returns the content of the pictures of a Chat request, in order.
fn seen(body: &[u8]) -> Vec<String> {
    let body: Value = serde_json::from_slice(body).unwrap();
    let contents =
        body["messages"].as_array().unwrap().iter().filter_map(|m| m["content"].as_array());
    let urls = contents.flatten().filter_map(|part| part["image_url"]["url"].as_str());
    let words = |url: &str| {
        let bytes = STANDARD.decode(url.split_once(',').unwrap().1).unwrap();
        match read_chart(&bytes).unwrap() {
            ChartReading::Chart(chart) => chart.words(),
            ChartReading::Code(code) => code.text().to_owned(),
            ChartReading::Other => "something".to_owned(),
        }
    };
    urls.map(words).collect()
}

fn probe(place: PicturePosition, answer: impl Fn(Vec<String>) -> String) -> ProbeFinding {
    let profile = Profile::generic(Wire::OpenAiChat);
    let target = ProbeTarget { wire: Wire::OpenAiChat, model: "m".to_owned(), profile };
    // One kind of question: an answer to another one fits it, too.
    let tasks = vec![Task::Grid { rows: 3, columns: 3 }];
    let settings =
        ProbeSettings { places: vec![place], tasks, seed: 11, ..ProbeSettings::default() };
    let ask = async |body: Vec<u8>| AskOutcome::Answer {
        text: answer(seen(&body)),
        usage: None,
        took: Duration::ZERO,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let report = runtime.block_on(photic_probe::run(&target, &settings, None, ask, |_| {}));
    report.unwrap().findings.remove(0)
}

#[test]
fn good_ones_see_everywhere() {
    for place in PicturePosition::ALL.into_iter().filter(|place| *place != PicturePosition::Url) {
        let last = |seen: Vec<String>| seen.last().cloned().unwrap_or_default();
        let finding = probe(place, last);
        assert_eq!((finding.verdict, finding.hits), (Verdict::Sees, 36), "{finding:?}");
    }
}

#[test]
fn an_answer_about_the_request_before_is_no_sight() {
    let before = RefCell::new(String::new());
    let late = |seen: Vec<String>| before.replace(seen.last().cloned().unwrap_or_default());
    // Each control describes a picture that it never received.
    let finding = probe(PicturePosition::User, late);
    assert_eq!((finding.verdict, finding.hits), (Verdict::CannotTell, 0), "{finding:?}");
    assert_eq!(finding.control_hits, 36);
    // The trial before, not the control.
    let before = RefCell::new(String::new());
    let later = |seen: Vec<String>| match seen.last() {
        Some(now) => before.replace(now.clone()),
        None => String::new(),
    };
    let finding = probe(PicturePosition::User, later);
    assert_eq!(finding.verdict, Verdict::Blind, "{finding:?}");
}

#[test]
fn a_mix_up_shows() {
    let finding =
        probe(PicturePosition::Parallel, |seen| seen.first().cloned().unwrap_or_default());
    assert_eq!(finding.verdict, Verdict::Weak, "{finding:?}");
    assert_eq!(finding.other_hits, Some(36));
    assert_eq!(finding.why.as_deref(), Some("answers are about the other picture"));
}

#[test]
fn half_an_answer_is_weak() {
    let half = |seen: Vec<String>| {
        let words = seen.last().cloned().unwrap_or_default();
        words.split(['/', ',']).take(5).collect::<Vec<_>>().join(", ")
    };
    let finding = probe(PicturePosition::User, half);
    assert_eq!((finding.verdict, finding.hits), (Verdict::Weak, 20), "{finding:?}");
}

#[test]
fn an_address_that_nobody_serves_is_not_tried() {
    let finding = probe(PicturePosition::Url, |_| String::new());
    assert_eq!(finding.why.as_deref(), Some("there is nowhere to fetch a picture from"));
}
