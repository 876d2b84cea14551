//! Pings, closes, limits and the end of the gateway.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use photic_gateway::{Config, Gateway};
use photic_net::websocket::{Close, Kind, Part, ReadError};
use tokio::sync::{Notify, oneshot};

use super::client::{Received, SocketClient, TEST_TIMEOUT};
use super::peer::{self, Peer};
use crate::gateway;

/// Returns pings as pongs, and mirrors a close.
async fn polite(mut peer: Peer) {
    while let Ok(part) = peer.reader.next().await {
        let written = match part {
            Part::Ping(payload) => peer.writer.pong(payload).await,
            Part::Close(close) => return peer.writer.close(close.as_ref()).await.unwrap(),
            Part::Data { .. } | Part::Pong(_) => Ok(()),
        };
        written.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pings_go_through_and_a_close_is_mirrored() {
    let (told, tells) = oneshot::channel();
    let told = Arc::new(std::sync::Mutex::new(Some(told)));
    let (address, _) = peer::start(move |mut peer| {
        let told = Arc::clone(&told);
        async move {
            loop {
                match peer.reader.next().await.unwrap() {
                    Part::Ping(payload) => peer.writer.pong(payload).await.unwrap(),
                    Part::Close(close) => {
                        told.lock().unwrap().take().unwrap().send(close).unwrap();
                        return;
                    }
                    _ => {}
                }
            }
        }
    })
    .await;
    let gateway = gateway(address, "").await;
    let mut client = SocketClient::open(gateway).await;
    client.writer.ping("are you there".into()).await.unwrap();
    assert_eq!(client.next().await, Received::Pong("are you there".into()));
    let close = Close::new(4007, "done for today");
    client.writer.close(Some(&close)).await.unwrap();
    assert_eq!(tells.await.unwrap(), Some(close.clone()));
    assert_eq!(client.next().await, Received::Close(Some(close)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_close_of_the_upstream_is_mirrored() {
    for close in [None, Some(Close::new(1012, "restart"))] {
        let closes = close.clone();
        let (address, _) = peer::start(move |mut peer| {
            let closes = closes.clone();
            async move {
                peer.writer.ping("x".into()).await.unwrap();
                peer.writer.close(closes.as_ref()).await.unwrap();
                while peer.reader.next().await.is_ok() {}
            }
        })
        .await;
        let gateway = gateway(address, "").await;
        let mut client = SocketClient::open(gateway).await;
        assert_eq!(client.next().await, Received::Ping("x".into()));
        assert_eq!(client.next().await, Received::Close(close));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_disconnects_takes_the_other_side_along() {
    let gone = Arc::new(Notify::new());
    let tells = Arc::clone(&gone);
    let (address, _) = peer::start(move |mut peer| {
        let tells = Arc::clone(&tells);
        async move {
            if let Ok(Part::Data { .. }) = peer.reader.next().await {
                // Disconnects by itself.
                return;
            }
            tells.notify_one();
        }
    })
    .await;
    let gateway = gateway(address, "").await;
    let client = SocketClient::open(gateway).await;
    drop(client);
    tokio::time::timeout(TEST_TIMEOUT, gone.notified()).await.expect("the upstream is left, too");
    let mut client = SocketClient::open(gateway).await;
    client.send_text("{}".to_owned()).await;
    assert_eq!(client.next().await, Received::Ended);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_closed_with_its_code() {
    let (address, _) = peer::start(polite).await;
    let gateway = gateway(address, "[limits]\nbody_mib = 1").await;
    let large = vec![b' '; (1 << 20) + 1];
    let bad = b"\"\xff\"".to_vec();
    for (bytes, code) in [(large, 1009), (bad, 1007)] {
        let mut client = SocketClient::open(gateway).await;
        client.writer.message(Kind::Text, &[bytes.into()]).await.unwrap();
        let told = client.next().await;
        let Received::Close(Some(close)) = told else { panic!("{told:?}") };
        assert_eq!(close.code, code);
        assert!(close.reason.starts_with("photic: "), "{close:?}");
    }
    // At the limit it passes.
    let mut client = SocketClient::open(gateway).await;
    client.writer.message(Kind::Text, &[vec![b' '; 1 << 20].into()]).await.unwrap();
    client.writer.ping("after".into()).await.unwrap();
    assert_eq!(client.next().await, Received::Pong("after".into()));
}

/// A gateway that stops lets the running response end, and then closes the socket.
#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_gateway_closes_sockets_after_running_responses() {
    let go_on = Arc::new(Notify::new());
    let (waits, begun) = (Arc::clone(&go_on), Arc::new(Notify::new()));
    let begins = Arc::clone(&begun);
    let (address, _) = peer::start(move |mut peer| {
        let (waits, begins) = (Arc::clone(&waits), Arc::clone(&begins));
        async move {
            let created = r#"{"type":"response.created","response":{"id":"r1"}}"#;
            let ended = r#"{"type":"response.completed","response":{"id":"r1","output":[]}}"#;
            while let Ok(Part::Ping(_) | Part::Pong(_)) = peer.reader.next().await {}
            peer.writer.message(Kind::Text, &[created.into()]).await.unwrap();
            begins.notify_one();
            waits.notified().await;
            peer.writer.message(Kind::Text, &[ended.into()]).await.unwrap();
            while let Ok(part) = peer.reader.next().await {
                if let Part::Close(close) = part {
                    assert_eq!(close.unwrap().code, 1001);
                    return;
                }
            }
        }
    })
    .await;
    let settings = format!("listen = '127.0.0.1:0'\n[[upstream]]\nurl = 'http://{address}'");
    let gateway = Gateway::bind(Config::parse(&settings).unwrap()).await.unwrap();
    let at = gateway.address();
    let (stop, stopped) = oneshot::channel::<()>();
    let served = tokio::spawn(gateway.serve(async {
        let _ = stopped.await;
    }));
    let mut running = SocketClient::open(at).await;
    running.send_text(r#"{"type":"response.create","model":"m","input":[]}"#.to_owned()).await;
    begun.notified().await;
    assert_eq!(running.frame().await["type"], "response.created");
    stop.send(()).unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!served.is_finished(), "a response runs");
    go_on.notify_one();
    assert_eq!(running.frame().await["type"], "response.completed");
    let told = running.next().await;
    let Received::Close(Some(close)) = told else { panic!("{told:?}") };
    assert_eq!((close.code, close.reason.as_str()), (1001, "photic: the gateway is stopping"));
    tokio::time::timeout(TEST_TIMEOUT, served).await.expect("it stops").unwrap();
}

/// A reader that does not read slows the upstream down. Nothing is gathered for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_slows_down_its_writer() {
    const FRAMES: usize = 2000;
    let sent = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&sent);
    let (address, _) = peer::start(move |mut peer| {
        let counts = Arc::clone(&counts);
        async move {
            let frame = bytes::Bytes::from(vec![b'x'; 32 << 10]);
            for _ in 0..FRAMES {
                if peer.writer.message(Kind::Text, std::slice::from_ref(&frame)).await.is_err() {
                    return;
                }
                counts.fetch_add(1, Ordering::SeqCst);
            }
            while !matches!(peer.reader.next().await, Err(ReadError::Ended | ReadError::Io(_))) {}
        }
    })
    .await;
    let gateway = gateway(address, "").await;
    let mut client = SocketClient::open(gateway).await;
    // Until the buffers of the system are full.
    let mut before = usize::MAX;
    while before != sent.load(Ordering::SeqCst) {
        before = sent.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    assert!(before < FRAMES, "the writer was slowed down");
    for _ in 0..FRAMES {
        assert!(matches!(client.next().await, Received::Message(..)));
    }
}
