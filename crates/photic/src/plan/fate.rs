//! The fate of one sighting by itself, before the request as a whole is weighed.

use serde::{Deserialize, Serialize};

use super::recipe::{Fit, Recipe};
use super::{Choice, Plan, Policy, Purpose};
use crate::media::{Found, HEADER_LOOK, MediaKind, Spelled};
use crate::profile::{
    self, AudioPart, Capability, DocumentPart, ErrorResults, ImageAddress, Placement, Profile,
};
use crate::survey::{Sighting, Slot};
use crate::transcript::{MediaId, Role};
use crate::wire::Wire;

/// What becomes of a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "fate", content = "reason", rename_all = "snake_case")]
pub enum Fate {
    /// Shown where it stands.
    Keep(Reason),
    /// Shown in a user turn instead.
    Hoist(Reason),
    /// Not shown in this request; it could be.
    Elide(Reason),
    /// Never to be shown to this model as it is.
    Refuse(Reason),
}

/// Why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Nothing speaks against it.
    Fits,
    /// A tool result has no slot for it.
    ResultSlot,
    /// An error result holds text only.
    ErrorResult,
    /// The role holds text only.
    RoleForbids,
    /// The model does not perceive such media.
    NoSight,
    /// No placement carries it.
    NoSlot,
    /// The bytes are not what they should be.
    Unreadable,
    /// The type is not accepted.
    TypeNotAccepted,
    /// The source is not accepted.
    SourceNotAccepted,
    /// The rules of the host forbid to fetch it.
    FetchForbidden,
    /// It could not be fetched.
    FetchFailed,
    /// What was fetched is larger than the host allows.
    FetchTooLarge,
    /// What was fetched is nothing to look at.
    FetchWrongKind,
    /// Past a limit for one medium.
    OverLimit,
    /// Past the number for one request.
    OverCount,
    /// Past the size of one request.
    OverBudget,
    /// Shown in earlier turns, and left out since to save cost.
    Retired,
    /// The very same picture is in sight already.
    Repeated,
    /// Shown as a cell of a sheet.
    OnSheet,
    /// The conversation is to be summarized.
    Summary,
    /// The user wants it left out.
    Dropped,
}

impl Reason {
    /// The stable name, as it is serialized.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::ResultSlot => "result_slot",
            Self::ErrorResult => "error_result",
            Self::RoleForbids => "role_forbids",
            Self::NoSight => "no_sight",
            Self::NoSlot => "no_slot",
            Self::Unreadable => "unreadable",
            Self::TypeNotAccepted => "type_not_accepted",
            Self::SourceNotAccepted => "source_not_accepted",
            Self::FetchForbidden => "fetch_forbidden",
            Self::FetchFailed => "fetch_failed",
            Self::FetchTooLarge => "fetch_too_large",
            Self::FetchWrongKind => "fetch_wrong_kind",
            Self::OverLimit => "over_limit",
            Self::OverCount => "over_count",
            Self::OverBudget => "over_budget",
            Self::Retired => "retired",
            Self::Repeated => "repeated",
            Self::OnSheet => "on_sheet",
            Self::Summary => "summary",
            Self::Dropped => "dropped",
        }
    }

    /// Whether a medium gave way to others: the request as a whole has limits, or a policy that
    /// somebody chose retires what is old.
    pub const fn gave_way(self) -> bool {
        matches!(self, Self::Retired | Self::OverCount | Self::OverBudget)
    }

    /// In words, for people and models alike.
    pub const fn says(self) -> &'static str {
        match self {
            Self::Fits => "it is shown",
            Self::ResultSlot => "a tool result has no place for it",
            Self::ErrorResult => "an error result holds text only",
            Self::RoleForbids => "this role holds text only",
            Self::NoSight => "this model cannot take it in",
            Self::NoSlot => "this endpoint has no place for it",
            Self::Unreadable => "its bytes could not be read",
            Self::TypeNotAccepted => "this endpoint does not accept its type",
            Self::SourceNotAccepted => "this endpoint cannot reach where it is stored",
            Self::FetchForbidden => "its address may not be fetched",
            Self::FetchFailed => "it could not be fetched from its address",
            Self::FetchTooLarge => "the file at its address is too large to be fetched",
            Self::FetchWrongKind => "there is no picture or document at its address",
            Self::OverLimit => "it is larger than this endpoint accepts",
            Self::OverCount => "this endpoint accepts no more of them in one request",
            Self::OverBudget => "the request would be larger than this endpoint accepts",
            Self::Retired => "it was left out to save cost",
            Self::Repeated => "it is the same picture as one that is shown above",
            Self::OnSheet => "it is shown as part of a sheet",
            Self::Summary => "pictures are left out of a summary",
            Self::Dropped => "the user chose to leave it out",
        }
    }
}

impl Fate {
    /// Whether the model will perceive it.
    pub const fn is_shown(self) -> bool {
        matches!(self, Self::Keep(_) | Self::Hoist(_))
    }

    /// Why.
    pub const fn reason(self) -> Reason {
        match self {
            Self::Keep(reason)
            | Self::Hoist(reason)
            | Self::Elide(reason)
            | Self::Refuse(reason) => reason,
        }
    }
}

/// The fate of a sighting, were it the only one, and what is to be made of it first.
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
    // A slot that takes nothing but a screenshot cannot hold a notice either.
    if same_wire && matches!(sighting.slot, Slot::Result { screen: true, .. }) {
        return (Fate::Keep(Reason::Fits), recipe);
    }
    // What code reads is nothing that the model sees or pays for.
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
            // Nothing may stand beside the results.
            Fate::Hoist(reason) if same_wire && sighting.alone => (Fate::Elide(reason), None),
            fate => (fate, recipe),
        },
    }
}

/// Whether another picture made from this one could be accepted.
fn can_be_made(sighting: &Sighting, reason: Reason) -> bool {
    matches!(reason, Reason::OverLimit | Reason::TypeNotAccepted)
        && sighting.kind == MediaKind::Image
        && sighting.header.size.is_some()
}

/// Why the medium itself cannot be sent.
fn unacceptable(sighting: &Sighting, same_wire: bool, profile: &Profile) -> Option<Reason> {
    if sighting.withheld.is_some() {
        return sighting.withheld;
    }
    // A server may open paths on its own machine. What a tool returned is no path of the client's.
    let is_clients =
        matches!(sighting.slot, Slot::Message(Role::User | Role::System | Role::Developer));
    let opens_paths = profile.quirks.local_paths != Capability::No;
    if same_wire && sighting.is_local && is_clients && opens_paths {
        return None;
    }
    // What is no picture is between the client and its provider, unless a limit is known that
    // would have the whole request rejected.
    let is_theirs = same_wire && sighting.kind != MediaKind::Image;
    let Some(source) = sighting.source else {
        return match (sighting.has_address, is_theirs) {
            (true, true) => None,
            (true, false) => Some(Reason::SourceNotAccepted),
            (false, _) => Some(Reason::Unreadable),
        };
    };
    // A file id means something only to the provider that gave it. The sources of a profile are
    // those of images; documents have slots of their own.
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
        // Behind more metadata than is looked through; the provider will find it.
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

/// Where an acceptable medium goes.
pub(crate) fn placed(sighting: &Sighting, profile: &Profile) -> Fate {
    match sighting.slot {
        // Words stay in the result they are part of: in a user turn they would gain authority.
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
    /// Whether a medium must be written anew even where it stands: the way it came is not
    /// sendable, or another picture is sent instead.
    pub(crate) fn rewrites(&self, id: MediaId) -> bool {
        let sighting = &self.survey.sightings[id];
        sighting.mislabeled
            || sighting.found != Found::Typed
            || self.recipes.contains_key(&id)
            || self.respells(id)
    }

    /// Whether the part of a medium is spelled in a way that this endpoint does not read.
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
