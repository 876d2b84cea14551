//! The threads of a gateway.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// A runtime with one thread for every two processors.
///
/// The others are for pixels, which are worked on beside it. More would not help short requests
/// either: the steps of one are handed from thread to thread, and waking a thread costs more than
/// all that is done for it (measured on two processors: 77 µs a request with two threads, 43 with
/// one).
pub fn runtime() -> io::Result<Runtime> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Builder::new_multi_thread().worker_threads(processors.div_ceil(2)).enable_all().build()
}
