//! The handshake of a WebSocket: the headers that ask for it and those that grant it.

use http::header::{
    CONNECTION, HeaderName, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, HeaderValue};
use tungstenite::handshake::client::generate_key;
use tungstenite::handshake::derive_accept_key;

use super::deflate::Deflate;

/// The headers of a handshake that belong to one connection. `Sec-WebSocket-Protocol` is chosen by the
/// two ends, and is not one of them.
const OWN: [HeaderName; 6] = [
    CONNECTION,
    UPGRADE,
    SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_ACCEPT,
    SEC_WEBSOCKET_VERSION,
    SEC_WEBSOCKET_EXTENSIONS,
];

/// The other side breaks the rules of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the other side breaks the rules of the WebSocket handshake")]
pub struct BadHandshake;

/// The handshake of a client.
#[derive(Debug)]
pub struct ClientHandshake {
    key: String,
}

/// The handshake of a server.
#[derive(Debug)]
pub struct ServerHandshake {
    accept: HeaderValue,
    /// The extension that was agreed on, with the header that says so.
    extension: Option<(Deflate, HeaderValue)>,
}

/// Removes the headers that belong to the connection of one side.
pub fn remove_headers(headers: &mut HeaderMap) {
    for name in &OWN {
        headers.remove(name);
    }
}

impl ClientHandshake {
    /// Writes the headers that ask for a socket. With `compress`, the extension is offered.
    pub fn ask(headers: &mut HeaderMap, compress: bool) -> Self {
        remove_headers(headers);
        let key = generate_key();
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        if let Ok(value) = HeaderValue::from_str(&key) {
            headers.insert(SEC_WEBSOCKET_KEY, value);
        }
        if compress {
            headers.insert(SEC_WEBSOCKET_EXTENSIONS, Deflate::OFFER);
        }
        Self { key }
    }

    /// Checks the headers of a reply of 101. Returns the extension that was agreed on.
    ///
    /// # Errors
    ///
    /// Fails if the server did not see this handshake, or grants what was not asked for.
    pub fn granted(&self, headers: &HeaderMap) -> Result<Option<Deflate>, BadHandshake> {
        let is_ours = headers.get(SEC_WEBSOCKET_ACCEPT).is_some_and(|value| {
            value.as_bytes() == derive_accept_key(self.key.as_bytes()).as_bytes()
        });
        if is_ours { Deflate::accepted(headers) } else { Err(BadHandshake) }
    }
}

impl ServerHandshake {
    /// Reads the headers of a request for a socket.
    ///
    /// # Errors
    ///
    /// Fails if its key is missing, or if it is of another version than 13.
    pub fn read(headers: &HeaderMap) -> Result<Self, BadHandshake> {
        let is_known = headers.get(SEC_WEBSOCKET_VERSION).is_some_and(|value| value == "13");
        let key = headers.get(SEC_WEBSOCKET_KEY).filter(|key| key.len() == 24 && is_known);
        let accept = key.map(|key| derive_accept_key(key.as_bytes())).ok_or(BadHandshake)?;
        let accept = HeaderValue::from_str(&accept).map_err(|_| BadHandshake)?;
        Ok(Self { accept, extension: Deflate::accept(headers) })
    }

    /// Returns `true` if the client can compress.
    pub const fn compresses(&self) -> bool {
        self.extension.is_some()
    }

    /// Writes the headers of a reply of 101. Returns the extension that was agreed on.
    pub fn grant(self, headers: &mut HeaderMap) -> Option<Deflate> {
        remove_headers(headers);
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, self.accept);
        self.extension.map(|(deflate, value)| {
            headers.insert(SEC_WEBSOCKET_EXTENSIONS, value);
            deflate
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_agree() {
        for compress in [false, true] {
            let (mut asked, mut granted) = (HeaderMap::new(), HeaderMap::new());
            let client = ClientHandshake::ask(&mut asked, compress);
            let server = ServerHandshake::read(&asked).unwrap();
            assert_eq!(server.compresses(), compress);
            assert_eq!(server.grant(&mut granted).is_some(), compress);
            assert_eq!(client.granted(&granted).unwrap().is_some(), compress);
            let other = ClientHandshake::ask(&mut HeaderMap::new(), false);
            assert_eq!(other.granted(&granted), Err(BadHandshake));
        }
    }

    /// The example of RFC 6455, section 1.3.
    #[test]
    fn the_example_of_the_standard_is_granted() {
        let mut headers = HeaderMap::new();
        let key = HeaderValue::from_static("dGhlIHNhbXBsZSBub25jZQ==");
        headers.insert(SEC_WEBSOCKET_KEY, key);
        assert!(ServerHandshake::read(&headers).is_err(), "no version");
        headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        let mut granted = HeaderMap::new();
        assert_eq!(ServerHandshake::read(&headers).unwrap().grant(&mut granted), None);
        assert_eq!(granted[SEC_WEBSOCKET_ACCEPT], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }
}
