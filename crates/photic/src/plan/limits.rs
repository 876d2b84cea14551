//! Enforces the limits of a request as a whole.
//!
//! They are checked again on every turn: a picture that was legal for hours becomes illegal when
//! one more arrives. Pictures shrink first, then views give way, then the rest share a sheet. What
//! a person attached goes last. Everything that is left out leaves a notice.

use std::collections::BTreeSet;

use super::fate::{Fate, Reason};
use super::recipe::{Fit, Recipe};
use super::retention::{Load, MaxLoad, NOTICE};
use super::{Chosen, Plan, Policy, views};
use crate::media::MediaKind;
use crate::profile::{Profile, Source};
use crate::survey::{Sighting, Slot, Survey};
use crate::tokens::text_tokens;
use crate::transcript::MediaId;

/// A body that is too large loses whole steps. This many steps make up the maximum body.
const STEPS: u64 = 8;

/// Maximum cells of a sheet. With more, none of them can be read.
const MOST_CELLS: usize = 16;

/// Shrinks and retires media until the request is within its limits.
pub(super) fn together(choice: &mut Chosen, survey: &Survey, profile: &Profile, policy: &Policy) {
    views::apply(choice, survey, policy);
    let mut request = Request::new(choice, survey, profile, policy);
    request.lighten();
    request.images();
    request.documents();
    request.crowd();
    // The token count is an estimate. It retires views, but hides nothing that was just shown or
    // that a person attached, unless the host set a budget.
    let tokens = policy.room.tokens;
    let MaxLoad { image_tokens, bytes, .. } = request.room;
    let over = |most: Option<u64>, is: u64| most.is_some_and(|most| is > most);
    request.retire(Reason::OverBudget, is_any, |load| {
        over(image_tokens, load.most_image_tokens()) || over(tokens, load.most_tokens())
    });
    request.retire(Reason::OverBudget, outweighs_notice, |load| over(bytes, load.bytes));
}

/// Retires media until a written body has lost `excess` bytes. Returns the retired media.
///
/// Only the written body has an exact size, so the code that writes it calls this function. It
/// calls again if the notices took too much of what was saved. The saving is rounded up to whole
/// steps: as a conversation grows, the same media are missing until the next step is needed.
pub(crate) fn shed(plan: &mut Plan<'_>, excess: usize) -> Vec<MediaId> {
    let step = plan.profile.limits.request_bytes.map_or(1, |most| most / STEPS);
    let step = usize::try_from(step).unwrap_or(usize::MAX).max(1);
    let excess = excess.div_ceil(step).saturating_mul(step);
    let mut retired = Vec::new();
    let mut saved = 0;
    let (survey, profile) = (&plan.survey, plan.profile);
    let seen = survey.sightings.iter().filter(|one| !survey.is_for_code(one, profile));
    for id in order(seen, &plan.fates, &plan.pinned) {
        let bytes = plan.survey.sightings[id].wire_bytes;
        if saved >= excess {
            break;
        }
        if plan.fates[id].is_shown() && outweighs_notice(&plan.survey.sightings[id]) {
            plan.fates[id] = Fate::Elide(Reason::OverBudget);
            plan.recipes.remove(&id);
            saved += bytes;
            retired.push(id);
        }
    }
    retired
}

struct Request<'r> {
    choice: &'r mut Chosen,
    survey: &'r Survey,
    profile: &'r Profile,
    policy: &'r Policy,
    room: MaxLoad,
    /// All media, in the order in which they give way.
    order: Vec<MediaId>,
}

impl<'r> Request<'r> {
    fn new(
        choice: &'r mut Chosen,
        survey: &'r Survey,
        profile: &'r Profile,
        policy: &'r Policy,
    ) -> Self {
        let pinned = pinned(survey, policy);
        let seen = choice.scope(survey).filter(|one| !survey.is_for_code(one, profile));
        let order = order(seen, &choice.fates, &pinned);
        let room = views::max_load(profile, policy);
        Self { choice, survey, profile, policy, room, order }
    }

    /// Returns the media that are shown, in the order in which they give way.
    fn shown(&self) -> impl Iterator<Item = &'r Sighting> {
        let sightings = &self.survey.sightings;
        self.order
            .iter()
            .filter(|&&id| self.choice.fates[id].is_shown())
            .map(move |&id| &sightings[id])
    }

    fn count(&self, kind: MediaKind) -> usize {
        self.shown().filter(|sighting| sighting.kind == kind).count()
    }

    fn load_of(&self, sighting: &Sighting) -> Load {
        let recipe = self.choice.recipes.get(&sighting.media);
        let mut load = views::load(sighting, recipe, self.profile, &self.room);
        load.spare = 0;
        load
    }

    /// Bounds the bytes of heavy images, if the body was ever too heavy with them.
    fn lighten(&mut self) {
        let Some(share) = views::share(&self.room).filter(|_| self.choice.keeper.is_squeezed())
        else {
            return;
        };
        let heavy: Vec<MediaId> = self
            .shown()
            .filter(|sighting| is_image_data(sighting) && sighting.wire_bytes as u64 > share)
            .map(|sighting| sighting.media)
            .collect();
        for id in heavy {
            let fit = self.fit(id);
            fit.max_base64_bytes = Some(fit.max_base64_bytes.map_or(share, |most| most.min(share)));
        }
    }

    /// Reduces the images to the number that the endpoint takes.
    fn images(&mut self) {
        let Some(most) = self.room.images else { return };
        let too_many = |load: Load| load.images > most;
        if self.policy.pixels && most > 0 {
            let start = self.turn_start();
            let newest = self.order.last().copied();
            let policy = self.policy;
            let is_past = |sighting: &Sighting| {
                is_perceived(sighting)
                    && sighting.message < start
                    && Some(sighting.media) != newest
                    && !policy.pins(sighting)
            };
            self.retire(Reason::OverCount, is_past, too_many);
            self.merge(usize::try_from(most).unwrap_or(usize::MAX));
        }
        self.retire(Reason::OverCount, is_image, too_many);
    }

    /// Returns the first message of the turn that this request ends.
    fn turn_start(&self) -> usize {
        let end = self.choice.end;
        self.survey.requests.iter().rev().find(|&&other| other < end).copied().unwrap_or(0)
    }

    /// Puts the images that are still too many onto one sheet: views first, and as few as possible
    /// of those that a person attached.
    fn merge(&mut self, most: usize) {
        let excess = self.count(MediaKind::Image).saturating_sub(most);
        let members: Vec<&Sighting> =
            self.shown().filter(|sighting| is_image_data(sighting)).collect();
        if excess == 0 || excess >= MOST_CELLS || members.len() <= excess {
            return;
        }
        let (views, attached): (Vec<&Sighting>, Vec<&Sighting>) =
            members.into_iter().partition(|sighting| is_perceived(sighting));
        let mut members: Vec<MediaId> =
            views.into_iter().chain(attached).take(excess + 1).map(|one| one.media).collect();
        members.sort_unstable();
        let Some((&last, others)) = members.split_last() else { return };
        for &id in others {
            self.choice.fates[id] = Fate::Elide(Reason::OnSheet);
            self.choice.recipes.remove(&id);
        }
        let fit = Fit::within(&self.profile.limits, self.profile.types(MediaKind::Image));
        self.choice.recipes.insert(last, Recipe::Sheet { members, fit });
    }

    fn documents(&mut self) {
        self.pages();
        if let Some(most) = self.profile.limits.documents {
            let mut left = self.count(MediaKind::Document).saturating_sub(most as usize);
            let is_document = |sighting: &Sighting| sighting.kind == MediaKind::Document;
            let documents: Vec<MediaId> =
                self.shown().filter(|one| is_document(one)).map(|one| one.media).collect();
            for id in documents {
                if left == 0 {
                    return;
                }
                self.elide(id, Reason::OverCount);
                left -= 1;
            }
        }
    }

    /// Reduces the pages to the number that the endpoint takes, as far as they can be counted.
    fn pages(&mut self) {
        let Some(most) = self.profile.limits.document_pages.map(u64::from) else { return };
        let pages = |one: &Sighting| one.pages.map_or(0, u64::from);
        let documents: Vec<&Sighting> = self.shown().filter(|one| pages(one) > 0).collect();
        let mut left: u64 = documents.iter().map(|one| pages(one)).sum();
        for document in documents {
            if left <= most {
                return;
            }
            left -= pages(document);
            self.elide(document.media, Reason::OverCount);
        }
    }

    /// Shrinks or retires images until a crowd holds no large one.
    fn crowd(&mut self) {
        let Some(crowd) = self.profile.limits.crowd else { return };
        let is_crowd = |load: Load| load.crowd > u64::from(crowd.above);
        if self.choice.keeper.is_crowded() || (self.policy.pixels && is_crowd(self.load())) {
            let large: Vec<MediaId> = self
                .shown()
                .filter(|sighting| is_image_data(sighting) && self.load_of(sighting).large > 0)
                .map(|sighting| sighting.media)
                .collect();
            for id in large {
                let fit = self.fit(id);
                fit.max_edge = Some(fit.max_edge.map_or(crowd.edge, |most| most.min(crowd.edge)));
            }
        }
        let large: BTreeSet<MediaId> = self
            .shown()
            .filter(|sighting| self.load_of(sighting).large > 0)
            .map(|sighting| sighting.media)
            .collect();
        let is_large = |one: &Sighting| large.contains(&one.media);
        let is_wrong = |load: Load| is_crowd(load) && load.large > 0;
        let newest = self.order.last().copied();
        let policy = self.policy;
        let is_old =
            |one: &Sighting| is_perceived(one) && Some(one.media) != newest && !policy.pins(one);
        // Large images go first. If they must stay, the crowd around them is reduced.
        self.retire(Reason::OverLimit, |one| is_old(one) && is_large(one), is_wrong);
        self.retire(Reason::OverCount, |one| is_old(one) && is_image(one), is_wrong);
        self.retire(Reason::OverLimit, |one| !is_perceived(one) && is_large(one), is_wrong);
        self.retire(Reason::OverCount, is_image, is_wrong);
    }

    /// Returns the bounds of an image. Adds a recipe if the image has none.
    fn fit(&mut self, id: MediaId) -> &mut Fit {
        let (limits, types) = (&self.profile.limits, self.profile.types(MediaKind::Image));
        self.choice
            .recipes
            .entry(id)
            .or_insert_with(|| Recipe::Fit(Fit::within(limits, types)))
            .fit_mut()
    }

    /// Returns the load of the request.
    fn load(&self) -> Load {
        let words: usize = self.survey.words[..self.choice.end].iter().sum();
        let words = (words + self.survey.settings) as u64;
        let read_by_code = self.choice.scope(self.survey);
        let read_by_code = read_by_code.filter(|one| self.survey.is_for_code(one, self.profile));
        let unseen: u64 = read_by_code.map(|one| one.wire_bytes as u64).sum();
        let notices = self.order.len() as u64;
        let mut load = Load {
            tokens: text_tokens(words) + NOTICE.0 * notices,
            bytes: words + unseen + NOTICE.1 * notices,
            ..Load::default()
        };
        for sighting in self.shown() {
            load += self.load_of(sighting);
            load.tokens -= NOTICE.0;
            load.bytes -= NOTICE.1;
        }
        load
    }

    /// Retires the media that qualify, in order, as long as there is too much.
    fn retire(
        &mut self,
        reason: Reason,
        qualifies: impl Fn(&Sighting) -> bool,
        too_much: impl Fn(Load) -> bool,
    ) {
        let mut load = self.load();
        let candidates: Vec<&Sighting> = self.shown().filter(|one| qualifies(one)).collect();
        for sighting in candidates {
            if !too_much(load) {
                return;
            }
            load -= self.load_of(sighting);
            load.tokens += NOTICE.0;
            load.bytes += NOTICE.1;
            self.elide(sighting.media, reason);
        }
    }

    fn elide(&mut self, id: MediaId, reason: Reason) {
        self.choice.fates[id] = Fate::Elide(reason);
        self.choice.recipes.remove(&id);
        self.choice.retired.push(id);
    }
}

fn is_image(sighting: &Sighting) -> bool {
    sighting.kind == MediaKind::Image
}

const fn is_any(_: &Sighting) -> bool {
    true
}

/// Returns `true` if a notice in place of the medium makes the body shorter.
const fn outweighs_notice(sighting: &Sighting) -> bool {
    sighting.wire_bytes > NOTICE.1 as usize
}

/// Returns `true` if the pixels are inline and their size is known.
fn is_image_data(sighting: &Sighting) -> bool {
    is_image(sighting) && sighting.source == Some(Source::Data) && sighting.header.size.is_some()
}

const fn is_perceived(sighting: &Sighting) -> bool {
    matches!(sighting.slot, Slot::Result { .. })
}

/// Returns the media that the user pinned.
pub(super) fn pinned(survey: &Survey, policy: &Policy) -> BTreeSet<MediaId> {
    let pinned = survey.sightings.iter().filter(|sighting| policy.pins(sighting));
    pinned.map(|sighting| sighting.media).collect()
}

/// Returns the order in which media give way.
///
/// Media of tool results give way before what a person attached, because a tool can show them
/// again. Older media give way before newer ones, and pinned media after both. The newest view is
/// last, because the model just asked for it.
fn order<'s>(
    sightings: impl Iterator<Item = &'s Sighting>,
    fates: &[Fate],
    pinned: &BTreeSet<MediaId>,
) -> Vec<MediaId> {
    let mut order: Vec<&Sighting> = sightings.collect();
    let is_shown_view =
        |one: &&&Sighting| is_perceived(one) && is_image(one) && fates[one.media].is_shown();
    let newest = order.iter().filter(is_shown_view).map(|one| one.media).max();
    order.sort_by_key(|one| {
        let is_newest = Some(one.media) == newest;
        (is_newest, pinned.contains(&one.media), !is_perceived(one), one.media)
    });
    order.into_iter().map(|one| one.media).collect()
}
