//! Streams: events are passed on at once, and a client that disconnects cancels its request.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::caller::{exchange, post, read_until, reply};
use crate::gateway;
use crate::scripted::{Act, Upstream, chunk, chunked, ok};

const TURN: &[u8] = br#"{"messages":[{"role":"user","content":"hi"}],"stream":true}"#;

#[tokio::test]
async fn the_first_event_arrives_before_the_last_is_sent() {
    let sign = Arc::new(Notify::new());
    let sender = Arc::clone(&sign);
    let (address, _) = Upstream::start(move |_| {
        vec![
            Act::Send(chunked("text/event-stream")),
            Act::Send(chunk("data: first\n\n")),
            Act::Wait(Arc::clone(&sender)),
            Act::Send(chunk("data: last\n\n")),
            Act::Send(chunk("")),
        ]
    })
    .await;
    let gateway = gateway(address, "").await;
    let mut stream = TcpStream::connect(gateway).await.unwrap();
    stream.write_all(&post("/v1/chat/completions", "", TURN)).await.unwrap();
    let early = read_until(&mut stream, "data: first\n\n").await;
    assert!(!early.contains("last"));
    sign.notify_one();
    read_until(&mut stream, "data: last\n\n\r\n0\r\n\r\n").await;
}

#[tokio::test]
async fn a_caller_who_leaves_before_the_answer_cancels_it() {
    let (address, upstream) = Upstream::start(|_| vec![Act::AwaitGone]).await;
    let gateway = gateway(address, "").await;
    for (number, path) in ["/v1/messages", "/v1/other"].into_iter().enumerate() {
        upstream.gone.store(0, Ordering::SeqCst);
        let mut stream = TcpStream::connect(gateway).await.unwrap();
        stream.write_all(&post(path, "", TURN)).await.unwrap();
        while upstream.seen.lock().unwrap().len() <= number {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        drop(stream);
        assert!(upstream.client_disconnected().await, "{path}");
    }
}

#[tokio::test]
async fn a_caller_who_leaves_in_mid_stream_cancels_it() {
    let (address, upstream) = Upstream::start(|_| {
        let begin = [chunked("text/event-stream"), chunk("data: first\n\n")].concat();
        vec![Act::Send(begin), Act::AwaitGone]
    })
    .await;
    let gateway = gateway(address, "").await;
    let mut stream = TcpStream::connect(gateway).await.unwrap();
    stream.write_all(&post("/v1/responses", "", b"{\"input\":\"hi\"}")).await.unwrap();
    read_until(&mut stream, "first").await;
    drop(stream);
    assert!(upstream.client_disconnected().await);
}

#[tokio::test]
async fn a_caller_who_does_not_read_holds_the_upstream_back() {
    const FLOOD: usize = 256 << 20;
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {FLOOD}\r\n\r\n").into_bytes();
    let (address, upstream) =
        Upstream::start(move |_| vec![Act::Send(head.clone()), Act::Flood(FLOOD)]).await;
    let gateway = gateway(address, "").await;
    let mut stream = TcpStream::connect(gateway).await.unwrap();
    stream.write_all(&post("/v1/messages", "", TURN)).await.unwrap();
    read_until(&mut stream, "HTTP/1.1 200").await;
    let mut before = usize::MAX;
    while upstream.flooded.load(Ordering::SeqCst) != before {
        before = upstream.flooded.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    // The kernel's buffers of two connections, and those of the gateway, which are small.
    assert!(before < 64 << 20, "{before} bytes were taken from the upstream");
}

#[tokio::test]
async fn a_caller_who_writes_slowly_is_waited_for() {
    let (address, upstream) = Upstream::start(|_| vec![Act::Send(ok(b"{}"))]).await;
    let gateway = gateway(address, "").await;
    let mut stream = TcpStream::connect(gateway).await.unwrap();
    for bytes in post("/v1/chat/completions", "", TURN).chunks(40) {
        stream.write_all(bytes).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(read_until(&mut stream, "\r\n\r\n{}").await.starts_with("HTTP/1.1 200"));
    assert_eq!(upstream.last().body, TURN);
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_not_taken_for_a_whole_one() {
    let (address, _) = Upstream::start(|_| {
        let begin = [chunked("text/event-stream"), chunk("data: first\n\n")].concat();
        vec![Act::Send(begin), Act::Close]
    })
    .await;
    let gateway = gateway(address, "").await;
    let reply = exchange(gateway, &post("/v1/chat/completions", "", TURN)).await;
    assert_eq!((reply.status, reply.complete), (200, false));
    assert_eq!(reply.body, b"data: first\n\n");
}

#[tokio::test]
async fn an_upstream_that_falls_silent_is_given_up() {
    let (address, upstream) = Upstream::start(|_| {
        let begin = [chunked("text/event-stream"), chunk("data: first\n\n")].concat();
        vec![Act::Send(begin), Act::AwaitGone]
    })
    .await;
    let gateway = gateway(address, "[timeouts]\nidle_s = 1").await;
    let reply = exchange(gateway, &post("/v1/chat/completions", "", TURN)).await;
    assert!(!reply.complete);
    assert!(upstream.client_disconnected().await);
}

#[test]
fn this_client_knows_an_end_when_it_sees_one() {
    let whole = [chunked("x"), chunk("ab"), chunk("")].concat();
    assert!(reply(&whole).complete);
    assert!(!reply(&[chunked("x"), chunk("ab")].concat()).complete);
}
