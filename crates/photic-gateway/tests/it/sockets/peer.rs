//! An upstream whose sockets do what a test says.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::BytesMut;
use http::header::SEC_WEBSOCKET_EXTENSIONS;
use photic_net::websocket::{Deflate, Kind, Part, Reader, Role, ServerHandshake, Writer};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf, split};
use tokio::net::{TcpListener, TcpStream};

/// One side of a socket of the upstream.
pub(super) struct Peer {
    pub(super) reader: Reader<ReadHalf<TcpStream>>,
    pub(super) writer: Writer<WriteHalf<TcpStream>>,
}

impl Peer {
    /// Waits for the next message of JSON, and returns pings. Returns `None` if the socket ends.
    pub(super) async fn frame(&mut self) -> Option<Value> {
        let mut message = BytesMut::new();
        loop {
            match self.reader.next().await.ok()? {
                Part::Data { bytes, is_last, .. } => {
                    message.extend_from_slice(&bytes);
                    if is_last {
                        return Some(serde_json::from_slice(&message).unwrap());
                    }
                }
                Part::Ping(payload) => self.writer.pong(payload).await.ok()?,
                Part::Pong(_) => {}
                Part::Close(_) => return None,
            }
        }
    }

    /// Sends a message. If the socket has ended, nothing is sent.
    pub(super) async fn send(&mut self, frame: &Value) {
        let _ = self.writer.message(Kind::Text, &[frame.to_string().into()]).await;
    }
}

/// One side of a socket of the upstream, without a writer.
pub(super) struct PeerHalves {
    pub(super) reader: Reader<ReadHalf<TcpStream>>,
    pub(super) to: WriteHalf<TcpStream>,
    pub(super) deflate: Option<Deflate>,
}

/// The heads of the requests that an upstream got.
pub(super) type Heads = Arc<Mutex<Vec<String>>>;

/// Starts an upstream that grants every socket and hands it to a function.
pub(super) async fn start<F>(
    behave: impl Fn(Peer) -> F + Send + Sync + 'static,
) -> (SocketAddr, Heads)
where
    F: Future<Output = ()> + Send + 'static,
{
    start_without_writer(move |halves| {
        let PeerHalves { reader, to, deflate } = halves;
        behave(Peer { reader, writer: Writer::new(to, Role::Server, deflate) })
    })
    .await
}

/// Starts an upstream that grants every socket, without compression, and hands it to a function.
pub(super) async fn start_plain<F>(
    behave: impl Fn(Peer) -> F + Send + Sync + 'static,
) -> (SocketAddr, Heads)
where
    F: Future<Output = ()> + Send + 'static,
{
    let behave = move |halves| {
        let PeerHalves { reader, to, deflate } = halves;
        behave(Peer { reader, writer: Writer::new(to, Role::Server, deflate) })
    };
    start_listener(behave, false).await
}

/// Starts an upstream that grants every socket and hands it to a function that writes by itself.
pub(super) async fn start_without_writer<F>(
    behave: impl Fn(PeerHalves) -> F + Send + Sync + 'static,
) -> (SocketAddr, Heads)
where
    F: Future<Output = ()> + Send + 'static,
{
    start_listener(behave, true).await
}

async fn start_listener<F>(
    behave: impl Fn(PeerHalves) -> F + Send + Sync + 'static,
    compresses: bool,
) -> (SocketAddr, Heads)
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (behave, heads) = (Arc::new(behave), Heads::default());
    let seen = Arc::clone(&heads);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (behave, seen) = (Arc::clone(&behave), Arc::clone(&seen));
            tokio::spawn(async move {
                if let Some(peer) = granted(stream, &seen, compresses).await {
                    behave(peer).await;
                }
            });
        }
    });
    (address, heads)
}

async fn granted(mut stream: TcpStream, seen: &Heads, compresses: bool) -> Option<PeerHalves> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    seen.lock().unwrap().push(head.clone());
    let mut asked = http::HeaderMap::new();
    for (name, value) in head.lines().filter_map(|line| line.split_once(": ")) {
        let name: http::HeaderName = name.parse().unwrap();
        asked.insert(name, value.parse().unwrap());
    }
    if !compresses {
        asked.remove(SEC_WEBSOCKET_EXTENSIONS);
    }
    let mut headers = http::HeaderMap::new();
    let deflate: Option<Deflate> = ServerHandshake::read(&asked).unwrap().grant(&mut headers);
    let mut reply = "HTTP/1.1 101 Switching Protocols\r\nx-codex-turn-state: s\r\n".to_owned();
    for (name, value) in &headers {
        reply.extend([name.as_str(), ": ", value.to_str().unwrap(), "\r\n"]);
    }
    reply.push_str("\r\n");
    stream.write_all(reply.as_bytes()).await.ok()?;
    stream.set_nodelay(true).unwrap();
    let (reader, to) = split(stream);
    Some(PeerHalves { reader: Reader::new(reader, Role::Server, deflate, 256 << 20), to, deflate })
}
