//! An address that passed every rule, and what it resolves to.
//!
//! Read once, by the rules that browsers read addresses by: `0x7f.1`, `2130706433` and fullwidth
//! digits are numbers before anything is decided. What is dialed and what is sent comes from this
//! reading, never from the text.

use std::net::{IpAddr, SocketAddr};

use url::{Host, Position, Url};

use super::public::is_public;
use super::{Refusal, Resolve, Rules, hosts};

/// More addresses than a name needs; more would only be more to try.
const MOST_DIALED: usize = 4;

/// An address that may be dialed if what it resolves to may.
#[derive(Debug)]
pub(super) struct Target {
    url: Url,
    port: u16,
}

impl Target {
    pub(super) fn read(address: &str, rules: &Rules) -> Result<Self, Refusal> {
        Self::new(Url::parse(address).map_err(|_| Refusal::NoAddress)?, rules)
    }

    /// Where a redirect leads: never from TLS to plain HTTP.
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

    /// Every address it goes by, if every one of them may be dialed. One bad answer among good ones
    /// is a trick, or a mistake that looks like one.
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
        checked.truncate(MOST_DIALED);
        Ok(checked)
    }

    pub(super) fn is_secured(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The host as a name or a number, without brackets or a final dot.
    pub(super) fn host(&self) -> Result<&str, Refusal> {
        let host = self.url.host_str().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
        if host.is_empty() { Err(Refusal::NoAddress) } else { Ok(host) }
    }

    /// What the `host` header says.
    pub(super) fn authority(&self) -> &str {
        &self.url[Position::BeforeHost..Position::AfterPort]
    }

    /// What is asked for; a fragment is never sent.
    pub(super) fn path(&self) -> &str {
        &self.url[Position::BeforePath..Position::AfterQuery]
    }
}
