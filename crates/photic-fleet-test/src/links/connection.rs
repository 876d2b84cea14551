//! One connection through a link: two directions, each chunk as the mode permits.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::{Mode, becomes};

/// Direction of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    There,
    Back,
}

/// Connects a client to the target until one of them leaves or the link is cut.
pub(super) async fn lead(mut client: TcpStream, target: SocketAddr, mode: watch::Receiver<Mode>) {
    let _ = client.set_nodelay(true);
    let mut cut = mode.clone();
    let through = async {
        let Ok(mut server) = TcpStream::connect(target).await else { return End::Reset };
        let _ = server.set_nodelay(true);
        let (mut from_client, mut to_client) = client.split();
        let (mut from_server, mut to_server) = server.split();
        let there = pump(&mut from_client, &mut to_server, mode.clone(), Direction::There);
        let back = pump(&mut from_server, &mut to_client, mode, Direction::Back);
        match tokio::try_join!(there, back) {
            Ok(_) => End::Closed,
            Err(_) => End::Reset,
        }
    };
    let end = tokio::select! {
        end = through => end,
        _ = becomes(&mut cut, |mode| mode == Mode::Cut) => End::Reset,
    };
    if end == End::Reset {
        // Closed with a reset, so that the client notices at once.
        let _ = client.set_zero_linger();
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Closed,
    Reset,
}

/// Copies one direction until its end.
async fn pump(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    mut mode: watch::Receiver<Mode>,
    way: Direction,
) -> io::Result<()> {
    let mut buffer = vec![0; 16 << 10];
    let mut swallowed = false;
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read?,
            // A connection with missing bytes cannot continue.
            _ = becomes(&mut mode, |mode| mode != Mode::HalfOpen), if swallowed => {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
        };
        let current = becomes(&mut mode, |mode| mode != Mode::Stall).await;
        match current.unwrap_or_default() {
            Mode::HalfOpen if way == Direction::Back => {
                swallowed = true;
                if read == 0 {
                    std::future::pending::<()>().await;
                }
                continue;
            }
            Mode::Slow { rate, latency } => {
                let bytes = Duration::from_secs_f64(read as f64 / f64::from(rate));
                tokio::time::sleep(latency + bytes).await;
            }
            Mode::Pass | Mode::Cut | Mode::Stall | Mode::HalfOpen => {}
        }
        if read == 0 {
            return to.shutdown().await;
        }
        to.write_all(&buffer[..read]).await?;
    }
}
