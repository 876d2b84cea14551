//! The end of a socket: what each side is told.

use std::io;

use photic_net::websocket::{Close, ReadError};

use super::incoming::Fault;

/// The side of the gateway that a client or an upstream is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Upstream,
}

/// The reason for which a socket ends.
#[derive(Debug)]
pub(super) enum Ending {
    /// A side closed it. The other side is told the same.
    Closed(Option<Close>),
    /// A side disconnected without a close frame. The other side is disconnected, too.
    Gone,
    /// A side sent what cannot be read.
    Fault(Side, Fault),
    /// The upstream sent nothing for too long while a response ran.
    Silent,
    /// No response ran for too long.
    Idle,
    /// The gateway is stopping.
    Stopping,
}

/// The end of a socket for each side.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Farewell {
    pub(super) client: Goodbye,
    pub(super) upstream: Goodbye,
}

/// The end of a socket for one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Goodbye {
    /// It is disconnected without a close frame.
    Cut,
    /// It gets a close frame, with a code or without.
    Close(Option<Close>),
}

impl Ending {
    /// Returns the ending after a failed write.
    pub(super) fn write(_: io::Error) -> Self {
        Self::Gone
    }

    /// Returns what each side is told.
    pub(super) fn farewell(self) -> Farewell {
        let both = |code, reason: &str| {
            let close = Goodbye::with(code, reason);
            Farewell { client: close.clone(), upstream: close }
        };
        match self {
            Self::Closed(close) => {
                let close = Goodbye::Close(close);
                Farewell { client: close.clone(), upstream: close }
            }
            Self::Gone | Self::Fault(_, Fault::Read(ReadError::Io(_) | ReadError::Ended)) => {
                Farewell { client: Goodbye::Cut, upstream: Goodbye::Cut }
            }
            Self::Fault(side, fault) => {
                let (code, reason) = told(&fault);
                let own = Goodbye::with(code, &format!("photic: {reason}"));
                match side {
                    Side::Client => {
                        let other = Goodbye::with(1001, "the client broke off");
                        Farewell { client: own, upstream: other }
                    }
                    Side::Upstream => {
                        let code = if code == 1009 { 1009 } else { 1011 };
                        let other = Goodbye::with(code, &format!("photic: upstream: {reason}"));
                        Farewell { client: other, upstream: own }
                    }
                }
            }
            Self::Silent => {
                let other = Goodbye::with(1011, "photic: the upstream sent nothing for too long");
                let own = Goodbye::with(1001, "no frame came for too long");
                Farewell { client: other, upstream: own }
            }
            Self::Idle => both(1001, "photic: the connection was idle for too long"),
            Self::Stopping => both(1001, "photic: the gateway is stopping"),
        }
    }
}

impl Goodbye {
    fn with(code: u16, reason: &str) -> Self {
        Self::Close(Some(Close::new(code, reason)))
    }
}

/// Returns the code and the reason that the side at fault is told.
fn told(fault: &Fault) -> (u16, String) {
    match fault {
        Fault::Read(error) => (error.close_code().unwrap_or(1011), error.to_string()),
        Fault::Slow => (1008, "timed out while waiting for the rest of a message".to_owned()),
        Fault::NoRoom => (1013, "the gateway has no memory left; try again later".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_close_is_mirrored_and_a_fault_is_told_to_the_side_at_fault() {
        let close = Some(Close::new(4000, "done"));
        let mirrored = Ending::Closed(close.clone()).farewell();
        let close = Goodbye::Close(close);
        assert_eq!(mirrored, Farewell { client: close.clone(), upstream: close });
        let codes = |ending: Ending| {
            let Farewell { client, upstream } = ending.farewell();
            let code = |told| match told {
                Goodbye::Close(close) => close.map(|close| close.code),
                Goodbye::Cut => None,
            };
            (code(client), code(upstream))
        };
        let fault = |side, error| codes(Ending::Fault(side, Fault::Read(error)));
        assert_eq!(fault(Side::Client, ReadError::TooLarge { limit: 1 }), (Some(1009), Some(1001)));
        assert_eq!(fault(Side::Client, ReadError::BadText), (Some(1007), Some(1001)));
        assert_eq!(fault(Side::Upstream, ReadError::BadText), (Some(1011), Some(1007)));
        assert_eq!(fault(Side::Client, ReadError::Ended), (None, None));
        assert_eq!(codes(Ending::Gone), (None, None));
        assert_eq!(codes(Ending::Stopping), (Some(1001), Some(1001)));
    }
}
