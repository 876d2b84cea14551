//! Lets running connections finish when the gateway stops.

use std::pin::Pin;

use tokio::sync::watch;

/// The connections that a stopping gateway waits for.
#[derive(Clone, Debug)]
pub(crate) struct Drain {
    is_stopping: watch::Sender<bool>,
    open: watch::Sender<usize>,
}

/// A connection that can be asked to end after its running request.
pub(crate) trait EndAfterRequest: Future {
    /// Asks the connection to end.
    fn end(self: Pin<&mut Self>);
}

impl Drain {
    /// Creates a drain without connections.
    pub(crate) fn new() -> Self {
        Self { is_stopping: watch::Sender::new(false), open: watch::Sender::new(0) }
    }

    /// Runs a connection, which ends after its running request once the gateway stops.
    pub(crate) fn watch<C: EndAfterRequest>(
        &self,
        connection: C,
    ) -> impl Future<Output = ()> + use<C> {
        let mut stopping = self.is_stopping.subscribe();
        let open = OpenConnection::new(&self.open);
        async move {
            let mut connection = std::pin::pin!(connection);
            let stopped = async move {
                let _ = stopping.wait_for(|is_stopping| *is_stopping).await;
            };
            tokio::select! {
                _ = &mut connection => {}
                () = stopped => {
                    connection.as_mut().end();
                    connection.await;
                }
            }
            drop(open);
        }
    }

    /// Asks all connections to end, and waits for them.
    pub(crate) async fn finish(&self) {
        self.is_stopping.send_replace(true);
        let _ = self.open.subscribe().wait_for(|open| *open == 0).await;
    }
}

/// Counts a connection as open until it is dropped.
#[derive(Debug)]
struct OpenConnection(watch::Sender<usize>);

impl OpenConnection {
    fn new(open: &watch::Sender<usize>) -> Self {
        open.send_modify(|open| *open += 1);
        Self(open.clone())
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}
