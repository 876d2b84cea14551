//! The listener: accepts and serves connections, bounded in number and time.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper::server::conn::http1::UpgradeableConnection;
use hyper::service::{HttpService, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use photic_net::HostCheck;
use tokio::net::{TcpListener, TcpStream};

use super::connections::{ConnectionLimit, ConnectionPermit, ConnectionState, Phase};
use super::drain::{Drain, EndAfterRequest};
use super::timed_stream::TimedStream;
use crate::config::Config;
use crate::dispatch::{Dispatcher, Entry, ListenerKind};
use crate::http::{Broken, ConnectionPlace, HoldPlace, asks_for_socket};
use crate::observe::Watched;

/// Maximum connections of operators. They are counted apart from those of clients, so that a full
/// gateway can still be observed.
const MAX_ADMIN_CONNECTIONS: usize = 64;
/// Files that are opened beside connections: databases, blobs, the log.
const OTHER_FILES: u64 = 64;

/// An address that the gateway listens on.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    limit: Arc<ConnectionLimit>,
    entry: Arc<Entry>,
    timeouts: Timeouts,
}

/// Time limits of a connection.
#[derive(Clone, Copy, Debug)]
struct Timeouts {
    head: Duration,
    idle: Duration,
    write: Duration,
}

/// Begins to listen on an address.
///
/// # Errors
///
/// Fails if the address cannot be bound.
pub(crate) async fn bind(
    address: &str,
    kind: ListenerKind,
    config: &Config,
) -> io::Result<Listener> {
    let socket = TcpListener::bind(address).await?;
    let address = socket.local_addr()?;
    let limits = config.limits;
    let most = if kind == ListenerKind::Admin {
        MAX_ADMIN_CONNECTIONS
    } else {
        (limits.connections as usize).min(connections_that_fit())
    };
    // A fleet is behind a proxy, so all clients have one address. Its tenants are limited by quota.
    let per_peer =
        if config.fleet.asks_for_keys() { most } else { limits.connections_per_peer as usize };
    let seconds = |seconds: u32| Duration::from_secs(seconds.max(1).into());
    Ok(Listener {
        socket,
        address,
        limit: ConnectionLimit::new(most, per_peer),
        entry: Arc::new(Entry {
            kind,
            hosts: HostCheck::new(address).hosts(&config.hosts).origins(&config.origins),
        }),
        timeouts: Timeouts {
            head: seconds(config.timeouts.header_s),
            idle: seconds(config.timeouts.keep_alive_s),
            write: seconds(config.timeouts.idle_s),
        },
    })
}

/// Returns the number of connections for which the process may open enough files. Each may need a
/// second file for the connection to its upstream.
fn connections_that_fit() -> usize {
    #[cfg(unix)]
    {
        let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let fitting = files.map(|files| files.saturating_sub(OTHER_FILES) / 2);
        fitting.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX).max(1))
    }
    #[cfg(not(unix))]
    {
        usize::MAX
    }
}

impl Listener {
    /// Returns the address.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for the next connection that gets a permit.
    pub(crate) async fn accept(&self) -> (TcpStream, ConnectionPermit) {
        loop {
            match self.socket.accept().await {
                Ok((stream, peer)) => {
                    if let Some(permit) = self.permit(peer.ip()) {
                        return (stream, permit);
                    }
                }
                // Most likely out of files: other connections have to end first.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }

    fn permit(&self, peer: IpAddr) -> Option<ConnectionPermit> {
        self.limit.take(peer.to_canonical())
    }

    /// Serves a connection. With `drain`, a stopping gateway waits until it is done.
    pub(crate) fn serve(
        &self,
        (stream, permit): (TcpStream, ConnectionPermit),
        dispatcher: &Arc<Dispatcher>,
        drain: Option<&Drain>,
    ) {
        // Pieces of a stream are small, and clients wait for each one.
        let _ = stream.set_nodelay(true);
        let (dispatcher, entry) = (Arc::clone(dispatcher), Arc::clone(&self.entry));
        let ConnectionPermit { peer, is_spare, .. } = permit;
        let state = Arc::clone(&permit.state);
        let permit = Arc::new(permit);
        let place = ConnectionPlace(Arc::clone(&permit) as Arc<dyn HoldPlace>);
        let service = service_fn(move |mut request: Request<Incoming>| {
            // A socket keeps the place of its connection.
            if asks_for_socket(request.headers()) {
                request.extensions_mut().insert(place.clone());
            }
            let busy = BusyGuard::begin(&state);
            let answer =
                Arc::clone(&dispatcher).answer(request, Arc::clone(&entry), peer, is_spare);
            async move {
                let answer = answer.await;
                Ok::<_, Infallible>(answer.map(|body| BusyBody { body, _busy: busy }))
            }
        });
        let Timeouts { head, idle, write } = self.timeouts;
        let stream = TimedStream::new(stream, Arc::clone(&permit.state), head, write);
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(idle)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        match drain {
            Some(drain) => tokio::spawn(until_evicted(drain.watch(connection), permit)),
            None => tokio::spawn(until_evicted(connection, permit)),
        };
    }
}

/// Runs a connection until it ends, or must be closed for another one.
async fn until_evicted<T>(connection: impl Future<Output = T>, permit: Arc<ConnectionPermit>) {
    tokio::select! {
        _ = connection => {}
        () = permit.state.evicted() => {}
    }
}

impl<I, B, S> EndAfterRequest for UpgradeableConnection<I, S>
where
    S: HttpService<Incoming, ResBody = B>,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    I: Read + Write + Unpin + Send + 'static,
    B: Body + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    fn end(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

/// Marks a connection as busy until it is dropped.
#[derive(Debug)]
struct BusyGuard(Arc<ConnectionState>);

impl BusyGuard {
    fn begin(state: &Arc<ConnectionState>) -> Self {
        state.set(Phase::Busy);
        Self(Arc::clone(state))
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.0.set(Phase::Waiting);
    }
}

/// The body of a reply. Its connection is busy until it is dropped.
#[derive(Debug)]
struct BusyBody {
    body: Watched,
    _busy: BusyGuard,
}

impl Body for BusyBody {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
