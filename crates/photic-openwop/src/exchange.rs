//! Requests and answers of the protocol, independent of an HTTP library.

use bytes::Bytes;
use serde_json::Value;

/// A request.
#[derive(Clone, Debug, Default)]
pub struct OpenwopRequest<'a> {
    /// The method: `GET`, `POST`, …
    pub method: &'a str,
    /// The path without a query. The protocol uses no queries.
    pub path: &'a str,
    /// The key from `Authorization: Bearer …`.
    pub bearer: Option<&'a str>,
    /// The header `OpenWOP-Version`.
    pub version: Option<&'a str>,
    /// The header `If-None-Match`.
    pub if_none_match: Option<&'a str>,
    /// The header `Content-Type`.
    pub content_type: Option<&'a str>,
    /// The complete body.
    pub body: Bytes,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The headers, with `Content-Type` if there is a body.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Bytes,
}

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

impl<'a> OpenwopRequest<'a> {
    /// Creates a `GET` request.
    pub fn get(path: &'a str) -> Self {
        Self { method: "GET", path, ..Self::default() }
    }

    /// Creates a `POST` request with a body.
    pub fn post(path: &'a str, body: impl Into<Bytes>) -> Self {
        Self { method: "POST", path, body: body.into(), ..Self::default() }
    }
}

impl Answer {
    /// Returns the value of a header. The name is case-insensitive.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        let headers = vec![("Content-Type", "application/json".to_owned())];
        Self { status, headers, body: body.to_string().into() }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}
