//! Checks requests to a listener by headers that web pages cannot forge.
//!
//! A web page can send requests to any address of the machine it runs on. It cannot choose the
//! `Host` header, even if its name points at this machine, and it cannot omit `Origin` or
//! `Sec-Fetch-Site`, which programs do not send.

use std::net::{IpAddr, SocketAddr};

use http::header::{HOST, HeaderMap, HeaderName, ORIGIN};
use http::uri::Authority;
use http::{HeaderValue, Uri};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The hosts and origins that a listener accepts.
///
/// ```
/// use http::header::{HOST, HeaderMap, HeaderValue};
/// use photic_net::{HostCheck, Refused};
///
/// let check = HostCheck::new("127.0.0.1:4141".parse().unwrap());
/// let mut headers = HeaderMap::new();
/// headers.insert(HOST, HeaderValue::from_static("evil.example"));
/// assert_eq!(check.check(&"/".parse().unwrap(), &headers), Err(Refused::ForeignHost));
/// ```
#[derive(Clone, Debug)]
pub struct HostCheck {
    is_loopback: bool,
    takes_addresses: bool,
    hosts: Vec<String>,
    origins: Vec<String>,
}

/// Reason why a request is refused before it is read any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The `Host` header is missing, repeated, not a host, or different from the request target.
    #[error("the request needs exactly one valid `Host` header")]
    InvalidHost,
    /// The host is not one of this listener's.
    #[error(
        "this listener answers to the names of loopback only; a proxy in front of it sends \
         `Host: localhost`, or its name is listed in `hosts`"
    )]
    ForeignHost,
    /// The request comes from a web page whose origin is not allowed.
    #[error("requests of web pages are refused; list the origin of the page in `origins`")]
    WebPage,
}

impl HostCheck {
    /// Creates the check for a listener. A listener on loopback accepts the names of loopback only;
    /// others accept any host. Web pages are refused.
    pub const fn new(listening: SocketAddr) -> Self {
        let is_loopback = listening.ip().is_loopback();
        Self { is_loopback, takes_addresses: !is_loopback, hosts: Vec::new(), origins: Vec::new() }
    }

    /// Accepts every IP address as host, also on loopback, for tunnels that end there. Attackers
    /// can point names at this machine, but not addresses.
    #[must_use]
    pub const fn with_addresses(mut self) -> Self {
        self.takes_addresses = true;
        self
    }

    /// Accepts these hosts, too. A listener beyond loopback then accepts no others but IP
    /// addresses.
    #[must_use]
    pub fn hosts(mut self, hosts: &[String]) -> Self {
        self.hosts = hosts.to_vec();
        self
    }

    /// Accepts web pages of these origins.
    #[must_use]
    pub fn origins(mut self, origins: &[String]) -> Self {
        self.origins = origins.to_vec();
        self
    }

    /// Checks a request. Fails if it must not be answered.
    pub fn check(&self, target: &Uri, headers: &HeaderMap) -> Result<(), Refused> {
        let mut named = headers.get_all(HOST).iter();
        let (Some(host), None) = (named.next(), named.next()) else {
            return Err(Refused::InvalidHost);
        };
        let host: Authority = host.as_bytes().try_into().map_err(|_| Refused::InvalidHost)?;
        if host.as_str().contains('@') || host.host().is_empty() {
            return Err(Refused::InvalidHost);
        }
        if target.authority().is_some_and(|target| *target != host) {
            return Err(Refused::InvalidHost);
        }
        if !self.is_ours(&host) {
            return Err(Refused::ForeignHost);
        }
        let origin = headers.get(ORIGIN);
        if origin.is_some_and(|origin| self.allows(origin)) {
            return Ok(());
        }
        let site = headers.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes);
        match (origin, site) {
            (None, None | Some(b"none" | b"same-origin")) => Ok(()),
            _ => Err(Refused::WebPage),
        }
    }

    fn is_ours(&self, host: &Authority) -> bool {
        if self.hosts.iter().any(|one| {
            one.eq_ignore_ascii_case(host.host()) || one.eq_ignore_ascii_case(host.as_str())
        }) {
            return true;
        }
        let address: Option<IpAddr> = host.host().trim_matches(['[', ']']).parse().ok();
        match address {
            Some(address) => self.takes_addresses || address.to_canonical().is_loopback(),
            None if host.host().eq_ignore_ascii_case("localhost") => true,
            None => !self.is_loopback && self.hosts.is_empty(),
        }
    }

    fn allows(&self, origin: &HeaderValue) -> bool {
        self.origins.iter().any(|one| one.as_bytes().eq_ignore_ascii_case(origin.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rules: &HostCheck, target: &str, headers: &[(&'static str, &str)]) -> Option<Refused> {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value);
        }
        rules.check(&target.parse().unwrap(), &map).err()
    }

    fn at(address: &str) -> HostCheck {
        HostCheck::new(address.parse().unwrap())
    }

    #[test]
    fn loopback_answers_to_its_own_names() {
        let rules = at("127.0.0.1:1");
        for host in ["localhost", "LOCALHOST:1", "127.0.0.1:1", "127.8.8.8", "[::1]:1"] {
            assert_eq!(check(&rules, "/", &[("host", host)]), None, "{host}");
        }
        for host in ["evil.example", "192.0.2.1", "localhost.evil.example", "0.0.0.0", "[::2]"] {
            assert_eq!(check(&rules, "/", &[("host", host)]), Some(Refused::ForeignHost), "{host}");
        }
        let rules = rules.hosts(&["photic.internal".to_owned()]);
        assert_eq!(check(&rules, "/", &[("host", "Photic.internal:80")]), None);
        let rules = rules.with_addresses();
        assert_eq!(check(&rules, "/", &[("host", "192.0.2.1:80")]), None);
        assert_eq!(check(&rules, "/", &[("host", "evil.example")]), Some(Refused::ForeignHost));
    }

    #[test]
    fn beyond_loopback_any_host_will_do_unless_some_are_named() {
        let rules = at("0.0.0.0:1");
        assert_eq!(check(&rules, "/", &[("host", "photic.internal")]), None);
        let rules = rules.hosts(&["photic.internal".to_owned()]);
        for host in ["photic.internal", "10.0.0.7:4142", "localhost"] {
            assert_eq!(check(&rules, "/", &[("host", host)]), None, "{host}");
        }
        assert_eq!(check(&rules, "/", &[("host", "evil.example")]), Some(Refused::ForeignHost));
    }

    #[test]
    fn there_is_exactly_one_valid_host() {
        let rules = at("127.0.0.1:1");
        let two = [("host", "localhost"), ("host", "localhost")];
        for headers in [&[][..], &two, &[("host", "a@localhost")], &[("host", "local host")]] {
            assert_eq!(check(&rules, "/", headers), Some(Refused::InvalidHost), "{headers:?}");
        }
        let host = [("host", "localhost:1")];
        assert_eq!(check(&rules, "http://localhost:1/v1", &host), None);
        assert_eq!(check(&rules, "http://evil.example/v1", &host), Some(Refused::InvalidHost));
    }

    #[test]
    fn pages_are_refused_unless_their_origin_is_named() {
        let rules = at("127.0.0.1:1");
        for (name, value, refused) in [
            ("origin", "https://evil.example", true),
            ("origin", "null", true),
            ("origin", "http://localhost:1", true),
            ("sec-fetch-site", "cross-site", true),
            ("sec-fetch-site", "same-site", true),
            ("sec-fetch-site", "none", false),
            ("sec-fetch-site", "same-origin", false),
            // Node's `fetch` sends this one.
            ("sec-fetch-mode", "cors", false),
        ] {
            let refused = refused.then_some(Refused::WebPage);
            assert_eq!(check(&rules, "/", &[("host", "localhost"), (name, value)]), refused);
        }
        let rules = rules.origins(&["app://notes".to_owned()]);
        let site = ("sec-fetch-site", "cross-site");
        let page = [("host", "localhost"), ("origin", "app://notes"), site];
        assert_eq!(check(&rules, "/", &page), None);
    }
}
