//! The guarded fetch: one GET for a URL from an untrusted source.
//!
//! Protections against server-side request forgery:
//!
//! - A name is resolved once. All its addresses must be public, and the checked address is dialed.
//! - Redirects are followed one by one, and each is checked like the first URL.
//! - No cookies, credentials, proxies or caller's headers are sent.
//! - Time and bytes are limited, and the first bytes must be of a wanted type.

mod exchange;
mod hosts;
mod public;
mod refusal;
mod resolve;
mod target;
#[cfg(test)]
mod tls_tests;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use tokio::time::{Instant, timeout_at};

pub use refusal::{Blame, Refusal};
pub use resolve::{Resolve, Resolving, System};

use exchange::FetchStep;
use target::Target;

/// Limits of a [`Fetch`].
#[derive(Clone, Debug)]
pub struct Rules {
    /// Patterns of allowed hosts, with `*`. If empty, every host is allowed.
    pub hosts: Vec<String>,
    /// Patterns of forbidden hosts. They take precedence over `hosts`.
    pub not_hosts: Vec<String>,
    /// Allowed ports of public hosts.
    pub ports: Vec<u16>,
    /// Non-public addresses that are allowed, each with its port, such as a local object store.
    /// Empty by default.
    pub private: Vec<SocketAddr>,
    /// Largest file in bytes.
    pub max_bytes: usize,
    /// Longest time for the whole fetch, redirects included.
    pub total: Duration,
    /// Longest time to connect.
    pub connect: Duration,
    /// Largest number of redirects.
    pub redirects: usize,
    /// Returns whether a file that begins with these bytes is wanted. The `Content-Type` of the
    /// server is ignored.
    pub wanted: fn(&[u8]) -> bool,
}

/// Asks for memory before a chunk is kept. The arguments are the file's bytes so far, with the new
/// chunk, and the bytes of the chunk.
pub type ReserveBytes<'r> = dyn Fn(usize, usize) -> Result<(), Refusal> + Send + Sync + 'r;

/// Fetches URLs within [`Rules`].
///
/// ```
/// use std::sync::Arc;
///
/// use photic_net::fetch::{Fetch, Refusal, Rules, System};
///
/// let rules = Rules::new(|bytes| bytes.starts_with(b"\x89PNG"));
/// let fetch = Fetch::new(rules, Arc::new(System));
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let refused = fetch.check("http://169.254.169.254/latest/meta-data/").await;
/// assert_eq!(refused, Err(Refusal::NotPublic));
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Fetch {
    rules: Arc<Rules>,
    resolver: Arc<dyn Resolve>,
    tls: Arc<ClientConfig>,
}

impl Rules {
    /// Creates rules that allow public hosts on ports 80 and 443, 20 MiB and ten seconds.
    pub fn new(wanted: fn(&[u8]) -> bool) -> Self {
        Self {
            hosts: Vec::new(),
            not_hosts: Vec::new(),
            ports: vec![80, 443],
            private: Vec::new(),
            max_bytes: 20 << 20,
            total: Duration::from_secs(10),
            connect: Duration::from_secs(3),
            redirects: 3,
            wanted,
        }
    }
}

impl Fetch {
    /// Creates a fetch that trusts the certificate roots of the system.
    pub fn new(rules: Rules, resolver: Arc<dyn Resolve>) -> Self {
        Self::trusting(rules, resolver, exchange::system_trust())
    }

    fn trusting(rules: Rules, resolver: Arc<dyn Resolve>, tls: ClientConfig) -> Self {
        Self { rules: Arc::new(rules), resolver, tls: Arc::new(tls) }
    }

    /// Checks whether a URL may be fetched. Resolves its host, but does not connect.
    pub async fn check(&self, address: &str) -> Result<(), Refusal> {
        let target = Target::read(address, &self.rules)?;
        target.resolve(&*self.resolver, &self.rules).await.map(|_| ())
    }

    /// Checks whether a redirect from `address` to `location` may be followed. Does not connect.
    pub async fn check_redirect(&self, address: &str, location: &str) -> Result<(), Refusal> {
        let target = Target::read(address, &self.rules)?.redirect(location, &self.rules)?;
        target.resolve(&*self.resolver, &self.rules).await.map(|_| ())
    }

    /// Fetches the bytes behind a URL.
    pub async fn get(&self, address: &str) -> Result<Vec<u8>, Refusal> {
        self.get_within(address, &|_, _| Ok(())).await
    }

    /// Fetches the bytes behind a URL while `reserve` grants memory for them. `reserve` is called before
    /// each chunk is kept; its refusal ends the fetch.
    pub async fn get_within(
        &self,
        address: &str,
        reserve: &ReserveBytes<'_>,
    ) -> Result<Vec<u8>, Refusal> {
        let deadline = Instant::now() + self.rules.total;
        timeout_at(deadline, self.follow(address, reserve)).await.unwrap_or(Err(Refusal::Timeout))
    }

    async fn follow(&self, address: &str, reserve: &ReserveBytes<'_>) -> Result<Vec<u8>, Refusal> {
        let mut target = Target::read(address, &self.rules)?;
        for _ in 0..=self.rules.redirects {
            let checked = target.resolve(&*self.resolver, &self.rules).await?;
            match exchange::get(&target, &checked, &self.rules, &self.tls, reserve).await? {
                FetchStep::File(bytes) => return Ok(bytes),
                FetchStep::Redirect(location) => {
                    target = target.redirect(&location, &self.rules)?;
                }
            }
        }
        Err(Refusal::Redirects)
    }
}
