//! Do no harm: on its own wire, what a provider takes it takes after lowering; the model sees no less
//! than before; what is no picture goes out byte for byte; texts stay but for whole pictures in them;
//! and a body that differs from what came says so.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use photic::profile::Capability;
use photic::retention::Retention;
use photic::{Policy, Profile, Wire};
use photic_testkit::oracle::{self, Pixels, Rules, Seen, Slot, Source, Text, Violation, smuggled};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseError;
use serde_json::Value;

use super::clean::purified;
use super::exam::{Trial, trials_at_home};
use super::guests::{Guest, every_guest, guests, joined};
use super::profiles::{Twist, rules};
use super::render;
use super::sayable;
use super::sketch::Sketch;
use crate::captured::captures;
use crate::golden::cases;

proptest! {
    #![proptest_config(super::config())]

    #[test]
    fn a_careful_request_is_not_harmed(
        trial in trials_at_home(3), guests in guests(), marks in any::<bool>(),
    ) {
        for wire in Wire::ALL {
            let body = careful(&trial.sketch, wire, &guests);
            let harm = Harm::of(wire, &body, &profile(wire, marks), &policy(marks));
            let objections = &harm.before.1;
            prop_assert!(objections.is_empty(), "the test is wrong: {:?}\n{}", objections, text(&body));
            harm.judge(Texts::All).map_err(TestCaseError::fail)?;
        }
    }

    #[test]
    fn a_damaged_request_that_a_provider_takes_is_not_harmed(
        trial in trials_at_home(2), guests in guests(), marks in any::<bool>(),
    ) {
        for wire in Wire::ALL {
            let trial = Trial { from: wire, to: wire, ..trial.clone() };
            let body = joined(&render::body(&trial.talk(), wire), wire, &guests);
            let harm = Harm::of(wire, &body, &profile(wire, marks), &policy(marks));
            harm.judge(Texts::Plain).map_err(TestCaseError::fail)?;
        }
    }

    #[test]
    fn nothing_changes_in_silence(
        trial in trials_at_home(3),
        guests in guests(),
        twist in select(&Twist::ALL[..]),
        retention in select(&[Retention::Priced, Retention::All, Retention::Newest(1)][..]),
    ) {
        let body = joined(&render::body(&trial.talk(), trial.from), trial.from, &guests);
        let mut profile = twist.profile(trial.from);
        profile.cache = self::profile(trial.from, true).cache;
        let mut policy = policy(true);
        policy.retention = retention;
        let harm = Harm::of(trial.from, &body, &profile, &policy);
        harm.said().map_err(TestCaseError::fail)?;
    }
}

/// A request of a careful client, with guests.
fn careful(sketch: &Sketch, wire: Wire, guests: &[Guest]) -> Vec<u8> {
    let mut talk = sketch.build();
    sayable::adapt(&mut talk, wire);
    joined(&render::body(&purified(&talk, wire), wire), wire, guests)
}

/// The generic profile of a wire; with marks, one whose cache takes them however short a prefix is.
fn profile(wire: Wire, marks: bool) -> Profile {
    let mut profile = Profile::generic(wire);
    let model = match wire {
        Wire::Anthropic => "claude-sonnet-4-5",
        Wire::OpenAiChat | Wire::OpenAiResponses => "gpt-5.6",
        Wire::Gemini | Wire::BedrockConverse | Wire::Ollama => return profile,
        _ => unreachable!("only the six wires are tested here"),
    };
    if marks {
        profile.cache = photic::profile::resolve(wire, Some(model), None).cache;
        profile.cache.min_tokens = 0;
    }
    profile
}

fn policy(marks: bool) -> Policy {
    let mut policy = Policy::hands_off();
    policy.marks = marks;
    policy
}

/// Which texts must stay as they are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Texts {
    /// All, but for spans that are whole pictures.
    All,
    /// Those without a picture in them.
    Plain,
}

/// A body before and after lowering to its own wire, as a strict provider sees it.
struct Harm {
    wire: Wire,
    input: Vec<u8>,
    output: Vec<u8>,
    before: (Seen, Vec<Violation>),
    after: (Seen, Vec<Violation>),
    decisions: Vec<&'static str>,
    /// Whether a limit had something give way.
    gave_way: bool,
}

impl Harm {
    fn of(wire: Wire, input: &[u8], profile: &Profile, policy: &Policy) -> Self {
        let (transcript, _) = photic::lift(wire, input);
        let plan = photic::plan(photic::survey(&transcript), profile, policy);
        let lowered = photic::lower(&transcript, &plan);
        let gave_way = !plan.ledger.retired.is_empty() || !lowered.retired.is_empty();
        let decisions = lowered.decisions.iter().map(|decision| decision.did.name()).collect();
        Self { decisions, gave_way, ..Self::between(wire, input, &lowered.body.to_vec(), profile) }
    }

    /// Two bodies, of which the second was made from the first.
    fn between(wire: Wire, input: &[u8], output: &[u8], profile: &Profile) -> Self {
        let rules = Rules {
            // No provider minds: the model reads letters.
            base64_text: true,
            pixels: Pixels::Whole,
            // A model that is known to take no sound refuses all of them.
            audio_formats: match profile.sight.audio {
                Capability::No => &[],
                _ => &["wav", "mp3", "flac", "ogg", "aac", "mp4", "pcm16", "L16"],
            },
            ..rules(profile)
        };
        let before = oracle::look(wire.name(), input, &rules);
        let after = oracle::look(wire.name(), output, &rules);
        let (input, output) = (input.to_vec(), output.to_vec());
        let (decisions, gave_way) = (Vec::new(), false);
        Self { wire, input, output, before, after, decisions, gave_way }
    }

    fn is_accepted_before(&self) -> bool {
        self.before.1.is_empty()
    }

    fn judge(&self, texts: Texts) -> Result<(), String> {
        self.said()?;
        if !self.is_accepted_before() {
            return Ok(());
        }
        if let Some(first) = self.after.1.first() {
            return self.fail(&format!("a request that was accepted is rejected: {first}"));
        }
        self.sees_no_less()?;
        self.parts_stay(texts)?;
        self.texts_stay(texts)
    }

    /// A body that differs says so.
    fn said(&self) -> Result<(), String> {
        if self.decisions.is_empty() && self.output != self.input {
            return self.fail("changed in silence");
        }
        Ok(())
    }

    fn sees_no_less(&self) -> Result<(), String> {
        let sources = |seen: &Seen| {
            let mut sources: Vec<String> =
                seen.images.iter().map(|image| key(&image.source)).collect();
            sources.sort_unstable();
            sources
        };
        let mut after = sources(&self.after.0);
        // A path that a tool returned is never opened for it.
        let is_path_of_tool =
            |source: &String| {
                source.starts_with("file:")
                    && self.before.0.images.iter().any(|image| {
                        image.slot == Slot::ToolResult && key(&image.source) == *source
                    })
            };
        for source in sources(&self.before.0) {
            match after.iter().position(|other| *other == source) {
                Some(at) => drop(after.remove(at)),
                None if self.gave_way || is_path_of_tool(&source) => {}
                None => return self.fail(&format!("no longer seen: {source}")),
            }
        }
        Ok(())
    }

    /// What is no picture is there byte for byte, and nothing else is.
    ///
    /// Where a text may have held whole lists of parts, more of them may be there than before.
    fn parts_stay(&self, texts: Texts) -> Result<(), String> {
        let parts = |seen: &Seen| {
            let mut parts: Vec<String> =
                seen.parts.iter().map(|part| without_mark(&part.raw)).collect();
            parts.sort_unstable();
            parts
        };
        let (before, after) = (parts(&self.before.0), parts(&self.after.0));
        if before != after {
            let lost: Vec<&String> = before.iter().filter(|part| !after.contains(part)).collect();
            let new: Vec<&String> = after.iter().filter(|part| !before.contains(part)).collect();
            let is_limit = self.gave_way && new.is_empty();
            if is_limit || (texts == Texts::Plain && lost.is_empty()) {
                return Ok(());
            }
            return self.fail(&format!("parts changed\nlost {lost:?}\nnew {new:?}"));
        }
        Ok(())
    }

    fn texts_stay(&self, texts: Texts) -> Result<(), String> {
        let mut left: BTreeMap<&str, usize> = BTreeMap::new();
        for text in &self.after.0.texts {
            *left.entry(text.text.as_str()).or_default() += 1;
        }
        // An empty result may be said to be empty.
        let said = |text: &&Text| !(text.text.is_empty() && text.owner.is_some());
        for text in self.before.0.texts.iter().filter(said) {
            if let Some(count) = left.get_mut(text.text.as_str()).filter(|count| **count > 0) {
                *count -= 1;
                continue;
            }
            let holds_picture = |text: &str| !smuggled(text).is_empty() || spells_bytes(text);
            // Other words of a result that is read as a list of parts.
            let beside_picture = texts == Texts::Plain
                && text.owner.is_some()
                && self
                    .before
                    .0
                    .texts
                    .iter()
                    .any(|other| other.owner == text.owner && holds_picture(&other.text));
            let stays = if !holds_picture(&text.text) && !beside_picture {
                false
            } else {
                texts == Texts::Plain
                    || self.after.0.texts.iter().any(|after| fits(&text.text, &after.text))
            };
            if !stays {
                return self.fail(&format!("a text changed: {}", text.text));
            }
        }
        Ok(())
    }

    fn fail(&self, what: &str) -> Result<(), String> {
        Err(format!(
            "{what}\n{} {:?}\n--- in\n{}\n--- out\n{}\n",
            self.wire,
            self.decisions,
            text(&self.input),
            text(&self.output)
        ))
    }
}

fn text(body: &[u8]) -> String {
    String::from_utf8_lossy(body).into_owned()
}

fn key(source: &Source) -> String {
    match source {
        Source::Inline(bytes) => format!("{:x}", photic_testkit::image::digest(bytes)),
        Source::Remote(address) | Source::File(address) => address.clone(),
    }
}

/// A part without the mark that may have been added to it.
fn without_mark(raw: &str) -> String {
    let names = ["cache_control", "prompt_cache_breakpoint"];
    if !names.iter().any(|name| raw.contains(name)) {
        return raw.to_owned();
    }
    let mut value: Value = serde_json::from_str(raw).unwrap_or_default();
    if let Some(object) = value.as_object_mut() {
        for name in names {
            object.shift_remove(name);
        }
    }
    value.to_string()
}

/// Whether a text spells bytes in another way than base64, or holds a drawing in base64, whose source
/// the model gets instead.
fn spells_bytes(text: &str) -> bool {
    ["137,80,78,71", "137, 80, 78, 71", "\"Buffer\"", "\"0\":", "PHN2Zy", "PD94bWwg"]
        .iter()
        .any(|way| text.contains(way))
}

/// Whether a text is another one but for notices in place of whole pictures.
fn fits(before: &str, after: &str) -> bool {
    let mut rest = after;
    let mut at = 0;
    for found in smuggled(before) {
        let words = before[at..found.offset].trim_end_matches("base64,").trim_end_matches(';');
        let words = words.rfind("data:image/").map_or(words, |url| &words[..url]);
        let Some(tail) = rest.strip_prefix(words).filter(|tail| tail.starts_with('[')) else {
            return false;
        };
        let Some(end) = tail.find(']') else { return false };
        rest = &tail[end + 1..];
        at = found.offset + found.length;
        at += before[at..].len() - before[at..].trim_start_matches('=').len();
    }
    rest == &before[at..]
}

#[test]
fn every_guest_alone_is_not_harmed() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let trial = trials_at_home(1).new_tree(&mut runner).unwrap().current();
    for wire in Wire::ALL {
        for guest in every_guest() {
            let body = careful(&trial.sketch, wire, &[guest]);
            let harm = Harm::of(wire, &body, &profile(wire, false), &policy(false));
            assert!(harm.is_accepted_before(), "{wire} {guest:?}: {:?}", harm.before.1);
            if let Err(why) = harm.judge(Texts::All) {
                panic!("{guest:?}: {why}");
            }
        }
    }
}

/// Judges bodies under a policy, and says how many of them a provider took.
fn judged<'b>(bodies: impl Iterator<Item = (String, Wire, Vec<u8>, Profile)> + 'b) -> usize {
    let mut failures = Vec::new();
    let mut accepted = 0;
    for (name, wire, body, profile) in bodies {
        let harm = Harm::of(wire, &body, &profile, &Policy::hands_off());
        accepted += usize::from(harm.is_accepted_before());
        if let Err(why) = harm.judge(Texts::Plain) {
            failures.push(format!("{name}: {}", why.chars().take(3000).collect::<String>()));
        }
    }
    assert!(failures.is_empty(), "{} failed\n{}", failures.len(), failures.join("\n\n"));
    accepted
}

#[test]
fn no_golden_body_is_harmed() {
    let bodies = cases("in.json").into_iter().map(|(name, (case, body))| {
        let (wire, profile) = (case.wire, case.profile(case.wire));
        (name, wire, body, profile)
    });
    let accepted = judged(bodies);
    assert!(accepted > 100, "only {accepted} are accepted as they are");
}

#[test]
fn no_recorded_body_is_harmed() {
    let bodies = captures().into_iter().map(|(capture, body)| {
        (capture.client.clone(), capture.wire, body, Profile::generic(capture.wire))
    });
    let accepted = judged(bodies);
    assert!(accepted > 20, "only {accepted} are accepted as they are");
}

#[test]
fn no_case_is_harmed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.retain(|file| file.is_file());
    let bodies = files.into_iter().map(|file| {
        let body = fs::read(&file).unwrap();
        let wire = photic::detect(&body).unwrap();
        // One of them holds a number that no number type does.
        let value: Value = serde_json::from_slice(&body).unwrap_or_default();
        let profile = photic::profile::resolve(wire, value["model"].as_str(), None);
        (file.display().to_string(), wire, body, profile)
    });
    let accepted = judged(bodies);
    assert!(accepted > 5, "only {accepted} are accepted as they are");
}

/// The bodies that version 0.1.0 made of some cases, with its default policy (and marks for the one
/// about marks): each of them is harm, so the property would have found it.
#[test]
fn what_version_0_1_0_made_of_the_cases_is_harm() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let made: Vec<_> =
        fs::read_dir(folder.join("by-0.1.0")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(made.len(), 8);
    for file in made {
        let input = fs::read(folder.join(file.file_name().unwrap())).unwrap();
        let wire = photic::detect(&input).unwrap();
        let value: Value = serde_json::from_slice(&input).unwrap_or_default();
        let profile = photic::profile::resolve(wire, value["model"].as_str(), None);
        let mut harm = Harm::between(wire, &input, &fs::read(&file).unwrap(), &profile);
        assert!(harm.is_accepted_before(), "{}: {:?}", file.display(), harm.before.1);
        // Most of them were said; that is not what is asked here.
        harm.decisions = vec!["rewrote"];
        let verdict = harm.judge(Texts::All);
        assert!(verdict.is_err(), "{} does no harm", file.display());
    }
}
