//! The baseline of measurements: a proxy that only forwards. The CPU time of the gateway is compared
//! with it.
//!
//! `pipe 127.0.0.1:1234` listens on a free port, prints it, and forwards everything to that address
//! until it is interrupted.

use http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let upstream =
        std::env::args().nth(1).ok_or("missing argument: the upstream, like `127.0.0.1:1234`")?;
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client: Client<_, Incoming> = Client::builder(TokioExecutor::new()).build(connector);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    announce(listener.local_addr()?.port());
    loop {
        let (stream, _) = tokio::select! {
            accepted = listener.accept() => accepted?,
            _ = tokio::signal::ctrl_c() => return Ok(()),
        };
        stream.set_nodelay(true)?;
        let (client, upstream) = (client.clone(), upstream.clone());
        let service = service_fn(move |request| forward(client.clone(), upstream.clone(), request));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn forward(
    client: Client<HttpConnector, Incoming>,
    upstream: String,
    mut request: Request<Incoming>,
) -> Result<Response<Incoming>, hyper_util::client::legacy::Error> {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    if let Ok(uri) = format!("http://{upstream}{path}").parse::<Uri>() {
        *request.uri_mut() = uri;
    }
    request.headers_mut().remove("host");
    client.request(request).await
}

#[expect(clippy::print_stdout, reason = "the program that started it reads the port")]
fn announce(port: u16) {
    println!("{port}");
}
