//! Refusals: reasons to reject a request before its body is read or sent on.

use http::StatusCode;
use photic::wire::ErrorKind;

/// The reason for which a request is refused before its body is read or sent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error(transparent)]
    Host(#[from] photic_net::Refused),
    #[error("the methods CONNECT and TRACE are not supported")]
    Method,
    #[error(
        "the path is ambiguous; write it without `//`, without `.` or `..` as a segment, and without `\\`"
    )]
    AmbiguousPath,
    #[error(
        "no upstream is configured for this request; add one with `--upstream [WIRE=]URL` or with `[[upstream]]` in the settings"
    )]
    NoUpstream,
    #[error(
        "this gateway serves only models and paths that its settings name; ask for one of `/v1/models`, or add a `[[model]]`, or `models` or `paths` of an `[[upstream]]`"
    )]
    Unmatched,
    #[error(
        "the key of this request belongs to another provider than its path, and no upstream is configured for it; add one with `--upstream [WIRE=]URL` or with `[[upstream]]` in the settings"
    )]
    ForeignKey,
    #[error(
        "the upstream for this request has another API, in which there is no such request; configure an upstream of the client's API with `--upstream WIRE=URL`"
    )]
    OtherApi,
    #[error(
        "the request is signed for another AWS region than the one photic signs for; set `AWS_REGION` to the region of the client for `photic run`"
    )]
    OtherRegion,
    #[error(
        "the request is signed with other AWS credentials than those photic found; set `AWS_PROFILE` to the profile of the client for `photic run`"
    )]
    OtherCredentials,
    #[error("no WebSocket is served at this path; send the request by HTTP")]
    NoSocket,
    #[error("the gateway is stopping; try again in a few seconds")]
    Stopping,
    #[error("the gateway has too many connections; try again in a few seconds")]
    Full,
}

impl Refusal {
    /// Returns the HTTP status.
    pub(crate) const fn status(self) -> StatusCode {
        match self {
            Self::Host(photic_net::Refused::InvalidHost) | Self::AmbiguousPath => {
                StatusCode::BAD_REQUEST
            }
            Self::OtherRegion | Self::OtherCredentials => StatusCode::BAD_REQUEST,
            Self::Host(_) => StatusCode::FORBIDDEN,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::NoUpstream | Self::Unmatched | Self::ForeignKey | Self::OtherApi => {
                StatusCode::NOT_FOUND
            }
            Self::NoSocket => StatusCode::UPGRADE_REQUIRED,
            Self::Stopping | Self::Full => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Returns the stable code, for the header `x-photic-error` and for logs.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Host(photic_net::Refused::InvalidHost) => "bad_host",
            Self::Host(photic_net::Refused::ForeignHost) => "foreign_host",
            Self::Host(_) => "web_page",
            Self::Method => "method_not_allowed",
            Self::AmbiguousPath => "bad_path",
            Self::NoUpstream | Self::ForeignKey => "no_upstream",
            Self::Unmatched => "not_configured",
            Self::OtherApi => "other_api",
            Self::OtherRegion => "other_region",
            Self::OtherCredentials => "other_credentials",
            Self::NoSocket => "no_websocket",
            Self::Stopping => "stopping",
            Self::Full => "no_room",
        }
    }

    /// Returns `true` if a retry may succeed, later or at another replica.
    pub(crate) const fn retry_helps(self) -> bool {
        matches!(self, Self::Stopping | Self::Full)
    }

    /// Returns the kind of error, which each wire has a name for.
    pub(crate) const fn kind(self) -> ErrorKind {
        match self {
            Self::Host(photic_net::Refused::InvalidHost) | Self::AmbiguousPath | Self::NoSocket => {
                ErrorKind::Invalid
            }
            Self::OtherRegion | Self::OtherCredentials => ErrorKind::Invalid,
            Self::Host(_) => ErrorKind::Forbidden,
            Self::Method => ErrorKind::MethodNotAllowed,
            Self::NoUpstream | Self::Unmatched | Self::ForeignKey | Self::OtherApi => {
                ErrorKind::NotFound
            }
            Self::Stopping | Self::Full => ErrorKind::Overloaded,
        }
    }
}
