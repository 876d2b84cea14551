//! The listener of `photic ui`: on loopback, for browsers of this machine.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};

use super::access::{Access, Token};
use super::service::Service;
use crate::inspector::Inspector;

/// Longest time until a request's headers are complete.
const HEADER_TIMEOUT: Duration = Duration::from_mins(2);

/// Error of a server that does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on `{address}`")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The cause.
        #[source]
        cause: io::Error,
    },
    /// The address is reachable from other machines.
    #[error("`{0}` is reachable from other machines; this listener is for loopback only")]
    NotLoopback(SocketAddr),
    /// The system has no random numbers for the token.
    #[error("the system has no random numbers")]
    NoRandomNumbers,
}

/// A listening server.
#[derive(Debug)]
pub struct UiServer {
    listener: TcpListener,
    service: Service,
}

impl UiServer {
    /// Starts to listen. Connections wait until [`UiServer::serve`] is called.
    pub async fn bind(address: SocketAddr, inspector: Inspector) -> Result<Self, StartError> {
        if !address.ip().is_loopback() {
            return Err(StartError::NotLoopback(address));
        }
        let failed = |cause| StartError::Listen { address, cause };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let token = Token::random().ok_or(StartError::NoRandomNumbers)?;
        let service = Service::new(inspector, Access::new(token, address, &[]));
        Ok(Self { listener, service })
    }

    /// Returns the address to open, with the token.
    pub fn url(&self) -> String {
        self.service.url()
    }

    /// Serves until `stop` is ready.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                taken = self.listener.accept() => match taken {
                    Ok((stream, _)) => take(stream, self.service.clone()),
                    // Usually out of file descriptors: other connections must end first.
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                },
                () = &mut stop => break,
            }
        }
    }
}

/// Serves a connection.
fn take(stream: TcpStream, service: Service) {
    let _ = stream.set_nodelay(true);
    let answer = service_fn(move |request: Request<Incoming>| {
        let service = service.clone();
        async move { Ok::<_, Infallible>(service.respond(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(stream), answer);
    tokio::spawn(async move {
        // A browser that goes away is no error.
        let _ = connection.await;
    });
}
