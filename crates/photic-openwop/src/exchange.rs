//! A request and its answer, as far as the protocol looks at them: no HTTP library is known here.

use bytes::Bytes;
use serde_json::Value;

/// A request.
#[derive(Clone, Debug, Default)]
pub struct Asked<'a> {
    /// `GET`, `POST`, …
    pub method: &'a str,
    /// The path, without a query: no address of the protocol has one.
    pub path: &'a str,
    /// The key from `Authorization: Bearer …`.
    pub bearer: Option<&'a str>,
    /// `OpenWOP-Version`.
    pub version: Option<&'a str>,
    /// `If-None-Match`.
    pub if_none_match: Option<&'a str>,
    /// `Content-Type`.
    pub content_type: Option<&'a str>,
    /// All of the body.
    pub body: Bytes,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The headers, `Content-Type` among them where there is a body.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Bytes,
}

impl<'a> Asked<'a> {
    /// A `GET`.
    pub fn get(path: &'a str) -> Self {
        Self { method: "GET", path, ..Self::default() }
    }

    /// A `POST` with a body.
    pub fn post(path: &'a str, body: impl Into<Bytes>) -> Self {
        Self { method: "POST", path, body: body.into(), ..Self::default() }
    }
}

impl Answer {
    /// The value of a header, by its lower-case or exact name.
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
