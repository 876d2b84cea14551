//! Passes the bytes of a socket on unread.

use photic_net::websocket::Connection;
use tokio::io::copy_bidirectional;

use super::running::{OpenSocket, Phase};

/// Passes bytes on in both directions until one side ends, or the gateway stops.
pub(super) async fn tunnel(mut client: Connection, mut upstream: Connection, open: &OpenSocket) {
    tokio::select! {
        _ = copy_bidirectional(&mut client, &mut upstream) => {}
        // It cannot be known whether something runs in it.
        () = open.reached(Phase::Cut) => {}
    }
}
