//! Requests that are refused before anything of them is read or sent on.

use http::StatusCode;
use photic::wire::ErrorKind;

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

    /// The kind of error, which each wire has a word for.
    pub(crate) const fn kind(self) -> ErrorKind {
        match self {
            Self::Host(photic_net::Refused::InvalidHost) | Self::AmbiguousPath => {
                ErrorKind::Invalid
            }
            Self::Host(_) => ErrorKind::Forbidden,
            Self::Method => ErrorKind::MethodNotAllowed,
            Self::NoUpstream | Self::ForeignKey => ErrorKind::NotFound,
            Self::Stopping | Self::Full => ErrorKind::Overloaded,
        }
    }
}
