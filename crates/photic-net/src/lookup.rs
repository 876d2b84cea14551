//! DNS lookup of host names.

use std::net::IpAddr;

/// Resolves a host name to its IP addresses. Returns an empty list if the lookup fails.
pub async fn lookup_addresses(host: &str, port: u16) -> Vec<IpAddr> {
    match tokio::net::lookup_host((host, port)).await {
        Ok(found) => found.map(|address| address.ip()).collect(),
        Err(_) => Vec::new(),
    }
}
