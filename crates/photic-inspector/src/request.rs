//! Requests and answers of the API, without HTTP: a path, parameters, a body; and data.

use percent_encoding::percent_decode_str;
use serde::Serialize;

use crate::failure::Failure;

/// A request below the base of the API.
#[derive(Clone, Debug, Default)]
pub(crate) struct ApiRequest {
    /// The parts of the path, decoded.
    pub(crate) path: Vec<String>,
    parameters: Vec<(String, String)>,
    /// The body, if it is a `POST`.
    pub(crate) post: Option<Vec<u8>>,
}

impl ApiRequest {
    /// Parses the part of an address behind the base.
    pub(crate) fn get(address: &str) -> Self {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let text = |text: &str| {
            let text = text.replace('+', " ");
            percent_decode_str(&text).decode_utf8_lossy().into_owned()
        };
        let parts = path.split('/').filter(|part| !part.is_empty());
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        Self {
            path: parts
                .map(|part| percent_decode_str(part).decode_utf8_lossy().into_owned())
                .collect(),
            parameters: pairs
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .map(|(name, value)| (text(name), text(value)))
                .collect(),
            post: None,
        }
    }

    /// Turns it into a `POST`.
    #[must_use]
    pub(crate) fn with_body(mut self, body: Vec<u8>) -> Self {
        self.post = Some(body);
        self
    }

    /// Returns a parameter that is not empty.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Returns a parameter that is a number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Failure> {
        let parse = |text: &str| {
            text.parse().map_err(|_| Failure::bad_request(format!("`{name}` must be a number")))
        };
        self.parameter(name).map(parse).transpose()
    }

    /// Returns the limit of a page: at least 1, at most `most`.
    pub(crate) fn limit(&self, most: u64) -> Result<usize, Failure> {
        let limit = self.number("limit")?.unwrap_or(most).clamp(1, most);
        Ok(usize::try_from(limit).unwrap_or(usize::MAX))
    }
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// JSON.
    Json(Vec<u8>),
    /// A file.
    File(ServedFile),
}

/// A file of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServedFile {
    pub(crate) media_type: &'static str,
    pub(crate) bytes: Vec<u8>,
    /// Set if the address names its content, so it can be kept forever.
    pub(crate) is_immutable: bool,
    /// Name of the file to save it as. Without one it is shown.
    pub(crate) attachment: Option<String>,
}

impl Answer {
    /// Serializes a value.
    pub(crate) fn json(value: &impl Serialize) -> Result<Self, Failure> {
        let bytes =
            serde_json::to_vec(value).map_err(|_| Failure::away("cannot write JSON".to_owned()))?;
        Ok(Self::Json(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_parts_and_parameters() {
        let request = ApiRequest::get("/sessions/s_1/search?q=a%20b+c&limit=900&from=x");
        assert_eq!(request.path, ["sessions", "s_1", "search"]);
        assert_eq!(request.parameter("q"), Some("a b c"));
        assert_eq!(request.limit(40).unwrap(), 40);
        assert_eq!(request.number("from").unwrap_err().code(), "bad_request");
        assert_eq!(request.number("to").unwrap(), None);
    }
}
