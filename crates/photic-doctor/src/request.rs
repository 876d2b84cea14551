//! Request bodies, which `photic` reads and writes itself.

use photic::json::Doc;
use photic::media::{MediaKind, Source};
use photic::{Policy, Profile, Survey, Transcript, Wire};

use crate::truncation;

/// The wire of a request body. Stricter than [`photic::detect`], which expects a request.
pub(crate) fn detect(body: &[u8]) -> Option<Wire> {
    let doc = Doc::read(body)?;
    let root = doc.root()?;
    let is_request = ["messages", "input", "contents"].iter().any(|name| root.get(name).is_some());
    photic::detect(body).filter(|_| is_request)
}

/// Repairs a body as `photic lower` does, without changing what the endpoint accepts.
pub(crate) fn repair(wire: Wire, body: &[u8], profile: &Profile) -> Vec<u8> {
    let mut policy = Policy::hands_off();
    policy.pixels = true;
    let (transcript, _) = photic::lift(wire, body);
    let plan = photic::plan(survey(&transcript), profile, &policy);
    let prepared = photic_pixels::prepare(&transcript, &plan);
    photic::lower_prepared(&transcript, &plan, &prepared).body.to_vec()
}

/// Surveys a body; truncated pictures count as unreadable.
pub(crate) fn survey(transcript: &Transcript<'_>) -> Survey {
    let mut survey = photic::survey(transcript);
    for (sighting, media) in survey.sightings.iter_mut().zip(&transcript.media) {
        if let Source::Data(payload) = &media.source
            && sighting.kind == MediaKind::Image
            && !truncation::is_whole(payload, &sighting.header)
        {
            sighting.header.media_type = None;
        }
    }
    survey
}
