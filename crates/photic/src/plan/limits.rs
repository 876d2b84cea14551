//! The limits of a request as a whole, checked again on every turn: a picture that was legal for
//! hours becomes illegal when one more arrives.

use super::fate::{Fate, Reason};
use crate::media::MediaKind;
use crate::profile::Profile;
use crate::survey::{Sighting, Slot, Survey};
use crate::transcript::{MediaId, Role};

/// Makes the request fit, and lists what had to give way.
pub(super) fn together(survey: &Survey, profile: &Profile, fates: &mut [Fate]) -> Vec<MediaId> {
    let mut retired = Vec::new();
    let mut retire = |fates: &mut [Fate], id: MediaId, reason: Reason| {
        fates[id] = Fate::Elide(reason);
        retired.push(id);
    };
    let limits = &profile.limits;
    if let Some(most) = limits.images {
        while shown(survey, fates, MediaKind::Image) > most as usize {
            let Some(id) = next_to_go(survey, fates, |sighting| sighting.kind == MediaKind::Image)
            else {
                break;
            };
            retire(fates, id, Reason::OverCount);
        }
    }
    if let Some(most) = limits.documents {
        while shown(survey, fates, MediaKind::Document) > most as usize {
            let Some(id) =
                next_to_go(survey, fates, |sighting| sighting.kind == MediaKind::Document)
            else {
                break;
            };
            retire(fates, id, Reason::OverCount);
        }
    }
    if let Some(crowd) = limits.crowd {
        let counted = |survey: &Survey, fates: &[Fate]| {
            shown(survey, fates, MediaKind::Image)
                + if crowd.counts_documents { shown(survey, fates, MediaKind::Document) } else { 0 }
        };
        let too_large = |sighting: &Sighting| {
            sighting.kind == MediaKind::Image
                && sighting
                    .header
                    .size
                    .is_some_and(|(width, height)| width.max(height) > crowd.edge)
        };
        while counted(survey, fates) > crowd.above as usize {
            let Some(id) = next_to_go(survey, fates, too_large) else { break };
            retire(fates, id, Reason::OverLimit);
        }
    }
    if let Some(most) = limits.request_bytes {
        let size = |survey: &Survey, fates: &[Fate]| {
            survey.other_bytes
                + survey
                    .sightings
                    .iter()
                    .zip(fates)
                    .filter(|(_, fate)| fate.is_shown())
                    // What is written anew brings some words with it.
                    .map(|(sighting, _)| sighting.wire_bytes + 256)
                    .sum::<usize>()
        };
        while size(survey, fates) as u64 > most {
            let Some(id) = next_to_go(survey, fates, |_| true) else { break };
            retire(fates, id, Reason::OverBudget);
        }
    }
    retired
}

fn shown(survey: &Survey, fates: &[Fate], kind: MediaKind) -> usize {
    survey
        .sightings
        .iter()
        .zip(fates)
        .filter(|(sighting, fate)| sighting.kind == kind && fate.is_shown())
        .count()
}

/// The medium that gives way first: what a tool can show again before what a person attached,
/// the oldest before the newest.
fn next_to_go(
    survey: &Survey,
    fates: &[Fate],
    among: impl Fn(&Sighting) -> bool,
) -> Option<MediaId> {
    survey
        .sightings
        .iter()
        .filter(|sighting| fates[sighting.media].is_shown() && among(sighting))
        .min_by_key(|sighting| (sighting.slot == Slot::Message(Role::User), sighting.media))
        .map(|sighting| sighting.media)
}
