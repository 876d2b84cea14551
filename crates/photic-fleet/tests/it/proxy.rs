//! A proxy in front of a server that a test can delay and cut.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Handling of what a client sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Passes it on.
    Pass,
    /// Passes it on after a delay.
    Slow(Duration),
    /// Holds it.
    Hold,
    /// Breaks the connection.
    Cut,
}

/// A proxy in front of a server.
pub(crate) struct Proxy {
    port: u16,
    mode: watch::Sender<Mode>,
    /// Decides about held connections, each time it changes.
    cuts: watch::Sender<bool>,
    held: watch::Sender<i32>,
}

impl Proxy {
    /// Creates a proxy for the server of a bucket.
    pub(crate) async fn to(bucket: &str) -> Self {
        Self::to_server(endpoint(bucket).strip_prefix("http://").unwrap()).await
    }

    /// Creates a proxy for a server by host and port.
    pub(crate) async fn to_server(server: &str) -> Self {
        let server = server.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let proxy = Self {
            port,
            mode: watch::Sender::new(Mode::Pass),
            cuts: watch::Sender::new(true),
            held: watch::Sender::new(0),
        };
        let (mode, cuts, held) = (proxy.mode.clone(), proxy.cuts.clone(), proxy.held.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&server).await.unwrap();
                let (mode, cuts) = (mode.subscribe(), cuts.subscribe());
                tokio::spawn(pass(client, server, mode, cuts, held.clone()));
            }
        });
        proxy
    }

    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// Returns the URL of the bucket through this proxy.
    pub(crate) fn address(&self, bucket: &str) -> String {
        bucket.replace(endpoint(bucket), &format!("http://127.0.0.1:{}", self.port))
    }

    pub(crate) fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }

    /// Breaks the held connections.
    pub(crate) fn cut_held(&self) {
        self.cuts.send_replace(true);
    }

    /// Leaves the held connections hanging forever.
    pub(crate) fn lose_held(&self) {
        self.cuts.send_replace(false);
    }

    /// Waits until so many connections are held.
    pub(crate) async fn until_held(&self, count: i32) {
        let mut held = self.held.subscribe();
        let waiting = held.wait_for(|now| *now >= count);
        tokio::time::timeout(Duration::from_secs(10), waiting).await.unwrap().unwrap();
    }
}

fn endpoint(bucket: &str) -> &str {
    bucket.split_once("endpoint=").unwrap().1.split('&').next().unwrap()
}

async fn pass(
    client: TcpStream,
    server: TcpStream,
    mut mode: watch::Receiver<Mode>,
    mut cuts: watch::Receiver<bool>,
    held: watch::Sender<i32>,
) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let back = tokio::spawn(async move {
        let _ = tokio::io::copy(&mut from_server, &mut to_client).await;
    });
    let mut buffer = vec![0; 64 << 10];
    while let Ok(length @ 1..) = from_client.read(&mut buffer).await {
        if *mode.borrow() == Mode::Hold {
            cuts.mark_unchanged();
            held.send_modify(|count| *count += 1);
            let is_cut = tokio::select! {
                _ = mode.wait_for(|mode| *mode != Mode::Hold) => false,
                _ = cuts.changed() => true,
            };
            held.send_modify(|count| *count -= 1);
            if is_cut && !*cuts.borrow() {
                // The client hears nothing more, not even the end.
                std::future::pending::<()>().await;
            }
            if is_cut {
                break;
            }
        }
        let now = *mode.borrow();
        if let Mode::Slow(wait) = now {
            tokio::time::sleep(wait).await;
        }
        if *mode.borrow() == Mode::Cut || to_server.write_all(&buffer[..length]).await.is_err() {
            break;
        }
    }
    back.abort();
}
