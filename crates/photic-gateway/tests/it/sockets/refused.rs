//! Upgrades that the gateway or the upstream cannot serve.

use http::StatusCode;
use photic_mock::Options;

use super::client::{SocketClient, mock};
use crate::caller::{exchange, get};
use crate::scripted::{Act, Upstream};
use crate::{gateway, started};

/// The headers of a request for a WebSocket.
const UPGRADE: &str = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
                       sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

#[tokio::test]
async fn an_upgrade_that_cannot_be_served_gets_426_at_once() {
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, "").await;
    for path in ["/v1/chat/completions", "/v1/messages", "/photic/v1/media"] {
        let reply = exchange(gateway, &get(path, UPGRADE)).await;
        assert_eq!(reply.status, 426, "{path}");
        assert_eq!(reply.header("x-photic-error"), Some("no_websocket"), "{path}");
        assert_eq!(reply.header("x-should-retry"), Some("false"), "{path}");
        assert!(reply.json()["error"]["message"].is_string(), "{path}");
    }
    assert_eq!(exchange(gateway, &get("/v1/messages", UPGRADE)).await.json()["type"], "error");
    assert!(upstream.seen.lock().unwrap().is_empty(), "nothing went upstream");
}

#[tokio::test]
async fn an_upstream_without_a_socket_is_told_as_426() {
    for status in [
        "404 Not Found",
        "405 Method Not Allowed",
        "426 Upgrade Required",
        "200 OK",
        "400 Bad Request",
        "501 Not Implemented",
    ] {
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\n{{}}");
        let (address, upstream) =
            Upstream::start(move |_| vec![Act::Send(answer.clone().into_bytes())]).await;
        let gateway = gateway(address, "").await;
        for path in ["/v1/responses", "/v1/realtime", "/v1/models"] {
            let reply = exchange(gateway, &get(path, UPGRADE)).await;
            assert_eq!(reply.status, 426, "{status} {path}");
        }
        assert_eq!(upstream.seen.lock().unwrap().len(), 3);
    }
}

#[tokio::test]
async fn an_upstream_that_refuses_the_caller_is_passed_on() {
    for (status, code) in
        [("401 Unauthorized", 401), ("403 Forbidden", 403), ("429 Too Many Requests", 429)]
    {
        let answer =
            format!("HTTP/1.1 {status}\r\nretry-after: 7\r\ncontent-length: 2\r\n\r\n{{}}");
        let (address, _) =
            Upstream::start(move |_| vec![Act::Send(answer.clone().into_bytes())]).await;
        let gateway = gateway(address, "").await;
        let reply = exchange(gateway, &get("/v1/responses", UPGRADE)).await;
        assert_eq!((reply.status, reply.body.as_slice()), (code, b"{}".as_slice()));
        assert_eq!(reply.header("retry-after"), Some("7"));
    }
}

#[tokio::test]
async fn settings_decide_which_upstream_has_a_socket() {
    let provider = mock(Options::default());
    let url = provider.url();
    for settings in [
        format!("[[upstream]]\nurl = '{url}'\nwebsocket = false"),
        format!("[[upstream]]\nurl = '{url}'\nwire = 'openai-chat'"),
        // The model is named by a later frame.
        format!("[[upstream]]\nurl = '{url}'\n[[upstream]]\nurl = '{url}'\nmodels = ['m*']"),
    ] {
        let gateway = started(&settings).await;
        let asked = SocketClient::ask(gateway, "/v1/responses", &[], false).await;
        assert_eq!(asked.err(), Some(StatusCode::UPGRADE_REQUIRED), "{settings}");
    }
    let gateway = started(&format!("[[upstream]]\nurl = '{url}'")).await;
    assert!(SocketClient::ask(gateway, "/v1/responses", &[], false).await.is_ok());
}

#[tokio::test]
async fn a_key_of_another_provider_opens_no_socket() {
    let gateway = started("").await;
    let foreign = get("/v1/responses", &format!("authorization: Bearer sk-ant-k\r\n{UPGRADE}"));
    let reply = exchange(gateway, &foreign).await;
    assert_eq!((reply.status, reply.header("x-photic-error")), (404, Some("no_upstream")));
}
