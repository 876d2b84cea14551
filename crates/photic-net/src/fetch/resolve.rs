//! Resolution of host names. A trait, so that tests can change the answers between calls.

use std::fmt::Debug;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;

/// Future of the addresses of a host name.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Resolves host names.
pub trait Resolve: Debug + Send + Sync {
    /// Returns all addresses of a host name. Called once per URL; the returned addresses are the
    /// ones that are dialed.
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a>;
}

/// Resolver of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl Resolve for System {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}
