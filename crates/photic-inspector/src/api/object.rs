//! JSON objects whose unknown members are absent.

use serde::Serialize;
use serde_json::{Map, Value};

/// A JSON object under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object(Map<String, Value>);

impl Object {
    /// Creates an empty object.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a member.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: impl Serialize) -> Self {
        let value = serde_json::to_value(value).unwrap_or(Value::Null);
        self.0.insert(name.to_owned(), value);
        self
    }

    /// Adds a member if its value is known.
    #[must_use]
    pub(crate) fn maybe(self, name: &str, value: Option<impl Serialize>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds a list if it is not empty.
    #[must_use]
    pub(crate) fn list(self, name: &str, values: Vec<Value>) -> Self {
        if values.is_empty() { self } else { self.with(name, values) }
    }

    /// Returns the value.
    pub(crate) fn value(self) -> Value {
        Value::Object(self.0)
    }
}

/// Rounds US dollars to a millionth of a cent, so that sums of fractions read well.
pub(crate) fn dollars(usd: f64) -> f64 {
    (usd * 1e8).round() / 1e8
}
