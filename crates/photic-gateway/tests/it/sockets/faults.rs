//! Ten thousand frames with faults: nothing hangs, nothing leaks, and no frame is lost or reordered.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use photic_net::websocket::{Kind, Part, Role};
use tokio::task::JoinSet;

use super::client::{Received, SocketClient, SocketHalves, TEST_TIMEOUT};
use super::cut::{Numbers, Sender};
use super::peer::{self, PeerHalves};
use crate::caller::{exchange, get};
use crate::gateway;

/// Sockets, and frames that are made for each.
const SOCKETS: u32 = 96;
const FRAMES: u32 = 320;
/// Frames that come back at least: those of the sockets without a fault.
const SEEN: u32 = 10_000;

/// What goes wrong in the middle of a conversation. Half of the sockets have no fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The client sends a text that is not UTF-8.
    BadText,
    /// The client sends more than the gateway takes.
    TooLarge,
    /// The upstream disconnects, some in the middle of a frame.
    UpstreamLeaves,
    /// The client disconnects, some in the middle of a frame.
    ClientLeaves,
    None,
}

impl Fault {
    /// Returns the fault of a socket. Each comes with and without compression.
    fn of(number: u32) -> Self {
        match number / 2 % 8 {
            0 => Self::BadText,
            1 => Self::TooLarge,
            2 => Self::UpstreamLeaves,
            3 => Self::ClientLeaves,
            _ => Self::None,
        }
    }
}

/// Returns every message to its sender, in frames of changing sizes, with pings in between.
async fn echo(peer: PeerHalves) {
    let PeerHalves { mut reader, to, deflate } = peer;
    let mut writer = Sender::new(to, Role::Server, deflate);
    let (mut numbers, mut message) = (Numbers(1), Vec::new());
    loop {
        let Ok(part) = reader.next().await else { return };
        let written = match part {
            Part::Data { bytes, is_last, .. } => {
                message.extend_from_slice(&bytes);
                if !is_last {
                    continue;
                }
                let whole = Bytes::from(std::mem::take(&mut message));
                if numbers.below(20) == 0 && writer.ping("u".into()).await.is_err() {
                    return;
                }
                if whole.starts_with(b"{\"cut\"") {
                    let _ = writer.begin(&whole).await;
                    return;
                }
                writer.text(whole).await
            }
            Part::Ping(payload) => writer.pong(payload).await,
            Part::Pong(_) => Ok(()),
            Part::Close(close) => {
                let _ = writer.close(close.as_ref()).await;
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

/// Returns the frames of a socket.
fn frames(number: u32) -> Vec<Bytes> {
    let mut numbers = Numbers(number);
    let mut frames: Vec<Bytes> = (0..FRAMES).map(|at| frame(at, &mut numbers)).collect();
    // A create waits for its response, which an echo never ends. No more than these are sent.
    let mut creates = 0;
    frames.retain(|frame| {
        creates += u32::from(frame.starts_with(b"{\"type\""));
        !frame.starts_with(b"{\"type\"") || creates <= 40
    });
    frames
}

/// Sends frames and checks that each comes back, in order. Returns the number of frames that did.
async fn converse(gateway: SocketAddr, number: u32) -> u32 {
    let compress = number.is_multiple_of(2);
    let socket = SocketHalves::ask(gateway, "/v1/responses", &[], compress).await.unwrap();
    let SocketHalves { mut reader, to, deflate, .. } = socket;
    assert_eq!(deflate.is_some(), compress);
    let mut writer = Sender::new(to, Role::Client, deflate);
    let fault = Fault::of(number);
    let expected = frames(number);
    let sent = expected.clone();
    let sending = async move {
        let mut numbers = Numbers(number + 7);
        let middle = sent.len() / 2;
        for (at, frame) in sent.into_iter().enumerate() {
            if numbers.below(10) == 0 {
                writer.ping("c".into()).await?;
            }
            match fault {
                _ if at != middle => {}
                Fault::BadText => writer.text(Bytes::from_static(b"\"\xff")).await?,
                Fault::TooLarge => writer.text(vec![b' '; (2 << 20) + 1].into()).await?,
                Fault::UpstreamLeaves => writer.text("{\"cut\":1}".into()).await?,
                Fault::ClientLeaves => return writer.begin(&frame).await,
                Fault::None => {}
            }
            writer.text(frame).await?;
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
            // A slow reader.
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
                        Fault::BadText => assert_eq!(code, Some(1007)),
                        Fault::TooLarge => assert_eq!(code, Some(1009)),
                        _ => panic!("{code:?} in socket {number}, {fault:?}"),
                    }
                    return seen;
                }
                Ok(Part::Ping(_) | Part::Pong(_)) => {}
                Err(error) => {
                    assert_ne!(fault, Fault::None, "socket {number}, after {seen}: {error}");
                    return seen;
                }
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
    let (address, _) = peer::start_without_writer(echo).await;
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
    assert!(seen >= SEEN, "{seen} frames came back");
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
