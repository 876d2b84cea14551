//! The safe fetch: only public addresses are dialed, however the URL is written.

use serde_json::{Value, json};

use crate::host::{FETCH, Fake};

fn fetch(host: &Fake, body: &Value) -> Value {
    let (status, told) = host.post(FETCH, body);
    assert_eq!(status, 200, "{told}");
    told
}

#[test]
fn what_is_not_public_is_blocked_and_not_dialed() {
    let host = Fake::default();
    let blocked = json!({"outcome": "blocked", "blocked": "ssrf"});
    for body in [
        json!({"url": "http://169.254.169.254/latest/meta-data/"}),
        json!({"url": "http://127.0.0.1:6379/"}),
        json!({"url": "http://10.1.2.3/"}),
        json!({"url": "http://inside.example.com/"}),
        json!({"url": "http://example.com/", "simulateRebindTo": "169.254.169.254"}),
        json!({"url": "http://example.com/", "simulateRebindTo": "::1"}),
    ] {
        assert_eq!(fetch(&host, &body), blocked, "{body}");
    }
    assert!(host.dialed.lock().unwrap().is_empty());
    let fetched = fetch(&host, &json!({"url": "https://example.com/"}));
    assert_eq!(fetched, json!({"outcome": "fetched", "status": 200}));
    assert_eq!(host.dialed.lock().unwrap().len(), 1);
}

#[test]
fn no_connection_becomes_another() {
    let host = Fake::default();
    let blocked = json!({"outcome": "blocked", "blocked": "upgrade"});
    for headers in [
        json!({"Connection": "upgrade"}),
        json!({"connection": "keep-alive, Upgrade"}),
        json!({" CONNECTION ": ["close", "upgrade"]}),
        json!({"Upgrade": "websocket"}),
        json!([["Connection", "Upgrade"]]),
    ] {
        let body = json!({"url": "https://example.com/", "init": {"headers": headers}});
        assert_eq!(fetch(&host, &body), blocked, "{body}");
    }
    assert!(host.dialed.lock().unwrap().is_empty());
    let headers = json!({"Connection": "keep-alive", "X-Upgrade": "no"});
    let body =
        json!({"url": "https://example.com/", "init": {"method": "get", "headers": headers}});
    assert_eq!(fetch(&host, &body)["outcome"], "fetched");
}
