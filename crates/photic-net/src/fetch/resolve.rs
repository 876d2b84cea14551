//! From a name to addresses. Handed in, so that a test can answer differently the second time.

use std::fmt::Debug;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;

/// The addresses of a name, or why there are none.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Finds the addresses of names.
pub trait Resolve: Debug + Send + Sync {
    /// All addresses that a name goes by. Asked once for each address that is fetched; what it
    /// says then is what is dialed.
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a>;
}

/// Asks the system.
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
