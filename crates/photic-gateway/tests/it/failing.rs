//! Failures have the error format of the client's wire.

use std::time::Duration;

use photic_gateway::{Config, Gateway};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};

use crate::caller::{Reply, exchange, get, post, read_until, until_stopping};
use crate::gateway;
use crate::scripted::{Act, Upstream};

const PATHS: [&str; 3] = ["/v1/chat/completions", "/v1/responses", "/v1/messages"];

/// Returns status, code and the retry header. Checks that the error format is that of the path.
fn told<'r>(path: &str, reply: &'r Reply) -> (u16, &'r str, &'r str) {
    let body = reply.json();
    let error = &body["error"];
    assert!(error["message"].as_str().unwrap().starts_with("photic: "), "{body}");
    assert!(error["type"].is_string());
    assert_eq!(body["type"] == "error", path.ends_with("messages"), "{body}");
    (reply.status, reply.header("x-photic-error").unwrap(), reply.header("x-should-retry").unwrap())
}

#[tokio::test]
async fn an_upstream_that_does_not_listen() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let gateway = gateway(free, "").await;
    for path in PATHS {
        let reply = exchange(gateway, &post(path, "", b"{}")).await;
        assert_eq!(told(path, &reply), (502, "upstream_unreachable", "true"));
    }
}

#[tokio::test]
async fn the_upstream_hangs_up() {
    let (address, _) = Upstream::start(|_| vec![Act::Close]).await;
    let gateway = gateway(address, "").await;
    for path in PATHS {
        let reply = exchange(gateway, &post(path, "", b"{}")).await;
        assert_eq!(told(path, &reply), (502, "upstream_closed", "true"));
    }
}

#[tokio::test]
async fn the_upstream_does_not_answer() {
    let (address, upstream) = Upstream::start(|_| vec![Act::AwaitGone]).await;
    let gateway = gateway(address, "[timeouts]\nanswer_s = 1").await;
    let reply = exchange(gateway, &post("/v1/messages", "", b"{}")).await;
    assert_eq!(told("/v1/messages", &reply), (504, "upstream_timeout", "true"));
    assert!(upstream.client_disconnected().await);
}

#[tokio::test]
async fn a_body_that_is_too_large() {
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, "[limits]\nbody_mib = 1").await;
    let body = vec![b' '; (4 << 20) + 1];
    for path in [PATHS.as_slice(), &["/v1/files"]].concat() {
        let reply = exchange(gateway, &post(path, "", &body)).await;
        assert_eq!(told(path, &reply), (413, "request_too_large", "false"));
        // Without a declared length.
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n",
            body.len()
        );
        let request = [head.as_bytes(), &body, b"\r\n0\r\n\r\n"].concat();
        let reply = exchange(gateway, &request).await;
        assert_eq!(told(path, &reply), (413, "request_too_large", "false"), "{path} in chunks");
    }
    assert!(upstream.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_body_that_does_not_come() {
    let (address, _) = Upstream::answering("{}").await;
    let gateway = gateway(address, "[timeouts]\nidle_s = 1").await;
    let mut stream = TcpStream::connect(gateway).await.unwrap();
    let request = post("/v1/messages", "", b"{\"messages\":[]}");
    stream.write_all(&request[..request.len() - 5]).await.unwrap();
    let answer = read_until(&mut stream, "\"}}").await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("timeout_error"));
}

#[tokio::test]
async fn a_public_address_needs_keys_or_the_setting_open() {
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let mut config = Config::parse("").unwrap();
        listen.clone_into(&mut config.listen);
        let error = Gateway::bind(config.clone()).await.unwrap_err().to_string();
        assert!(error.contains("`--open`"), "{error}");
        config.open = true;
        Gateway::bind(config).await.unwrap();
    }
}

#[tokio::test]
async fn the_inspector_needs_a_listener_sessions_and_beyond_loopback_a_token() {
    let folder = std::env::temp_dir().join(format!("photic-inspected-{}", std::process::id()));
    let record = format!("record.directory = '{}'", folder.display());
    let enabled = "inspect.enabled = true";
    let near = "admin.listen = '127.0.0.1:0'";
    let far = "admin.listen = '0.0.0.0:0'";
    let weak = "inspect.token = 'short'";
    let token = "inspect.token = '0123456789abcdef0123456789abcdef'";
    for (settings, says) in [
        (vec![enabled, record.as_str()], "set `admin.listen`"),
        (vec![enabled, near], "no sessions to show"),
        (vec![enabled, near, record.as_str(), weak], "at least 22 letters"),
        (vec![enabled, far, record.as_str()], "set a token"),
    ] {
        let mut config = Config::parse(&settings.join("\n")).unwrap();
        "127.0.0.1:0".clone_into(&mut config.listen);
        let error = Gateway::bind(config).await.unwrap_err().to_string();
        assert!(error.contains(says), "{settings:?}: {error}");
    }
    let bind = async |settings: &[&str]| {
        let mut config = Config::parse(&settings.join("\n")).unwrap();
        "127.0.0.1:0".clone_into(&mut config.listen);
        Gateway::bind(config).await.unwrap()
    };
    let random = bind(&[enabled, near, &record]).await.inspector_url().unwrap();
    assert!(random.contains("/inspect/#token="), "{random}");
    // A token that the operator knows is not printed.
    let known = bind(&[enabled, far, &record, token]).await.inspector_url().unwrap();
    assert!(known.ends_with("/inspect/"), "{known}");
    assert_eq!(bind(&[near, &record]).await.inspector_url(), None);
    let _ = std::fs::remove_dir_all(folder);
}

#[tokio::test]
async fn an_upstream_that_is_the_gateway_itself_is_refused() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    for (listen, upstream) in [
        (format!("127.0.0.1:{port}"), format!("http://localhost:{port}/v1")),
        (format!("0.0.0.0:{port}"), format!("http://127.0.0.1:{port}")),
    ] {
        let mut config = Config::parse(&format!("[[upstream]]\nurl='{upstream}'")).unwrap();
        (config.listen, config.open) = (listen, true);
        let error = Gateway::bind(config).await.unwrap_err().to_string();
        assert!(error.contains("is this gateway itself"), "{error}");
    }
}

#[tokio::test]
async fn what_is_under_way_is_finished_and_nothing_new_begins() {
    let finish = std::sync::Arc::new(tokio::sync::Notify::new());
    let pause = std::sync::Arc::clone(&finish);
    let (address, _) = Upstream::start(move |_| {
        let begin = [crate::scripted::chunked("text/plain"), crate::scripted::chunk("a")].concat();
        let pause = std::sync::Arc::clone(&pause);
        vec![Act::Send(begin), Act::Wait(pause), Act::Send(crate::scripted::chunk(""))]
    })
    .await;
    let mut config = Config::parse(&format!("[[upstream]]\nurl='http://{address}'")).unwrap();
    "127.0.0.1:0".clone_into(&mut config.listen);
    let gateway = Gateway::bind(config).await.unwrap();
    let at = gateway.address();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let served = tokio::spawn(gateway.serve(async {
        let _ = stopped.await;
    }));
    let mut stream = TcpStream::connect(at).await.unwrap();
    stream.write_all(&post("/v1/messages", "", b"{}")).await.unwrap();
    read_until(&mut stream, "\r\n\r\n1\r\na\r\n").await;
    stop.send(()).unwrap();
    until_stopping(at).await;
    for path in PATHS {
        let reply = exchange(at, &post(path, "", b"{}")).await;
        assert_eq!(told(path, &reply), (503, "stopping", "true"));
        assert_eq!(reply.header("retry-after"), Some("2"));
        assert_eq!(reply.header("connection"), Some("close"));
    }
    assert_eq!(exchange(at, &get("/ready", "")).await.status, 503);
    assert_eq!(exchange(at, &get("/health", "")).await.status, 200);
    finish.notify_one();
    read_until(&mut stream, "0\r\n\r\n").await;
    tokio::time::timeout(Duration::from_mins(1), served).await.unwrap().unwrap();
}
