//! Chooses the fate of each sighting by itself, before the limits of the whole request apply.

use super::fate::{Fate, Reason};
use super::recipe::{Fit, Recipe};
use super::{Choice, Plan, Policy, Purpose};
use crate::media::{Found, HEADER_LOOK, MediaKind, Spelled};
use crate::profile::{
    self, AudioPart, Capability, DocumentPart, ErrorResults, ImageAddress, Placement, Profile,
};
use crate::survey::{Sighting, Slot};
use crate::transcript::{MediaId, Role};
use crate::wire::Wire;

/// Returns the fate that a sighting would have if it were the only one, and the recipe to apply
/// before it is sent.
pub(super) fn alone(
    sighting: &Sighting,
    from: Option<Wire>,
    profile: &Profile,
    policy: &Policy,
) -> (Fate, Option<Recipe>) {
    let same_wire = from == Some(profile.wire);
    let choice = policy.choice(sighting);
    let problem = unacceptable(sighting, same_wire, profile);
    let smaller = choice.and_then(|choice| choice.edge(sighting)).filter(|_| problem.is_none());
    let can_be_made = problem.is_none_or(|reason| can_be_made(sighting, reason));
    let recipe = (policy.pixels && can_be_made && (problem.is_some() || smaller.is_some()))
        .then(|| Recipe::Fit(Fit::within(&profile.limits, profile.types(MediaKind::Image))));
    let recipe =
        recipe.map(|recipe| recipe.no_larger_than(choice.and_then(|one| one.edge(sighting))));
    if policy.purpose == Purpose::Summarize {
        return (Fate::Elide(Reason::Summary), None);
    }
    // A slot that takes only a screenshot cannot hold a notice either.
    if same_wire && matches!(sighting.slot, Slot::Result { screen: true, .. }) {
        return (Fate::Keep(Reason::Fits), recipe);
    }
    // The model neither sees nor pays for media that only code reads.
    if same_wire && sighting.for_code {
        let fails = matches!(sighting.slot, Slot::Result { error: true, .. });
        let text_only = profile.placement.error_results == ErrorResults::TextOnly;
        let is_refused = fails && text_only;
        let fate =
            if is_refused { Fate::Elide(Reason::ErrorResult) } else { Fate::Keep(Reason::Fits) };
        return (fate, None);
    }
    if choice == Some(Choice::Drop) {
        return (Fate::Elide(Reason::Dropped), None);
    }
    if profile.sees(sighting.kind) == Capability::No {
        return (Fate::Elide(Reason::NoSight), None);
    }
    match problem {
        Some(reason) if recipe.is_none() => (Fate::Refuse(reason), None),
        _ => match placed(sighting, profile) {
            // The wire allows nothing beside the results.
            Fate::Hoist(reason) if same_wire && sighting.alone => (Fate::Elide(reason), None),
            fate => (fate, recipe),
        },
    }
}

/// Returns `true` if a picture made from this one could be accepted.
fn can_be_made(sighting: &Sighting, reason: Reason) -> bool {
    matches!(reason, Reason::OverLimit | Reason::TypeNotAccepted)
        && sighting.kind == MediaKind::Image
        && sighting.header.size.is_some()
}

/// Returns the reason why the medium itself cannot be sent, if there is one.
fn unacceptable(sighting: &Sighting, same_wire: bool, profile: &Profile) -> Option<Reason> {
    if sighting.withheld.is_some() {
        return sighting.withheld;
    }
    // A server may open paths on its own machine. A path that a tool returned is not the client's.
    let is_clients =
        matches!(sighting.slot, Slot::Message(Role::User | Role::System | Role::Developer));
    let opens_paths = profile.quirks.local_paths != Capability::No;
    if same_wire && sighting.is_local && is_clients && opens_paths {
        return None;
    }
    // Media other than pictures are left to the client and its provider. The exception is a known
    // limit, because the provider would reject the whole request.
    let is_theirs = same_wire && sighting.kind != MediaKind::Image;
    let Some(source) = sighting.source else {
        return match (sighting.has_address, is_theirs) {
            (true, true) => None,
            (true, false) => Some(Reason::SourceNotAccepted),
            (false, _) => Some(Reason::Unreadable),
        };
    };
    // A file id is valid only for the provider that issued it. The sources of a profile apply to
    // images only; documents have their own slots.
    let foreign = source == profile::Source::File && !same_wire;
    if foreign || (sighting.kind == MediaKind::Image && !profile.accepts_source(source)) {
        return Some(Reason::SourceNotAccepted);
    }
    if source != profile::Source::Data {
        return None;
    }
    match sighting.kind {
        MediaKind::Image => image_unacceptable(sighting, profile),
        MediaKind::Document | MediaKind::Audio => {
            let media_type = sighting.header.media_type.or(sighting.declared.as_deref());
            let too_large = sighting.kind == MediaKind::Document
                && profile
                    .limits
                    .document_bytes
                    .is_some_and(|most| sighting.header.bytes as u64 > most);
            if too_large {
                return Some(Reason::OverLimit);
            }
            let accepted = media_type.is_none_or(|name| {
                is_theirs || name == "text/plain" || profile.accepts_type(sighting.kind, name)
            });
            (!accepted).then_some(Reason::TypeNotAccepted)
        }
    }
}

fn image_unacceptable(sighting: &Sighting, profile: &Profile) -> Option<Reason> {
    let header = &sighting.header;
    let media_type = header.media_type.filter(|name| name.starts_with("image/"));
    let Some(media_type) = media_type else {
        return Some(Reason::Unreadable);
    };
    if !profile.accepts_type(MediaKind::Image, media_type) {
        return Some(Reason::TypeNotAccepted);
    }
    match header.size {
        Some((width, height)) => {
            over_limit(sighting, (width, height), profile).then_some(Reason::OverLimit)
        }
        // The size lies behind more metadata than is scanned; the provider will find it.
        None if header.bytes > HEADER_LOOK => None,
        None => Some(Reason::Unreadable),
    }
}

fn over_limit(sighting: &Sighting, (width, height): (u32, u32), profile: &Profile) -> bool {
    let limits = &profile.limits;
    let past = |limit: Option<u64>, value: u64| limit.is_some_and(|limit| value > limit);
    // Patches are counted after the provider's own resize.
    let seen = profile.seen(width, height, sighting.detail);
    let patches = u64::from(seen.width.div_ceil(32)) * u64::from(seen.height.div_ceil(32));
    past(limits.image_base64_bytes, sighting.wire_bytes as u64)
        || past(limits.image_raw_bytes, sighting.header.bytes as u64)
        || past(limits.edge.map(u64::from), u64::from(width.max(height)))
        || past(limits.patches.map(u64::from), patches)
        || limits.min_edge.is_some_and(|least| width.min(height) < least)
}

/// Returns the fate of an acceptable medium: where the endpoint has a place for it, if anywhere.
pub(crate) fn placed(sighting: &Sighting, profile: &Profile) -> Fate {
    match sighting.slot {
        // Text stays in the tool result it is part of: in a user turn it would gain authority.
        Slot::Result { .. } if sighting.header.media_type == Some("text/plain") => {
            Fate::Keep(Reason::Fits)
        }
        Slot::Result { error, .. } => match profile.placement(sighting.kind) {
            Placement::Native
                if error && profile.placement.error_results == ErrorResults::TextOnly =>
            {
                Fate::Hoist(Reason::ErrorResult)
            }
            Placement::Native if sighting.words_only => Fate::Hoist(Reason::ResultSlot),
            Placement::Native => Fate::Keep(Reason::Fits),
            Placement::UserAfterTools | Placement::SiblingSameTurn | Placement::AssistantBridge => {
                Fate::Hoist(Reason::ResultSlot)
            }
            Placement::TextOnly => Fate::Elide(Reason::NoSlot),
        },
        Slot::Message(role) => {
            let holder = match role {
                Role::System => profile::Role::System,
                Role::Developer => profile::Role::Developer,
                Role::Assistant => profile::Role::Assistant,
                Role::User | Role::Tool | Role::Unknown => profile::Role::User,
            };
            if holder == profile::Role::User || profile.holds_images(holder) {
                Fate::Keep(Reason::Fits)
            } else {
                Fate::Hoist(Reason::RoleForbids)
            }
        }
    }
}

impl Plan<'_> {
    /// Returns `true` if the part of a medium must be rewritten even if it stays in place: it
    /// cannot be sent as it came, or another picture is sent instead.
    pub(crate) fn rewrites(&self, id: MediaId) -> bool {
        let sighting = &self.survey.sightings[id];
        sighting.mislabeled
            || sighting.found != Found::Typed
            || self.recipes.contains_key(&id)
            || self.respells(id)
    }

    /// Returns `true` if the part of a medium has a spelling that this endpoint does not read.
    pub(crate) fn respells(&self, id: MediaId) -> bool {
        let Sighting { kind, spelled, found, .. } = &self.survey.sightings[id];
        let quirks = &self.profile.quirks;
        self.survey.wire == Some(self.profile.wire)
            && match (kind, spelled) {
                (MediaKind::Image, Spelled::Short) => quirks.image_address == ImageAddress::Object,
                (MediaKind::Document, Spelled::InFull) => {
                    quirks.document_part == DocumentPart::DocumentUrl
                }
                (MediaKind::Audio, Spelled::InFull) => quirks.audio_part == AudioPart::String,
                (MediaKind::Image, Spelled::InFull)
                | (MediaKind::Document | MediaKind::Audio, Spelled::Short) => false,
            }
            && matches!(found, Found::Typed | Found::Mended)
    }
}
