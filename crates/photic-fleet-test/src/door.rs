//! A client's connection: kept alive as long as it lives, dialed anew when it does not.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longer than a gateway waits for anything: whoever hangs is to be noticed, not waited for.
const PATIENCE: Duration = Duration::from_mins(1);

/// What is asked.
#[derive(Clone, Debug)]
pub struct Ask {
    /// How.
    pub method: Method,
    /// Where.
    pub path: String,
    /// With what.
    pub headers: Vec<(HeaderName, String)>,
    /// The body.
    pub body: Bytes,
}

/// What is answered.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

impl Answer {
    /// A header, if it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// Nobody took the connection.
    Refused,
    /// It broke.
    Broken,
    /// It took too long.
    Late,
}

/// A connection to one address.
#[derive(Debug)]
pub struct Door {
    address: SocketAddr,
    sender: Option<SendRequest<Full<Bytes>>>,
}

impl Door {
    /// One that is opened when it is used.
    pub const fn to(address: SocketAddr) -> Self {
        Self { address, sender: None }
    }

    /// Sends a request, and reads the whole answer.
    pub async fn send(&mut self, ask: Ask) -> Result<Answer, NoAnswer> {
        let answer = timeout(PATIENCE, self.exchange(ask)).await.unwrap_or(Err(NoAnswer::Late));
        if answer.is_err() {
            self.sender = None;
        }
        answer
    }

    async fn exchange(&mut self, ask: Ask) -> Result<Answer, NoAnswer> {
        let broken = |_| NoAnswer::Broken;
        let sender = self.open().await?;
        let mut request = Request::new(Full::new(ask.body));
        *request.method_mut() = ask.method;
        *request.uri_mut() = ask.path.parse().map_err(|_| NoAnswer::Refused)?;
        let headers = request.headers_mut();
        headers.insert("host", HeaderValue::from_static("photic"));
        for (name, value) in ask.headers {
            headers.insert(name, HeaderValue::from_str(&value).map_err(|_| NoAnswer::Refused)?);
        }
        let (head, body) = sender.send_request(request).await.map_err(broken)?.into_parts();
        let body = body.collect().await.map_err(broken)?.to_bytes();
        Ok(Answer { status: head.status.as_u16(), headers: head.headers, body })
    }

    /// The connection, which may be a new one. One that the other side has closed is no failure of
    /// the request that comes next.
    async fn open(&mut self) -> Result<&mut SendRequest<Full<Bytes>>, NoAnswer> {
        let alive = match &mut self.sender {
            Some(sender) => sender.ready().await.is_ok(),
            None => false,
        };
        if !alive {
            let stream = TcpStream::connect(self.address).await.map_err(|_| NoAnswer::Refused)?;
            let _ = stream.set_nodelay(true);
            let (sender, connection) =
                handshake(TokioIo::new(stream)).await.map_err(|_| NoAnswer::Broken)?;
            tokio::spawn(connection);
            self.sender = Some(sender);
        }
        self.sender.as_mut().ok_or(NoAnswer::Refused)
    }
}
