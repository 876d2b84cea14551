//! Runs a future on this thread, for hosts without an async runtime.
//!
//! Futures of the local store are ready at the first poll. Futures of a remote store should be
//! awaited on the runtime of its client.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Blocks until a future is ready and returns its output.
pub fn wait<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_future_that_is_woken_from_elsewhere_comes_to_its_end() {
        let mut polls = 0;
        let answer = wait(poll_fn(|context| {
            polls += 1;
            if polls > 3 {
                return Poll::Ready(polls);
            }
            let waker = context.waker().clone();
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(5));
                waker.wake();
            });
            Poll::Pending
        }));
        assert!(answer > 3, "{answer}");
    }
}
