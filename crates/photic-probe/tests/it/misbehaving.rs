//! Providers that misbehave: every verdict is right, and none is *sees* that should not be.

use photic::Wire;
use photic_mock::{Misbehavior, Mock, Options};
use photic_probe::{Billed, PicturePosition, ProbeReport, ProbeSettings, Verdict};

use crate::{model, probe, provider, settings, verdicts};
use Verdict::{Blind, CannotTell, Rejects, Sees};

/// The places of every run.
const PLACES: [PicturePosition; 5] = [
    PicturePosition::User,
    PicturePosition::Tool,
    PicturePosition::Hoisted,
    PicturePosition::Parallel,
    PicturePosition::Previous,
];

/// A provider, and what is right about it: on Chat and Ollama, which have no place in tool
/// results, and on the other wires.
struct Case {
    name: &'static str,
    misbehave: Vec<Misbehavior>,
    /// It judges by the rules of a model that takes no pictures.
    text_only: bool,
    chat: [Verdict; 5],
    others: [Verdict; 5],
}

fn cases() -> Vec<Case> {
    let case = |kind: Misbehavior, chat, others| Case {
        name: kind.name(),
        misbehave: vec![kind],
        text_only: false,
        chat,
        others,
    };
    vec![
        case(
            Misbehavior::IgnoreToolImages,
            [Sees, Blind, Sees, Sees, Sees],
            [Sees, Blind, Sees, Sees, Sees],
        ),
        case(Misbehavior::DropImages, [Blind, Rejects, Blind, Blind, Blind], [Blind; 5]),
        case(
            Misbehavior::Late,
            [Blind, Rejects, Blind, Blind, Sees],
            [Blind, Blind, Blind, Blind, Sees],
        ),
        case(Misbehavior::Constant, [Blind, Rejects, Blind, Blind, Blind], [Blind; 5]),
        case(Misbehavior::BillAsText, [Sees, Rejects, Sees, Sees, Sees], [Sees; 5]),
        case(Misbehavior::Guess, [Blind, Rejects, Blind, Blind, Blind], [Blind; 5]),
        Case {
            name: "refuses",
            misbehave: Vec::new(),
            text_only: true,
            chat: [Rejects; 5],
            others: [Rejects; 5],
        },
    ]
}

/// A model that takes no pictures; on some wires none is known that would refuse them.
const fn text_only(wire: Wire) -> Option<&'static str> {
    match wire {
        Wire::OpenAiChat | Wire::OpenAiResponses => Some("o3-mini"),
        Wire::Anthropic => Some("claude-2.1"),
        Wire::BedrockConverse => Some("amazon.nova-micro-v1:0"),
        _ => None,
    }
}

impl Case {
    /// None where the case is none on that wire.
    fn provider(&self, wire: Wire) -> Option<Mock> {
        let judge_as = if self.text_only { Some(text_only(wire)?.to_owned()) } else { None };
        let misbehave = self.misbehave.clone();
        Some(Mock::start(Options { misbehave, judge_as, ..Options::default() }).unwrap())
    }
}

/// Probes a case, and says what is wrong with the verdicts.
fn wrong(case: &Case, mock: &Mock, wire: Wire, settings: &ProbeSettings) -> Option<String> {
    let report = probe(mock, wire, model(wire), settings);
    let no_place = matches!(wire, Wire::OpenAiChat | Wire::Ollama);
    let expected = if no_place { case.chat } else { case.others };
    let right = |(found, expected): (Verdict, Verdict)| {
        // Once in a thousand times a guess fits better than guesses do: nothing is claimed then.
        let lucky = case.name == "guess" && found == CannotTell;
        found == expected || lucky
    };
    let all = verdicts(&report).into_iter().zip(expected).all(right);
    let billed = case.name != "bill-as-text" || bills(&report, wire);
    let late = report.is_late() == (case.name == "late");
    (!all || !billed || !late).then(|| format!("{} {wire}: {report:#?}", case.name))
}

fn bills(report: &ProbeReport, wire: Wire) -> bool {
    let seen = report.findings.iter().filter(|finding| finding.verdict == Sees);
    let mut as_text = seen.clone().map(|finding| finding.billed == Billed::AsText);
    // Where every picture has the same high price, a light one cannot be told from text.
    let all = if wire == Wire::Gemini { as_text.any(|it| it) } else { as_text.all(|it| it) };
    seen.count() > 3 && all
}

/// Each case so many times, on the wires in turn, with pictures of that size.
fn hold(runs: u64, side: u32) {
    for case in cases() {
        let mocks = Wire::ALL.into_iter().filter_map(|wire| Some((wire, case.provider(wire)?)));
        let mocks: Vec<(Wire, Mock)> = mocks.collect();
        for (run, (wire, mock)) in (0..runs).zip(mocks.iter().cycle()) {
            // Where every picture has the same high price, it takes a heavy one to tell it from
            // text.
            let side = if *wire == Wire::Gemini { side.max(512) } else { side };
            let settings = ProbeSettings { side, ..settings(&PLACES, run) };
            assert_eq!(wrong(&case, mock, *wire, &settings), None);
        }
        println!("{}: {runs} runs, all right", case.name);
    }
}

#[test]
fn each_of_them_on_every_wire() {
    hold(Wire::ALL.len() as u64, 512);
}

/// Minutes: `tests/e2e/suites/91-probe` runs it.
#[test]
#[ignore = "minutes"]
fn a_hundred_runs_each() {
    hold(100, 256);
}

#[test]
fn who_does_not_answer_proves_nothing() {
    for kind in [
        Misbehavior::RateLimit,
        Misbehavior::ServerError,
        Misbehavior::Cut,
        Misbehavior::Empty,
        Misbehavior::Close,
    ] {
        let mock = provider(&[kind]);
        for wire in Wire::ALL {
            let report = probe(&mock, wire, model(wire), &settings(&[PicturePosition::User], 1));
            let [finding] = &report.findings[..] else { panic!("{report:?}") };
            assert_eq!(finding.verdict, CannotTell, "{kind} {finding:?}");
            assert!(finding.why.is_some(), "{kind}");
            assert!(report.requests <= 4, "{kind} was asked {} times", report.requests);
        }
    }
}
