//! The end of the gateway: no frame is cut, and control frames still pass.

use std::net::SocketAddr;

use photic_gateway::{Config, Gateway};
use photic_net::websocket::Kind;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::client::{Received, SocketClient, TEST_TIMEOUT, create};
use super::peer;
use crate::caller::{exchange, get, until_stopping};

/// A gateway that can be stopped.
struct Stoppable {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

impl Stoppable {
    async fn start(upstream: SocketAddr) -> Self {
        let settings = format!("listen = '127.0.0.1:0'\n[[upstream]]\nurl = 'http://{upstream}'");
        let gateway = Gateway::bind(Config::parse(&settings).unwrap()).await.unwrap();
        let address = gateway.address();
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(gateway.serve(async {
            let _ = stopped.await;
        }));
        Self { address, stop, served }
    }

    /// Stops it and waits until it says so. Returns what ends with it.
    async fn stop(self) -> JoinHandle<()> {
        self.stop.send(()).unwrap();
        until_stopping(self.address).await;
        self.served
    }
}

fn begun(id: &str) -> Value {
    json!({"type": "response.created", "response": {"id": id}})
}

fn completed(id: &str, text: &str) -> Value {
    json!({"type": "response.completed", "response": {"id": id, "output": [], "text": text}})
}

/// The last frame of a response is written while the gateway begins to stop.
#[tokio::test(flavor = "multi_thread")]
async fn the_last_frame_of_a_response_is_not_cut() {
    // More than the buffers of the system take.
    const SIZE: usize = 24 << 20;
    let (address, _) = peer::start(|mut peer| async move {
        peer.frame().await.unwrap();
        peer.send(&begun("r1")).await;
        peer.send(&completed("r1", &"x".repeat(SIZE))).await;
        while peer.frame().await.is_some() {}
    })
    .await;
    let gateway = Stoppable::start(address).await;
    let mut client = SocketClient::open(gateway.address).await;
    client.send(&create(json!({"input": []}))).await;
    let both_came = async {
        let line = b"photic_socket_frames_total{from=\"upstream\"} 2\n";
        loop {
            let page = exchange(gateway.address, &get("/metrics", "")).await.body;
            if page.windows(line.len()).any(|part| part == line) {
                return;
            }
        }
    };
    timeout(TEST_TIMEOUT, both_came).await.expect("both frames come");
    let served = gateway.stop().await;
    assert_eq!(client.frame().await, begun("r1"));
    let last = client.frame().await;
    assert_eq!(last["response"]["text"].as_str().map(str::len), Some(SIZE));
    let told = client.next().await;
    let Received::Close(Some(close)) = told else { panic!("{told:?}") };
    assert_eq!(close.code, 1001);
    timeout(TEST_TIMEOUT, served).await.expect("it stops").unwrap();
}

/// While a response runs to its end, new ones are refused, and pings are answered.
#[tokio::test(flavor = "multi_thread")]
async fn a_create_is_refused_and_pings_still_pass() {
    let (address, _) = peer::start(|mut peer| async move {
        while let Some(frame) = peer.frame().await {
            let lane = &frame["stream_id"];
            if frame["type"] == "end" {
                peer.send(&completed("r1", "")).await;
            } else if lane == "other" {
                for mut reply in [begun("r2"), completed("r2", "")] {
                    reply["stream_id"] = lane.clone();
                    peer.send(&reply).await;
                }
            } else {
                peer.send(&begun("r1")).await;
            }
        }
    })
    .await;
    let gateway = Stoppable::start(address).await;
    let mut client = SocketClient::open(gateway.address).await;
    client.send(&create(json!({"input": []}))).await;
    assert_eq!(client.frame().await, begun("r1"));
    let served = gateway.stop().await;
    let mut refusal = None;
    while refusal.is_none() {
        client.send(&create(json!({"stream_id": "other", "input": []}))).await;
        client.writer.ping("p".into()).await.unwrap();
        // The socket may not have heard of the end yet, and sends the frame then.
        loop {
            match client.next().await {
                Received::Message(Kind::Text, bytes) => {
                    let frame: Value = serde_json::from_slice(&bytes).unwrap();
                    refusal = Some(frame).filter(|frame| frame["type"] == "error").or(refusal);
                }
                Received::Pong(_) => break,
                other => panic!("{other:?}"),
            }
        }
    }
    let refusal = refusal.unwrap();
    assert_eq!((&refusal["status"], &refusal["stream_id"]), (&json!(503), &json!("other")));
    assert_eq!(refusal["error"]["code"], "stopping", "{refusal}");
    client.send(&json!({"type": "end"})).await;
    loop {
        match client.next().await {
            Received::Message(..) => {}
            Received::Close(Some(close)) => break assert_eq!(close.code, 1001),
            other => panic!("{other:?}"),
        }
    }
    timeout(TEST_TIMEOUT, served).await.expect("it stops").unwrap();
}
