//! Conversations are repaired, and only if they need it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic::{Policy, Wire};

use crate::caller::{exchange, post};
use crate::gateway;
use crate::scripted::Upstream;

/// Returns the header of a PNG with noise behind it. Images within limits are not decoded.
pub(crate) fn picture(seed: u8, bytes: usize) -> String {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x05\0\0\0\x03\x20\x08\x06\0\0\0".to_vec();
    let mut state = u32::from(seed) + 1;
    png.extend((0..bytes).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    }));
    STANDARD.encode(png)
}

/// Returns a conversation with so many tool images of so many bytes, as an agent sends it.
pub(crate) fn conversation(images: u8, bytes: usize) -> String {
    let mut messages = vec![r#"{"role":"user","content":"look"}"#.to_owned()];
    for image in 0..images {
        let data = picture(image, bytes);
        messages.push(format!(
            "{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"id\":\"c{image}\",\
             \"type\":\"function\",\"function\":{{\"name\":\"shot\",\"arguments\":\"{{}}\"}}}}]}}"
        ));
        messages.push(format!(
            "{{\"role\":\"tool\",\"tool_call_id\":\"c{image}\",\"content\":[{{\"type\":\"image_url\",\
             \"image_url\":{{\"url\":\"data:image/png;base64,{data}\"}}}}]}}"
        ));
    }
    format!("{{\"model\":\"gpt-4o\",\"unknown\": [1 , 2],\"messages\":[{}]}}", messages.join(","))
}

const SETTINGS: &str = "[policy]\nretention = 'all'";

#[tokio::test(flavor = "multi_thread")]
async fn twelve_megabytes_are_hoisted_on_the_way() {
    let (address, upstream) = Upstream::answering("{\"ok\":true}").await;
    let gateway = gateway(address, SETTINGS).await;
    let body = conversation(10, 900_000);
    assert!(body.len() > 12_000_000);
    let reply = exchange(gateway, &post("/v1/chat/completions", "", body.as_bytes())).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(reply.header("x-photic-fixed"), Some("hoisted=10"));
    assert_eq!(reply.header("x-photic-fixes"), Some("10"));
    let (transcript, _) = photic::lift(Wire::OpenAiChat, body.as_bytes());
    let host = address.to_string();
    let profile = photic::profile::resolve(Wire::OpenAiChat, Some("gpt-4o"), Some(&host));
    let mut policy = Policy::hands_off();
    policy.pixels = true;
    let plan = photic::plan(photic::survey(&transcript), &profile, &policy);
    let expected = photic::lower(&transcript, &plan).body.to_vec();
    assert!(upstream.last().body == expected, "the upstream got another body");
}

#[tokio::test]
async fn a_body_that_is_fine_is_not_touched() {
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, "").await;
    for (path, body) in [
        ("/chat/completions", r#"{ "messages" : [ {"role":"user","content":"hi"} ], "x":1e2 }"#),
        ("/v1/responses", r#"{"input":"hi",  "y": {"z":[]}}"#),
        (
            "/v1/messages",
            r#"{"max_tokens":1,"messages":[{"role":"user","content":"hi"}],"k":null}"#,
        ),
        ("/v1/messages/count_tokens", r#"{"messages":[{"role":"user","content":"hi"}]}"#),
        ("/v1/messages", "this is not even JSON"),
    ] {
        let reply = exchange(gateway, &post(path, "", body.as_bytes())).await;
        let is_read = body.starts_with('{');
        assert_eq!(reply.header("x-photic-fixes"), is_read.then_some("0"), "{path}");
        let passed = (!is_read).then_some("unreadable_body");
        assert_eq!(reply.header("x-photic-passed"), passed, "{path}");
        assert_eq!(reply.header("x-photic-fixed"), None);
        let seen = upstream.last();
        assert_eq!(seen.body, body.as_bytes());
        let sent = format!("post /v1{} ", path.trim_start_matches("/v1"));
        assert!(seen.head.starts_with(&sent), "{}", seen.head);
    }
}

#[tokio::test]
async fn url_safe_base64_of_a_gemini_client_is_not_touched_and_not_called_a_repair() {
    let (address, upstream) = Upstream::answering("{\"candidates\":[]}").await;
    let settings = format!("[[upstream]]\nurl='http://{address}'\nwire='gemini'");
    let gateway = crate::started(&settings).await;
    let data = picture(3, 400).replace('+', "-").replace('/', "_");
    assert!(data.contains('-') && data.contains('_'));
    let body = format!(
        "{{\"contents\":[{{\"role\":\"user\",\"parts\":[{{\"inlineData\":\
         {{\"mimeType\":\"image/png\",\"data\":\"{data}\"}}}}]}}]}}"
    );
    let path = "/v1beta/models/gemini-3-pro:generateContent";
    let reply = exchange(gateway, &post(path, "", body.as_bytes())).await;
    assert_eq!(reply.header("x-photic-fixes"), Some("0"), "{reply:?}");
    assert_eq!(upstream.last().body, body.as_bytes());
}

#[tokio::test]
async fn off_is_off() {
    let (address, upstream) = Upstream::answering("{}").await;
    let by_model = format!("[[upstream]]\nurl='http://{address}'\nmodels=['gpt*']");
    for gateway in [gateway(address, "").await, crate::started(&by_model).await] {
        let body = conversation(1, 1000);
        let request = post("/v1/chat/completions", "x-photic-off: 1\r\n", body.as_bytes());
        let reply = exchange(gateway, &request).await;
        assert_eq!((reply.status, reply.header("x-photic-fixes")), (200, None));
        let seen = upstream.last();
        assert_eq!(seen.body, body.as_bytes());
        assert!(!seen.head.contains("photic"), "{}", seen.head);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_that_is_too_large_is_made_smaller_the_same_every_time() {
    let (address, upstream) = Upstream::answering("{}").await;
    let settings = format!("[[upstream]]\nurl='http://{address}'\nwire='anthropic'");
    let gateway = crate::started(&settings).await;
    // Taller than the wire's limit.
    let png = photic_testkit::image::png_noise(9000, 40, 7);
    let data = STANDARD.encode(png);
    let body = format!(
        "{{\"model\":\"claude-sonnet-5\",\"max_tokens\":9,\"messages\":[{{\"role\":\"user\",\"content\":\
         [{{\"type\":\"image\",\"source\":{{\"type\":\"base64\",\"media_type\":\"image/png\",\
         \"data\":\"{data}\"}}}}]}}]}}"
    );
    let mut bodies = Vec::new();
    for _ in 0..2 {
        let reply = exchange(gateway, &post("/v1/messages", "", body.as_bytes())).await;
        assert_eq!(reply.header("x-photic-fixed"), Some("remade=1"), "{reply:?}");
        bodies.push(upstream.last().body);
    }
    assert!(bodies[0].len() < body.len());
    assert!(bodies[0] == bodies[1], "the same picture twice");
}
