//! What went wrong between a caller and an upstream, told in the envelope of the caller's wire.
//!
//! Says whose side failed and whether to try again; never holds a body, a key or an address that
//! the operator did not write.

use http::header::{self, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use photic::Wire;
use photic::retention::Retention;
use photic::wire::{ErrorKind, ErrorWords};
use photic_fleet::QuotaExceeded;

use crate::refusal::Refusal;
use crate::reply::ReplyBody;

/// The code of a failure of our own; a provider's error has none.
const ERROR: HeaderName = HeaderName::from_static("x-photic-error");
/// Both providers' SDKs obey it.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// Why a request got no answer from a provider.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("the request body is larger than {} MiB, the limit of this gateway", .limit >> 20)]
    TooLarge { limit: u64 },
    #[error("the request body did not arrive in time")]
    SlowBody,
    #[error("the request body broke off")]
    BodyBrokeOff,
    #[error(
        "the header `x-photic-policy` names no policy; one of {} is wanted",
        Retention::NAMES.join(", ")
    )]
    UnknownPolicy,
    #[error("the path cannot be joined to the address of the upstream")]
    BadPath,
    #[error("cannot connect to the upstream `{0}`")]
    Unreachable(String),
    #[error("the upstream `{0}` did not answer in time")]
    NoAnswer(String),
    #[error("the upstream `{0}` closed the connection without an answer")]
    Closed(String),
    #[error("the upstream `{0}` answered with more than can be translated")]
    ReplyTooLarge(String),
    #[error(
        "the gateway found no AWS credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE for it, or send a key of Amazon Bedrock"
    )]
    NoCredentials,
    #[error("show a key of your tenant in the header `x-photic-key`; this one does not open")]
    NoKey,
    #[error("keys cannot be looked up at the moment; try again soon")]
    KeysAway,
    #[error("what this request needs from the store cannot be had at the moment; try again soon")]
    StoreAway,
    #[error("the gateway has no room for this request at the moment; try again soon")]
    NoRoom,
    #[error("{0}")]
    OverQuota(QuotaExceeded),
    #[error("this gateway keeps nothing: set `[record] directory` or `[fleet]` for it")]
    NoStore,
    #[error("there is no such picture; its time may be over")]
    NoSuchMedia,
    #[error("this address does not hold, or not any more")]
    NotSigned,
    #[error("only pictures (PNG, JPEG, GIF, WebP and the like) and PDF are taken")]
    NotAPicture,
    #[error("the gateway failed to repair the request")]
    Broken,
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// How long a caller should leave a store alone that is away, in seconds.
const SOON: HeaderValue = HeaderValue::from_static("2");

impl Failure {
    pub(crate) fn of(error: &photic_net::Error, host: &str, limit: u64) -> Self {
        match error {
            photic_net::Error::Connect(_) => Self::Unreachable(host.to_owned()),
            photic_net::Error::Timeout => Self::NoAnswer(host.to_owned()),
            photic_net::Error::TooLarge => Self::TooLarge { limit },
            photic_net::Error::BodyBrokeOff => Self::BodyBrokeOff,
            photic_net::Error::Closed(_) => Self::Closed(host.to_owned()),
        }
    }

    /// The answer to the caller.
    pub(crate) fn render(&self, wire: Wire) -> Response<ReplyBody> {
        let message = format!("photic: {self}");
        let kind = wire.error_word(self.kind());
        let words = ErrorWords::new(self.status().as_u16(), kind, &message);
        let body = wire.error_body(&ErrorWords { code: Some(self.code()), ..words });
        let mut response = Response::new(ReplyBody::whole(body.to_string()));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ERROR, HeaderValue::from_static(self.code()));
        let retry = if self.retry_helps() { "true" } else { "false" };
        headers.insert(SHOULD_RETRY, HeaderValue::from_static(retry));
        match self {
            Self::KeysAway | Self::StoreAway | Self::NoRoom => {
                headers.insert(header::RETRY_AFTER, SOON);
            }
            Self::OverQuota(QuotaExceeded { retry_after: Some(after), .. }) => {
                let seconds = after.as_secs_f64().ceil() as u64;
                headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)));
            }
            Self::Refused(Refusal::NoUpstream | Refusal::ForeignKey) => {}
            // What follows on this connection was not looked at.
            Self::Refused(refusal) => {
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
                if refusal.retry_helps() {
                    headers.insert(header::RETRY_AFTER, SOON);
                }
            }
            _ => {}
        }
        response
    }

    pub(crate) const fn status(&self) -> StatusCode {
        match self {
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::SlowBody => StatusCode::REQUEST_TIMEOUT,
            Self::BodyBrokeOff | Self::BadPath | Self::UnknownPolicy => StatusCode::BAD_REQUEST,
            Self::Unreachable(_) | Self::Closed(_) | Self::ReplyTooLarge(_) => {
                StatusCode::BAD_GATEWAY
            }
            Self::NoAnswer(_) => StatusCode::GATEWAY_TIMEOUT,
            Self::NoCredentials | Self::NoKey => StatusCode::UNAUTHORIZED,
            Self::KeysAway | Self::StoreAway | Self::NoRoom => StatusCode::SERVICE_UNAVAILABLE,
            Self::OverQuota(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::NoStore => StatusCode::NOT_IMPLEMENTED,
            Self::NoSuchMedia => StatusCode::NOT_FOUND,
            Self::NotSigned => StatusCode::FORBIDDEN,
            Self::NotAPicture => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Broken => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Refused(refusal) => refusal.status(),
        }
    }

    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "request_too_large",
            Self::SlowBody => "request_timeout",
            Self::BodyBrokeOff => "request_broke_off",
            Self::BadPath => "bad_path",
            Self::UnknownPolicy => "unknown_policy",
            Self::Unreachable(_) => "upstream_unreachable",
            Self::NoAnswer(_) => "upstream_timeout",
            Self::Closed(_) => "upstream_closed",
            Self::ReplyTooLarge(_) => "upstream_reply_too_large",
            Self::NoCredentials => "no_credentials",
            Self::NoKey => "no_tenant_key",
            Self::KeysAway => "keys_away",
            Self::StoreAway => "store_away",
            Self::NoRoom => "no_room",
            Self::OverQuota(_) => "over_quota",
            Self::NoStore => "no_store",
            Self::NoSuchMedia => "no_such_media",
            Self::NotSigned => "not_signed",
            Self::NotAPicture => "not_a_picture",
            Self::Broken => "internal_error",
            Self::Refused(refusal) => refusal.code(),
        }
    }

    /// Whether the same request might succeed: not where the request itself is to blame.
    const fn retry_helps(&self) -> bool {
        if let Self::Refused(refusal) = self {
            return refusal.retry_helps();
        }
        matches!(
            self,
            Self::SlowBody
                | Self::Unreachable(_)
                | Self::NoAnswer(_)
                | Self::Closed(_)
                | Self::KeysAway
                | Self::StoreAway
                | Self::NoRoom
                | Self::OverQuota(QuotaExceeded { retry_after: Some(_), .. })
        )
    }

    /// The kind of error, which each wire has a word for.
    const fn kind(&self) -> ErrorKind {
        match self {
            Self::TooLarge { .. } => ErrorKind::TooLarge,
            Self::SlowBody => ErrorKind::SlowClient,
            Self::NoAnswer(_) => ErrorKind::SlowProvider,
            Self::BodyBrokeOff | Self::BadPath | Self::UnknownPolicy | Self::NotAPicture => {
                ErrorKind::Invalid
            }
            Self::NoSuchMedia => ErrorKind::NotFound,
            Self::NotSigned => ErrorKind::Forbidden,
            Self::OverQuota(_) => ErrorKind::RateLimited,
            Self::NoCredentials => ErrorKind::NoCredentials,
            Self::NoKey => ErrorKind::Unauthenticated,
            Self::Unreachable(_) | Self::Closed(_) | Self::ReplyTooLarge(_) => {
                ErrorKind::BadGateway
            }
            Self::KeysAway | Self::StoreAway => ErrorKind::Unavailable,
            Self::NoRoom => ErrorKind::Overloaded,
            Self::NoStore => ErrorKind::Unimplemented,
            Self::Broken => ErrorKind::Internal,
            Self::Refused(refusal) => refusal.kind(),
        }
    }
}
