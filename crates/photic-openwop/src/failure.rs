//! Errors of the protocol and their envelope: `error`, `message` and sometimes `details`, without
//! nesting.

use serde_json::{Value, json};

use crate::exchange::Answer;
use crate::host::{CallError, HostError};

/// Longest text of a caller that an error repeats.
const MAX_REPEATED_CHARACTERS: usize = 40;

/// Reason why a request failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("an API key is required: `Authorization: Bearer …`")]
    Unauthenticated,
    #[error("this path does not exist")]
    NotFound,
    #[error("this path accepts {0}")]
    Method(&'static str),
    #[error("the versions served are 1.0 and 2.0")]
    Version,
    #[error("{0}")]
    Invalid(String),
    #[error("this host does not accept parts of the type `{0}`")]
    UnsupportedModality(String),
    #[error("a part, or the parts together, are larger than {limit} bytes")]
    TooLong { limit: usize },
    #[error("these bytes are not a picture")]
    InvalidImage,
    #[error("the `mediaRef` does not exist")]
    UnknownRef,
    #[error("there is no such object")]
    NoObject,
    #[error("an object has at most {limit} bytes")]
    ObjectTooLarge { limit: usize },
    #[error("the URL has expired, or its signature is invalid")]
    NotShown,
    #[error("this host has no {0}")]
    Missing(&'static str),
    #[error("the URL may not be fetched")]
    SsrfBlocked,
    #[error("the URL could not be fetched")]
    FetchFailed,
    #[error("the model did not answer with JSON")]
    ResponseSchema,
    #[error(transparent)]
    Call(CallError),
    #[error(transparent)]
    Host(#[from] HostError),
}

impl Failure {
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }

    /// Creates the error of an unreadable body. It contains the position, not the content, which
    /// may be long.
    pub(crate) fn unreadable(what: &str, error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        Self::Invalid(format!("the body is not a valid {what}: line {line}, column {column}"))
    }

    pub(crate) fn modality(name: &str) -> Self {
        Self::UnsupportedModality(name.chars().take(MAX_REPEATED_CHARACTERS).collect())
    }

    pub(crate) fn render(&self) -> Answer {
        let (status, code) = self.kind();
        let mut body = json!({"error": code, "message": self.to_string()});
        if let Some(details) = self.details() {
            body["details"] = details;
        }
        let answer = Answer::json(status, &body);
        match self {
            Self::Unauthenticated => answer.with("WWW-Authenticate", "Bearer"),
            Self::Method(allowed) => answer.with("Allow", *allowed),
            Self::Host(HostError::Quota { retry_after_s })
            | Self::Call(CallError::Host(HostError::Quota { retry_after_s })) => {
                answer.with("Retry-After", retry_after_s.to_string())
            }
            _ => answer,
        }
    }

    /// Returns the status and the code.
    const fn kind(&self) -> (u16, &'static str) {
        match self {
            Self::Unauthenticated => (401, "unauthenticated"),
            Self::NotFound => (404, "not_found"),
            Self::Method(_) => (405, "method_not_allowed"),
            Self::Version => (406, "protocol_version_unsupported"),
            Self::Invalid(_) => (400, "validation_error"),
            Self::UnsupportedModality(_) => (400, "unsupported_modality"),
            Self::TooLong { .. } => (413, "content_too_long"),
            Self::InvalidImage => (400, "invalid_image"),
            // Not 404: the path exists, only the object named in the body does not.
            Self::UnknownRef => (400, "blob_object_not_found"),
            Self::NoObject => (404, "blob_object_not_found"),
            Self::ObjectTooLarge { .. } => (413, "blob_object_too_large"),
            Self::NotShown => (403, "blob_presign_expired"),
            // The test suite reads a 404 as "this host does not have it".
            Self::Missing(_) => (404, "host_capability_missing"),
            Self::SsrfBlocked => (400, "ssrf_blocked"),
            Self::FetchFailed => (502, "fetch_failed"),
            Self::ResponseSchema => (502, "response_schema_invalid"),
            Self::Call(error) => of_call(*error),
            Self::Host(error) => of_host(*error),
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::UnsupportedModality(modality) => {
                Some(json!({"capability": "aiProviders.input", "modality": modality}))
            }
            Self::TooLong { limit } => {
                Some(json!({"capability": "aiProviders.input", "limit": limit}))
            }
            Self::ObjectTooLarge { limit } => {
                Some(json!({"capability": "blobStorage", "limit": limit}))
            }
            _ => None,
        }
    }
}

const fn of_call(error: CallError) -> (u16, &'static str) {
    match error {
        CallError::Unavailable => (502, "provider_unavailable"),
        CallError::QuotaExhausted => (429, "provider_quota_exhausted"),
        CallError::ProviderNotSupported => (400, "provider_not_supported"),
        CallError::ModelNotSupported => (400, "model_not_supported"),
        CallError::CredentialRefused => (403, "credential_forbidden"),
        CallError::ContentTooLong => (413, "content_too_long"),
        CallError::InvalidImage => (400, "invalid_image"),
        CallError::Rejected => (502, "provider_rejected"),
        CallError::Host(error) => of_host(error),
    }
}

const fn of_host(error: HostError) -> (u16, &'static str) {
    match error {
        // The test suite reads a 404 as "this host does not have it".
        HostError::NoStore => (404, "host_capability_missing"),
        HostError::NotTaken => (415, "unsupported_media_type"),
        HostError::Unavailable | HostError::Busy => (503, "host_unavailable"),
        HostError::Quota { .. } => (429, "rate_limited"),
    }
}
