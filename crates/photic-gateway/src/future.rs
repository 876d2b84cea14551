//! Futures of trait objects.

use std::pin::Pin;

/// A future that a method of a trait object returns.
pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
