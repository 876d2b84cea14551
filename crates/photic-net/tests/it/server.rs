//! A server that answers with given bytes and records its requests.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// One step of a scripted reply.
#[derive(Clone)]
pub(crate) enum ServerAction {
    Send(Vec<u8>),
    /// Sends one byte now and then, forever.
    Trickle,
    /// Sends as much as is read, forever.
    Flood,
    Hang,
}

/// The heads of the requests so far.
pub(crate) type Heads = Arc<Mutex<Vec<String>>>;

/// Starts a server that chooses its reply by the head of a request.
pub(crate) async fn serve(
    script: impl Fn(&str) -> Vec<ServerAction> + Send + Sync + 'static,
) -> (SocketAddr, Heads) {
    serve_on(TcpListener::bind("127.0.0.1:0").await.unwrap(), script)
}

pub(crate) fn serve_on(
    listener: TcpListener,
    script: impl Fn(&str) -> Vec<ServerAction> + Send + Sync + 'static,
) -> (SocketAddr, Heads) {
    let address = listener.local_addr().unwrap();
    let (heads, script) = (Heads::default(), Arc::new(script));
    let seen = Arc::clone(&heads);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (seen, script) = (Arc::clone(&seen), Arc::clone(&script));
            tokio::spawn(async move { converse(stream, &seen, &*script).await });
        }
    });
    (address, heads)
}

async fn converse(
    mut stream: TcpStream,
    seen: &Heads,
    script: &(dyn Fn(&str) -> Vec<ServerAction> + Send + Sync),
) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let head = String::from_utf8(head).unwrap();
    seen.lock().unwrap().push(head.clone());
    for act in script(&head) {
        match act {
            ServerAction::Send(bytes) => stream.write_all(&bytes).await.ok()?,
            ServerAction::Trickle => loop {
                stream.write_all(b"x").await.ok()?;
                tokio::time::sleep(Duration::from_millis(50)).await;
            },
            ServerAction::Flood => loop {
                stream.write_all(&[7; 4096]).await.ok()?;
            },
            ServerAction::Hang => std::future::pending().await,
        }
    }
    Some(())
}

/// Creates a reply with these headers, each with its line end.
pub(crate) fn reply(status: &str, headers: &str, body: &[u8]) -> Vec<ServerAction> {
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n", body.len());
    vec![ServerAction::Send([head.as_bytes(), body].concat())]
}

/// Creates a redirect.
pub(crate) fn redirect(to: &str) -> Vec<ServerAction> {
    reply("302 Found", &format!("location: {to}\r\n"), b"")
}
