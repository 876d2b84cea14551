//! Recognizes requests that ask to change the connection into a WebSocket.

use http::HeaderMap;
use http::header::{CONNECTION, HeaderName, UPGRADE};

/// Returns `true` if a request asks for a WebSocket (RFC 6455, section 4.1).
pub(crate) fn asks_for_socket(headers: &HeaderMap) -> bool {
    lists(headers, &UPGRADE, "websocket") && lists(headers, &CONNECTION, "upgrade")
}

/// Returns `true` if one of the values of a header, which are lists, contains a word.
fn lists(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|one| one.trim().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn both_headers_ask_for_a_socket() {
        let asks = |connection: &'static str, upgrade: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONNECTION, HeaderValue::from_static(connection));
            headers.insert(UPGRADE, HeaderValue::from_static(upgrade));
            asks_for_socket(&headers)
        };
        assert!(asks("Upgrade", "websocket"));
        assert!(asks("keep-alive, upgrade", "WebSocket"));
        assert!(!asks("keep-alive", "websocket"));
        assert!(!asks("Upgrade", "h2c"));
        assert!(!asks_for_socket(&HeaderMap::new()));
    }
}
