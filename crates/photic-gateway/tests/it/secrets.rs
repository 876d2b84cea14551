//! Keys, texts and media never reach the log, metrics or traces.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::caller::{exchange, get, post};
use crate::scripted::{Act, Upstream, ok};
use crate::watching::Watching;

const KEY: &str = "sk-MARKER-in-the-key-0123456789";
const TEXT: &str = "MARKER of a secret prompt";
const QUERY: &str = "MARKERINTHEQUERY";

/// Minimum length of a run of base64 that counts as a part of an image.
const SLICE: usize = 24;

fn picture() -> String {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x05\0\0\0\x03\x20\x08\x06\0\0\0".to_vec();
    let mut state = 7_u32;
    png.extend((0..1500).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    }));
    STANDARD.encode(png)
}

/// Returns conversations with a marker in every place that a client or a tool can write to.
fn bodies(data: &str) -> Vec<(&'static str, String)> {
    let inner =
        format!("{{\\\"{TEXT}\\\":{{\\\"image\\\":\\\"data:image/png;base64,{data}\\\"}}}}");
    let chat = format!(
        "{{\"model\":\"gpt-4o\",\"{TEXT}\":1,\"user\":\"{TEXT}\",\"messages\":[\
         {{\"role\":\"system\",\"content\":\"{TEXT}\"}},\
         {{\"role\":\"user\",\"content\":[{{\"type\":\"image_url\",\"{TEXT}\":2,\"image_url\":\
         {{\"url\":\"https://h.invalid/{QUERY}.png?sig={QUERY}\"}}}}]}},\
         {{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"id\":\"{TEXT}\",\"type\":\
         \"function\",\"function\":{{\"name\":\"shot\",\"arguments\":\"{{}}\"}}}}]}},\
         {{\"role\":\"tool\",\"tool_call_id\":\"{TEXT}\",\"content\":\"{inner}\"}},\
         {{\"role\":\"user\",\"content\":\"{TEXT} data:image/png;base64,{data}\"}}]}}"
    );
    let messages = format!(
        "{{\"model\":\"claude-sonnet-5\",\"max_tokens\":9,\"messages\":[{{\"role\":\"user\",\
         \"content\":[{{\"type\":\"text\",\"text\":\"{TEXT}\"}},{{\"type\":\"image\",\"source\":\
         {{\"type\":\"base64\",\"media_type\":\"image/{QUERY}\",\"data\":\"{data}\"}}}}]}}]}}"
    );
    let responses = format!(
        "{{\"model\":\"{TEXT}\",\"input\":[{{\"role\":\"user\",\"content\":[{{\"type\":\
         \"input_image\",\"image_url\":\"data:image/png;base64,{data}!\"}}]}},{{\"type\":\
         \"function_call_output\",\"call_id\":\"{TEXT}\",\"output\":\"{inner}\"}}]}}"
    );
    let broken = chat[..chat.len() - 2].to_owned();
    vec![
        ("/v1/chat/completions", chat.clone()),
        ("/v1/chat/completions", chat.replace("gpt-4o", "claude-sonnet-5")),
        ("/v1/chat/completions", broken),
        ("/v1/messages", messages.clone()),
        ("/v1/messages/count_tokens", messages),
        ("/v1/responses", responses),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_keys_nor_words_nor_pictures_are_told() {
    // Every other request fails with an error that quotes the request.
    let (address, _) = Upstream::start(move |seen| {
        let error = format!("{{\"error\":{{\"message\":\"{TEXT} {KEY}\"}}}}");
        let refused = format!(
            "HTTP/1.1 400 Bad Request\r\nx-request-id: {QUERY}\r\ncontent-length: {}\r\n\r\n{error}",
            error.len()
        );
        match seen.body.len() % 3 {
            0 => vec![Act::Send(ok(format!("{{\"text\":\"{TEXT}\"}}").as_bytes()))],
            1 => vec![Act::Send(refused.into())],
            _ => vec![Act::Close],
        }
    })
    .await;
    let (collector, collected) = Upstream::answering("{}").await;
    let settings = format!(
        "log = 'json'\n[telemetry]\notlp = 'http://{collector}'\n[limits]\nbody_mib = 1\n\
         [[upstream]]\nurl = 'http://{address}'\n\
         [[upstream]]\nurl = 'http://{address}'\nwire = 'anthropic'\nmodels = ['claude*']"
    );
    let watching = Watching::start(&settings).await;
    let data = picture();
    let headers = format!(
        "authorization: Bearer {KEY}\r\nx-api-key: {KEY}\r\ncookie: {KEY}\r\ntracestate: a={KEY}\r\n"
    );
    let mut sent = 0;
    for off in ["", "x-photic-off: 1\r\n"] {
        for (path, body) in bodies(&data) {
            // Of several lengths, so that some are answered, some refused and some cut off.
            for blanks in 0..3 {
                let path = format!("{path}?key={QUERY}");
                let body = format!("{body}{}", " ".repeat(blanks));
                let headers = format!("{headers}{off}");
                exchange(watching.address, &post(&path, &headers, body.as_bytes())).await;
                sent += 1;
            }
        }
    }
    exchange(watching.address, &post("/v1/messages", &headers, &vec![b' '; 2 << 20])).await;
    exchange(watching.address, &get(&format!("/v1/files/{QUERY}?{QUERY}"), &headers)).await;
    sent += 2;
    let metrics = watching
        .metrics_with(&["photic_requests_in_flight 0", "photic_log_lines_dropped_total 0"])
        .await;
    let log = watching.ended().await;
    let requests = log.lines().filter(|line| line.contains("\"event\":\"request\"")).count();
    assert_eq!(requests, sent, "every request is told");
    assert!(log.contains("\"event\":\"fix\""), "{log}");
    let traces: Vec<String> = collected
        .seen
        .lock()
        .unwrap()
        .iter()
        .map(|seen| seen.head.clone() + &String::from_utf8_lossy(&seen.body))
        .collect();
    assert!(!traces.is_empty());
    for told in [log, metrics, traces.concat()] {
        for marker in [KEY, TEXT, QUERY, "MARKER"] {
            let at = told.to_lowercase().find(&marker.to_lowercase());
            let around = at.map(|at| &told[at.saturating_sub(200)..(at + 50).min(told.len())]);
            assert_eq!(around, None, "{marker}");
        }
        let slices: BTreeSet<&[u8]> = told.as_bytes().windows(SLICE).collect();
        let found = data.as_bytes().windows(SLICE).find(|slice| slices.contains(slice));
        assert_eq!(found.map(String::from_utf8_lossy), None);
    }
}
