//! An upstream that follows a script, byte by byte.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// A step of the script, after a request was read.
#[derive(Clone)]
pub(crate) enum Act {
    Send(Vec<u8>),
    /// Wait until the test continues.
    Wait(Arc<Notify>),
    /// Wait until the client has disconnected.
    AwaitGone,
    /// Send so many bytes, as fast as they are read.
    Flood(usize),
    Close,
}

/// A request as it arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// The upstream, with the requests that it got.
#[derive(Default)]
pub(crate) struct Upstream {
    pub(crate) seen: Mutex<Vec<Seen>>,
    /// Number of requests whose client disconnected.
    pub(crate) gone: AtomicUsize,
    /// Bytes of a flood that were read.
    pub(crate) flooded: AtomicUsize,
}

impl Upstream {
    /// Starts an upstream that follows a script.
    pub(crate) async fn start(
        script: impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static,
    ) -> (SocketAddr, Arc<Self>) {
        Self::start_on(TcpListener::bind("127.0.0.1:0").await.unwrap(), script)
    }

    /// Starts an upstream on a given listener.
    pub(crate) fn start_on(
        listener: TcpListener,
        script: impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static,
    ) -> (SocketAddr, Arc<Self>) {
        let address = listener.local_addr().unwrap();
        let (script, this) = (Arc::new(script), Arc::new(Self::default()));
        let upstream = Arc::clone(&this);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (script, upstream) = (Arc::clone(&script), Arc::clone(&upstream));
                tokio::spawn(async move { upstream.converse(stream, &*script).await });
            }
        });
        (address, this)
    }

    /// Starts an upstream that always answers with this JSON.
    pub(crate) async fn answering(json: &'static str) -> (SocketAddr, Arc<Self>) {
        Self::start(move |_| vec![Act::Send(ok(json.as_bytes()))]).await
    }

    pub(crate) fn last(&self) -> Seen {
        self.seen.lock().unwrap().last().cloned().unwrap_or_default()
    }

    /// Waits until a client has disconnected.
    pub(crate) async fn client_disconnected(&self) -> bool {
        for _ in 0..250 {
            if self.gone.load(Ordering::SeqCst) > 0 {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        false
    }

    async fn converse(&self, mut stream: TcpStream, script: &(dyn Fn(&Seen) -> Vec<Act> + Sync)) {
        stream.set_nodelay(true).unwrap();
        let mut waiting = Vec::new();
        while let Some(seen) = read(&mut stream, &mut waiting).await {
            self.seen.lock().unwrap().push(seen.clone());
            for act in script(&seen) {
                match act {
                    Act::Send(bytes) => {
                        if stream.write_all(&bytes).await.is_err() {
                            return;
                        }
                    }
                    Act::Wait(sign) => sign.notified().await,
                    Act::AwaitGone => {
                        let mut byte = [0];
                        if !matches!(stream.read(&mut byte).await, Ok(1..)) {
                            self.gone.fetch_add(1, Ordering::SeqCst);
                            return;
                        }
                    }
                    Act::Flood(total) => {
                        let chunk = vec![b'x'; 1 << 16];
                        let mut left = total;
                        while left > 0 {
                            let now = left.min(chunk.len());
                            if stream.write_all(&chunk[..now]).await.is_err() {
                                self.gone.fetch_add(1, Ordering::SeqCst);
                                return;
                            }
                            self.flooded.fetch_add(now, Ordering::SeqCst);
                            left -= now;
                        }
                    }
                    Act::Close => return,
                }
            }
        }
    }
}

/// Returns a reply of 200 with a length.
pub(crate) fn ok(body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-upstream: yes\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// Returns the head of a chunked reply.
pub(crate) fn chunked(media_type: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ntransfer-encoding: chunked\r\n\r\n")
        .into_bytes()
}

/// Returns one chunk. An empty one ends the reply.
pub(crate) fn chunk(body: &str) -> Vec<u8> {
    format!("{:x}\r\n{body}\r\n", body.len()).into_bytes()
}

/// Reads a request, with or without a length.
async fn read(stream: &mut TcpStream, waiting: &mut Vec<u8>) -> Option<Seen> {
    let end = loop {
        if let Some(at) = waiting.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        more(stream, waiting).await?;
    };
    let head = String::from_utf8(waiting.drain(..end).collect()).unwrap().to_ascii_lowercase();
    let field = |name: &str| {
        head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).map(str::to_owned)
    };
    let mut body = Vec::new();
    if field("transfer-encoding").is_some() {
        loop {
            let line = loop {
                if let Some(at) = waiting.windows(2).position(|window| window == b"\r\n") {
                    break at;
                }
                more(stream, waiting).await?;
            };
            let size = std::str::from_utf8(&waiting[..line]).unwrap().trim();
            let size = usize::from_str_radix(size, 16).unwrap();
            while waiting.len() < line + 2 + size + 2 {
                more(stream, waiting).await?;
            }
            body.extend_from_slice(&waiting[line + 2..line + 2 + size]);
            waiting.drain(..line + 2 + size + 2);
            if size == 0 {
                break;
            }
        }
    } else {
        let length: usize = field("content-length").map_or(0, |length| length.parse().unwrap());
        while waiting.len() < length {
            more(stream, waiting).await?;
        }
        body = waiting.drain(..length).collect();
    }
    Some(Seen { head, body })
}

async fn more(stream: &mut TcpStream, waiting: &mut Vec<u8>) -> Option<()> {
    let read = stream.read_buf(waiting).await.ok()?;
    (read > 0).then_some(())
}
