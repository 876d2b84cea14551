//! Detects an upstream that is the gateway itself, because its requests would loop forever.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use super::provider::Upstream;

/// Returns `true` if requests to the upstream would arrive at this listening address.
pub(crate) async fn is_itself(upstream: &Upstream, listening: SocketAddr) -> bool {
    let (host, port) = upstream.endpoint();
    // The ports nearly always differ, which saves a name lookup.
    if port != listening.port() {
        return false;
    }
    let addresses = photic_net::lookup_addresses(host, port).await;
    addresses.into_iter().any(|address| arrives(address, listening.ip()))
}

fn arrives(to: IpAddr, at: IpAddr) -> bool {
    let (to, at) = (to.to_canonical(), at.to_canonical());
    if at.is_unspecified() {
        is_of_this_machine(to)
    } else {
        // A connection to the unspecified address reaches this machine.
        to == at || (to.is_unspecified() && at.is_loopback())
    }
}

/// Returns `true` for an address of this machine. Only those can be bound.
fn is_of_this_machine(address: IpAddr) -> bool {
    address.is_loopback() || address.is_unspecified() || UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_recognizes_its_own_address() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        for (to, at, expected) in [
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "0.0.0.0", true),
            ("127.0.0.1", "::", true),
            ("::ffff:127.0.0.1", "127.0.0.1", true),
            ("0.0.0.0", "127.0.0.1", true),
            ("127.0.0.2", "127.0.0.1", false),
            ("192.0.2.7", "0.0.0.0", false),
        ] {
            assert_eq!(arrives(ip(to), ip(at)), expected, "{to} at {at}");
        }
    }
}
