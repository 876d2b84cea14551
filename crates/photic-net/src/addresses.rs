//! Names of hosts.

use std::net::IpAddr;

/// The addresses that a host goes by, as far as they can be found out now.
pub async fn addresses(host: &str, port: u16) -> Vec<IpAddr> {
    match tokio::net::lookup_host((host, port)).await {
        Ok(found) => found.map(|address| address.ip()).collect(),
        Err(_) => Vec::new(),
    }
}
