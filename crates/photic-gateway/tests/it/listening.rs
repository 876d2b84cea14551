//! Requests and connections that are refused: hosts, origins, targets, and slow clients.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::caller::{exchange, get, post};
use crate::scripted::{Act, Upstream};
use crate::{gateway, started};

#[tokio::test]
async fn pages_and_other_names_are_refused_before_anything_is_read() {
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, "hosts = ['photic.internal']\norigins = ['app://notes']").await;
    for (host, headers, code) in [
        ("localhost", "origin: https://evil.example\r\n", Some("web_page")),
        ("localhost", "sec-fetch-site: cross-site\r\n", Some("web_page")),
        ("evil.example", "", Some("foreign_host")),
        ("a@localhost", "", Some("bad_host")),
        ("localhost", "host: localhost\r\n", Some("bad_host")),
        ("photic.internal", "", None),
        ("localhost", "origin: app://notes\r\nsec-fetch-site: cross-site\r\n", None),
    ] {
        let asked = post("/v1/messages", headers, b"{\"messages\":[]}");
        let asked = String::from_utf8(asked).unwrap().replacen("localhost", host, 1);
        let reply = exchange(gateway, asked.as_bytes()).await;
        assert_eq!(reply.header("x-photic-error"), code, "{host} {headers}");
        // The body of this request never arrives.
        if code.is_some() {
            let head = asked.split("content-length").next().unwrap().to_owned();
            let head = format!("{head}content-length: 1000000\r\n\r\n");
            let reply = exchange(gateway, head.as_bytes()).await;
            assert_eq!(reply.header("x-photic-error"), code, "{host} {headers}");
            assert_eq!(reply.json()["type"], "error", "in the words of the wire");
        }
    }
    assert_eq!(upstream.seen.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn ambiguous_targets_are_refused() {
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, "").await;
    for path in ["/v1/../admin", "//v1/models", "/%2e%2e/admin", "/v1/.%2e%2fadmin"] {
        let reply = exchange(gateway, &get(path, "")).await;
        assert_eq!(
            (reply.status, reply.header("x-photic-error")),
            (400, Some("bad_path")),
            "{path}"
        );
    }
    let connect = "CONNECT h:1 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    assert_eq!(exchange(gateway, connect.as_bytes()).await.status, 405);
    assert!(upstream.seen.lock().unwrap().is_empty());
    let whole = format!("http://localhost:{}/v1/models", gateway.port());
    let asked = get(&whole, "");
    let asked = String::from_utf8(asked).unwrap();
    let asked = asked.replace("host: localhost", &format!("host: localhost:{}", gateway.port()));
    assert_eq!(exchange(gateway, asked.as_bytes()).await.status, 200);
    assert!(upstream.last().head.starts_with("get /v1/models "));
}

#[tokio::test]
async fn a_head_that_does_not_end_is_cut_off_and_a_pause_between_requests_is_not() {
    let gateway = started("[timeouts]\nheader_s = 1\nkeep_alive_s = 60").await;
    let mut stream = TcpStream::connect(gateway).await.unwrap();
    let health = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";
    for _ in 0..2 {
        stream.write_all(health).await.unwrap();
        assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
        tokio::time::sleep(Duration::from_millis(1500)).await;
    }
    stream.write_all(b"GET /health HTTP/1.1\r\nhost: ").await.unwrap();
    let ended = timeout(Duration::from_secs(20), stream.read(&mut [0; 4096])).await;
    assert!(matches!(ended.unwrap(), Ok(0) | Err(_)));
}

#[tokio::test]
async fn a_caller_that_does_not_read_is_let_go() {
    let (address, upstream) = Upstream::start(|_| {
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n".to_vec();
        vec![Act::Send(head), Act::Flood(1_000_000_000), Act::Close]
    })
    .await;
    let gateway = gateway(address, "[timeouts]\nidle_s = 1").await;
    let mut stream = TcpStream::connect(gateway).await.unwrap();
    stream.write_all(&get("/v1/files/1/content", "")).await.unwrap();
    // The client reads nothing and keeps the connection open.
    let cut = async {
        while upstream.gone.load(std::sync::atomic::Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_secs(20), cut).await.expect("the upstream is let go");
    drop(stream);
}

#[tokio::test]
async fn a_connection_without_a_request_makes_room() {
    let gateway = started("[limits]\nconnections = 8").await;
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(TcpStream::connect(gateway).await.unwrap());
    }
    assert_eq!(exchange(gateway, &get("/health", "")).await.status, 200);
    let ended = timeout(Duration::from_secs(10), silent[0].read(&mut [0; 9])).await;
    assert!(matches!(ended.unwrap(), Ok(0) | Err(_)), "the oldest made room");
}

#[tokio::test]
async fn where_all_are_busy_the_next_is_told_so_and_health_is_answered() {
    let (address, upstream) = Upstream::start(|_| vec![Act::AwaitGone]).await;
    let gateway = gateway(address, "[limits]\nconnections = 2").await;
    let mut busy = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(gateway).await.unwrap();
        stream.write_all(&post("/v1/messages", "", b"{\"messages\":[]}")).await.unwrap();
        busy.push(stream);
    }
    while upstream.seen.lock().unwrap().len() < 2 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let reply = exchange(gateway, &post("/v1/messages", "", b"{\"messages\":[]}")).await;
    assert_eq!((reply.status, reply.header("x-photic-error")), (503, Some("no_room")));
    assert_eq!(reply.header("retry-after"), Some("2"));
    assert_eq!(exchange(gateway, &get("/health", "")).await.status, 200);
}
