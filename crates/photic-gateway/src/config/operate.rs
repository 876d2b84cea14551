//! Settings for operators: the log, traces, and a listener of their own.

use std::fmt;

use http::HeaderMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Format of the log on standard error.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Nothing.
    Off,
    /// Warnings, as text.
    #[default]
    Text,
    /// A line of JSON for every request, and one for every fix.
    Json,
    /// A line for every request in the combined format of Apache and nginx, without the query, and
    /// warnings as text.
    Combined,
}

/// A listener for operators.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Admin {
    /// Address for `/health`, `/ready` and `/metrics`, separate from the address for clients. If
    /// unset, they are answered at `listen`.
    #[schemars(example = "127.0.0.1:4142")]
    pub listen: Option<String>,
}

/// The inspector: a page that shows recorded sessions as the model saw them.
#[derive(Clone, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct InspectConfig {
    /// If true, the inspector is served at `/inspect/` of the listener for operators
    /// (`admin.listen`). Sessions must be recorded.
    pub enabled: bool,
    /// Token that opens the inspector: at least 22 letters, digits, `-` or `_`. If unset, a random one
    /// is made at every start and printed. Required if other machines can reach the listener.
    pub token: Option<String>,
    /// Tenant of a fleet whose sessions are shown. If unset, those of a gateway without tenants.
    #[schemars(example = &"acme")]
    pub tenant: Option<String>,
}

/// Export of traces.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Telemetry {
    /// Collector that receives traces by OTLP over HTTP. If unset, no traces are recorded.
    #[schemars(example = "http://127.0.0.1:4318")]
    pub otlp: Option<String>,
    /// Service name of this gateway in traces.
    pub service: String,
    /// Headers for the collector, sent with every batch. They are secret, so the file has none.
    #[serde(skip)]
    pub headers: ExportHeaders,
    /// Attributes of this process in traces, beside its name. `OTEL_RESOURCE_ATTRIBUTES` sets them.
    #[serde(skip)]
    pub resource: ResourceAttributes,
}

/// Attributes of a process in traces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceAttributes(Vec<(String, String)>);

/// Headers for a collector of traces. They may hold secrets, so `Debug` does not print them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ExportHeaders(HeaderMap);

impl LogFormat {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Off, Self::Text, Self::Json, Self::Combined];

    /// The name used in flags and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Text => "text",
            Self::Json => "json",
            Self::Combined => "combined",
        }
    }

    /// Returns the format of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

impl Default for Telemetry {
    fn default() -> Self {
        let service = "photic".to_owned();
        let (headers, resource) = (ExportHeaders::default(), ResourceAttributes::default());
        Self { otlp: None, service, headers, resource }
    }
}

impl ExportHeaders {
    /// Parses a list like `OTEL_EXPORTER_OTLP_HEADERS`: `name=value,name=value`, values
    /// percent-encoded. Returns `None` if one of them is malformed.
    pub fn parse(list: &str) -> Option<Self> {
        let mut headers = HeaderMap::new();
        for pair in list.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=')?;
            let name: http::HeaderName = name.trim().parse().ok()?;
            let mut value = http::HeaderValue::from_bytes(&decoded(value.trim())?).ok()?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Some(Self(headers))
    }

    pub(crate) const fn map(&self) -> &HeaderMap {
        &self.0
    }
}

impl ResourceAttributes {
    /// Parses a list like `OTEL_RESOURCE_ATTRIBUTES`: `key=value,key=value`, values percent-encoded.
    /// Returns `None` if one of them is malformed.
    pub fn parse(list: &str) -> Option<Self> {
        let pairs = list.split(',').map(str::trim).filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| {
            let (key, value) = pair.split_once('=')?;
            let key = String::from_utf8(decoded(key.trim())?).ok()?;
            let value = String::from_utf8(decoded(value.trim())?).ok()?;
            (!key.is_empty()).then_some((key, value))
        });
        pairs.collect::<Option<_>>().map(Self)
    }

    /// Returns the value of an attribute.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().rev().find(|(own, _)| *own == key).map(|(_, value)| value)
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

impl fmt::Debug for InspectConfig {
    /// Omits the token, which must not reach a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InspectConfig")
            .field("enabled", &self.enabled)
            .field("token", &self.token.as_ref().map(|_| "not shown"))
            .field("tenant", &self.tenant)
            .finish()
    }
}

impl fmt::Debug for ExportHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} not shown", self.0.len())
    }
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, others)) = rest.split_first() {
        if first == b'%' {
            let digits = std::str::from_utf8(others.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &others[2..];
        } else {
            bytes.push(first);
            rest = others;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_and_not_shown() {
        let headers = ExportHeaders::parse("api-key=s%20ecret, x-team = a").unwrap();
        assert_eq!(headers.map()["api-key"], "s ecret");
        assert_eq!(headers.map()["x-team"], "a");
        assert!(!format!("{headers:?}").contains("ecret"));
        let resource = ResourceAttributes::parse("service.name=a%20b,deployment.environment=prod,");
        let resource = resource.unwrap();
        assert_eq!(resource.get("service.name"), Some("a b"));
        assert_eq!(resource.get("deployment.environment"), Some("prod"));
        assert!(ResourceAttributes::parse("no pair").is_none());
        assert!(ExportHeaders::parse("no pair").is_none());
        assert!(ExportHeaders::parse("k=%zz").is_none());
    }
}
