//! `permessage-deflate`, negotiated for each side by itself.

use photic_mock::{Chart, Options};
use photic_net::websocket::{Kind, Part};
use serde_json::json;

use super::client::{Received, SocketClient, chart, create, id, mock, said, user};
use super::peer::{self, Peer};
use crate::gateway;

#[tokio::test(flavor = "multi_thread")]
async fn both_sides_compress() {
    let provider = mock(Options::default());
    let gateway = gateway(provider.address(), "").await;
    let mut client = SocketClient::ask(gateway, "/v1/responses", &[], true).await.unwrap();
    assert!(client.is_compressed);
    let mut previous = json!(null);
    for seed in 1..4 {
        let frame =
            json!({"previous_response_id": previous, "input": [user(json!([chart(seed)]))]});
        let ended = client.turn(&create(frame)).await;
        assert!(said(&ended).contains(&Chart::of(seed).words()), "{ended}");
        previous = id(&ended);
    }
}

/// Returns what it gets.
async fn echo(mut peer: Peer) {
    while let Ok(part) = peer.reader.next().await {
        if let Part::Data { kind, bytes, is_last: true } = part {
            peer.writer.message(kind, &[bytes]).await.unwrap();
        }
    }
}

/// Long enough to be compressed where that was agreed on.
const TEXT: &str = r#"{"text":"again and again and again and again and again and again"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_client_may_compress_alone() {
    let (address, heads) = peer::start_plain(echo).await;
    let gateway = gateway(address, "").await;
    let mut client = SocketClient::ask(gateway, "/v1/responses", &[], true).await.unwrap();
    assert!(client.is_compressed);
    assert!(heads.lock().unwrap()[0].contains("permessage-deflate"), "offered and not granted");
    for _ in 0..3 {
        client.send_text(TEXT.to_owned()).await;
        assert_eq!(client.next().await, Received::Message(Kind::Text, TEXT.into()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_upstream_is_asked_to_compress_only_if_the_client_can() {
    let (address, heads) = peer::start(echo).await;
    let gateway = gateway(address, "").await;
    let mut plain = SocketClient::open(gateway).await;
    assert!(!plain.is_compressed);
    assert!(!heads.lock().unwrap()[0].contains("permessage-deflate"));
    plain.send_text(TEXT.to_owned()).await;
    assert_eq!(plain.next().await, Received::Message(Kind::Text, TEXT.into()));
}
