//! The gateway fetches image URLs that the provider accepts and cannot fetch.

use std::net::SocketAddr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic_testkit::image::png_noise;
use serde_json::json;

use crate::healing::{LessonsFile, Wire};
use crate::poisoned::ask;
use crate::scripted::{Act, Upstream, ok};
use crate::started;

const NO: &str = r#"{"error":{"message":"Timeout while downloading http://h/a.png.","type":"invalid_request_error","param":null,"code":"invalid_image_url"}}"#;

/// Starts an image host, a provider that cannot reach it, and a gateway that can.
async fn setup(kept: &LessonsFile, mode: &str) -> (SocketAddr, Arc<Upstream>, SocketAddr) {
    let (pictures, _) = Upstream::start(|seen| {
        vec![Act::Send(if seen.head.split(' ').nth(1) == Some("/a.png") {
            ok(&png_noise(64, 48, 1))
        } else {
            b"HTTP/1.1 404 no\r\ncontent-length: 0\r\n\r\n".to_vec()
        })]
    })
    .await;
    let (address, upstream) = Upstream::start(|seen| {
        let body = String::from_utf8_lossy(&seen.body);
        vec![Act::Send(if body.contains("\"http://") {
            let head = format!("HTTP/1.1 400 no\r\ncontent-length: {}\r\n\r\n", NO.len());
            [head.as_bytes(), NO.as_bytes()].concat()
        } else {
            ok(b"{}")
        })]
    })
    .await;
    let settings = format!(
        "{}\n[fetch]\nmode = '{mode}'\nprivate = ['{pictures}']\n[[upstream]]\nurl = 'http://{address}'",
        kept.settings()
    );
    (started(&settings).await, upstream, pictures)
}

fn shows(pictures: SocketAddr, path: &str) -> serde_json::Value {
    let url = format!("http://{pictures}{path}");
    Wire::Chat.shows(&[json!({"type": "image_url", "image_url": {"url": url}})])
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_provider_cannot_fetch_is_fetched_here_and_from_then_on() {
    let kept = LessonsFile::new("unfetched");
    let (gateway, upstream, pictures) = setup(&kept, "needed").await;
    let reply = ask(gateway, Wire::Chat.path(), &shows(pictures, "/a.png")).await;
    assert_eq!((reply.status, reply.header("x-photic-healed")), (200, Some("fetch_failed")));
    let bytes = STANDARD.encode(png_noise(64, 48, 1));
    let sent = String::from_utf8(upstream.last().body).unwrap();
    assert!(sent.contains(&bytes), "{sent}");
    assert_eq!(kept.lessons(), ["image URLs are not fetched"]);
    let reply = ask(gateway, Wire::Chat.path(), &shows(pictures, "/a.png")).await;
    assert_eq!((reply.status, reply.header("x-photic-healed")), (200, None));
    assert_eq!(upstream.seen.lock().unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_the_gateway_cannot_fetch_either_teaches_nothing_about_the_provider() {
    for (mode, path) in [("needed", "/gone.png"), ("never", "/a.png")] {
        let kept = LessonsFile::new(&format!("unfetched-{mode}-{}", &path[1..2]));
        let (gateway, upstream, pictures) = setup(&kept, mode).await;
        let reply = ask(gateway, Wire::Chat.path(), &shows(pictures, path)).await;
        assert_eq!((reply.status, reply.header("x-photic-healed")), (200, Some("fetch_failed")));
        let sent = String::from_utf8(upstream.last().body).unwrap();
        assert!(!sent.contains("image_url"), "{sent}");
        let [lesson] = &kept.lessons()[..] else { panic!("{:?}", kept.lessons()) };
        assert!(lesson.starts_with("a media file of "), "{lesson}");
    }
}
