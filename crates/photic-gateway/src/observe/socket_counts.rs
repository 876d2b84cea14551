//! Counts of WebSockets and of the frames in them.

use super::series::Page;
use crate::counter::Counter;

/// The kind of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SocketKind {
    /// Responses, whose frames are read and repaired.
    Responses,
    /// Any other, whose bytes are passed on unread.
    Tunnel,
}

/// Counts of sockets and frames.
#[derive(Debug, Default)]
pub(crate) struct SocketCounts {
    open: Counter,
    opened: [Counter; 2],
    /// Messages from clients.
    pub(crate) frames_in: Counter,
    /// Messages from upstreams.
    pub(crate) frames_out: Counter,
    /// Messages from clients that were changed.
    pub(crate) repaired: Counter,
    /// Messages from clients with pictures that were not looked at.
    pub(crate) unread: Counter,
}

impl SocketKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Responses => "responses",
            Self::Tunnel => "tunnel",
        }
    }
}

impl SocketCounts {
    /// Counts a socket that is opened.
    pub(crate) fn opened(&self, kind: SocketKind) {
        self.open.add(1);
        self.opened[kind as usize].add(1);
    }

    /// Counts a socket that is closed.
    pub(crate) fn closed(&self) {
        self.open.subtract(1);
    }

    /// Writes the counts to a page.
    pub(super) fn write(&self, page: &mut Page) {
        let name = "photic_sockets_total";
        page.family(name, "counter", "WebSockets that were opened, by kind.");
        for kind in [SocketKind::Responses, SocketKind::Tunnel] {
            page.sample(name, &[("kind", kind.name())], self.opened[kind as usize].get());
        }
        page.single("photic_sockets_open", "gauge", "Open WebSockets.", self.open.get());
        let name = "photic_socket_frames_total";
        page.family(name, "counter", "Messages in WebSockets, by the side that sent them.");
        page.sample(name, &[("from", "client")], self.frames_in.get());
        page.sample(name, &[("from", "upstream")], self.frames_out.get());
        for (name, help, count) in [
            ("photic_socket_frames_repaired_total", "Messages that were changed.", &self.repaired),
            (
                "photic_socket_frames_unread_total",
                "Messages with images that were passed on unread.",
                &self.unread,
            ),
        ] {
            page.single(name, "counter", help, count.get());
        }
    }
}
