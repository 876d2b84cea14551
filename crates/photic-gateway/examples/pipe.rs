//! The baselines of measurements: a proxy that only forwards, and one that only stores. The CPU time
//! of the gateway is compared with both.
//!
//! `pipe UPSTREAM [store]` listens on a free port, prints it, and forwards everything to that URL
//! until it is interrupted. With `store`, it keeps the pieces of a request until all are there, and
//! only then sends them: no program can do less that must read a request before it sends it.
//!
//! It trusts the certificates in `SSL_CERT_FILE`, else those of the system, and has the allocator of
//! the `photic` command.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response, Uri, Version};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

/// The allocator of the `photic` command.
#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let upstream = arguments.next().ok_or("missing argument: the URL of the upstream")?;
    let stores = match arguments.next().as_deref() {
        None => false,
        Some("store") => true,
        Some(other) => return Err(format!("unknown mode `{other}`").into()),
    };
    let client = client()?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    announce(listener.local_addr()?.port());
    loop {
        let (stream, _) = tokio::select! {
            accepted = listener.accept() => accepted?,
            _ = tokio::signal::ctrl_c() => return Ok(()),
        };
        stream.set_nodelay(true)?;
        let (client, upstream) = (client.clone(), upstream.clone());
        let service =
            service_fn(move |request| forward(client.clone(), upstream.clone(), stores, request));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

fn client() -> Outcome<Client<HttpsConnector<HttpConnector>, Forwarded>> {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.enforce_http(false);
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let connector = HttpsConnectorBuilder::new()
        .with_provider_and_native_roots(provider)?
        .https_or_http()
        .enable_all_versions()
        .wrap_connector(connector);
    Ok(Client::builder(TokioExecutor::new()).build(connector))
}

async fn forward(
    client: Client<HttpsConnector<HttpConnector>, Forwarded>,
    upstream: String,
    stores: bool,
    request: Request<Incoming>,
) -> Outcome<Response<Incoming>> {
    let (mut head, body) = request.into_parts();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    head.uri = format!("{upstream}{path}").parse::<Uri>()?;
    head.headers.remove("host");
    let body = if stores { Forwarded::read(body).await? } else { Forwarded::Passed(body) };
    let mut reply = client.request(Request::from_parts(head, body)).await?;
    *reply.version_mut() = Version::HTTP_11;
    Ok(reply)
}

/// The body of a forwarded request.
enum Forwarded {
    /// Passed on as it arrives.
    Passed(Incoming),
    /// The pieces of a body that has arrived.
    Stored(VecDeque<Bytes>),
}

impl Forwarded {
    /// Reads a whole body.
    async fn read(mut body: Incoming) -> Outcome<Self> {
        let mut pieces = VecDeque::new();
        while let Some(frame) = body.frame().await {
            pieces.extend(frame?.into_data().ok());
        }
        Ok(Self::Stored(pieces))
    }
}

impl Body for Forwarded {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            Self::Passed(body) => Pin::new(body).poll_frame(context),
            Self::Stored(pieces) => Poll::Ready(pieces.pop_front().map(Frame::data).map(Ok)),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Passed(body) => body.is_end_stream(),
            Self::Stored(pieces) => pieces.is_empty(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Passed(body) => body.size_hint(),
            Self::Stored(pieces) => {
                SizeHint::with_exact(pieces.iter().map(|piece| piece.len() as u64).sum())
            }
        }
    }
}

#[expect(clippy::print_stdout, reason = "the program that started it reads the port")]
fn announce(port: u16) {
    println!("{port}");
}
