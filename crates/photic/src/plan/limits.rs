//! The limits of a request as a whole, checked again on every turn: a picture that was legal for
//! hours becomes illegal when one more arrives.

use super::fate::{Fate, Reason};
use crate::media::MediaKind;
use crate::profile::Profile;
use crate::survey::{Sighting, Slot, Survey};
use crate::transcript::{MediaId, Role};

/// What a medium that is written anew brings along in words.
const WORDS: usize = 256;

/// Makes the request fit, and lists what had to give way.
pub(super) fn together(survey: &Survey, profile: &Profile, fates: &mut [Fate]) -> Vec<MediaId> {
    let limits = &profile.limits;
    let mut request = Request::new(survey, fates);
    if let Some(most) = limits.images {
        request.retire(
            Reason::OverCount,
            |sighting| sighting.kind == MediaKind::Image,
            |load| load.images > most as usize,
        );
    }
    if let Some(most) = limits.documents {
        request.retire(
            Reason::OverCount,
            |sighting| sighting.kind == MediaKind::Document,
            |load| load.documents > most as usize,
        );
    }
    if let Some(crowd) = limits.crowd {
        let too_large = |sighting: &Sighting| {
            sighting.kind == MediaKind::Image
                && sighting
                    .header
                    .size
                    .is_some_and(|(width, height)| width.max(height) > crowd.edge)
        };
        request.retire(Reason::OverLimit, too_large, |load| {
            load.images + if crowd.counts_documents { load.documents } else { 0 }
                > crowd.above as usize
        });
    }
    if let Some(most) = limits.request_bytes {
        // Where the words alone are too long, blinding the model helps nobody.
        if survey.other_bytes as u64 <= most {
            request.retire(Reason::OverBudget, |_| true, |load| load.bytes as u64 > most);
        }
    }
    request.retired
}

/// What a request holds so far.
#[derive(Clone, Copy, Debug)]
struct Load {
    images: usize,
    documents: usize,
    bytes: usize,
}

struct Request<'r> {
    survey: &'r Survey,
    fates: &'r mut [Fate],
    /// Everything, in the order in which it gives way.
    order: Vec<MediaId>,
    load: Load,
    retired: Vec<MediaId>,
}

impl<'r> Request<'r> {
    fn new(survey: &'r Survey, fates: &'r mut [Fate]) -> Self {
        let mut load = Load { images: 0, documents: 0, bytes: survey.other_bytes };
        for (sighting, _) in
            survey.sightings.iter().zip(&*fates).filter(|(_, fate)| fate.is_shown())
        {
            load.images += usize::from(sighting.kind == MediaKind::Image);
            load.documents += usize::from(sighting.kind == MediaKind::Document);
            load.bytes += sighting.wire_bytes + WORDS;
        }
        let mut order: Vec<MediaId> = (0..survey.sightings.len()).collect();
        order.sort_by_key(|&id| gives_way(&survey.sightings[id], survey.current_turn));
        Self { survey, fates, order, load, retired: Vec::new() }
    }

    /// Retires what qualifies, in order, for as long as there is too much.
    fn retire(
        &mut self,
        reason: Reason,
        qualifies: impl Fn(&Sighting) -> bool,
        too_much: impl Fn(Load) -> bool,
    ) {
        for &id in &self.order {
            if !too_much(self.load) {
                return;
            }
            let sighting = &self.survey.sightings[id];
            if !self.fates[id].is_shown() || !qualifies(sighting) {
                continue;
            }
            self.fates[id] = Fate::Elide(reason);
            self.retired.push(id);
            self.load.images -= usize::from(sighting.kind == MediaKind::Image);
            self.load.documents -= usize::from(sighting.kind == MediaKind::Document);
            self.load.bytes -= sighting.wire_bytes + WORDS;
        }
    }
}

/// What a tool can show again goes before what a person attached, the oldest before the newest;
/// what was made in the current turn goes last: it is what the model just asked for.
fn gives_way(sighting: &Sighting, current_turn: usize) -> (bool, bool, MediaId) {
    let attached = sighting.slot == Slot::Message(Role::User);
    (sighting.message >= current_turn && !attached, attached, sighting.media)
}
