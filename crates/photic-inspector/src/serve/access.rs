//! Decides which requests are answered: by token and cookie, host, origin, and a header that forms
//! cannot set.

use std::net::SocketAddr;

use http::header::{COOKIE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use http::{Method, Uri};
use photic_net::{HostCheck, Refused};

use crate::failure::Failure;

/// Header that every `POST` needs. A form cannot set it.
const POST_HEADER: HeaderName = HeaderName::from_static("x-photic-inspect");
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
/// The page, which shows nothing without a token.
const PAGE: &str = "/inspect/";
/// Fewest letters of a token: 128 bits in base64.
const MIN_TOKEN: usize = 22;

/// The secret that opens the inspector.
///
/// It is part of the fragment of the address, which browsers do not send. The page exchanges it for
/// a cookie that scripts cannot read.
#[derive(Clone)]
pub struct Token(String);

/// The token is too short to be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the token of the inspector needs at least 22 letters, digits, `-` or `_`")]
pub struct WeakToken;

impl Token {
    /// Creates a random token of 128 bits. Returns `None` if the system has no random numbers.
    pub fn random() -> Option<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        Some(Self(format!("{:032x}", u128::from_ne_bytes(bytes))))
    }

    /// Uses a token of the operator.
    pub fn new(text: &str) -> Result<Self, WeakToken> {
        let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'_');
        let is_strong = text.len() >= MIN_TOKEN && text.bytes().all(is_plain);
        is_strong.then(|| Self(text.to_owned())).ok_or(WeakToken)
    }

    /// Returns the text, as part of an address.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the value of the cookie: derived, so that every replica of a gateway knows it.
    fn cookie(&self) -> String {
        blake3::Hash::from_bytes(blake3::derive_key(
            "photic-inspector 2026 cookie",
            self.0.as_bytes(),
        ))
        .to_hex()[..32]
            .to_owned()
    }
}

impl std::fmt::Debug for Token {
    /// Omits the token, which must not reach a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("<token>")
    }
}

/// The rules of a listener.
#[derive(Clone, Debug)]
pub struct Access {
    token: Token,
    address: SocketAddr,
    hosts: Vec<String>,
}

impl Access {
    /// Creates the rules for a listener. `hosts` are names that it has besides those of loopback.
    pub fn new(token: Token, address: SocketAddr, hosts: &[String]) -> Self {
        Self { token, address, hosts: hosts.to_vec() }
    }

    /// Returns the address to open, with the token.
    pub fn url(&self) -> String {
        format!("http://{}/inspect/#token={}", self.address, self.token.as_str())
    }

    /// Returns the address that is listened on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Refuses a request that another page or another name led here.
    pub(crate) fn check_source(&self, target: &Uri, headers: &HeaderMap) -> Result<(), Failure> {
        // The page itself is of the origin that it is served from, whatever its name.
        let own: Vec<String> = headers
            .get(HOST)
            .and_then(|host| host.to_str().ok())
            .map(|host| ["http", "https"].map(|scheme| format!("{scheme}://{host}")).to_vec())
            .unwrap_or_default();
        let origin = headers.get(ORIGIN).map(HeaderValue::as_bytes);
        if origin.is_some_and(|origin| !own.iter().any(|own| own.as_bytes() == origin)) {
            return Err(Failure::foreign_origin());
        }
        let site = headers.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes);
        // The page may be opened from elsewhere, such as from the file of `photic ui --open`: in a
        // window of its own, where the page that led to it cannot read it.
        let destination = headers.get(SEC_FETCH_DEST).map(HeaderValue::as_bytes);
        let is_opened = target.path() == PAGE && destination == Some(b"document");
        if !is_opened && !matches!(site, None | Some(b"none" | b"same-origin")) {
            return Err(Failure::foreign_origin());
        }
        let rules = HostCheck::new(self.address).hosts(&self.hosts).origins(&own);
        match rules.check(target, headers) {
            Ok(()) => Ok(()),
            // Its `Origin` and `Sec-Fetch-Site` were judged above.
            Err(Refused::WebPage) if is_opened => Ok(()),
            Err(_) => Err(Failure::foreign_host()),
        }
    }

    /// Refuses a `POST` without the header that a form cannot set.
    pub(crate) fn check_post(method: &Method, headers: &HeaderMap) -> Result<(), Failure> {
        let is_set = headers.get(POST_HEADER).is_some_and(|value| value == "1");
        if *method == Method::POST && !is_set {
            return Err(Failure::missing_header());
        }
        Ok(())
    }

    /// Refuses a request without the cookie.
    pub(crate) fn check_cookie(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let (name, value) = (self.cookie_name(), self.token.cookie());
        let cookies = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut pairs = cookies.flat_map(|line| line.split(';')).map(str::trim);
        let is_right = pairs.any(|pair| {
            pair.split_once('=').is_some_and(|(key, given)| key == name && is_same(given, &value))
        });
        is_right.then_some(()).ok_or_else(Failure::token)
    }

    /// Exchanges the token for the header that sets the cookie.
    pub(crate) fn enter(&self, token: &str) -> Result<String, Failure> {
        if !is_same(token, self.token.as_str()) {
            return Err(Failure::token());
        }
        let (name, value) = (self.cookie_name(), self.token.cookie());
        Ok(format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/inspect"))
    }

    /// Returns the name of the cookie. Cookies of all ports of a host are sent to each of them.
    fn cookie_name(&self) -> String {
        format!("photic_inspect_{}", self.address.port())
    }
}

/// Compares two secrets in a time that does not depend on their letters.
fn is_same(given: &str, right: &str) -> bool {
    // Comparing hashes takes constant time.
    blake3::hash(given.as_bytes()) == blake3::hash(right.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(address: &str) -> Access {
        Access::new(
            Token::new("0123456789abcdef0123456789abcdef").unwrap(),
            address.parse().unwrap(),
            &[],
        )
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(name, value)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        });
        pairs.collect()
    }

    fn source(access: &Access, pairs: &[(&'static str, &str)]) -> Option<&'static str> {
        let checked = access.check_source(&"/inspect".parse().unwrap(), &headers(pairs));
        checked.err().map(|failure| failure.code())
    }

    #[test]
    fn a_token_has_128_bits_and_is_not_printed() {
        let one = Token::random().unwrap();
        assert_eq!(one.as_str().len(), 32);
        assert_ne!(one.as_str(), Token::random().unwrap().as_str());
        assert_eq!(format!("{one:?}"), "<token>");
        assert_eq!(Token::new("short").unwrap_err(), WeakToken);
        assert_eq!(Token::new("with a space, which is not plain").unwrap_err(), WeakToken);
    }

    #[test]
    fn only_the_own_host_is_answered() {
        let rules = access("127.0.0.1:4142");
        assert_eq!(source(&rules, &[("host", "127.0.0.1:4142")]), None);
        assert_eq!(source(&rules, &[("host", "localhost:4142")]), None);
        for host in ["evil.example", "evil.example:4142", "192.0.2.1:4142"] {
            assert_eq!(source(&rules, &[("host", host)]), Some("foreign_host"), "{host}");
        }
        assert_eq!(source(&rules, &[]), Some("foreign_host"));
    }

    #[test]
    fn only_the_own_page_is_answered() {
        let rules = access("127.0.0.1:4142");
        let host = ("host", "127.0.0.1:4142");
        assert_eq!(source(&rules, &[host, ("origin", "http://127.0.0.1:4142")]), None);
        assert_eq!(source(&rules, &[host, ("sec-fetch-site", "same-origin")]), None);
        for pair in [
            ("origin", "https://evil.example"),
            ("origin", "http://127.0.0.1:9999"),
            ("origin", "null"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            assert_eq!(source(&rules, &[host, pair]), Some("foreign_origin"), "{pair:?}");
        }
        // The page itself may be opened from elsewhere, in a window of its own.
        let opened = |path: &str, destination: &str| {
            let pairs = [host, ("sec-fetch-site", "cross-site"), ("sec-fetch-dest", destination)];
            rules.check_source(&path.parse().unwrap(), &headers(&pairs)).is_ok()
        };
        assert!(opened("/inspect/", "document"));
        assert!(!opened("/inspect/", "iframe") && !opened("/inspect/", "empty"));
        assert!(!opened("/inspect/api/v1/sessions", "document"));
        // The right origin does not excuse the wrong site.
        let both = [host, ("origin", "http://127.0.0.1:4142"), ("sec-fetch-site", "cross-site")];
        assert_eq!(source(&rules, &both), Some("foreign_origin"));
    }

    #[test]
    fn the_token_buys_a_cookie_that_opens() {
        let rules = access("127.0.0.1:4142");
        assert_eq!(rules.enter("0123").unwrap_err().code(), "token");
        let set = rules.enter("0123456789abcdef0123456789abcdef").unwrap();
        for word in ["HttpOnly", "SameSite=Strict", "Path=/inspect"] {
            assert!(set.contains(word), "{set}");
        }
        assert!(!set.contains("0123456789abcdef"), "the cookie is not the token");
        let pair = set.split(';').next().unwrap();
        let with = |cookie: &str| rules.check_cookie(&headers(&[("cookie", cookie)])).is_ok();
        assert!(with(pair));
        assert!(with(&format!("other=1; {pair}")));
        assert!(!with("photic_inspect_4142=0123456789abcdef0123456789abcdef"));
        assert!(!with(&pair.replace("4142", "4143")));
        assert!(rules.check_cookie(&HeaderMap::new()).is_err());
    }

    #[test]
    fn a_post_needs_a_header_that_forms_cannot_set() {
        let with = headers(&[("x-photic-inspect", "1")]);
        assert!(Access::check_post(&Method::POST, &with).is_ok());
        assert!(Access::check_post(&Method::POST, &HeaderMap::new()).is_err());
        assert!(Access::check_post(&Method::GET, &HeaderMap::new()).is_ok());
    }
}
