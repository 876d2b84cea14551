//! A strict provider on loopback: it speaks three wires, keeps their rules, and answers only from
//! pixels that it decoded out of the slot its wire allows.
//!
//! ```
//! use photic_mock::{Chart, Mock, Options};
//!
//! let mock = Mock::start(Options::default())?;
//! assert!(mock.url().starts_with("http://127.0.0.1:"));
//! // A request that shows `Chart::of(7).png()` is answered with these words:
//! assert_eq!(Chart::of(7).words(), "cyan, yellow / orange, purple");
//! assert!(mock.journal().is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # What it does not do
//!
//! It understands nothing: whatever it is asked, it describes the charts and numbers it sees, or
//! calls the tool that shows them, closer where it sees a frame around something too small. It fetches no address, opens no file by id, reads no document. It listens on
//! loopback only. It takes the rules of a model from the profiles of `photic`, as data; what
//! follows from them is judged by the oracle of `photic-testkit`.

mod busy;
mod journal;
mod meter;
mod misbehave;
mod provider;
mod rejection;
mod reply;
mod route;
mod rules;
mod screen;
mod script;
mod server;
mod service;
mod stored;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use photic::Wire;
use tokio::runtime::{Builder, Runtime};

pub use journal::{Entry, SeenImage};
pub use misbehave::Misbehavior;
pub use photic_pixels::chart::{self, Chart};
pub use screen::Screen;

use provider::Provider;

/// How the provider is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The port of loopback; 0 is any.
    pub port: u16,
    /// The models it has; without one, it has them all.
    pub models: Vec<String>,
    /// The wires it speaks; without one, it speaks them all.
    pub wires: Vec<Wire>,
    /// How it misbehaves on every request. The header `x-mock-misbehave` adds to it.
    pub misbehave: Vec<Misbehavior>,
    /// The model by whose rules every request is judged; without one, the model it names. So a
    /// name that nobody knows can have rules that nobody knows.
    pub judge_as: Option<String>,
    /// Limits instead of those of the profile.
    pub limits: Option<photic::profile::Limits>,
}

/// A provider that runs in the background, until it is dropped.
#[derive(Debug)]
pub struct Mock {
    address: SocketAddr,
    provider: Arc<Provider>,
    runtime: Option<Runtime>,
}

impl Mock {
    /// Starts it, on threads of its own.
    pub fn start(options: Options) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().enable_all().thread_name("mock").build()?;
        let listener = runtime.block_on(server::bind(options.port))?;
        let address = listener.local_addr()?;
        let provider = Arc::new(Provider::new(options));
        runtime.spawn(server::serve(listener, Arc::clone(&provider)));
        Ok(Self { address, provider, runtime: Some(runtime) })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it listens, as the base of addresses: `http://127.0.0.1:4242`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far, the oldest of many left out.
    pub fn journal(&self) -> Vec<Entry> {
        self.provider.entries()
    }

    /// Waits for SIGINT or SIGTERM, and stops.
    pub fn until_signal(self) -> io::Result<()> {
        match &self.runtime {
            Some(runtime) => runtime.block_on(signal()),
            None => Ok(()),
        }
    }
}

impl Drop for Mock {
    /// Without waiting: a request that hangs would hang this, too.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(unix)]
async fn signal() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
async fn signal() -> io::Result<()> {
    tokio::signal::ctrl_c().await
}
