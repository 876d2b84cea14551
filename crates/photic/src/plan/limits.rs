//! The limits of a request as a whole, checked again on every turn: a picture that was legal for
//! hours becomes illegal when one more arrives.

use super::Plan;
use super::fate::{Fate, Reason};
use crate::media::MediaKind;
use crate::profile::Profile;
use crate::survey::{Sighting, Slot, Survey};
use crate::transcript::{MediaId, Role};

/// What stands in place of a medium that is not shown takes about so much.
const NOTICE: usize = 200;

/// Makes the request hold no more media than it may, and lists what had to give way.
pub(super) fn together(survey: &Survey, profile: &Profile, fates: &mut [Fate]) -> Vec<MediaId> {
    let limits = &profile.limits;
    let mut request = Request::new(survey, fates);
    if let Some(most) = limits.images {
        let is_image = |sighting: &Sighting| sighting.kind == MediaKind::Image;
        request.retire(Reason::OverCount, is_image, |load| load.images > most as usize);
    }
    if let Some(most) = limits.documents {
        let is_document = |sighting: &Sighting| sighting.kind == MediaKind::Document;
        request.retire(Reason::OverCount, is_document, |load| load.documents > most as usize);
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
            let documents = if crowd.counts_documents { load.documents } else { 0 };
            load.images + documents > crowd.above as usize
        });
    }
    request.retired
}

/// Retires media until a body that was written has lost so many bytes; what had to give way.
///
/// Only the written body tells its size, so this is asked by whoever wrote it.
pub(crate) fn shed(plan: &mut Plan, excess: usize) -> Vec<MediaId> {
    let mut retired = Vec::new();
    let mut saved = 0;
    for id in order(&plan.survey) {
        let bytes = plan.survey.sightings[id].wire_bytes;
        if saved >= excess {
            break;
        }
        // A notice in place of something as small would only make the body longer.
        if plan.fates[id].is_shown() && bytes > NOTICE {
            plan.fates[id] = Fate::Elide(Reason::OverBudget);
            saved += bytes - NOTICE;
            retired.push(id);
        }
    }
    retired
}

/// What a request holds so far.
#[derive(Clone, Copy, Debug)]
struct Load {
    images: usize,
    documents: usize,
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
        let shown = |kind: MediaKind| {
            let pairs = survey.sightings.iter().zip(&*fates);
            pairs.filter(|(sighting, fate)| sighting.kind == kind && fate.is_shown()).count()
        };
        let load = Load { images: shown(MediaKind::Image), documents: shown(MediaKind::Document) };
        Self { survey, fates, order: order(survey), load, retired: Vec::new() }
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
        }
    }
}

/// The order in which media give way: what a tool can show again before what a person attached,
/// the oldest before the newest; what was made in the current turn goes last, for it is what the
/// model just asked for.
fn order(survey: &Survey) -> Vec<MediaId> {
    let mut order: Vec<MediaId> = (0..survey.sightings.len()).collect();
    order.sort_by_key(|&id| {
        let sighting = &survey.sightings[id];
        let attached = sighting.slot == Slot::Message(Role::User);
        (sighting.message >= survey.current_turn && !attached, attached, id)
    });
    order
}
