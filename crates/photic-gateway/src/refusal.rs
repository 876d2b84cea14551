//! Requests that are refused before anything of them is read or sent on.

use http::StatusCode;

/// Why a request is refused before anything of it is read or sent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error(transparent)]
    Host(#[from] photic_net::Refused),
    #[error("this method is not served")]
    Method,
    #[error(
        "the path can be read in several ways: write it without `//`, `.` or `..` between slashes, and without `\\`"
    )]
    AmbiguousPath,
    #[error(
        "no upstream is named for this request; name one with `--upstream [WIRE=]URL` or with `[[upstream]]` in the settings"
    )]
    NoUpstream,
    #[error(
        "the key of this request is not of the provider that its path belongs to, and no upstream is named for it; name one with `--upstream [WIRE=]URL` or with `[[upstream]]` in the settings"
    )]
    ForeignKey,
    #[error("the gateway is stopping; try again soon")]
    Stopping,
    #[error("the gateway has as many connections as it takes; try again soon")]
    Full,
}

impl Refusal {
    pub(crate) const fn status(self) -> StatusCode {
        match self {
            Self::Host(photic_net::Refused::InvalidHost) | Self::AmbiguousPath => {
                StatusCode::BAD_REQUEST
            }
            Self::Host(_) => StatusCode::FORBIDDEN,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::NoUpstream | Self::ForeignKey => StatusCode::NOT_FOUND,
            Self::Stopping | Self::Full => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Host(photic_net::Refused::InvalidHost) => "bad_host",
            Self::Host(photic_net::Refused::ForeignHost) => "foreign_host",
            Self::Host(_) => "web_page",
            Self::Method => "method_not_allowed",
            Self::AmbiguousPath => "bad_path",
            Self::NoUpstream | Self::ForeignKey => "no_upstream",
            Self::Stopping => "stopping",
            Self::Full => "no_room",
        }
    }

    /// Whether another time, or another replica, will do.
    pub(crate) const fn retry_helps(self) -> bool {
        matches!(self, Self::Stopping | Self::Full)
    }

    pub(crate) const fn google_status(self) -> &'static str {
        match self {
            Self::Host(photic_net::Refused::InvalidHost) | Self::AmbiguousPath => {
                "INVALID_ARGUMENT"
            }
            Self::Host(_) => "PERMISSION_DENIED",
            Self::Method => "UNIMPLEMENTED",
            Self::NoUpstream | Self::ForeignKey => "NOT_FOUND",
            Self::Stopping | Self::Full => "UNAVAILABLE",
        }
    }

    pub(crate) const fn anthropic_type(self) -> &'static str {
        match self {
            Self::Host(photic_net::Refused::InvalidHost) | Self::AmbiguousPath | Self::Method => {
                "invalid_request_error"
            }
            Self::Host(_) => "permission_error",
            Self::NoUpstream | Self::ForeignKey => "not_found_error",
            Self::Stopping | Self::Full => "overloaded_error",
        }
    }
}
