//! Settings that are reloaded while the gateway serves: whole or not at all, and no request is lost.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use photic_gateway::{Config, Gateway, NewCallerKey, Reloader};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::caller::{exchange, get, post, reply};
use crate::scratch::{Scratch, quoted};
use crate::scripted::{Act, Seen, Upstream, ok};

const BODY: &[u8] = br#"{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}"#;
const CHAT: &str = "/v1/chat/completions";

/// A gateway whose settings are a file.
struct FromFile {
    address: SocketAddr,
    admin: SocketAddr,
    reloader: Reloader,
    file: PathBuf,
    scratch: Scratch,
}

impl FromFile {
    async fn start(settings: &str) -> Self {
        let scratch = Scratch::new();
        let file = scratch.write("photic.toml", with_ports(settings));
        let path = file.clone();
        let load = move || {
            let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
            Config::parse(&text).map_err(|error| error.to_string())
        };
        let config = load().unwrap();
        let gateway = Gateway::bind(config).await.unwrap().reload_from(Some(file.clone()), load);
        let (address, admin) = (gateway.address(), gateway.admin_address());
        let reloader = gateway.reloader();
        tokio::spawn(gateway.log_to(std::io::sink()).serve(std::future::pending()));
        Self { address, admin, reloader, file, scratch }
    }

    fn write(&self, settings: &str) {
        let name = self.file.file_name().unwrap().to_str().unwrap();
        self.scratch.write(name, with_ports(settings));
    }

    async fn metric(&self, line: &str) -> bool {
        let page = exchange(self.admin, &get("/metrics", "")).await;
        String::from_utf8(page.body).unwrap().lines().any(|it| it == line)
    }
}

fn with_ports(settings: &str) -> String {
    format!("listen = '127.0.0.1:0'\n{settings}\n[admin]\nlisten = '127.0.0.1:0'")
}

fn before(address: SocketAddr) -> String {
    format!("[[upstream]]\nurl = 'http://{address}'")
}

/// Sends requests on one connection until told to stop. Returns how many were answered.
async fn many(gateway: SocketAddr, stop: Arc<AtomicBool>, sent: Arc<AtomicUsize>) -> usize {
    let mut stream = TcpStream::connect(gateway).await.unwrap();
    let request = String::from_utf8(post(CHAT, "", BODY)).unwrap();
    let request = request.replace("connection: close\r\n", "");
    let mut answered = 0;
    while !stop.load(Ordering::Relaxed) {
        sent.fetch_add(1, Ordering::Relaxed);
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"{\"id\":1}") {
            assert!(stream.read_buf(&mut bytes).await.unwrap() > 0, "the connection was closed");
        }
        assert_eq!(reply(&bytes).status, 200);
        answered += 1;
    }
    answered
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_is_lost_while_settings_change() {
    let answer = |_: &Seen| vec![Act::Send(ok(b"{\"id\":1}"))];
    let ((one, seen_one), (other, seen_other)) =
        (Upstream::start(answer).await, Upstream::start(answer).await);
    let gateway = FromFile::start(&before(one)).await;
    let (stop, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let callers: Vec<_> = (0..8)
        .map(|_| tokio::spawn(many(gateway.address, Arc::clone(&stop), Arc::clone(&sent))))
        .collect();
    for round in 0..40 {
        let upstream = if round % 2 == 0 { other } else { one };
        gateway.write(&before(upstream));
        gateway.reloader.reload().await.unwrap();
        // Each of the settings serves some requests.
        let reached = sent.load(Ordering::Relaxed) + 20;
        while sent.load(Ordering::Relaxed) < reached {
            tokio::task::yield_now().await;
        }
    }
    stop.store(true, Ordering::Relaxed);
    let mut answered = 0;
    for caller in callers {
        answered += caller.await.unwrap();
    }
    assert_eq!(answered, sent.load(Ordering::Relaxed), "every request was answered");
    let count = |upstream: &Upstream| upstream.seen.lock().unwrap().len();
    let (by_one, by_other) = (count(&seen_one), count(&seen_other));
    assert!(by_one > 100 && by_other > 100, "both served: {by_one} {by_other}");
    assert_eq!(by_one + by_other, answered, "each was sent once");
    assert!(gateway.metric("photic_reloads_total{result=\"done\"} 40").await);
}

#[tokio::test]
async fn routes_of_models_are_reloaded_and_an_unchanged_upstream_keeps_its_counts() {
    let ((one, seen_one), (other, seen_other)) =
        (Upstream::answering("{}").await, Upstream::answering("{}").await);
    let before = format!("[[upstream]]\nname = 'one'\nurl = 'http://{one}'");
    let gateway = FromFile::start(&before).await;
    let sent = async || exchange(gateway.address, &post(CHAT, "", BODY)).await.status;
    assert_eq!(sent().await, 200);
    gateway.write(&format!(
        "{before}\n[[upstream]]\nname = 'other'\nurl = 'http://{other}'\nmodels = ['none']\n\
         [[model]]\nname = 'gpt-4o'\nupstreams = ['other/renamed']"
    ));
    gateway.reloader.reload().await.unwrap();
    assert_eq!(sent().await, 200);
    let count = |upstream: &Upstream| upstream.seen.lock().unwrap().len();
    assert_eq!((count(&seen_one), count(&seen_other)), (1, 1));
    let body: serde_json::Value = serde_json::from_slice(&seen_other.last().body).unwrap();
    assert_eq!(body["model"], "renamed");
    for upstream in ["one", "other"] {
        let line = format!(
            "photic_upstream_requests_total{{upstream=\"{upstream}\",cause=\"answered\"}} 1"
        );
        assert!(gateway.metric(&line).await, "{line}");
    }
    // The limits of failover alone are a change, too.
    gateway.write(&format!("{before}\n[failover]\nattempts = 0"));
    gateway.reloader.reload().await.unwrap();
    assert_eq!(sent().await, 200);
    assert_eq!(count(&seen_one), 2);
}

#[tokio::test]
async fn a_running_request_ends_with_the_settings_that_it_began_with() {
    let sign = Arc::new(tokio::sync::Notify::new());
    let waiting = Arc::clone(&sign);
    let (slow, upstream) = Upstream::start(move |_| {
        vec![Act::Wait(Arc::clone(&waiting)), Act::Send(ok(b"{\"from\":\"slow\"}"))]
    })
    .await;
    let (other, _) = Upstream::answering("{\"from\":\"other\"}").await;
    let gateway = FromFile::start(&before(slow)).await;
    let address = gateway.address;
    let running = tokio::spawn(async move { exchange(address, &post(CHAT, "", BODY)).await });
    while upstream.seen.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    gateway.write(&before(other));
    gateway.reloader.reload().await.unwrap();
    assert_eq!(exchange(address, &post(CHAT, "", BODY)).await.json()["from"], "other");
    sign.notify_one();
    assert_eq!(running.await.unwrap().json()["from"], "slow");
}

#[tokio::test]
async fn wrong_settings_are_refused_whole() {
    let (address, _) = Upstream::answering("{}").await;
    let gateway = FromFile::start(&before(address)).await;
    let good = before(address);
    for (settings, says) in [
        ("not toml".to_owned(), "expected"),
        (format!("[limits]\nbody_mb = 1\n{good}"), "unknown key `limits.body_mb`"),
        (format!("hosts = ['h']\n{good}\n[policy]\nretention = 'never'"), "unknown policy"),
        ("[[upstream]]\nurl = 'ftp://h'".to_owned(), "`http://` or `https://`"),
        (format!("[callers]\nfile = '/does/not/exist'\n{good}"), "callers.file"),
        (format!("[record]\ndirectory = '/tmp/x'\n{good}"), "`record` has changed"),
        (format!("log = 'json'\n{good}"), "`log` has changed"),
    ] {
        gateway.write(&settings);
        let problem = gateway.reloader.reload().await.unwrap_err().to_string();
        assert!(problem.contains(says), "{problem}");
        let reply = exchange(gateway.admin, &post("/reload", "", b"")).await;
        assert_eq!((reply.status, reply.json()["status"].as_str()), (409, Some("refused")));
        assert!(reply.json()["problem"].as_str().unwrap().contains(says), "{problem}");
        // The host that came with a wrong policy is not accepted.
        assert_eq!(exchange(gateway.address, &post(CHAT, "", BODY)).await.status, 200);
    }
    assert!(gateway.metric("photic_reloads_total{result=\"refused\"} 14").await);
    assert!(gateway.metric("photic_reloads_total{result=\"done\"} 0").await);
    gateway.write(&good);
    let reply = exchange(gateway.admin, &post("/reload", "", b"")).await;
    assert_eq!((reply.status, reply.json()["status"].as_str()), (200, Some("reloaded")));
}

#[tokio::test]
async fn only_operators_reload() {
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = FromFile::start(&before(address)).await;
    for headers in ["origin: https://evil.example\r\n", "sec-fetch-site: cross-site\r\n"] {
        assert_eq!(exchange(gateway.admin, &post("/reload", headers, b"")).await.status, 403);
    }
    assert_eq!(exchange(gateway.admin, &get("/reload", "")).await.status, 404);
    // For callers it is a path like any other.
    exchange(gateway.address, &post("/reload", "", b"")).await;
    assert!(upstream.last().head.starts_with("post /reload "));
    assert!(gateway.metric("photic_reloads_total{result=\"done\"} 0").await);
}

#[tokio::test]
async fn changed_files_are_noticed_and_callers_come_and_go() {
    let (address, _) = Upstream::answering("{}").await;
    let (one, other) = (NewCallerKey::new("a").unwrap(), NewCallerKey::new("b").unwrap());
    let scratch = Scratch::new();
    let entry = |key: &NewCallerKey| format!("[[caller]]\nname = 'x'\ndigest = '{}'", key.digest);
    let file = scratch.write("callers.toml", entry(&one));
    let settings =
        format!("[reload]\nwatch_s = 1\n[callers]\nfile = {}\n{}", quoted(&file), before(address));
    let gateway = FromFile::start(&settings).await;
    let status = async |key: &NewCallerKey| {
        let headers = format!("authorization: Bearer {}\r\n", key.key);
        exchange(gateway.address, &post(CHAT, &headers, BODY)).await.status
    };
    assert_eq!((status(&one).await, status(&other).await), (200, 401));
    // A file of another length, in case its time is the same.
    scratch.write("callers.toml", format!("{}\n# rotated", entry(&other)));
    let followed = async {
        while status(&other).await != 200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), followed).await.expect("it is noticed");
    assert_eq!(status(&one).await, 401);
}
