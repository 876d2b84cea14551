//! The open sockets of a gateway, and the sign to close them.

use std::sync::Arc;

use tokio::sync::watch;

use crate::observe::{SocketKind, Watchers};

/// The phase of a gateway, for its sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// The gateway serves.
    Serving,
    /// Sockets are closed as soon as no response runs.
    Stopping,
    /// Sockets are closed at once.
    Cut,
}

/// The open sockets of a gateway.
#[derive(Debug)]
pub(super) struct Running {
    phase: watch::Sender<Phase>,
    open: watch::Sender<usize>,
}

/// Counts a socket as open until it is dropped.
#[derive(Debug)]
pub(super) struct OpenSocket {
    running: Arc<Running>,
    watchers: Arc<Watchers>,
}

impl Running {
    /// Creates a list without sockets.
    pub(super) fn new() -> Arc<Self> {
        let (phase, open) = (watch::Sender::new(Phase::Serving), watch::Sender::new(0));
        Arc::new(Self { phase, open })
    }

    /// Counts a socket.
    pub(super) fn open(self: &Arc<Self>, kind: SocketKind, watchers: &Arc<Watchers>) -> OpenSocket {
        self.open.send_modify(|open| *open += 1);
        watchers.metrics.sockets.opened(kind);
        OpenSocket { running: Arc::clone(self), watchers: Arc::clone(watchers) }
    }

    /// Tells all sockets the phase.
    pub(super) fn enter(&self, phase: Phase) {
        self.phase.send_if_modified(|now| {
            let is_later = phase > *now;
            *now = phase.max(*now);
            is_later
        });
    }

    /// Waits until no socket is open.
    pub(super) async fn closed(&self) {
        let _ = self.open.subscribe().wait_for(|open| *open == 0).await;
    }
}

impl OpenSocket {
    /// Waits until the gateway is in this phase or a later one.
    pub(super) async fn reached(&self, phase: Phase) {
        let mut now = self.running.phase.subscribe();
        if now.wait_for(|now| *now >= phase).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for OpenSocket {
    fn drop(&mut self) {
        self.running.open.send_modify(|open| *open -= 1);
        self.watchers.metrics.sockets.closed();
    }
}
