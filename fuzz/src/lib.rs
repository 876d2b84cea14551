//! What every fuzz target asks of photic: no panic, JSON out of JSON, and clean bodies untouched.
//!
//! Must never judge what the properties judge better: whether a provider would take the result.

pub mod pixels;
#[cfg(feature = "render")]
mod render;

use std::collections::BTreeMap;

use photic::media::{Payload, Source};
use photic::profile::{Capability, ConsecutiveUser, Crowd, Placement};
use photic::retention::Retention;
use photic::transcript::MediaId;
use photic::{Form, MediaStub, Policy, Profile, Transcript, Wire};
use serde::de::IgnoredAny;

#[cfg(feature = "render")]
pub use render::drawn;

/// The fuzzer ends at any panic, before the library can catch one. That of a third-party decoder
/// is a corrupt file, as promised, and goes on; ours are findings.
pub fn let_libraries_panic() {
    let ours = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let theirs = info.location().is_some_and(|at| at.file().contains("/registry/src/"));
        if !theirs {
            ours(info);
        }
    }));
}

/// Sends a request body of a wire through everything, to every wire.
pub fn travel(from: Wire, body: &[u8]) {
    let (transcript, lifted) = photic::lift(from, body);
    let was_json = serde_json::from_slice::<serde_json::Value>(body).is_ok();
    part(&transcript, body);
    for to in Wire::ALL {
        for profile in [Profile::generic(to), strict(to), blind(to)] {
            for policy in policies() {
                let plan = photic::plan(photic::survey(&transcript), &profile, &policy);
                let lowered = photic::lower(&transcript, &plan);
                let out = lowered.body.to_vec();
                assert_eq!(out.len(), lowered.body.len());
                if was_json {
                    // Not as a value: what stood in a string may nest deeper than a value may.
                    let parsed = serde_json::from_slice::<IgnoredAny>(&out);
                    assert!(parsed.is_ok(), "{from} → {to}: {}", String::from_utf8_lossy(&out));
                }
            }
        }
    }
    let home = Profile::generic(from);
    let plan = photic::plan(photic::survey(&transcript), &home, &Policy::hands_off());
    // Bodies that only a lenient reader takes for JSON may be put in order without a finding.
    if was_json && photic::check(&transcript, &lifted, &plan).is_empty() {
        let out = photic::lower(&transcript, &plan).body.to_vec();
        assert!(out == body, "{from}: clean, but {}", String::from_utf8_lossy(&out));
    }
}

/// Cuts a body apart: nothing may be lost, and what is remembered must do for a plan.
fn part(transcript: &Transcript<'_>, body: &[u8]) {
    let apart = photic::split_media(transcript);
    let mut joined = Vec::with_capacity(body.len());
    let mut without = Vec::new();
    let mut memories = BTreeMap::new();
    let mut away = Vec::new();
    for segment in apart.segments() {
        let mut end = 0;
        for cut in &segment.cuts {
            let between = &segment.raw[end..cut.range.start];
            joined.extend_from_slice(between);
            without.extend_from_slice(between);
            let raw = &segment.raw[cut.range.clone()];
            let memory = photic::remember(transcript, cut.media);
            match (cut.form, &transcript.media[cut.media].source, &memory) {
                (Form::Base64, Source::Data(payload), Some(memory)) => {
                    joined.extend_from_slice(Payload::encode(&payload.decode()).base64());
                    without.extend_from_slice(memory.head.as_bytes());
                    away.push(cut.media);
                }
                _ => {
                    joined.extend_from_slice(raw);
                    without.extend_from_slice(raw);
                }
            }
            memories.extend(memory.map(|memory| (cut.media, memory)));
            end = cut.range.end;
        }
        joined.extend_from_slice(&segment.raw[end..]);
        without.extend_from_slice(&segment.raw[end..]);
    }
    assert!(joined == body, "cut apart: {}", String::from_utf8_lossy(&joined));
    let memories = memories.iter().map(|(media, memory)| (*media, memory)).collect();
    let before = format!("{:?}", photic::survey(transcript));
    assert_eq!(recalled(transcript, &memories), before, "what was there is remembered differently");
    // A record that finds another medium in the place of a stand-in puts in all.
    let (stood_for, _) = photic::lift(transcript.wire, &without);
    let source = |media: &MediaId| stood_for.media.get(media.index()).map(|media| &media.source);
    let stands = |media: &MediaId| match source(media) {
        Some(Source::Data(payload)) => payload.base64() == memories[media].head.as_bytes(),
        _ => false,
    };
    if away.iter().all(stands) {
        assert_eq!(recalled(&stood_for, &memories), before, "a stand-in is surveyed differently");
    }
}

/// What a survey says after remembering, but what the media are: nobody asked the other for that.
fn recalled(transcript: &Transcript<'_>, memories: &BTreeMap<MediaId, &MediaStub>) -> String {
    let mut survey = photic::survey(transcript);
    survey.recall(transcript, memories);
    survey.sightings.iter_mut().for_each(|sighting| sighting.digest = None);
    format!("{survey:?}")
}

/// The default, and one whose recipes nobody follows.
fn policies() -> [Policy; 2] {
    let mut narrow = Policy::default();
    narrow.retention = Retention::Newest(1);
    narrow.pixels = true;
    [Policy::default(), narrow]
}

/// A profile at its narrowest.
fn strict(wire: Wire) -> Profile {
    let mut profile = Profile::generic(wire);
    profile.placement.image = Placement::AssistantBridge;
    profile.quirks.consecutive_user = ConsecutiveUser::Merge;
    profile.limits.images = Some(2);
    profile.limits.edge = Some(64);
    profile.limits.min_edge = Some(2);
    profile.limits.image_base64_bytes = Some(600);
    profile.limits.request_bytes = Some(2000);
    profile.limits.crowd = Some(Crowd { above: 1, edge: 16, counts_documents: true });
    profile
}

/// A profile of a model that sees nothing.
fn blind(wire: Wire) -> Profile {
    let mut profile = Profile::generic(wire);
    profile.sight.images = Capability::No;
    profile.sight.documents = Capability::No;
    profile.sight.audio = Capability::No;
    profile
}
