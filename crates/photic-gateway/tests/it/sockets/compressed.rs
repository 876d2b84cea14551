//! `permessage-deflate`, negotiated for each side by itself.

use photic_mock::{Chart, Options};
use photic_net::websocket::{Kind, Part};
use serde_json::json;

use super::client::{Received, SocketClient, chart, create, id, mock, said, user};
use super::peer;
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

#[tokio::test(flavor = "multi_thread")]
async fn one_side_may_compress_alone() {
    // The upstream answers the offer, but sends nothing compressed.
    let (address, heads) = peer::start(|mut peer| async move {
        while let Ok(part) = peer.reader.next().await {
            if let Part::Data { kind, bytes, is_last: true } = part {
                peer.writer.message(kind, &[bytes]).await.unwrap();
            }
        }
    })
    .await;
    let gateway = gateway(address, "").await;
    let mut plain = SocketClient::open(gateway).await;
    assert!(!plain.is_compressed);
    plain.send_text("{}".to_owned()).await;
    assert_eq!(plain.next().await, Received::Message(Kind::Text, "{}".into()));
    assert!(!heads.lock().unwrap()[0].contains("permessage-deflate"), "not offered for it");
}
