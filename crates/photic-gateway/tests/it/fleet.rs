//! Several gateways on one database and one bucket, over real sockets. `tests/e2e/fleet/with` starts the
//! servers. Without them, every test prints a message and passes.

use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic_fleet::{
    ApiKey, Audit, Bucket, BucketOptions, Fleet, Keys as _, Postgres, PostgresOptions, Verdict,
};
use photic_store::Tenant;
use serde_json::json;

use crate::caller::{Reply, exchange, get, post};
use crate::fixing::{conversation, picture};
use crate::scripted::Upstream;
use crate::started;

/// The servers, with a database and a bucket prefix of one test.
struct TestFleet {
    database: String,
    bucket: String,
}

impl TestFleet {
    /// Returns `None` if no servers are running.
    fn new(name: &str) -> Option<Self> {
        let variable = |name: &str| std::env::var(name).ok();
        let servers = variable("PHOTIC_FLEET_POSTGRES").zip(variable("PHOTIC_FLEET_BUCKET_SWIFT"));
        let Some((server, bucket)) = servers else {
            #[expect(clippy::print_stderr, reason = "a test that shows nothing says so")]
            {
                eprintln!("skipped: no servers are up; see tests/e2e/fleet/with");
            }
            return None;
        };
        let name = format!("gateway_{name}_{}", std::process::id());
        let make = format!("CREATE DATABASE {name}");
        let made = Command::new("psql").args([&server, "-q", "-c", &make]).status().unwrap();
        assert!(made.success());
        let (bucket, rest) = bucket.split_once('?').unwrap();
        Some(Self {
            database: format!("{}/{name}", server.rsplit_once('/').unwrap().0),
            bucket: format!("{bucket}/{name}?{rest}"),
        })
    }

    async fn open(&self) -> Fleet {
        let record = Postgres::open(&self.database, PostgresOptions::default()).await.unwrap();
        Fleet { record, bucket: Bucket::open(&self.bucket, BucketOptions::default()).unwrap() }
    }

    /// Starts one gateway of the fleet.
    async fn gateway(&self, upstream: SocketAddr, more: &str) -> SocketAddr {
        let Self { database, bucket } = self;
        started(&format!(
            "{more}\n[policy]\nretention = 'newest(2)'\n[record]\nacknowledge = true\n[fleet]\n\
             postgres = '{database}'\nbucket = '{bucket}'\n[[upstream]]\nurl = 'http://{upstream}'"
        ))
        .await
    }
}

fn with_key(key: &ApiKey) -> String {
    format!("x-photic-key: {}\r\n", key.reveal())
}

fn request(method: &str, path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\
         content-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

async fn upload(gateway: SocketAddr, headers: &str, bytes: &[u8]) -> String {
    let reply = exchange(gateway, &post("/photic/v1/media", headers, bytes)).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    reply.json()["ref"].as_str().unwrap().to_owned()
}

/// Returns the parts of a reply that a client can compare, without times.
fn seen(reply: &Reply) -> (u16, String, Vec<u8>) {
    let head = reply.head.lines().filter(|line| !line.starts_with("date:"));
    (reply.status, head.collect::<Vec<_>>().join("\n"), reply.body.clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_goes_on_at_any_gateway_and_looks_the_same_from_each() {
    let Some(servers) = TestFleet::new("any") else { return };
    let (address, upstream) = Upstream::answering("{\"ok\":true}").await;
    let fleet = servers.open().await;
    let acme = Tenant::new("acme");
    let key = fleet.record.issue_key(&acme, "", None).await.unwrap();
    let mut gateways = Vec::new();
    for _ in 0..3 {
        gateways.push(servers.gateway(address, "").await);
    }
    let mut turns = Vec::new();
    for turn in 1..=6 {
        let body = conversation(turn, 9_000);
        let asked = post("/v1/chat/completions", &with_key(&key), body.as_bytes());
        let reply = exchange(gateways[usize::from(turn) % 3], &asked).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        turns.push((reply.header("x-photic-turn").unwrap().to_owned(), upstream.last().body));
        assert!(!upstream.last().head.contains("pk_"), "a tenant's key goes no further");
        // The request is identical at every gateway.
        let other = exchange(gateways[usize::from(turn + 1) % 3], &asked).await;
        assert_eq!(other.status, 200);
        assert!(upstream.last().body == turns.last().unwrap().1, "turn {turn}");
    }
    let store = fleet.store(acme.clone());
    for (turn, sent) in &turns {
        let (session, number) = turn.split_once('/').unwrap();
        assert_eq!(session, turns[0].0.split_once('/').unwrap().0, "one conversation");
        let session = session.parse().unwrap();
        let view = store.lower(&session, number.parse().unwrap()).await.unwrap();
        assert!(view.body == *sent);
    }
    let audit = Audit::new(fleet.record.clone()).verify(&acme).await.unwrap();
    let Verdict::Whole(whole) = audit else { panic!("{audit:?}") };
    assert!(whole.rows >= 12, "{whole:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn media_of_another_tenant_look_like_unknown_media() {
    let Some(servers) = TestFleet::new("others") else { return };
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = servers.gateway(address, "").await;
    let fleet = servers.open().await;
    let [acme, other] = ["acme", "other"].map(Tenant::new);
    let key = fleet.record.issue_key(&acme, "", None).await.unwrap();
    let others = fleet.record.issue_key(&other, "", None).await.unwrap();
    let revoked = fleet.record.issue_key(&acme, "", None).await.unwrap();
    fleet.record.revoke_key(&acme, revoked.id()).await.unwrap();
    let bytes = STANDARD.decode(picture(3, 9_000)).unwrap();
    let own = upload(gateway, &with_key(&key), &bytes).await;
    // Identical bytes: a tenant does not learn that another tenant has them, too.
    let theirs = upload(gateway, &with_key(&others), &bytes).await;
    assert_ne!(own, theirs);
    let random = "mr_0123456789abcdefghjkmnpqrs".to_owned();
    for (method, path) in [
        ("GET", "/photic/v1/media/NAME"),
        ("GET", "/photic/v1/media/NAME/content"),
        ("POST", "/photic/v1/media/NAME/address"),
        ("DELETE", "/photic/v1/media/NAME"),
    ] {
        let ask = async |headers: &str, name: &str| {
            let path = path.replace("NAME", name);
            seen(&exchange(gateway, &request(method, &path, headers, b"")).await)
        };
        let good = with_key(&key);
        assert_eq!(ask(&good, &theirs).await, ask(&good, &random).await, "{method} {path}");
        assert_eq!(ask(&good, &theirs).await.0, 404);
        for bad in [String::new(), with_key(&revoked), "x-photic-key: pk_x\r\n".to_owned()] {
            let answers =
                [ask(&bad, &own).await, ask(&bad, &theirs).await, ask(&bad, &random).await];
            assert!(answers.iter().all(|answer| *answer == answers[0] && answer.0 == 401));
        }
        if method != "DELETE" {
            assert!(ask(&good, &own).await.0 < 300, "{method} {path}");
        }
    }
    let mut told = Vec::new();
    for name in [&theirs, &random] {
        let body = json!({"model": "gpt-4o", "messages": [{"role": "user", "content":
            [{"type": "image_url", "image_url": {"url": format!("photic:{name}")}}]}]});
        let asked = post("/v1/chat/completions", &with_key(&key), body.to_string().as_bytes());
        let reply = exchange(gateway, &asked).await;
        assert_eq!(reply.status, 200);
        told.push((reply.header("x-photic-fixed").map(str::to_owned), upstream.last().body));
    }
    assert_eq!(told[0], told[1]);
    let asked = get(&format!("/photic/v1/media/{theirs}"), &with_key(&others));
    assert_eq!(exchange(gateway, &asked).await.status, 200, "it was not removed");
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_past_the_gateway_count_once_it_has_read_them() {
    let Some(servers) = TestFleet::new("past") else { return };
    let (address, _) = Upstream::answering("{}").await;
    let gateway = servers.gateway(address, "").await;
    let fleet = servers.open().await;
    let key = fleet.record.issue_key(&Tenant::new("acme"), "", None).await.unwrap();
    let other = fleet.record.issue_key(&Tenant::new("other"), "", None).await.unwrap();
    let expect = async || {
        let reply = exchange(gateway, &post("/photic/v1/uploads", &with_key(&key), b"")).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        let told = reply.json();
        let text = |name: &str| told[name].as_str().unwrap().to_owned();
        (text("put"), text("done"))
    };
    let put = async |address: &str, bytes: &[u8]| {
        let rest = address.strip_prefix("http://").unwrap();
        let (host, path) = rest.split_once('/').unwrap();
        let asked = request("PUT", &format!("/{path}"), "", bytes);
        let asked = String::from_utf8_lossy(&asked[..asked.len() - bytes.len()])
            .replace("host: localhost", &format!("host: {host}"));
        exchange(host.parse().unwrap(), &[asked.as_bytes(), bytes].concat()).await.status
    };
    let bytes = STANDARD.decode(picture(5, 9_000)).unwrap();
    let (address, done) = expect().await;
    assert_eq!(put(&address, &bytes).await, 200);
    let stolen = exchange(gateway, &post(&done, &with_key(&other), b"")).await;
    assert_eq!(stolen.status, 404, "it is another tenant's");
    let reply = exchange(gateway, &post(&done, &with_key(&key), b"")).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    let path = format!("/photic/v1/media/{}/content", reply.json()["ref"].as_str().unwrap());
    assert!(exchange(gateway, &get(&path, &with_key(&key))).await.body == bytes);
    assert_eq!(exchange(gateway, &post(&done, &with_key(&key), b"")).await.status, 404, "twice");
    let (address, done) = expect().await;
    assert_eq!(put(&address, b"<html><script>alert(1)</script>").await, 200);
    assert_eq!(exchange(gateway, &post(&done, &with_key(&key), b"")).await.status, 415);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_gateways_together_let_in_no_more_than_a_tenant_is_allowed() {
    let Some(servers) = TestFleet::new("quota") else { return };
    let (address, upstream) = Upstream::answering("{}").await;
    let fleet = servers.open().await;
    let [key, other] = {
        let (one, two) = (Tenant::new("acme"), Tenant::new("other"));
        [
            fleet.record.issue_key(&one, "", None).await.unwrap(),
            fleet.record.issue_key(&two, "", None).await.unwrap(),
        ]
    };
    let limits = "[quota]\nrequests_per_minute = 40";
    let gateways = [servers.gateway(address, limits).await, servers.gateway(address, limits).await];
    let body = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]});
    // Within one minute, because the quota is renewed every minute.
    let into = || std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() % 60;
    while into() > 40 {
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let mut let_in = 0;
    for number in 0..100 {
        let asked = post("/v1/chat/completions", &with_key(&key), body.to_string().as_bytes());
        let reply = exchange(gateways[number % 2], &asked).await;
        match reply.status {
            200 => let_in += 1,
            429 => {
                assert_eq!(reply.header("x-photic-error"), Some("over_quota"));
                let wait: u64 = reply.header("retry-after").unwrap().parse().unwrap();
                assert!((1..=60).contains(&wait));
            }
            other => panic!("{other}"),
        }
    }
    assert!((36..=40).contains(&let_in), "{let_in}");
    assert_eq!(upstream.seen.lock().unwrap().len(), let_in);
    let asked = post("/v1/chat/completions", &with_key(&other), body.to_string().as_bytes());
    assert_eq!(exchange(gateways[0], &asked).await.status, 200, "another tenant has its own");
}

/// Repairing a request does not depend on the servers.
#[tokio::test(flavor = "multi_thread")]
async fn without_its_servers_a_gateway_still_makes_models_see() {
    let (address, upstream) = Upstream::answering("{\"ok\":true}").await;
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let settings = |keys: bool| {
        format!(
            "[policy]\nretention = 'all'\n[record]\nacknowledge = true\n[fleet]\nkeys = {keys}\n\
             postgres = 'postgres://photic@{closed}/photic'\n\
             bucket = 's3://photic?endpoint=http://{closed}'\n\
             [[upstream]]\nurl = 'http://{address}'"
        )
    };
    let gateway = started(&settings(false)).await;
    let body = conversation(3, 9_000);
    let reply = exchange(gateway, &post("/v1/chat/completions", "", body.as_bytes())).await;
    assert_eq!((reply.status, reply.header("x-photic-fixed")), (200, Some("hoisted=3")));
    assert_eq!(reply.header("x-photic-turn"), None, "it was not recorded");
    assert!(upstream.last().body.len() > body.len() / 2);
    let begun = std::time::Instant::now();
    for _ in 0..60 {
        let reply = exchange(gateway, &post("/v1/chat/completions", "", body.as_bytes())).await;
        assert_eq!(reply.status, 200);
    }
    // Each of them would wait for a second.
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "nothing waits for what is known to be away"
    );
    let bytes = STANDARD.decode(picture(1, 9_000)).unwrap();
    let reply = exchange(gateway, &post("/photic/v1/media", "", &bytes)).await;
    assert_eq!((reply.status, reply.header("x-photic-error")), (503, Some("store_away")));
    let named = json!({"model": "gpt-4o", "messages": [{"role": "user", "content":
        [{"type": "image_url", "image_url": {"url": "photic:mr_0123456789abcdefghjkmnpqrs"}}]}]});
    let asked = post("/v1/chat/completions", "", named.to_string().as_bytes());
    assert_eq!(exchange(gateway, &asked).await.status, 503, "the store is unavailable");
    // Servers are checked in the background, without a request.
    let begun = std::time::Instant::now();
    let state = loop {
        let state = exchange(gateway, &get("/ready", "")).await;
        assert_eq!(state.status, 200);
        if state.json()["away"] == json!(["record", "blobs"]) {
            break state;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "{state:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!(state.json()["status"], "degraded");
    let page = String::from_utf8(exchange(gateway, &get("/metrics", "")).await.body).unwrap();
    for line in ["photic_store_away{store=\"record\"} 1", "photic_store_away{store=\"blobs\"} 1"] {
        assert!(page.contains(line), "{page}");
    }
    let gateway = started(&settings(true)).await;
    let key = ApiKey::random().unwrap();
    let asked = post("/v1/chat/completions", &with_key(&key), body.as_bytes());
    let reply = exchange(gateway, &asked).await;
    assert_eq!((reply.status, reply.header("x-photic-error")), (503, Some("keys_away")));
    assert_eq!(reply.header("retry-after"), Some("2"));
    let reply = exchange(gateway, &post("/v1/chat/completions", "", body.as_bytes())).await;
    assert_eq!(reply.status, 401, "no key is no key");
}
