//! Diagnoses a request as `photic check` does.

use std::collections::BTreeMap;

use photic::{Policy, Wire};

use super::diagnosis::{Diagnosis, MediaPosition, Medium, Problem, Remedy};
use super::target::{DiagnosisTarget, profile};
use crate::format::kind::SessionFormat;
use crate::request;

/// Diagnoses the body of a request.
pub(super) fn of_request(wire: Wire, body: &[u8], question: &DiagnosisTarget) -> Diagnosis {
    let (transcript, lifted) = photic::lift(wire, body);
    let named = transcript.settings.model.as_ref().map(|model| model.decode().into_owned());
    let profile = profile(SessionFormat::Request(wire), question, named.as_deref());
    let plan = photic::plan(request::survey(&transcript), &profile, &Policy::hands_off());
    let findings = photic::check(&transcript, &lifted, &plan);
    let mut media: Vec<Medium> =
        plan.survey
            .sightings
            .iter()
            .map(|sighting| Medium {
                at: MediaPosition {
                    record: 0,
                    conversation: None,
                    pointer: transcript
                        .position(sighting.media)
                        .map(|at| at.to_string())
                        .unwrap_or_default(),
                },
                media_type: sighting.header.media_type,
                size: sighting.header.size,
                bytes: sighting.wire_bytes as u64,
                is_sent: true,
                is_repeated: sighting.twin.is_some(),
                is_moved: false,
                tokens: sighting.header.size.map_or(0, |(width, height)| {
                    profile.image_tokens(width, height, sighting.detail)
                }),
                ailment: None,
            })
            .collect();
    for finding in &findings {
        if let Some(id) = finding.media {
            let why = finding.code.says().to_owned();
            let remedy = Remedy::Respell;
            media[id.index()].ailment = Some(Problem { code: finding.code, why, remedy });
        }
    }
    Diagnosis {
        format: SessionFormat::Request(wire),
        profile: profile.id.clone(),
        bytes: body.len() as u64,
        records: 1,
        conversations: 1,
        media,
        findings,
        cut_line: None,
        unreadable_lines: Vec::new(),
        session: None,
        profiles: BTreeMap::from([(None, profile.clone())]),
    }
}
