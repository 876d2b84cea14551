//! Lowering as a host does it, and the checks that every lowered body must pass.

use photic::profile::{AnswerLimit, CallIds, Capability, ConsecutiveUser, DocumentPart, Placement};
use photic::{Finding, Policy, Profile, Wire};
use photic_testkit::oracle::{self, Rules, Seen};

/// A lowered body and all that led to it.
pub(crate) struct Run {
    pub(crate) body: Vec<u8>,
}

/// Lifts, surveys, plans, lowers.
pub(crate) fn lower(from: Wire, body: &[u8], profile: &Profile) -> Run {
    lower_with(from, body, profile, &Policy::default())
}

/// As [`lower`], under a policy.
pub(crate) fn lower_with(from: Wire, body: &[u8], profile: &Profile, policy: &Policy) -> Run {
    let (transcript, _) = photic::lift(from, body);
    let plan = photic::plan(photic::survey(&transcript), profile, policy);
    let lowered = photic::lower(&transcript, &plan);
    Run { body: lowered.body.to_vec() }
}

/// What `photic check` says of a body on its own wire.
pub(crate) fn check(wire: Wire, body: &[u8], profile: &Profile) -> Vec<Finding> {
    let (transcript, lifted) = photic::lift(wire, body);
    let plan = photic::plan(photic::survey(&transcript), profile, &Policy::hands_off());
    photic::check(&transcript, &lifted, &plan)
}

pub(crate) fn codes(findings: &[Finding]) -> Vec<&'static str> {
    let mut codes: Vec<_> = findings.iter().map(|finding| finding.code.name()).collect();
    codes.sort_unstable();
    codes
}

/// Codes of pictures that stay in the text they stand in: reported, and nothing is done about them.
pub(crate) const STAYS: [&str; 4] =
    ["image_cut_off", "image_in_file", "image_inside_longer_text", "small_image_in_text"];

/// The strict provider that stands behind a profile.
pub(crate) fn rules(profile: &Profile) -> Rules {
    Rules {
        tool_images: profile.placement.image == Placement::Native,
        text_only: profile.sight.images == Capability::No,
        user_after_tool: profile.placement.image != Placement::AssistantBridge,
        consecutive_user: profile.quirks.consecutive_user == ConsecutiveUser::Ok,
        nine_letter_ids: profile.quirks.call_ids == CallIds::NineLetters,
        short_parts: profile.quirks.document_part == DocumentPart::DocumentUrl,
        first_settings: profile.quirks.answer_limit == AnswerLimit::MaxTokens,
        // The service merges neighbors of one role; lowering leans on that to keep prefixes stable.
        merge_turns: true,
        local_paths: profile.quirks.local_paths != Capability::No,
        duplicate_keys: true,
        system_messages: true,
        // The pure crate reads headers; a picture cut short is for the crate that decodes.
        pixels: oracle::Pixels::Header,
        ..Rules::of(profile.wire.name())
    }
}

/// What the strict provider sees; a violation is a failure.
pub(crate) fn seen(name: &str, wire: Wire, body: &[u8], rules: &Rules) -> Seen {
    match oracle::read_with(wire.name(), body, rules) {
        Ok(seen) => seen,
        Err(violations) => panic!(
            "{name} → {wire}: the provider rejects it: {violations:#?}\n{}",
            String::from_utf8_lossy(body)
        ),
    }
}
