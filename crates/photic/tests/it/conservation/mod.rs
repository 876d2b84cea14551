//! Conservation: across wires, every value of a request is in the lowered request or named in a
//! decision.
//!
//! Every scalar of a body that may be any text or number gets a value of its own; after lowering
//! that value must stand in the new body, or below the pointer of a decision. Words and flags are
//! left out or turned instead: the new body must change, or a decision must name them.

mod recorded;
mod scalars;

use photic::{Did, Policy, Profile, Wire};
use serde_json::Value;

use self::scalars::{Marker, Track, others};

/// A lowered body, and the pointers below which something was left out or changed.
struct Crossed {
    body: Vec<u8>,
    named: Vec<String>,
    /// The lists of tools that the incoming body offers.
    offers: Vec<String>,
}

fn cross(from: Wire, body: &Value, profile: &Profile) -> Crossed {
    let offers = offers(body);
    let body = serde_json::to_vec(body).unwrap();
    let (transcript, _) = photic::lift(from, &body);
    let plan = photic::plan(photic::survey(&transcript), profile, &Policy::hands_off());
    let lowered = photic::lower(&transcript, &plan);
    let named = lowered.decisions.iter().filter_map(|decision| {
        let pointer = &decision.at.as_ref()?.pointer;
        match &decision.did {
            // What is added or moved names where, and loses nothing.
            Did::AddedField(_)
            | Did::FilledMissing
            | Did::FilledEmpty
            | Did::AddedStandInCall
            | Did::MovedBehindResults
            | Did::MovedResultsFirst => None,
            _ => Some(pointer.clone()),
        }
    });
    Crossed { body: lowered.body.to_vec(), named: named.collect(), offers }
}

impl Crossed {
    fn names(&self, pointer: &str) -> bool {
        let least = tool(pointer, &self.offers).len();
        self.named.iter().any(|named| {
            let rest = pointer.strip_prefix(named.as_str());
            named.len() >= least
                && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    fn holds(&self, text: &str) -> bool {
        let body = String::from_utf8_lossy(&self.body);
        // Other wires take only the standard alphabet of base64.
        let standard = text.replace('-', "+").replace('_', "/");
        let standard = standard.trim_end_matches('=');
        [text, &text.replace('/', "\\/"), standard].iter().any(|text| body.contains(text))
    }
}

/// The lists of tools that a body offers.
fn offers(body: &Value) -> Vec<String> {
    let items = body["input"].as_array().into_iter().flatten().enumerate();
    let late = items.filter(|(_, item)| item["type"] == "additional_tools");
    let late = late.map(|(index, _)| format!("/input/{index}/tools"));
    ["/tools", "/toolConfig/tools"].map(str::to_owned).into_iter().chain(late).collect()
}

/// The pointer of the offered tool that a scalar belongs to; empty if it belongs to none.
///
/// A decision about the item or the group around tools does not name them: an agent without its
/// tools has lost more than an item.
fn tool<'p>(pointer: &'p str, offers: &[String]) -> &'p str {
    let is_in =
        |list: &String| pointer.strip_prefix(list).is_some_and(|rest| rest.starts_with('/'));
    let mut end = 0;
    for (at, list) in pointer.match_indices("/tools/").filter(|_| offers.iter().any(is_in)) {
        let number = &pointer[at + list.len()..];
        let digits = number.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(number.len());
        if digits > 0 {
            end = at + list.len() + digits;
        }
    }
    &pointer[..end]
}

/// Settings that some wires say in the path of the request.
fn is_said_elsewhere(pointer: &str, to: Wire) -> bool {
    pointer == "/stream" && matches!(to, Wire::Gemini | Wire::BedrockConverse)
}

/// The scalars that are neither in the lowered body nor named in a decision.
pub(crate) fn losses(from: Wire, body: &[u8], profile: &Profile) -> Vec<String> {
    // A number that no other reader takes.
    let text = String::from_utf8_lossy(body).replace("1e400", "1e30");
    let Ok(mut marked) = serde_json::from_str::<Value>(&text) else {
        // A few golden bodies are JSON only for lenient readers.
        return Vec::new();
    };
    let scalars = Marker::mark(&mut marked);
    let crossed = cross(from, &marked, profile);
    let lost = scalars.into_iter().filter(|scalar| {
        let at = &scalar.pointer;
        if is_said_elsewhere(at, profile.wire) || crossed.names(at) {
            return false;
        }
        match &scalar.track {
            Track::Sentinel(text) => !crossed.holds(text),
            Track::Word => others(&marked, at).iter().all(|other| {
                let other = cross(from, other, profile);
                other.body == crossed.body && !other.names(at)
            }),
        }
    });
    lost.map(|scalar| format!("{from} → {} ({}): {}", profile.wire, profile.id, scalar.pointer))
        .collect()
}

/// The endpoints that bodies are led to: the generic one of every wire, and real models.
pub(crate) fn endpoints(wire: Wire) -> Vec<Profile> {
    let models: &[&str] = match wire {
        Wire::OpenAiChat | Wire::OpenAiResponses => {
            &["gpt-4o", "gpt-5.4", "gpt-5-mini", "gpt-6", "o3"]
        }
        Wire::Anthropic => {
            &["claude-3-5-haiku", "claude-sonnet-4-5", "claude-opus-5", "claude-opus-5-5"]
        }
        Wire::Gemini => &["gemini-2.5-pro", "gemini-3-pro"],
        Wire::BedrockConverse => &[
            "anthropic.claude-sonnet-4-5",
            "anthropic.claude-opus-5-5",
            "amazon.nova-pro-v1:0",
            "openai.gpt-oss-120b",
        ],
        Wire::Ollama => &["gemma3:4b", "gpt-oss:20b"],
        _ => unreachable!("only the six wires are tested here"),
    };
    let named = models.iter().map(|model| photic::profile::resolve(wire, Some(model), None));
    std::iter::once(Profile::generic(wire)).chain(named).collect()
}

/// Fails if a body loses something on its way to any other wire.
fn conserved(name: &str, from: Wire, body: &[u8]) -> Vec<String> {
    let others = Wire::ALL.into_iter().filter(|to| *to != from);
    let lost = others.flat_map(endpoints).flat_map(|profile| losses(from, body, &profile));
    lost.map(|lost| format!("{name}: {lost}")).collect()
}

fn assert_none(lost: &[String]) {
    let shown = lost.iter().take(200).cloned().collect::<Vec<_>>().join("\n");
    assert!(lost.is_empty(), "{} scalars are lost in silence\n{shown}", lost.len());
}

#[test]
fn every_documented_field_is_carried_or_named() {
    let mut lost = Vec::new();
    for wire in Wire::ALL {
        let path = format!("{}/tests/rich/{wire}.json", env!("CARGO_MANIFEST_DIR"));
        lost.extend(conserved("rich", wire, &std::fs::read(path).unwrap()));
    }
    assert_none(&lost);
}

#[test]
fn every_value_of_the_cases_is_carried_or_named() {
    let mut lost = Vec::new();
    for name in [
        "cross_settings_chat",
        "unknown_fields_chat",
        "anthropic_to_gpt5",
        "gemini_toolconfig",
        "exotic_anthropic",
        "responses_exotic",
        "legacy_and_openrouter_chat",
    ] {
        let path = format!("{}/tests/cases/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let body = std::fs::read(path).unwrap();
        let from = photic::detect(&body).unwrap();
        lost.extend(conserved(name, from, &body));
    }
    assert_none(&lost);
}
