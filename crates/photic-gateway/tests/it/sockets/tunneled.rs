//! Sockets of other protocols are passed on unread, and counted.

use photic_net::websocket::{Kind, Part};

use super::client::{Received, SocketClient};
use super::peer;
use crate::caller::{exchange, get};
use crate::gateway;

#[tokio::test(flavor = "multi_thread")]
async fn a_realtime_socket_is_a_tunnel_that_says_so() {
    let (address, heads) = peer::start(|mut peer| async move {
        while let Ok(Part::Data { kind, bytes, .. }) = peer.reader.next().await {
            peer.writer.message(kind, &[bytes]).await.unwrap();
        }
    })
    .await;
    let gateway = gateway(address, "").await;
    for (path, more) in
        [("/v1/realtime?model=m", None), ("/v1/responses", Some(("x-photic-off", "1")))]
    {
        let more: Vec<_> = more.into_iter().collect();
        let mut client = SocketClient::ask(gateway, path, &more, true).await.unwrap();
        assert_eq!(client.headers["x-photic-passed"], "websocket");
        assert_eq!(client.headers["x-codex-turn-state"], "s");
        assert!(client.is_compressed, "both ends agree on what they like");
        let text = "{\"type\":\"response.create\"}".repeat(100);
        client.send_text(text.clone()).await;
        assert_eq!(client.next().await, Received::Message(Kind::Text, text.into()));
    }
    assert!(heads.lock().unwrap()[0].starts_with("GET /v1/realtime?model=m "));
    let page = exchange(gateway, &get("/metrics", "")).await;
    let page = String::from_utf8(page.body).unwrap();
    assert!(page.contains("photic_sockets_total{kind=\"tunnel\"} 2\n"), "{page}");
    assert!(page.contains("photic_passed_total{reason=\"websocket\"} 2\n"), "{page}");
}
