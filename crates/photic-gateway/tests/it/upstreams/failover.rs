//! Requests that one upstream fails to answer are answered by another one.

use std::sync::Arc;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::{CHAT, CHAT_ANSWER, MESSAGES, QUESTION, closed, model, status, upstream};
use crate::caller::{exchange, get, post, read_until};
use crate::scripted::{Act, Upstream, chunk, chunked, ok};
use crate::started;
use crate::watching::Watching;

const KEY: &str = "authorization: Bearer of-caller\r\n";

fn settings(a: std::net::SocketAddr, b: std::net::SocketAddr, more: &str) -> String {
    let upstreams = [
        upstream("a", a, "key = 'key-of-a'\nanswer_s = 2"),
        upstream("b", b, "key = 'key-of-b'"),
        model(&["a", "b"]),
    ];
    format!("{more}\n{}", upstreams.concat())
}

/// Returns the number of requests that arrived.
fn count(upstream: &Upstream) -> usize {
    upstream.seen.lock().unwrap().len()
}

#[tokio::test]
async fn the_next_upstream_answers_whatever_the_first_one_does() {
    let cut =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{\"a";
    let page = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\n<p/>";
    let no_json =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4\r\n\r\n<p/>";
    let empty = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 0\r\n\r\n";
    for (cause, script) in [
        ("rate_limited", status("429 Too Many Requests", "")),
        ("server_error", status("500 Internal Server Error", "")),
        ("server_error", status("503 Service Unavailable", "")),
        ("server_error", status("529 Overloaded", "")),
        ("key_refused", status("401 Unauthorized", "")),
        ("closed", vec![Act::Close]),
        ("closed", vec![Act::Send(b"garbage that is not HTTP\r\n\r\n".to_vec()), Act::Close]),
        ("broke_off", vec![Act::Send(cut.to_vec()), Act::Close]),
        ("not_a_reply", vec![Act::Send(page.to_vec())]),
        ("not_a_reply", vec![Act::Send(no_json.to_vec())]),
        ("not_a_reply", vec![Act::Send(empty.to_vec())]),
        ("no_answer", vec![Act::AwaitGone]),
    ] {
        let (a, seen_a) = Upstream::start(move |_| script.clone()).await;
        let (b, seen_b) = Upstream::answering(CHAT_ANSWER).await;
        let gateway = started(&settings(a, b, "")).await;
        let reply = exchange(gateway, &post(CHAT, KEY, QUESTION.as_bytes())).await;
        let said = format!("b; failed=\"a:{cause}\"");
        assert_eq!((reply.status, reply.header("x-photic-upstream")), (200, Some(&*said)));
        assert_eq!((reply.body.as_slice(), reply.complete), (CHAT_ANSWER.as_bytes(), true));
        assert_eq!((count(&seen_a), count(&seen_b)), (1, 1), "{cause}");
        // The same request with other keys.
        let (one, other) = (seen_a.last(), seen_b.last());
        assert_eq!(one.body, other.body);
        assert!(one.head.contains("key-of-a") && other.head.contains("key-of-b"));
        for head in [one.head, other.head.replace("key-of-b", "")] {
            assert!(!head.contains("of-caller") && !head.contains("key-of-b"), "{head}");
        }
    }
}

#[tokio::test]
async fn a_closed_port_is_no_answer() {
    let (b, _) = Upstream::answering(CHAT_ANSWER).await;
    let gateway = started(&settings(closed().await, b, "")).await;
    let reply = exchange(gateway, &post(CHAT, "", QUESTION.as_bytes())).await;
    assert_eq!(reply.header("x-photic-upstream"), Some("b; failed=\"a:refused\""));
    assert_eq!(reply.status, 200);
}

#[tokio::test]
async fn a_rejection_is_an_answer() {
    for line in ["400 Bad Request", "404 Not Found", "422 Unprocessable Entity"] {
        let (a, _) = Upstream::start(move |_| status(line, "")).await;
        let (b, seen_b) = Upstream::answering(CHAT_ANSWER).await;
        let gateway = started(&settings(a, b, "")).await;
        let reply = exchange(gateway, &post(CHAT, "", QUESTION.as_bytes())).await;
        assert!(line.starts_with(&reply.status.to_string()));
        assert_eq!(reply.header("x-photic-upstream"), Some("a"));
        assert_eq!(count(&seen_b), 0);
    }
}

#[tokio::test]
async fn nothing_is_sent_again_after_a_byte_was_passed_on() {
    let (a, _) = Upstream::start(|_| {
        let first = [chunked("text/event-stream"), chunk("data: {\"x\":1}\n\n")].concat();
        vec![Act::Send(first), Act::Close]
    })
    .await;
    let (b, seen_b) = Upstream::answering(CHAT_ANSWER).await;
    let gateway = started(&settings(a, b, "")).await;
    let mut client = TcpStream::connect(gateway).await.unwrap();
    client.write_all(&post(CHAT, "", QUESTION.as_bytes())).await.unwrap();
    let begun = read_until(&mut client, "data: {\"x\":1}").await;
    assert!(begun.contains("x-photic-upstream: a\r\n"), "{begun}");
    drop(client);
    assert_eq!(count(&seen_b), 0);
}

#[tokio::test]
async fn a_stream_without_an_event_is_no_reply() {
    for first in [Vec::new(), chunk("event: error\ndata: {\"type\":\"error\"}\n\n")] {
        let (a, _) = Upstream::start(move |_| {
            let begun = [chunked("text/event-stream"), first.clone(), chunk("")].concat();
            vec![Act::Send(begun), Act::Close]
        })
        .await;
        let (b, _) = Upstream::answering(CHAT_ANSWER).await;
        let gateway = started(&settings(a, b, "")).await;
        let reply = exchange(gateway, &post(CHAT, "", QUESTION.as_bytes())).await;
        let said = reply.header("x-photic-upstream").unwrap();
        assert!(said.starts_with("b; failed=\"a:"), "{said}");
    }
}

#[tokio::test]
async fn a_bad_stream_arrives_whole_if_no_other_upstream_can_be_asked() {
    let event = "event: error\ndata: {\"type\":\"error\"}\n\n";
    let (a, seen) = Upstream::start(move |_| {
        let all = [chunked("text/event-stream"), chunk(event), chunk("")].concat();
        vec![Act::Send(all), Act::Close]
    })
    .await;
    let text =
        ["[failover]\nattempts = 1\n".to_owned(), upstream("a", a, "key = 'k'"), model(&["a"])];
    let gateway = started(&text.concat()).await;
    let reply = exchange(gateway, &post(CHAT, "", QUESTION.as_bytes())).await;
    assert_eq!((reply.status, reply.header("x-photic-upstream")), (200, Some("a")));
    assert_eq!((String::from_utf8(reply.body).unwrap().as_str(), reply.complete), (event, true));
    assert_eq!(count(&seen), 1);
}

#[tokio::test]
async fn the_last_answer_is_passed_on_when_all_fail() {
    let (a, seen_a) = Upstream::start(|_| status("500 Internal Server Error", "")).await;
    let (b, seen_b) = Upstream::start(|_| status("529 Overloaded", "")).await;
    let gateway = started(&settings(a, b, "[failover]\nattempts = 2")).await;
    let reply = exchange(gateway, &post(CHAT, "", QUESTION.as_bytes())).await;
    assert_eq!(reply.status, 529);
    assert_eq!(reply.json()["error"]["message"], "not now");
    assert_eq!((count(&seen_a), count(&seen_b)), (1, 1));
    // With one more, the first is asked again.
    let gateway = started(&settings(a, b, "")).await;
    assert_eq!(exchange(gateway, &post(CHAT, "", QUESTION.as_bytes())).await.status, 500);
    assert_eq!((count(&seen_a), count(&seen_b)), (3, 2));
}

#[tokio::test]
async fn an_upstream_that_fails_is_asked_last_and_that_is_told() {
    let (a, seen_a) = Upstream::start(|_| status("503 Service Unavailable", "")).await;
    let fails = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let failing = Arc::clone(&fails);
    let (b, _) = Upstream::start(move |_| {
        if failing.load(std::sync::atomic::Ordering::SeqCst) {
            return vec![Act::Close];
        }
        vec![Act::Send(ok(CHAT_ANSWER.as_bytes()))]
    })
    .await;
    let more = "[failover]\nfailures = 2\nrest_s = 600\nattempts = 2";
    let watching = Watching::start(&settings(a, b, more)).await;
    let request = post(CHAT, "", QUESTION.as_bytes());
    let ready = get("/ready", "");
    assert_eq!(exchange(watching.admin, &ready).await.json()["status"], "ready");
    for _ in 0..5 {
        assert_eq!(exchange(watching.address, &request).await.status, 200);
    }
    assert_eq!(count(&seen_a), 2);
    let reply = exchange(watching.admin, &ready).await;
    assert_eq!(reply.status, 200);
    let told = reply.json();
    assert_eq!((&told["status"], &told["upstreams"][0]), (&"degraded".into(), &"a".into()));
    let lines = [
        "photic_upstream_requests_total{upstream=\"a\",cause=\"server_error\"} 2",
        "photic_upstream_requests_total{upstream=\"b\",cause=\"answered\"} 5",
        "photic_upstream_resting{upstream=\"a\"} 1",
        "photic_upstream_resting{upstream=\"b\"} 0",
    ];
    watching.metrics_with(&lines).await;
    fails.store(true, std::sync::atomic::Ordering::SeqCst);
    for _ in 0..2 {
        assert_ne!(exchange(watching.address, &request).await.status, 200);
    }
    let reply = exchange(watching.admin, &ready).await;
    assert_eq!((reply.status, &reply.json()["status"]), (503, &"no upstream".into()));
    // Both rest, and are asked all the same: a local refusal would help nobody.
    fails.store(false, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(exchange(watching.address, &request).await.status, 200);
    assert_eq!(exchange(watching.admin, &ready).await.status, 200);
}

#[tokio::test]
async fn a_pause_that_an_upstream_asks_for_is_kept() {
    let (a, seen_a) =
        Upstream::start(|_| status("429 Too Many Requests", "retry-after: 600\r\n")).await;
    let (b, seen_b) = Upstream::answering(CHAT_ANSWER).await;
    let gateway = started(&settings(a, b, "")).await;
    for _ in 0..3 {
        assert_eq!(exchange(gateway, &post(CHAT, "", QUESTION.as_bytes())).await.status, 200);
    }
    assert_eq!((count(&seen_a), count(&seen_b)), (1, 3));
    // Alone, it is not asked before the end of the pause, and the caller is told when that is.
    let text = [upstream("a", a, "key = 'k'"), model(&["a"])].concat();
    let gateway = started(&text).await;
    let first = exchange(gateway, &post(MESSAGES, "", QUESTION.as_bytes())).await;
    assert_eq!((first.status, first.header("retry-after")), (429, Some("600")));
    let second = exchange(gateway, &post(MESSAGES, "", QUESTION.as_bytes())).await;
    assert_eq!((second.status, second.header("x-photic-error")), (429, Some("upstreams_resting")));
    let seconds: u64 = second.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=600).contains(&seconds), "{seconds}");
    assert_eq!(second.json()["type"], "error");
    assert_eq!(count(&seen_a), 2);
}

#[tokio::test]
async fn the_limit_of_one_caller_holds_up_no_other() {
    let (a, seen) = Upstream::start(|request| {
        if request.head.contains("of-caller") {
            return status("429 Too Many Requests", "retry-after: 600\r\n");
        }
        vec![Act::Send(ok(CHAT_ANSWER.as_bytes()))]
    })
    .await;
    let text = [
        "[failover]\nattempts = 1\n".to_owned(),
        upstream("a", a, "credentials = 'passthrough'"),
        model(&["a"]),
    ];
    let gateway = started(&text.concat()).await;
    let other = "authorization: Bearer of-another\r\n";
    for (key, status) in [(KEY, 429), (other, 200), (KEY, 429), (other, 200)] {
        let reply = exchange(gateway, &post(CHAT, key, QUESTION.as_bytes())).await;
        assert_eq!((reply.status, reply.header("x-photic-error")), (status, None));
    }
    assert_eq!(count(&seen), 4);
}

#[tokio::test]
async fn a_short_pause_is_waited_for() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let (a, seen) =
        Upstream::start(move |_| match asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => status("429 Too Many Requests", "retry-after-ms: 200\r\n"),
            _ => vec![Act::Send(ok(CHAT_ANSWER.as_bytes()))],
        })
        .await;
    let gateway = started(&[upstream("a", a, "key = 'k'"), model(&["a"])].concat()).await;
    let reply = exchange(gateway, &post(CHAT, "", QUESTION.as_bytes())).await;
    assert_eq!((reply.status, count(&seen)), (200, 2));
    assert_eq!(reply.header("x-photic-upstream"), Some("a; failed=\"a:rate_limited\""));
}

#[tokio::test]
async fn a_conversation_that_its_provider_keeps_stays_with_it() {
    let (a, _) = Upstream::start(|_| status("503 Service Unavailable", "")).await;
    let (b, seen_b) = Upstream::answering("{}").await;
    let gateway = started(&settings(a, b, "[failover]\nattempts = 2")).await;
    let body = br#"{"model":"m","previous_response_id":"r1","input":"hi"}"#;
    assert_eq!(exchange(gateway, &post("/v1/responses", "", body)).await.status, 503);
    assert_eq!(count(&seen_b), 0);
}

#[tokio::test]
async fn half_a_conversation_is_refused_and_not_sent_around() {
    let (a, seen_a) = Upstream::answering(CHAT_ANSWER).await;
    let (b, seen_b) = Upstream::answering(CHAT_ANSWER).await;
    let text = [
        upstream("a", a, "key = 'k'\nwire = 'openai-chat'"),
        upstream("b", b, "key = 'k'\nwire = 'openai-chat'"),
        model(&["a", "b"]),
    ];
    let gateway = started(&text.concat()).await;
    let body = br#"{"model":"m","previous_response_id":"r1","input":"hi"}"#;
    let reply = exchange(gateway, &post("/v1/responses", "", body)).await;
    assert_eq!((reply.status, reply.header("x-photic-error")), (400, Some("half_request")));
    assert_eq!((count(&seen_a), count(&seen_b)), (0, 0));
}

#[tokio::test]
async fn without_a_model_of_several_upstreams_a_request_is_sent_once() {
    let (a, seen) = Upstream::start(|_| status("503 Service Unavailable", "")).await;
    let gateway = started(&upstream("a", a, "key = 'k'")).await;
    let reply = exchange(gateway, &post(CHAT, "", QUESTION.as_bytes())).await;
    assert_eq!((reply.status, count(&seen)), (503, 1));
    assert_eq!(reply.header("x-photic-upstream"), None);
}
