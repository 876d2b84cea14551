//! The fate of a medium, and the reason for it.

use serde::{Deserialize, Serialize};

use super::{Plan, Recipe};
use crate::transcript::MediaId;

/// The decision about a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "fate", content = "reason", rename_all = "snake_case")]
pub enum Fate {
    /// Shown in its original place.
    Keep(Reason),
    /// Shown in a user turn instead.
    Hoist(Reason),
    /// Not shown in this request, though it could be.
    Elide(Reason),
    /// Never shown to this model in its current form.
    Refuse(Reason),
}

/// The reason for a fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Nothing prevents showing it.
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
    /// The bytes are missing or cannot be read.
    Unreadable,
    /// The type is not accepted.
    TypeNotAccepted,
    /// The source is not accepted.
    SourceNotAccepted,
    /// The host's rules forbid fetching it.
    FetchForbidden,
    /// It could not be fetched.
    FetchFailed,
    /// The fetched file is larger than the host allows.
    FetchTooLarge,
    /// The fetched file is neither a picture nor a document.
    FetchWrongKind,
    /// It exceeds a limit for one medium.
    OverLimit,
    /// One request takes no more media of this kind.
    OverCount,
    /// The request would exceed its maximum size.
    OverBudget,
    /// It was shown in earlier turns, and is left out to save cost.
    Retired,
    /// An identical picture is already in sight.
    Repeated,
    /// It is shown as a cell of a sheet.
    OnSheet,
    /// The conversation is to be summarized.
    Summary,
    /// The user wants it left out.
    Dropped,
    /// The client asks to clear old tool results, and this endpoint cannot do it.
    Cleared,
}

impl Reason {
    /// Returns the stable name, as it is serialized.
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
            Self::Cleared => "cleared",
        }
    }

    /// Returns `true` if a medium gave way to others: the request as a whole has limits, or the
    /// chosen policy retires old media.
    pub const fn gave_way(self) -> bool {
        matches!(self, Self::Retired | Self::OverCount | Self::OverBudget)
    }

    /// Returns the reason in words, for people and models alike.
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
            Self::Cleared => "the client asked to clear old tool results",
        }
    }
}

impl Plan<'_> {
    /// Returns what becomes of a medium, in one word: `keep`, `shrink`, `sheet`, `hoist`, `elide` or
    /// `refuse`.
    pub fn fate_name(&self, id: MediaId) -> &'static str {
        match (self.fates[id], self.recipes.get(&id)) {
            (Fate::Keep(_) | Fate::Hoist(_), Some(Recipe::Sheet { .. })) => "sheet",
            (Fate::Keep(_) | Fate::Hoist(_), Some(Recipe::Fit(_))) => "shrink",
            (Fate::Keep(_), None) => "keep",
            (Fate::Hoist(_), None) => "hoist",
            (Fate::Elide(_), _) => "elide",
            (Fate::Refuse(_), _) => "refuse",
        }
    }
}

impl Fate {
    /// Returns `true` if the model will perceive the medium.
    pub const fn is_shown(self) -> bool {
        matches!(self, Self::Keep(_) | Self::Hoist(_))
    }

    /// Returns the reason for this fate.
    pub const fn reason(self) -> Reason {
        match self {
            Self::Keep(reason)
            | Self::Hoist(reason)
            | Self::Elide(reason)
            | Self::Refuse(reason) => reason,
        }
    }

    /// Returns the reason why a medium of this fate is not shown, or `None` if it is shown.
    pub(super) const fn hidden(self) -> Option<Reason> {
        match self {
            Self::Keep(_) | Self::Hoist(_) => None,
            Self::Elide(reason) | Self::Refuse(reason) => Some(reason),
        }
    }
}
