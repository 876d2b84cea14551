//! HTTP proxies for outgoing connections: which connections take one, and the tunnel through it.
//!
//! A connection to an `https` URL is tunneled with `CONNECT` (RFC 9110, section 9.3.6), so that the
//! proxy sees the host and no request. The environment variables are those of curl: `HTTPS_PROXY`,
//! `https_proxy`, `ALL_PROXY`, `NO_PROXY` and their small spellings.

use std::fmt;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tower_service::Service;
use url::Url;

use crate::error::BoxError;

/// Longest head of a proxy's answer.
const MAX_HEAD: usize = 16 << 10;

/// An HTTP proxy.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    /// The URL to dial, without a login.
    address: Uri,
    /// The value of `Proxy-Authorization`, if the URL had a login.
    login: Option<String>,
}

/// The URL is not that of an HTTP proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the URL of a proxy must look like `http://host:port` or `http://user:password@host:port`")]
pub struct InvalidProxy;

/// The hosts that are reached without a proxy, as in `NO_PROXY`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoProxy(Vec<Exemption>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Exemption {
    Everything,
    /// A name and all below it, at one port or at every one.
    Name(String, Option<u16>),
    /// Addresses that share the first bits with this one.
    Network(IpAddr, u8),
}

/// The choice of a proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProxyChoice {
    /// No proxy.
    #[default]
    Direct,
    /// This proxy for `https` URLs, except for the hosts that are exempt and those of this machine.
    Secure(Proxy, NoProxy),
    /// This proxy for every URL.
    Every(Proxy),
}

/// The proxy made no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProxyError {
    #[error("cannot connect to the proxy")]
    Unreachable(#[source] BoxError),
    #[error("the proxy answered with status {0}")]
    Refused(u16),
    #[error("the proxy did not answer as an HTTP proxy does")]
    NotAProxy,
}

impl FromStr for Proxy {
    type Err = InvalidProxy;

    fn from_str(text: &str) -> Result<Self, InvalidProxy> {
        let text = text.trim();
        let text = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = Url::parse(&text).map_err(|_| InvalidProxy)?;
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or(InvalidProxy)?;
        if url.scheme() != "http" {
            return Err(InvalidProxy);
        }
        let port = url.port_or_known_default().unwrap_or(80);
        let address = format!("http://{host}:{port}").parse().map_err(|_| InvalidProxy)?;
        let login = (!url.username().is_empty()).then(|| {
            let password = url.password().unwrap_or_default();
            let both = [unescaped(url.username()), vec![b':'], unescaped(password)].concat();
            format!("Basic {}", BASE64_STANDARD.encode(both))
        });
        Ok(Self { address, login })
    }
}

/// A login is not shown.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({})", self.address)
    }
}

/// Removes percent-encoding.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, others)) = rest.split_first() {
        let digits = others.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(byte) = escaped.filter(|_| first == b'%') {
            bytes.push(byte);
            rest = &others[2..];
        } else {
            bytes.push(first);
            rest = others;
        }
    }
    bytes
}

impl NoProxy {
    /// Parses a list like that of `NO_PROXY`: names, addresses, networks (`10.0.0.0/8`) and `*`,
    /// separated by commas or spaces. What is none of them matches nothing.
    pub fn parse(list: &str) -> Self {
        let words = list.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty());
        Self(words.filter_map(Exemption::parse).collect())
    }

    /// Returns `true` if a host is reached without a proxy.
    fn matches(&self, host: &str, port: u16) -> bool {
        let host = host.trim_matches(['[', ']']).trim_end_matches('.');
        let address: Option<IpAddr> = host.parse().ok();
        self.0.iter().any(|one| match one {
            Exemption::Everything => true,
            Exemption::Name(name, at) => at.is_none_or(|at| at == port) && is_within(host, name),
            Exemption::Network(network, bits) => {
                address.is_some_and(|address| shares(address, *network, *bits))
            }
        })
    }
}

impl Exemption {
    fn parse(word: &str) -> Option<Self> {
        if word == "*" {
            return Some(Self::Everything);
        }
        if let Some((network, bits)) = word.split_once('/') {
            return Some(Self::Network(network.parse().ok()?, bits.parse().ok()?));
        }
        if let Ok(address) = word.trim_matches(['[', ']']).parse::<IpAddr>() {
            return Some(Self::Network(address, u8::MAX));
        }
        let (name, port) = match word.rsplit_once(':') {
            Some((name, port)) => (name, Some(port.parse().ok()?)),
            None => (word, None),
        };
        let name = name.trim_start_matches('*').trim_matches('.').to_ascii_lowercase();
        (!name.is_empty()).then_some(Self::Name(name, port))
    }
}

/// Returns `true` if a host is that name, or below it.
fn is_within(host: &str, name: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let above = host.strip_suffix(name);
    above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
}

/// Returns `true` if two addresses share so many first bits.
fn shares(one: IpAddr, other: IpAddr, bits: u8) -> bool {
    let same = |one: u128, other: u128, width: u32| {
        let rest = width.saturating_sub(u32::from(bits));
        one.checked_shr(rest).unwrap_or(0) == other.checked_shr(rest).unwrap_or(0)
    };
    match (one.to_canonical(), other.to_canonical()) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            same(u128::from(one.to_bits()), u128::from(other.to_bits()), 32)
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => same(one.to_bits(), other.to_bits(), 128),
        _ => false,
    }
}

/// Returns `true` for the names and addresses of this machine.
fn is_loopback(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    is_within(host, "localhost")
        || host.parse().is_ok_and(|ip: IpAddr| ip.to_canonical().is_loopback())
}

impl ProxyChoice {
    /// Returns the choice that environment variables make, read by `variable`.
    ///
    /// # Errors
    ///
    /// Fails with the name of a variable that holds no URL of an HTTP proxy.
    pub fn from_variables(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, (&'static str, InvalidProxy)> {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let names = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
        let Some((name, url)) = names.iter().find_map(|name| Some((*name, set(name)?))) else {
            return Ok(Self::Direct);
        };
        let proxy = url.parse().map_err(|error| (name, error))?;
        let exempt = ["no_proxy", "NO_PROXY"].iter().find_map(|name| set(name));
        Ok(Self::Secure(proxy, NoProxy::parse(&exempt.unwrap_or_default())))
    }

    /// Returns the proxy of connections to a URL.
    fn of(&self, to: &Uri) -> Option<&Proxy> {
        match self {
            Self::Direct => None,
            Self::Every(proxy) => Some(proxy),
            Self::Secure(proxy, exempt) => {
                let host = to.host().filter(|_| to.scheme_str() == Some("https"))?;
                let is_exempt = is_loopback(host) || exempt.matches(host, port(to));
                (!is_exempt).then_some(proxy)
            }
        }
    }
}

fn port(of: &Uri) -> u16 {
    of.port_u16().unwrap_or(if of.scheme_str() == Some("https") { 443 } else { 80 })
}

/// Connects to hosts, through a proxy where one is chosen.
#[derive(Clone, Debug)]
pub(crate) struct Dialer {
    tcp: HttpConnector,
    choice: Arc<ProxyChoice>,
    connect: Duration,
}

impl Dialer {
    /// Creates a dialer that connects with `tcp`, within this time.
    pub(crate) fn new(tcp: HttpConnector, choice: ProxyChoice, connect: Duration) -> Self {
        Self { tcp, choice: Arc::new(choice), connect }
    }
}

impl Service<Uri> for Dialer {
    type Response = TokioIo<TcpStream>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<TokioIo<TcpStream>, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let Some(proxy) = self.choice.of(&to).cloned() else {
            let dialed = self.tcp.call(to);
            return Box::pin(async move { Ok(dialed.await?) });
        };
        let (dialed, connect) = (self.tcp.call(proxy.address.clone()), self.connect);
        Box::pin(async move {
            let stream = dialed.await.map_err(|error| ProxyError::Unreachable(error.into()))?;
            let tunnel = tunnel(stream.into_inner(), &to, proxy.login.as_deref());
            let tunnel = tokio::time::timeout(connect, tunnel).await;
            let late = |_| ProxyError::Unreachable(io::Error::from(ErrorKind::TimedOut).into());
            Ok(TokioIo::new(tunnel.map_err(late)??))
        })
    }
}

/// Asks a proxy to connect to a host, and returns the connection to it.
async fn tunnel(
    mut proxy: TcpStream,
    to: &Uri,
    login: Option<&str>,
) -> Result<TcpStream, ProxyError> {
    let failed = |error: io::Error| ProxyError::Unreachable(error.into());
    let authority = format!("{}:{}", to.host().unwrap_or_default(), port(to));
    let login = login.map(|login| format!("proxy-authorization: {login}\r\n")).unwrap_or_default();
    let asked = format!("CONNECT {authority} HTTP/1.1\r\nhost: {authority}\r\n{login}\r\n");
    proxy.write_all(asked.as_bytes()).await.map_err(failed)?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        // Byte by byte, because what comes after the head belongs to the tunnel.
        let byte = proxy.read_u8().await.map_err(failed)?;
        head.push(byte);
        if head.len() > MAX_HEAD {
            return Err(ProxyError::NotAProxy);
        }
    }
    let status = std::str::from_utf8(&head).ok().filter(|head| head.starts_with("HTTP/1."));
    let status = status.and_then(|head| head.split(' ').nth(1)?.parse().ok());
    match status {
        Some(200..300) => Ok(proxy),
        Some(status) => Err(ProxyError::Refused(status)),
        None => Err(ProxyError::NotAProxy),
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn proxies_are_read_from_urls() {
        let read = |text: &str| text.parse::<Proxy>();
        let plain = read("http://proxy:3128/").unwrap();
        assert_eq!((plain.address.to_string().as_str(), plain.login), ("http://proxy:3128/", None));
        assert_eq!(read("proxy").unwrap().address.port_u16(), Some(80));
        let login = read("http://us%40er:p%3As@h:1").unwrap();
        assert_eq!(login.login.as_deref(), Some("Basic dXNAZXI6cDpz"));
        assert!(!format!("{login:?}").contains("dXNA"));
        for wrong in ["https://h", "socks5://h", "http://", "ftp://h", ""] {
            assert_eq!(read(wrong), Err(InvalidProxy), "{wrong}");
        }
    }

    #[test]
    fn hosts_are_exempt_by_name_address_and_network() {
        let list =
            "example.org, .corp.test *.svc 10.0.0.0/8,192.0.2.7 2001:db8::/32 port.test:8443";
        let exempt = NoProxy::parse(list);
        for (host, port, is_exempt) in [
            ("example.org", 443, true),
            ("API.Example.org.", 443, true),
            ("notexample.org", 443, false),
            ("a.corp.test", 443, true),
            ("db.svc", 443, true),
            ("10.1.2.3", 443, true),
            ("11.1.2.3", 443, false),
            ("192.0.2.7", 1, true),
            ("192.0.2.8", 1, false),
            ("[2001:db8::1]", 443, true),
            ("[2001:db9::1]", 443, false),
            ("port.test", 8443, true),
            ("port.test", 443, false),
        ] {
            assert_eq!(exempt.matches(host, port), is_exempt, "{host}:{port}");
        }
        assert!(NoProxy::parse("*").matches("anything", 1));
        assert!(!NoProxy::parse("").matches("anything", 1));
        assert!(NoProxy::parse("0.0.0.0/0").matches("9.9.9.9", 1));
    }

    #[test]
    fn the_environment_is_for_secure_urls_of_other_machines() {
        let of = |variables: &[(&str, &str)]| {
            let find = |name: &str| variables.iter().find(|(it, _)| *it == name);
            ProxyChoice::from_variables(|name| find(name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(of(&[]), Ok(ProxyChoice::Direct));
        assert_eq!(of(&[("HTTPS_PROXY", "")]), Ok(ProxyChoice::Direct));
        assert_eq!(of(&[("ALL_PROXY", "socks5://h")]), Err(("ALL_PROXY", InvalidProxy)));
        let choice = of(&[("HTTPS_PROXY", "http://p:1"), ("NO_PROXY", "internal")]).unwrap();
        let takes = |url: &str| choice.of(&url.parse().unwrap()).is_some();
        assert!(takes("https://api.example"));
        for url in
            ["http://api.example", "https://localhost:1", "https://127.0.0.1", "https://[::1]"]
        {
            assert!(!takes(url), "{url}");
        }
        assert!(!takes("https://a.internal/x"));
        let every = ProxyChoice::Every("p:1".parse().unwrap());
        assert!(every.of(&"http://127.0.0.1".parse().unwrap()).is_some());
    }

    /// Answers one CONNECT, and returns what was asked.
    async fn asked(answer: &'static str) -> (Result<TcpStream, ProxyError>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut proxy, _) = listener.accept().await.unwrap();
        let answering = async move {
            let mut seen = Vec::new();
            while !seen.ends_with(b"\r\n\r\n") {
                seen.push(proxy.read_u8().await.unwrap());
            }
            proxy.write_all(answer.as_bytes()).await.unwrap();
            String::from_utf8(seen).unwrap()
        };
        let to = "https://api.example".parse().unwrap();
        tokio::join!(tunnel(stream, &to, Some("Basic eA==")), answering)
    }

    #[tokio::test]
    async fn a_tunnel_is_asked_for_and_nothing_after_the_head_is_read() {
        let (stream, seen) =
            asked("HTTP/1.1 200 Connection established\r\nx: y\r\n\r\nafter").await;
        let mut after = String::new();
        stream.unwrap().read_to_string(&mut after).await.unwrap();
        assert_eq!(after, "after");
        let login = "proxy-authorization: Basic eA==\r\n\r\n";
        assert_eq!(
            seen,
            format!("CONNECT api.example:443 HTTP/1.1\r\nhost: api.example:443\r\n{login}")
        );
    }

    #[tokio::test]
    async fn a_refusal_is_told_from_an_answer_that_is_none() {
        let (refused, _) = asked("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n").await;
        assert!(matches!(refused, Err(ProxyError::Refused(407))));
        let (none, _) = asked("SSH-2.0-x\r\n\r\n").await;
        assert!(matches!(none, Err(ProxyError::NotAProxy)));
        let (closed, _) = asked("HTTP/1.1 200").await;
        assert!(matches!(closed, Err(ProxyError::Unreachable(_))));
    }
}
