//! A client connection: kept alive, and reopened when it broke.

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

/// Longer than any timeout of a gateway, so that a hanging request is noticed.
const REQUEST_TIMEOUT: Duration = Duration::from_mins(1);

/// A request.
#[derive(Clone, Debug)]
pub struct AgentRequest {
    /// The method.
    pub method: Method,
    /// The path.
    pub path: String,
    /// The headers.
    pub headers: Vec<(HeaderName, String)>,
    /// The body.
    pub body: Bytes,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The complete body.
    pub body: Bytes,
}

impl Answer {
    /// Returns a header, if it exists and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Reason why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// The connection was refused.
    Refused,
    /// The connection broke.
    Broken,
    /// The answer took too long.
    Late,
}

/// A connection to one address.
#[derive(Debug)]
pub struct Connection {
    address: SocketAddr,
    sender: Option<SendRequest<Full<Bytes>>>,
}

impl Connection {
    /// Creates a connection that opens when it is used.
    pub const fn to(address: SocketAddr) -> Self {
        Self { address, sender: None }
    }

    /// Sends a request and reads the complete answer.
    pub async fn send(&mut self, ask: AgentRequest) -> Result<Answer, NoAnswer> {
        let answer =
            timeout(REQUEST_TIMEOUT, self.exchange(ask)).await.unwrap_or(Err(NoAnswer::Late));
        if answer.is_err() {
            self.sender = None;
        }
        answer
    }

    async fn exchange(&mut self, ask: AgentRequest) -> Result<Answer, NoAnswer> {
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

    /// Returns the connection and opens it if necessary. A connection that the server has closed
    /// does not fail the next request.
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
