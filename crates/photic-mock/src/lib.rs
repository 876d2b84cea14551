//! A strict test provider on loopback. It serves every wire of `photic`, enforces their rules, and
//! answers only from pixels that it decoded from the field in which a wire allows images.
//!
//! ```
//! use photic_mock::{Chart, Mock, Options};
//!
//! let mock = Mock::start(Options::default())?;
//! assert!(mock.url().starts_with("http://127.0.0.1:"));
//! // A request that shows `Chart::of(7).png()` is answered with this text:
//! assert_eq!(Chart::of(7).words(), "cyan, yellow / orange, purple");
//! assert!(mock.journal().is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | `server`, `route` | HTTP on loopback, and the paths |
//! | `provider` | the order of checks, and the reply |
//! | `service` | the provider's side of each wire |
//! | `socket` | Responses over WebSocket |
//! | `envelope` | clouds that wrap the Messages API |
//! | `rules`, `rejection` | the rules of a profile, and the error messages of each wire |
//! | `script`, `screen` | what the model answers or calls; screens with a small number |
//! | `token_count` | tokens of a request, and the prompt cache |
//! | `stored` | conversations that a service keeps |
//! | `journal` | what was requested, for tests |
//! | `misbehave`, `busy` | misbehavior on request |
//!
//! # What it does not do
//!
//! It understands nothing: it describes the charts and numbers it sees, or calls the tool that
//! shows them, again with a region if it sees a frame around something too small. It fetches no
//! URLs, opens no files by ID and reads no documents. It listens on loopback only. The rules of a
//! model are taken from the profiles of `photic`, as data; the oracle of `photic-testkit` judges
//! requests by them.

mod busy;
mod envelope;
mod journal;
mod misbehave;
mod options;
mod provider;
mod rejection;
mod reply;
mod route;
mod rules;
mod screen;
mod script;
mod server;
mod service;
mod socket;
mod stored;
mod token_count;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};

pub use journal::{Entry, SeenImage};
pub use misbehave::Misbehavior;
pub use options::Options;
pub use photic_pixels::chart::{self, Chart};
pub use screen::Screen;

use provider::Provider;

/// A provider that runs in the background until it is dropped.
#[derive(Debug)]
pub struct Mock {
    address: SocketAddr,
    provider: Arc<Provider>,
    runtime: Option<Runtime>,
}

impl Mock {
    /// Starts the provider on threads of its own.
    pub fn start(options: Options) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().enable_all().thread_name("mock").build()?;
        let listener = runtime.block_on(server::bind(options.port))?;
        let address = listener.local_addr()?;
        let provider = Arc::new(Provider::new(options));
        runtime.spawn(server::serve(listener, Arc::clone(&provider)));
        Ok(Self { address, provider, runtime: Some(runtime) })
    }

    /// The address on which it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL, such as `http://127.0.0.1:4242`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far; the oldest are dropped if there are many.
    pub fn journal(&self) -> Vec<Entry> {
        self.provider.entries()
    }

    /// Waits for SIGINT or SIGTERM, then stops.
    pub fn until_signal(self) -> io::Result<()> {
        match &self.runtime {
            Some(runtime) => runtime.block_on(signal()),
            None => Ok(()),
        }
    }
}

impl Drop for Mock {
    /// Does not wait: a hanging request would block it.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Waits for a signal to end.
#[cfg(unix)]
async fn signal() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}

/// Waits for a signal to end.
#[cfg(not(unix))]
async fn signal() -> io::Result<()> {
    tokio::signal::ctrl_c().await
}
