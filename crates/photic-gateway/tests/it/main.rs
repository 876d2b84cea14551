//! The gateway against scripted upstreams, over real sockets.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod budgets;
mod caller;
mod callers;
mod continuing;
mod crossing;
mod encodings;
mod envelopes;
mod failing;
mod fetching;
mod fixing;
mod fleet;
mod healing;
mod leaking;
mod listening;
mod many;
mod metrics;
mod mid_session;
mod one_command;
mod openwop;
mod operating;
mod outcomes;
mod pairs;
mod passing;
mod poisoned;
mod recorded_parts;
mod recording;
mod reloading;
mod retiring;
mod retrying;
mod scratch;
mod scripted;
mod secrets;
mod server_state;
mod settings;
mod signing;
mod sockets;
mod stages;
mod streaming;
mod telling;
mod tls;
mod tokens;
mod unfetched;
mod unreachable;
mod uploading;
mod upstreams;
mod watching;

use std::net::SocketAddr;

use photic_gateway::{Config, Gateway};

/// Starts a gateway with these settings, in front of one upstream for all requests.
async fn gateway(upstream: SocketAddr, settings: &str) -> SocketAddr {
    started(&format!("{settings}\n[[upstream]]\nurl = 'http://{upstream}'")).await
}

/// Starts a gateway with these settings.
async fn started(settings: &str) -> SocketAddr {
    let mut config = Config::parse(settings).unwrap();
    "127.0.0.1:0".clone_into(&mut config.listen);
    let gateway = Gateway::bind(config).await.unwrap();
    let address = gateway.address();
    tokio::spawn(gateway.serve(std::future::pending()));
    address
}
