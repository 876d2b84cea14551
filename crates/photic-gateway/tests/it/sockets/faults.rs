//! Ten thousand frames with faults: nothing hangs, nothing leaks, and no frame is lost or reordered.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use photic_net::websocket::{Kind, Part};
use tokio::task::JoinSet;

use super::client::{Received, SocketClient, TEST_TIMEOUT};
use super::peer::{self, Peer};
use crate::caller::{exchange, get};
use crate::gateway;

/// Sockets, and frames of each.
const SOCKETS: u32 = 100;
const FRAMES: u32 = 200;

/// Numbers that look random and are the same in every run.
struct Numbers(u32);

impl Numbers {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % limit
    }
}

/// Returns every message to its sender, in frames of changing sizes, with pings in between.
async fn echo(mut peer: Peer) {
    let (mut numbers, mut message) = (Numbers(1), Vec::new());
    loop {
        let Ok(part) = peer.reader.next().await else { return };
        let written = match part {
            Part::Data { kind, bytes, is_last } => {
                message.extend_from_slice(&bytes);
                if !is_last {
                    continue;
                }
                let whole = Bytes::from(std::mem::take(&mut message));
                if numbers.below(20) == 0 && peer.writer.ping("u".into()).await.is_err() {
                    return;
                }
                // The upstream is cut in the middle of its answer.
                if whole.starts_with(b"{\"cut\"") {
                    return;
                }
                peer.writer.message(kind, &[whole]).await
            }
            Part::Ping(payload) => peer.writer.pong(payload).await,
            Part::Pong(_) => Ok(()),
            Part::Close(close) => {
                let _ = peer.writer.close(close.as_ref()).await;
                return;
            }
        };
        if written.is_err() {
            return;
        }
    }
}

/// Returns the frame of a number: most are small, some large, some begin responses.
fn frame(number: u32, numbers: &mut Numbers) -> Bytes {
    let fill = match numbers.below(40) {
        0 => 150_000,
        1..=4 => 70_000,
        _ => numbers.below(500) as usize,
    };
    let text = "é".repeat(fill / 2);
    match numbers.below(3) {
        0 => format!(
            "{{\"type\":\"response.create\",\"model\":\"m\",\"stream_id\":\"l{number}\",\"input\":\"{text}\"}}"
        ),
        _ => format!("{{\"n\":{number},\"x\":\"{text}\"}}"),
    }
    .into()
}

/// Sends frames and checks that each comes back, in order. Returns the number of frames that did.
async fn converse(gateway: SocketAddr, number: u32) -> u32 {
    let mut numbers = Numbers(number);
    let compress = number.is_multiple_of(2);
    let client = SocketClient::ask(gateway, "/v1/responses", &[], compress).await.unwrap();
    let SocketClient { mut reader, mut writer, is_compressed, .. } = client;
    assert_eq!(is_compressed, compress);
    let mut frames: Vec<Bytes> = (0..FRAMES).map(|at| frame(at, &mut numbers)).collect();
    // A create waits for its response, which an echo never ends. No more than these are sent.
    let mut creates = 0;
    frames.retain(|frame| {
        creates += u32::from(frame.starts_with(b"{\"type\""));
        !frame.starts_with(b"{\"type\"") || creates <= 40
    });
    let fault = number % 5;
    let expected = frames.clone();
    let sending = async move {
        let mut numbers = Numbers(number + 7);
        let middle = frames.len() / 2;
        for (at, frame) in frames.into_iter().enumerate() {
            if numbers.below(10) == 0 {
                writer.ping("c".into()).await?;
            }
            let wrong: Option<Bytes> = match fault {
                _ if at != middle => None,
                0 => Some(Bytes::from_static(b"\"\xff")),
                1 => Some(vec![b' '; (2 << 20) + 1].into()),
                2 => Some("{\"cut\":1}".into()),
                // The client leaves without a word.
                3 => return Ok(()),
                _ => None,
            };
            if let Some(wrong) = wrong {
                writer.message(Kind::Text, &[wrong]).await?;
            }
            writer.message(Kind::Text, &[frame]).await?;
        }
        // Held until the reader is done.
        std::future::pending::<std::io::Result<()>>().await
    };
    // A socket that is closed under its writer is judged by its reader.
    let sending = async move {
        if sending.await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let reading = async move {
        let (mut seen, mut message) = (0_u32, Vec::new());
        loop {
            if number.is_multiple_of(7) && seen.is_multiple_of(10) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            match reader.next().await {
                Ok(Part::Data { bytes, is_last, .. }) => {
                    message.extend_from_slice(&bytes);
                    if is_last {
                        let whole = std::mem::take(&mut message);
                        assert!(expected[seen as usize] == whole, "socket {number}, frame {seen}");
                        seen += 1;
                        if seen as usize == expected.len() {
                            return seen;
                        }
                    }
                }
                Ok(Part::Close(close)) => {
                    let code = close.map(|close| close.code);
                    match fault {
                        0 => assert_eq!(code, Some(1007)),
                        1 => assert_eq!(code, Some(1009)),
                        _ => panic!("{code:?} in socket {number}"),
                    }
                    return seen;
                }
                Ok(Part::Ping(_) | Part::Pong(_)) => {}
                Err(_) => return seen,
            }
        }
    };
    let both = async {
        tokio::select! {
            seen = reading => seen,
            () = sending => 0,
        }
    };
    tokio::time::timeout(TEST_TIMEOUT, both).await.expect("no hang")
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_frames_with_faults() {
    let (address, _) = peer::start(echo).await;
    let settings = "[limits]\nbody_mib = 2\nmemory_mib = 512\nconnections = 500";
    let gateway = gateway(address, settings).await;
    let mut sockets = JoinSet::new();
    for number in 0..SOCKETS {
        sockets.spawn(converse(gateway, number));
    }
    let mut seen = 0;
    while let Some(done) = sockets.join_next().await {
        seen += done.unwrap();
    }
    assert!(seen > SOCKETS * FRAMES / 8, "{seen} frames came back");
    assert!(is_quiet(gateway).await, "sockets or memory are left");
    // The gateway goes on.
    let mut client = SocketClient::open(gateway).await;
    client.send_text("{}".to_owned()).await;
    assert_eq!(client.next().await, Received::Message(Kind::Text, "{}".into()));
}

/// Waits until no socket is open and no memory is charged to one.
async fn is_quiet(gateway: SocketAddr) -> bool {
    let lines = [
        "photic_sockets_open 0\n",
        "photic_memory_bytes{of=\"sockets\"} 0\n",
        "photic_memory_bytes{of=\"bodies\"} 0\n",
        "photic_memory_bytes{of=\"pixels\"} 0\n",
    ];
    for _ in 0..600 {
        let page = String::from_utf8(exchange(gateway, &get("/metrics", "")).await.body).unwrap();
        if lines.iter().all(|line| page.contains(line)) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    false
}
