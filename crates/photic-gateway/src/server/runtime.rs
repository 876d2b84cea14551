//! The runtime of a gateway.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// Creates a runtime with one thread for every two processors.
///
/// The other processors are for work on pixels. More threads would not make short requests faster
/// either: the steps of a request would move between threads, and waking a thread costs more than the
/// work itself (measured on two processors: 77 µs per request with two threads, 43 µs with one).
///
/// # Errors
///
/// Fails if the system cannot start a thread.
pub fn runtime() -> io::Result<Runtime> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Builder::new_multi_thread().worker_threads(processors.div_ceil(2)).enable_all().build()
}
