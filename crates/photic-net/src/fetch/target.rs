//! A URL that passed all rules, and its resolved addresses.
//!
//! The URL is parsed once, by the WHATWG rules that browsers follow: `0x7f.1`, `2130706433` and
//! fullwidth digits become numbers before anything is decided. Everything dialed and sent comes
//! from the parsed URL, never from the text.

use std::net::{IpAddr, SocketAddr};

use url::{Host, Position, Url};

use super::public::is_public;
use super::{Refusal, Resolve, Rules, hosts};

/// Largest number of addresses of one name that are tried.
const MAX_DIALED: usize = 4;

/// A URL that may be fetched if its resolved addresses are allowed.
#[derive(Debug)]
pub(super) struct Target {
    url: Url,
    port: u16,
}

impl Target {
    pub(super) fn read(address: &str, rules: &Rules) -> Result<Self, Refusal> {
        Self::new(Url::parse(address).map_err(|_| Refusal::NoAddress)?, rules)
    }

    /// Follows a redirect. Fails if it leads from HTTPS to plain HTTP.
    pub(super) fn redirect(&self, location: &str, rules: &Rules) -> Result<Self, Refusal> {
        let url = self.url.join(location).map_err(|_| Refusal::Redirect)?;
        if self.is_secured() && url.scheme() != "https" {
            return Err(Refusal::Redirect);
        }
        Self::new(url, rules)
    }

    fn new(url: Url, rules: &Rules) -> Result<Self, Refusal> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refusal::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::Credentials);
        }
        let port = url.port_or_known_default().ok_or(Refusal::NoAddress)?;
        let listed = rules.private.iter().any(|private| private.port() == port);
        if !rules.ports.contains(&port) && !listed {
            return Err(Refusal::Port);
        }
        let target = Self { url, port };
        let host = target.host()?;
        let allowed = rules.hosts.is_empty() || hosts::matches(&rules.hosts, host);
        if !allowed || hosts::matches(&rules.not_hosts, host) {
            return Err(Refusal::Host);
        }
        Ok(target)
    }

    /// Resolves the host. Fails unless every address is allowed: a private address among public
    /// ones is an attack, or a mistake that looks like one.
    pub(super) async fn resolve(
        &self,
        resolver: &dyn Resolve,
        rules: &Rules,
    ) -> Result<Vec<SocketAddr>, Refusal> {
        let found: Vec<IpAddr> = match self.url.host().ok_or(Refusal::NoAddress)? {
            Host::Ipv4(address) => vec![address.into()],
            Host::Ipv6(address) => vec![address.into()],
            Host::Domain(name) => resolver.resolve(name).await.map_err(|_| Refusal::Unresolved)?,
        };
        if found.is_empty() {
            return Err(Refusal::Unresolved);
        }
        let mut checked: Vec<SocketAddr> = found
            .into_iter()
            .map(|address| SocketAddr::new(address.to_canonical(), self.port))
            .collect();
        let may_be_dialed = |address: &SocketAddr| {
            rules.private.contains(address)
                || (is_public(address.ip()) && rules.ports.contains(&self.port))
        };
        if !checked.iter().all(may_be_dialed) {
            return Err(Refusal::NotPublic);
        }
        checked.truncate(MAX_DIALED);
        Ok(checked)
    }

    pub(super) fn is_secured(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Returns the host as a name or number, without brackets or a final dot.
    pub(super) fn host(&self) -> Result<&str, Refusal> {
        let host = self.url.host_str().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
        if host.is_empty() { Err(Refusal::NoAddress) } else { Ok(host) }
    }

    /// Returns the value of the `Host` header.
    pub(super) fn authority(&self) -> &str {
        &self.url[Position::BeforeHost..Position::AfterPort]
    }

    /// Returns path and query. A fragment is never sent.
    pub(super) fn path(&self) -> &str {
        &self.url[Position::BeforePath..Position::AfterQuery]
    }
}
