//! Upstreams with a path prefix of their own at the gateway.

use photic_gateway::UpstreamConfig;

/// Placeholder for the address of the gateway, with its token, until the gateway is bound.
pub(crate) const GATEWAY: &str = "http://gateway.photic.invalid";

/// The end of a base URL that some clients remove to find the root of the server. It stays visible
/// to them.
const VERSION: &str = "/v1";

/// An upstream with a path prefix of its own.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    prefix: String,
    /// The URL without a version at its end.
    url: String,
    has_version: bool,
    /// `true` for the URL of a WebSocket.
    is_socket: bool,
    /// Set if the gateway signs requests for Amazon.
    pub(crate) region: Option<String>,
}

impl Destination {
    /// Creates a destination at this URL.
    pub(crate) fn new(prefix: &str, url: &str) -> Self {
        let url = url.trim_end_matches('/');
        let (url, has_version) = match url.strip_suffix(VERSION) {
            Some(root) => (root, true),
            None => (url, false),
        };
        let socket = [("ws://", "http://"), ("wss://", "https://")]
            .into_iter()
            .find_map(|(from, to)| Some([to, url.strip_prefix(from)?].concat()));
        Self {
            prefix: prefix.to_owned(),
            is_socket: socket.is_some(),
            url: socket.unwrap_or_else(|| url.to_owned()),
            has_version,
            region: None,
        }
    }

    /// The prefix, as paths contain it.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The URL of the upstream, without a version.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The base URL for the command.
    pub(crate) fn link(&self) -> String {
        let gateway = match GATEWAY.strip_prefix("http") {
            Some(rest) if self.is_socket => ["ws", rest].concat(),
            _ => GATEWAY.to_owned(),
        };
        let version = if self.has_version { VERSION } else { "" };
        format!("{gateway}/{}{version}", self.prefix)
    }

    /// The upstream of the gateway.
    pub(crate) fn upstream(&self) -> UpstreamConfig {
        let (prefix, region) = (Some(self.prefix.clone()), self.region.clone());
        UpstreamConfig { prefix, region, ..UpstreamConfig::new(&self.url, None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_stays_where_the_client_sees_it() {
        for (url, upstream, link) in [
            ("http://h:1/v1/", "http://h:1", "http://gateway.photic.invalid/p/v1"),
            ("https://h/api", "https://h/api", "http://gateway.photic.invalid/p"),
            ("wss://h/v1", "https://h", "ws://gateway.photic.invalid/p/v1"),
        ] {
            let destination = Destination::new("p", url);
            assert_eq!((destination.url(), destination.link().as_str()), (upstream, link));
            assert_eq!(destination.upstream().prefix.as_deref(), Some("p"));
        }
    }
}
