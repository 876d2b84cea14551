//! The guarded fetch: one GET for an address that somebody wrote whom we do not trust.
//!
//! A name is resolved once, every address it goes by must be public, and the very address that was
//! checked is dialed. Redirects are followed by hand, each checked like the first. No cookies, no
//! credentials, no proxy, no header of a caller; bounded in time, in bytes while they arrive, and
//! to bytes that begin as what is wanted begins.

mod exchange;
mod hosts;
mod public;
mod refusal;
mod resolve;
#[cfg(test)]
mod secured;
mod target;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use tokio::time::{Instant, timeout_at};

pub use refusal::{Blame, Refusal};
pub use resolve::{Resolve, Resolving, System};

use exchange::Answer;
use target::Target;

/// What may be fetched.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Patterns of hosts, with `*`; without any, every host.
    pub hosts: Vec<String>,
    /// Patterns of hosts that are not allowed whatever `hosts` says.
    pub not_hosts: Vec<String>,
    /// Ports of public hosts.
    pub ports: Vec<u16>,
    /// Addresses that may be dialed although they are not public, each with its port: a store of
    /// one's own. Nothing is, unless it is listed.
    pub private: Vec<SocketAddr>,
    /// The most bytes.
    pub most_bytes: usize,
    /// For everything together.
    pub total: Duration,
    /// For a connection.
    pub connect: Duration,
    /// The most redirects.
    pub redirects: usize,
    /// Whether a file that begins so is wanted. The type that a server states is never looked at.
    pub wanted: fn(&[u8]) -> bool,
}

/// Tells whether there is room for a file: how many bytes it has so far with the piece that came, and how many
/// that piece has.
pub type Room<'r> = dyn Fn(usize, usize) -> Result<(), Refusal> + Send + Sync + 'r;

/// Fetches what the rules allow.
#[derive(Clone, Debug)]
pub struct Fetch {
    rules: Arc<Rules>,
    resolver: Arc<dyn Resolve>,
    tls: Arc<ClientConfig>,
}

impl Rules {
    /// The strictest useful rules: public hosts on the ports of the web, 20 MiB, ten seconds.
    pub fn new(wanted: fn(&[u8]) -> bool) -> Self {
        Self {
            hosts: Vec::new(),
            not_hosts: Vec::new(),
            ports: vec![80, 443],
            private: Vec::new(),
            most_bytes: 20 << 20,
            total: Duration::from_secs(10),
            connect: Duration::from_secs(3),
            redirects: 3,
            wanted,
        }
    }
}

impl Fetch {
    /// Fetches by these rules, with the certificate roots of the system.
    pub fn new(rules: Rules, resolver: Arc<dyn Resolve>) -> Self {
        Self::trusting(rules, resolver, exchange::system_trust())
    }

    fn trusting(rules: Rules, resolver: Arc<dyn Resolve>, tls: ClientConfig) -> Self {
        Self { rules: Arc::new(rules), resolver, tls: Arc::new(tls) }
    }

    /// Whether an address may be dialed; nothing is.
    pub async fn check(&self, address: &str) -> Result<(), Refusal> {
        let target = Target::read(address, &self.rules)?;
        target.resolve(&*self.resolver, &self.rules).await.map(|_| ())
    }

    /// Whether a redirect from one address to a location may be followed; nothing is dialed.
    pub async fn check_redirect(&self, address: &str, location: &str) -> Result<(), Refusal> {
        let target = Target::read(address, &self.rules)?.redirect(location, &self.rules)?;
        target.resolve(&*self.resolver, &self.rules).await.map(|_| ())
    }

    /// Fetches the bytes behind an address.
    pub async fn get(&self, address: &str) -> Result<Vec<u8>, Refusal> {
        self.get_within(address, &|_, _| Ok(())).await
    }

    /// Fetches the bytes behind an address, as far as there is `room` for them. It is asked before each piece
    /// is taken; where it refuses, so does the fetch.
    pub async fn get_within(&self, address: &str, room: &Room<'_>) -> Result<Vec<u8>, Refusal> {
        let deadline = Instant::now() + self.rules.total;
        timeout_at(deadline, self.follow(address, room)).await.unwrap_or(Err(Refusal::Timeout))
    }

    async fn follow(&self, address: &str, room: &Room<'_>) -> Result<Vec<u8>, Refusal> {
        let mut target = Target::read(address, &self.rules)?;
        for _ in 0..=self.rules.redirects {
            let checked = target.resolve(&*self.resolver, &self.rules).await?;
            match exchange::get(&target, &checked, &self.rules, &self.tls, room).await? {
                Answer::Whole(bytes) => return Ok(bytes),
                Answer::Elsewhere(location) => target = target.redirect(&location, &self.rules)?,
            }
        }
        Err(Refusal::Redirects)
    }
}
