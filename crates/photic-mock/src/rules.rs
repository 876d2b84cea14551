//! The rules of an endpoint, copied from its profile into the oracle.
//!
//! Only the profile's data is used, nothing that `photic` computes from it: the provider must be
//! able to disagree with the planner.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use photic::Profile;
use photic::profile::{
    AnswerLimit, CallIds, Capability, ConsecutiveUser, DocumentPart, MidSystem, Placement, Source,
    ToolContent,
};
use photic::tokens::{Detail, Rule};
use photic_testkit::oracle::{Limits, Many, Patches, Pixels, Resize, Rules};

use crate::service::service;

/// The rules of the endpoint that a profile describes.
pub(crate) fn rules(profile: &Profile) -> Rules {
    let facts = service(profile.wire).facts();
    let native = |placement: Placement| placement == Placement::Native;
    let takes = |source: Source| profile.accepts.sources.contains(&source);
    let details: Vec<String> =
        profile.quirks.details.iter().map(|detail| detail.name().to_owned()).collect();
    Rules {
        tool_images: native(profile.placement.image),
        text_only: profile.sight.images == Capability::No,
        documents: profile.sight.documents != Capability::No,
        result_images: facts.media_in_results || native(profile.placement.image),
        result_documents: facts.media_in_results || native(profile.placement.document),
        tool_lists: profile.quirks.tool_content == ToolContent::Any,
        system_messages: profile.quirks.mid_system == MidSystem::Native,
        remote_images: takes(Source::Url),
        local_paths: profile.quirks.local_paths != Capability::No,
        file_images: takes(Source::File),
        // The profile's value is a recommendation; no service requires it.
        needs_detail: false,
        user_after_tool: profile.placement.image != Placement::AssistantBridge,
        consecutive_user: profile.quirks.consecutive_user == ConsecutiveUser::Ok,
        nine_letter_ids: profile.quirks.call_ids == CallIds::NineLetters,
        short_parts: profile.quirks.document_part == DocumentPart::DocumentUrl,
        first_settings: profile.quirks.answer_limit == AnswerLimit::MaxTokens,
        media_types: words(&profile.accepts.image),
        document_types: Some(words(&profile.accepts.document)),
        // Profiles do not list audio formats.
        audio_formats: &[
            "wav", "mp3", "flac", "ogg", "aac", "m4a", "aiff", "opus", "pcm16", "webm",
        ],
        details: if details.is_empty() { Rules::default().details } else { words(&details) },
        // The service merges neighboring messages of one role; lowering relies on it for stable
        // prefixes.
        merge_turns: true,
        duplicate_keys: true,
        pixels: Pixels::Whole,
        limits: limits(profile),
        // One server ignores unknown fields.
        strict_unknown: facts.strict,
        settings: true,
        model: None,
        version: None,
        // No provider rejects it: the model reads text, and is blind.
        base64_text: true,
        scan_arguments: false,
        call_signatures: profile.quirks.call_signature.is_some(),
    }
}

/// The limits of a profile.
fn limits(profile: &Profile) -> Limits {
    let limits = &profile.limits;
    let bytes = |most: Option<u64>| most.map(|most| most as usize);
    let count = |most: Option<u32>| most.map(|most| most as usize);
    // The number of breakpoints is a property of the wire.
    let marks = service(profile.wire).facts().cache_marks.unwrap_or(0);
    Limits {
        images: count(limits.images),
        image_base64: bytes(limits.image_base64_bytes),
        image_raw: bytes(limits.image_raw_bytes),
        body: bytes(limits.request_bytes),
        edge: limits.edge,
        min_edge: limits.min_edge,
        many: limits.crowd.map(|crowd| Many {
            over: crowd.above as usize,
            edge: crowd.edge,
            documents: crowd.counts_documents,
        }),
        patches: limits.patches.map(|most| patches(most, &profile.tokens)),
        documents: count(limits.documents),
        document_raw: bytes(limits.document_bytes),
        breakpoints: Some(profile.cache.breakpoints.unwrap_or(marks) as usize),
    }
}

/// The resize before patches are counted, which depends on the token rule.
fn patches(most: u32, tokens: &Rule) -> Patches {
    let whole = Resize::default();
    match *tokens {
        Rule::Patch32 { budget, max_side, original, omitted, .. } => {
            let high = Resize { side: Some(max_side), budget: Some(budget) };
            let original =
                original.map_or(high, |tier| Resize { side: tier.max_side, budget: tier.budget });
            Patches { most, high, original, omitted_is_original: omitted == Detail::Original }
        }
        Rule::Tiles512 { .. } => {
            let fit = Resize { side: Some(2048), budget: None };
            Patches { most, high: fit, original: fit, omitted_is_original: false }
        }
        Rule::Cells28 { .. }
        | Rule::Tiles768 { .. }
        | Rule::Cells28Grid { .. }
        | Rule::Flat { .. }
        | Rule::SmartResize { .. }
        | Rule::Patches14 { .. }
        | Rule::Canvas { .. }
        | Rule::Unknown => {
            Patches { most, high: whole, original: whole, omitted_is_original: true }
        }
    }
}

/// A list with static lifetime; equal lists are made once.
fn words(list: &[String]) -> &'static [&'static str] {
    static MADE: LazyLock<Mutex<BTreeMap<Vec<String>, &'static [&'static str]>>> =
        LazyLock::new(Mutex::default);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(list.to_vec()).or_insert_with(|| {
        let words = list.iter().map(|word| &*Box::leak(word.clone().into_boxed_str()));
        Box::leak(words.collect::<Vec<&'static str>>().into_boxed_slice())
    })
}
