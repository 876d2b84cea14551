//! The gRPC server: one listener for HTTP/2 without TLS, as Envoy calls a sidecar.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::service::{Shared, answer};
use crate::settings::Settings;

/// Maximum requests at once on a connection. Envoy opens one connection for each of its threads.
const MAX_STREAMS: u32 = 4096;
/// Bytes of one request that may be on their way.
const STREAM_WINDOW: u32 = 256 << 10;
/// Bytes of all requests of a connection that may be on their way.
const CONNECTION_WINDOW: u32 = 8 << 20;
/// The time after which a silent connection is asked whether it is there.
const PING_INTERVAL: Duration = Duration::from_secs(30);
/// The time for which requests may go on after the server was asked to stop.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause after a connection could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The external processor, listening.
#[derive(Debug)]
pub struct ExternalProcessor {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl ExternalProcessor {
    /// Listens on an address.
    ///
    /// # Errors
    ///
    /// Fails if nothing can listen there.
    pub async fn bind(address: &str, settings: Settings) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, shared: Arc::new(Shared::new(settings)) })
    }

    /// Returns the address that it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers Envoy until `stop` completes. Requests that are being answered have ten seconds.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let (stopping, stopped) = watch::channel(());
        let mut connections = JoinSet::new();
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                Some(_) = connections.join_next() => {}
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        let shared = Arc::clone(&self.shared);
                        connections.spawn(connection(stream, shared, stopped.clone()));
                    }
                    // Usually there are too many open files, of which some will be closed.
                    Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
                },
            }
        }
        drop(stopping);
        let all = async { while connections.join_next().await.is_some() {} };
        let _ = timeout(DRAIN_TIMEOUT, all).await;
    }
}

/// Serves one connection until it ends, or until the server stops and its requests are answered.
async fn connection(stream: TcpStream, shared: Arc<Shared>, mut stopped: watch::Receiver<()>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let response = answer(&shared, request);
        async move { Ok::<_, std::convert::Infallible>(response) }
    });
    let mut builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .keep_alive_interval(PING_INTERVAL);
    let mut serving = pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        _ = &mut serving => return,
        // The sender is dropped when the server stops.
        _ = stopped.changed() => serving.as_mut().graceful_shutdown(),
    }
    let _ = serving.await;
}
