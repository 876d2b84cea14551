//! Links that break: each listens, connects to one target, and treats traffic by its current mode.
//!
//! A link never reads or changes bytes. It does what a broken network does, and no more.

mod connection;
mod control;

use std::io;
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;

pub use control::obey;

/// Treatment of traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Passes everything.
    #[default]
    Pass,
    /// Resets connections and refuses new ones.
    Cut,
    /// Accepts connections and passes nothing.
    Stall,
    /// Passes bytes to the target, but none back: the request is executed without an answer.
    HalfOpen,
    /// Limits the rate and delays every chunk.
    Slow {
        /// Bytes per second.
        rate: u32,
        /// Delay of every chunk.
        latency: Duration,
    },
}

/// Error of a text that is not a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMode;

impl FromStr for Mode {
    type Err = NoMode;

    /// Parses `pass`, `cut`, `stall`, `half-open`, or `slow BYTES_PER_SECOND MILLISECONDS`.
    fn from_str(text: &str) -> Result<Self, NoMode> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["pass"] => Ok(Self::Pass),
            ["cut"] => Ok(Self::Cut),
            ["stall"] => Ok(Self::Stall),
            ["half-open"] => Ok(Self::HalfOpen),
            ["slow", rate, latency] => {
                let rate = rate.parse().ok().filter(|rate| *rate > 0).ok_or(NoMode)?;
                let latency = Duration::from_millis(latency.parse().map_err(|_| NoMode)?);
                Ok(Self::Slow { rate, latency })
            }
            _ => Err(NoMode),
        }
    }
}

/// A link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// The address it listens on.
    pub listen: SocketAddr,
    /// The address it connects to.
    pub target: SocketAddr,
}

impl FromStr for Link {
    type Err = &'static str;

    /// Parses `NAME=LISTEN-TARGET`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "a link is NAME=ADDRESS-ADDRESS";
        let (name, ends) = text.split_once('=').ok_or(wrong)?;
        let (listen, target) = ends.split_once('-').ok_or(wrong)?;
        let address = |text: &str| text.parse().map_err(|_| wrong);
        Ok(Self { name: name.to_owned(), listen: address(listen)?, target: address(target)? })
    }
}

/// Serves a link until its mode cannot change any more.
pub async fn serve(link: Link, mut mode: watch::Receiver<Mode>) -> io::Result<()> {
    loop {
        let listener = TcpListener::bind(link.listen).await?;
        // While it is cut there is no listener, so the kernel refuses connections.
        if !accept(&listener, link.target, &mut mode).await {
            return Ok(());
        }
        drop(listener);
        if becomes(&mut mode, |mode| mode != Mode::Cut).await.is_none() {
            return Ok(());
        }
    }
}

/// Waits until the mode matches; `None` if it cannot change any more.
async fn becomes(
    mode: &mut watch::Receiver<Mode>,
    is_wanted: impl Fn(Mode) -> bool,
) -> Option<Mode> {
    mode.wait_for(|mode| is_wanted(*mode)).await.ok().map(|mode| *mode)
}

/// Accepts connections until the link is cut; `false` if it cannot be any more.
async fn accept(
    listener: &TcpListener,
    target: SocketAddr,
    mode: &mut watch::Receiver<Mode>,
) -> bool {
    let ours = mode.clone();
    loop {
        tokio::select! {
            cut = becomes(mode, |mode| mode == Mode::Cut) => return cut.is_some(),
            taken = listener.accept() => match taken {
                Ok((client, _)) => drop(tokio::spawn(connection::lead(client, target, ours.clone()))),
                // Usually out of file descriptors: other connections must end first.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;
    use tokio::time::{Instant, timeout};

    use super::*;

    const SOON: Duration = Duration::from_millis(300);

    /// Starts an echo server and a link to it.
    async fn linked() -> (SocketAddr, watch::Sender<Mode>) {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = server.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = server.accept().await {
                tokio::spawn(async move {
                    let (mut reader, mut writer) = stream.split();
                    tokio::io::copy(&mut reader, &mut writer).await
                });
            }
        });
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listen = free.local_addr().unwrap();
        drop(free);
        let (tell, told) = watch::channel(Mode::Pass);
        tokio::spawn(serve(Link { name: "l".to_owned(), listen, target }, told));
        (listen, tell)
    }

    async fn dial(to: SocketAddr) -> TcpStream {
        for _ in 0..100 {
            if let Ok(stream) = TcpStream::connect(to).await {
                return stream;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the link does not listen");
    }

    async fn echo(stream: &mut TcpStream) -> io::Result<()> {
        stream.write_all(b"hello").await?;
        stream.read_exact(&mut [0; 5]).await.map(drop)
    }

    #[tokio::test]
    async fn what_is_cut_is_reset_and_refused_and_comes_back() {
        let (link, tell) = linked().await;
        let mut stream = dial(link).await;
        echo(&mut stream).await.unwrap();
        tell.send(Mode::Cut).unwrap();
        let broken = stream.read(&mut [0; 1]).await.unwrap_err();
        assert_eq!(broken.kind(), io::ErrorKind::ConnectionReset);
        let refused = TcpStream::connect(link).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        tell.send(Mode::Pass).unwrap();
        echo(&mut dial(link).await).await.unwrap();
    }

    #[tokio::test]
    async fn what_is_stalled_goes_on_later_and_nothing_is_lost() {
        let (link, tell) = linked().await;
        let mut stream = dial(link).await;
        echo(&mut stream).await.unwrap();
        tell.send(Mode::Stall).unwrap();
        assert!(timeout(SOON, echo(&mut stream)).await.is_err());
        tell.send(Mode::Pass).unwrap();
        timeout(SOON * 10, stream.read_exact(&mut [0; 5])).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_half_open_link_delivers_and_does_not_answer() {
        let (link, tell) = linked().await;
        let mut stream = dial(link).await;
        tell.send(Mode::HalfOpen).unwrap();
        assert!(timeout(SOON, echo(&mut stream)).await.is_err());
        tell.send(Mode::Pass).unwrap();
        // Swallowed bytes are gone, and so are their connections.
        assert!(echo(&mut stream).await.is_err());
        echo(&mut dial(link).await).await.unwrap();
    }

    #[tokio::test]
    async fn a_slow_link_takes_its_time() {
        let (link, tell) = linked().await;
        let mut stream = dial(link).await;
        tell.send(Mode::Slow { rate: 1000, latency: Duration::from_millis(20) }).unwrap();
        let begun = Instant::now();
        stream.write_all(&[7; 100]).await.unwrap();
        stream.read_exact(&mut [0; 100]).await.unwrap();
        assert!(begun.elapsed() >= Duration::from_millis(2 * (100 + 20)));
    }

    #[test]
    fn modes_and_links_in_words() {
        assert_eq!("half-open".parse(), Ok(Mode::HalfOpen));
        let slow = Mode::Slow { rate: 9, latency: Duration::from_millis(4) };
        assert_eq!("slow 9 4".parse(), Ok(slow));
        for bad in ["", "slow", "slow 0 1", "slow 1", "cut now"] {
            assert_eq!(bad.parse::<Mode>(), Err(NoMode), "{bad}");
        }
        let link: Link = "a=10.0.0.1:80-127.0.0.1:81".parse().unwrap();
        assert_eq!((link.name.as_str(), link.target.port()), ("a", 81));
        assert!("a=10.0.0.1:80".parse::<Link>().is_err());
    }
}
