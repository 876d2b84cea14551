//! Failures of requests, rendered in the error format of the client's wire.
//!
//! A failure says which side failed and if a retry helps. It never contains a body, a key, or an
//! address that is not in the settings.

use std::fmt;
use std::time::Duration;

use http::header::{self, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use photic::Wire;
use photic::retention::Retention;
use photic::wire::{ErrorKind, ErrorWords};
use photic_net::ConnectFailure;

use super::refusal::Refusal;
use super::reply_body::ReplyBody;
use crate::memory::NoRoom;

/// The code of a failure of the gateway itself. Errors of providers do not have it.
const ERROR: HeaderName = HeaderName::from_static("x-photic-error");
/// Tells the SDKs of OpenAI and Anthropic if they should retry.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// The reason for which a request got no answer from a provider.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(
        "the request body is larger than the limit of {} MiB; send a smaller one or raise `limits.body_mib`",
        .limit >> 20
    )]
    TooLarge { limit: u64 },
    #[error(
        "the upload is larger than the limit of {} MiB; send a smaller file or raise `limits.upload_mib`",
        .limit >> 20
    )]
    UploadTooLarge { limit: u64 },
    #[error("timed out while waiting for the request body")]
    SlowBody,
    #[error("the connection closed before the whole request body arrived")]
    BodyBrokeOff,
    #[error("the request body is not in the encoding that its header `content-encoding` names")]
    Encoding,
    #[error(
        "the upstream `{0}` replied in a content encoding that was not asked for and is not supported"
    )]
    ReplyEncoding(String),
    #[error(
        "unknown policy in the header `x-photic-policy`; use one of {}",
        Retention::NAMES.join(", ")
    )]
    UnknownPolicy,
    #[error("the request path cannot be appended to the URL of the upstream")]
    BadPath,
    #[error("cannot connect to the upstream `{host}`: {cause}; {}", .cause.hint())]
    Unreachable { host: String, cause: ConnectFailure },
    #[error("the upstream `{0}` did not answer in time")]
    NoAnswer(String),
    #[error("the upstream `{0}` closed the connection without a reply")]
    Closed(String),
    #[error("{0}")]
    Resting(Resting),
    #[error("the reply of the upstream `{0}` is too large to translate")]
    ReplyTooLarge(String),
    #[error(
        "the gateway found no AWS credentials; set `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, or `AWS_PROFILE`, for it, or send an Amazon Bedrock API key"
    )]
    NoCredentials,
    #[error("missing or invalid tenant key; send a valid one in the header `x-photic-key`")]
    NoKey,
    #[error(
        "missing or unknown key of a caller; send the key that the operator of this gateway gave you in the header `x-photic-key`, or as the API key of your client"
    )]
    NoCallerKey,
    #[error("{0}")]
    Token(TokenProblem),
    #[error("the keys of callers cannot be looked up at the moment; try again in a few seconds")]
    KeysAway,
    #[error("{0}")]
    OverBudget(OverBudget),
    #[error(
        "the meters of callers cannot be read or written; try again in a few seconds, and ask the operator to check the file `callers.meters`"
    )]
    MetersAway,
    #[error(
        "this caller may not use the model of this request; use one that matches {models}, or ask the operator of this gateway for it (`models`)"
    )]
    ModelNotAllowed {
        /// The globs of the models that it may use.
        models: String,
    },
    #[error("{0}")]
    NotMetered(NotMetered),
    #[error("the storage that this request needs is unavailable; try again in a few seconds")]
    StoreAway,
    #[error("the gateway has no memory left for this request; try again in a few seconds")]
    NoRoom,
    #[error("{0}")]
    OverQuota(OverQuota),
    #[error("this gateway stores no media; set `[record] directory` or `[fleet]` in its settings")]
    NoStore,
    #[error("no such image; it may have expired")]
    NoSuchMedia,
    #[error("no such model; `GET /v1/models` lists those of this gateway")]
    NoSuchModel,
    #[error("the signature of this address is invalid or has expired")]
    NotSigned,
    #[error("unsupported media type; send an image (PNG, JPEG, GIF, WebP and similar) or a PDF")]
    NotAPicture,
    #[error("{0}")]
    HalfRequest(HalfRequest),
    #[error("internal error; the gateway failed to repair the request")]
    Broken,
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// A request for an upstream of another wire continues a conversation that its provider keeps.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{field}` continues a conversation that the provider of the request keeps, but the upstream for its model speaks another API (`{to}`) and does not have that conversation; send the whole history without `{field}`"
)]
pub(crate) struct HalfRequest {
    /// The field that refers to the conversation.
    pub(crate) field: String,
    /// The provider's own code for it.
    pub(crate) refused_as: Option<&'static str>,
    /// The wire of the upstream.
    pub(crate) to: Wire,
}

/// All upstreams of a model asked for a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "every upstream for this model asked for fewer requests; try again in {seconds} seconds, or add an upstream to its `[[model]]`"
)]
pub(crate) struct Resting {
    /// The time until the first of them may be asked again.
    pub(crate) seconds: u64,
}

/// A tenant has used up a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tenant's limit of {quota} is reached")]
pub(crate) struct OverQuota {
    /// The name of the quota.
    pub(crate) quota: &'static str,
    /// The time after which another try may succeed. `None` if the request is larger than the limit.
    pub(crate) retry_after: Option<Duration>,
}

/// A caller has reached one of its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OverBudget {
    /// The limit in words.
    pub(crate) limit: &'static str,
    /// The field of a caller that sets it.
    pub(crate) field: &'static str,
    pub(crate) retry_after: Duration,
    /// Set if running requests may use up the rest.
    pub(crate) is_reserved: bool,
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, field, retry_after, is_reserved } = self;
        if *is_reserved {
            write!(f, "running requests may use up this caller's limit of {limit}")?;
        } else {
            write!(f, "this caller's limit of {limit} is reached")?;
        }
        let seconds = retry_after.as_secs();
        write!(
            f,
            "; try again in {seconds} seconds, or ask the operator of this gateway for a higher \
             limit (`{field}`)"
        )
    }
}

/// The reason for which a token is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TokenProblem {
    #[error("the token has expired; request a new one from your identity provider")]
    Expired,
    #[error("the token is not valid yet; check the clock of its issuer")]
    Early,
    #[error(
        "the token is for another audience or of another issuer; request one for this gateway (`oidc.audience`)"
    )]
    Foreign,
    #[error(
        "the signature algorithm of the token is not accepted; sign tokens with one of `oidc.algorithms`"
    )]
    Algorithm,
    #[error("the token is not signed by a key of its issuer; request a new one")]
    Forged,
    #[error(
        "the token cannot be read, or lacks the name of the caller; it needs `exp`, `iss`, `aud`, and the claim that `oidc.name_claim` names"
    )]
    Unreadable,
}

/// The reason for which a caller with limits may not send a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotMetered {
    #[error(
        "this caller has a budget or a list of models, and the gateway does not read such requests; send a request of a conversation, without `x-photic-off`"
    )]
    Unread,
    #[error(
        "this caller has a budget, and the cost of a batch is not known when it is sent; send its turns one by one"
    )]
    Batch,
    #[error(
        "this caller has a budget in dollars, and the model has no list price; use another model, or ask the operator for a budget in tokens (`tokens_per_day`)"
    )]
    NoPrice,
}

impl OverQuota {
    /// The name of the quota of stored bytes.
    pub(crate) const STORED_BYTES: &'static str = "stored_bytes";
}

impl From<NoRoom> for Failure {
    fn from(NoRoom: NoRoom) -> Self {
        Self::NoRoom
    }
}

/// Seconds after which a caller may try again when the store or memory was not available.
const SOON: HeaderValue = HeaderValue::from_static("2");

impl Failure {
    /// Returns the failure for an error of the HTTP client, while sending to `host`.
    pub(crate) fn of(error: &photic_net::Error, host: &str, limit: u64) -> Self {
        match error {
            photic_net::Error::Connect { failure, .. } => {
                Self::Unreachable { host: host.to_owned(), cause: *failure }
            }
            photic_net::Error::Timeout => Self::NoAnswer(host.to_owned()),
            photic_net::Error::TooLarge => Self::TooLarge { limit },
            photic_net::Error::BodyBrokeOff => Self::BodyBrokeOff,
            photic_net::Error::Closed(_) => Self::Closed(host.to_owned()),
        }
    }

    /// Renders the answer to the client, in the error format of its wire.
    pub(crate) fn render(&self, wire: Wire) -> Response<ReplyBody> {
        let mut response = Response::new(ReplyBody::whole(self.error_body(wire).to_string()));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ERROR, HeaderValue::from_static(self.code()));
        let retry = if self.retry_helps() { "true" } else { "false" };
        headers.insert(SHOULD_RETRY, HeaderValue::from_static(retry));
        match self {
            Self::KeysAway | Self::StoreAway | Self::MetersAway | Self::NoRoom => {
                headers.insert(header::RETRY_AFTER, SOON);
            }
            Self::OverBudget(OverBudget { retry_after, .. }) => {
                let seconds = retry_after.as_secs().max(1);
                headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            }
            // RFC 6750, section 3.
            Self::NoCallerKey => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Self::Token(_) => {
                let wrong = HeaderValue::from_static("Bearer error=\"invalid_token\"");
                headers.insert(header::WWW_AUTHENTICATE, wrong);
            }
            Self::OverQuota(OverQuota { retry_after: Some(after), .. }) => {
                let seconds = after.as_secs_f64().ceil() as u64;
                headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)));
            }
            Self::Resting(rest) => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(rest.seconds.max(1)));
            }
            Self::Refused(
                Refusal::NoUpstream | Refusal::Unmatched | Refusal::ForeignKey | Refusal::OtherApi,
            ) => {}
            // A reply of 426 names the protocol to use instead (RFC 9110, section 15.5.22). The
            // connection stays open for it.
            Self::Refused(Refusal::NoSocket) => {
                headers.insert(header::UPGRADE, HeaderValue::from_static("HTTP/1.1"));
                headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
            }
            // The body of a refused request was not read, so the connection cannot be used again.
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

    /// Returns the body of the answer, in the error format of a wire.
    pub(crate) fn error_body(&self, wire: Wire) -> serde_json::Value {
        let message = format!("photic: {self}");
        let kind = wire.error_word(self.kind());
        let words = ErrorWords::new(self.status().as_u16(), kind, &message);
        let words = ErrorWords { code: Some(self.code()), ..words };
        wire.error_body(&match self {
            Self::HalfRequest(half) => ErrorWords {
                code: half.refused_as.or(words.code),
                param: Some(&half.field),
                detail: half.refused_as.or(words.code),
                ..words
            },
            _ => words,
        })
    }

    /// Returns the HTTP status.
    pub(crate) const fn status(&self) -> StatusCode {
        match self {
            Self::TooLarge { .. } | Self::UploadTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::SlowBody => StatusCode::REQUEST_TIMEOUT,
            Self::BodyBrokeOff
            | Self::Encoding
            | Self::BadPath
            | Self::UnknownPolicy
            | Self::HalfRequest(_) => StatusCode::BAD_REQUEST,
            Self::Unreachable { .. }
            | Self::Closed(_)
            | Self::ReplyTooLarge(_)
            | Self::ReplyEncoding(_) => StatusCode::BAD_GATEWAY,
            Self::NoAnswer(_) => StatusCode::GATEWAY_TIMEOUT,
            Self::NoCredentials | Self::NoKey | Self::NoCallerKey | Self::Token(_) => {
                StatusCode::UNAUTHORIZED
            }
            Self::KeysAway | Self::StoreAway | Self::MetersAway | Self::NoRoom => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Self::OverQuota(_) | Self::OverBudget(_) | Self::Resting(_) => {
                StatusCode::TOO_MANY_REQUESTS
            }
            Self::NotSigned | Self::ModelNotAllowed { .. } | Self::NotMetered(_) => {
                StatusCode::FORBIDDEN
            }
            Self::NoStore => StatusCode::NOT_IMPLEMENTED,
            Self::NoSuchMedia | Self::NoSuchModel => StatusCode::NOT_FOUND,
            Self::NotAPicture => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Broken => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Refused(refusal) => refusal.status(),
        }
    }

    /// Returns the stable code, for the header `x-photic-error` and for logs.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "request_too_large",
            Self::UploadTooLarge { .. } => "upload_too_large",
            Self::SlowBody => "request_timeout",
            Self::BodyBrokeOff => "request_broke_off",
            Self::Encoding => "bad_encoding",
            Self::ReplyEncoding(_) => "upstream_reply_encoding",
            Self::BadPath => "bad_path",
            Self::UnknownPolicy => "unknown_policy",
            Self::Unreachable { .. } => "upstream_unreachable",
            Self::NoAnswer(_) => "upstream_timeout",
            Self::Closed(_) => "upstream_closed",
            Self::Resting(_) => "upstreams_resting",
            Self::ReplyTooLarge(_) => "upstream_reply_too_large",
            Self::NoCredentials => "no_credentials",
            Self::NoKey => "no_tenant_key",
            Self::NoCallerKey => "no_caller_key",
            Self::Token(TokenProblem::Expired) => "token_expired",
            Self::Token(_) => "token_refused",
            Self::OverBudget(OverBudget { is_reserved: true, .. }) => "budget_reserved",
            Self::OverBudget(_) => "over_budget",
            Self::MetersAway => "meters_away",
            Self::ModelNotAllowed { .. } => "model_not_allowed",
            Self::NotMetered(_) => "not_metered",
            Self::KeysAway => "keys_away",
            Self::StoreAway => "store_away",
            Self::NoRoom => "no_room",
            Self::OverQuota(_) => "over_quota",
            Self::NoStore => "no_store",
            Self::NoSuchMedia => "no_such_media",
            Self::NoSuchModel => "no_such_model",
            Self::NotSigned => "not_signed",
            Self::NotAPicture => "not_a_picture",
            Self::HalfRequest(_) => "half_request",
            Self::Broken => "internal_error",
            Self::Refused(refusal) => refusal.code(),
        }
    }

    /// Returns the reason for which no connection was made, if that is the failure.
    pub(crate) const fn connect_failure(&self) -> Option<ConnectFailure> {
        match self {
            Self::Unreachable { cause, .. } => Some(*cause),
            _ => None,
        }
    }

    /// Returns `true` if the request may succeed when it is sent again unchanged.
    const fn retry_helps(&self) -> bool {
        if let Self::Refused(refusal) = self {
            return refusal.retry_helps();
        }
        // A limit of a minute is worth waiting for, one of a day is not.
        if let Self::OverBudget(OverBudget { retry_after, .. }) = self {
            return retry_after.as_secs() <= 60;
        }
        matches!(
            self,
            Self::SlowBody
                | Self::Unreachable { .. }
                | Self::NoAnswer(_)
                | Self::Closed(_)
                | Self::Resting(_)
                | Self::KeysAway
                | Self::StoreAway
                | Self::MetersAway
                | Self::NoRoom
                | Self::OverQuota(OverQuota { retry_after: Some(_), .. })
        )
    }

    /// Returns the kind of error, which each wire has a name for.
    const fn kind(&self) -> ErrorKind {
        match self {
            Self::TooLarge { .. } | Self::UploadTooLarge { .. } => ErrorKind::TooLarge,
            Self::SlowBody => ErrorKind::SlowClient,
            Self::NoAnswer(_) => ErrorKind::SlowProvider,
            Self::BodyBrokeOff
            | Self::Encoding
            | Self::BadPath
            | Self::UnknownPolicy
            | Self::NotAPicture
            | Self::HalfRequest(_) => ErrorKind::Invalid,
            Self::NoSuchMedia | Self::NoSuchModel => ErrorKind::NotFound,
            Self::NotSigned | Self::ModelNotAllowed { .. } | Self::NotMetered(_) => {
                ErrorKind::Forbidden
            }
            Self::OverQuota(_) | Self::OverBudget(_) | Self::Resting(_) => ErrorKind::RateLimited,
            Self::NoCredentials => ErrorKind::NoCredentials,
            Self::NoKey | Self::NoCallerKey | Self::Token(_) => ErrorKind::Unauthenticated,
            Self::Unreachable { .. }
            | Self::Closed(_)
            | Self::ReplyTooLarge(_)
            | Self::ReplyEncoding(_) => ErrorKind::BadGateway,
            Self::KeysAway | Self::StoreAway | Self::MetersAway => ErrorKind::Unavailable,
            Self::NoRoom => ErrorKind::Overloaded,
            Self::NoStore => ErrorKind::Unimplemented,
            Self::Broken => ErrorKind::Internal,
            Self::Refused(refusal) => refusal.kind(),
        }
    }
}
