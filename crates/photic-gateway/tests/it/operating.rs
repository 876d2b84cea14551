//! What operators are told: upstreams and causes in metrics, the combined log, traces with all that the
//! conventions name, and codes of errors that the documents explain.

use std::path::Path;

use photic_gateway::{Config, ResourceAttributes, Telemetry};
use serde_json::{Value, json};

use crate::caller::{exchange, get, post};
use crate::fixing::conversation;
use crate::scripted::Upstream;
use crate::watching::{Watching, attribute, spans};

const ANSWER: &str = "{\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":20,\
     \"prompt_tokens_details\":{\"cached_tokens\":40}}}";

#[tokio::test]
async fn replies_and_causes_are_counted_by_upstream() {
    let (address, _) = Upstream::answering("{}").await;
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let refusing = silent.local_addr().unwrap();
    drop(silent);
    let watching = Watching::start(&format!(
        "[[upstream]]\nurl = 'http://{address}'\nwire = 'openai-chat'\n\
         [[upstream]]\nurl = 'http://{refusing}'\nwire = 'anthropic'"
    ))
    .await;
    exchange(watching.address, &post("/v1/chat/completions", "", b"{}")).await;
    exchange(watching.address, &post("/v1/messages", "", b"{}")).await;
    let replies =
        format!("photic_upstream_replies_total{{upstream=\"{address}\",status=\"2xx\"}} 1");
    let none =
        format!("photic_upstream_replies_total{{upstream=\"{refusing}\",status=\"none\"}} 1");
    let cause =
        format!("photic_connect_failures_total{{upstream=\"{refusing}\",cause=\"refused\"}} 1");
    watching.metrics_with(&[&replies, &none, &cause]).await;
}

#[tokio::test]
async fn the_combined_log_has_a_line_for_every_request_and_no_query() {
    let (address, _) = Upstream::answering("{}").await;
    let settings = format!("log = 'combined'\n[[upstream]]\nurl = 'http://{address}'");
    let watching = Watching::start(&settings).await;
    let agent = "user-agent: a \"quoted\" one\r\n";
    exchange(watching.address, &get("/v1/models?key=SECRET", agent)).await;
    exchange(watching.address, &post("/v1/messages", "origin: https://evil.example\r\n", b"{}"))
        .await;
    exchange(watching.address, &post("/v1/messages", "", b"{\"messages\":[]}")).await;
    let log = watching.ended().await;
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 2, "what is refused before it is observed has none: {log}");
    assert!(lines[0].starts_with("127.0.0.1 - - ["), "{log}");
    let models = "\"GET /v1/models HTTP/1.1\" 200 2 \"-\" \"a \\\"quoted\\\" one\"";
    assert!(lines[0].ends_with(models), "{log}");
    assert!(lines[1].contains(" +0000] \"POST /v1/messages HTTP/1.1\" 200 2 \"-\" \"-\""), "{log}");
    assert!(!log.contains("SECRET"), "{log}");
}

#[tokio::test]
async fn traces_name_usage_images_and_the_attributes_of_the_process() {
    let (address, _) = Upstream::answering(ANSWER).await;
    let (collector, collected) = Upstream::answering("{}").await;
    let settings = format!("[[upstream]]\nurl = 'http://{address}'");
    let mut config = Config::parse(&settings).unwrap();
    config.telemetry = Telemetry {
        otlp: Some(format!("http://{collector}")),
        resource: ResourceAttributes::parse("service.name=ignored,deployment.environment=prod")
            .unwrap(),
        ..Telemetry::default()
    };
    "127.0.0.1:0".clone_into(&mut config.listen);
    let gateway = photic_gateway::Gateway::bind(config).await.unwrap().log_to(std::io::sink());
    let to = gateway.address();
    let (stop, told) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(gateway.serve(async {
        let _ = told.await;
    }));
    let body = conversation(2, 1000).replacen('{', "{\"max_tokens\":77,", 1);
    exchange(to, &post("/v1/chat/completions", "", body.as_bytes())).await;
    let words = br#"{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}"#;
    exchange(to, &post("/v1/chat/completions", "", words)).await;
    let _ = stop.send(());
    serving.await.unwrap();
    let spans = spans(&collected);
    assert_eq!(spans.len(), 2);
    for span in &spans {
        for (key, value) in [
            ("gen_ai.usage.input_tokens", "100"),
            ("gen_ai.usage.output_tokens", "20"),
            ("gen_ai.usage.cache_read.input_tokens", "40"),
        ] {
            assert_eq!(attribute(span, key), json!(value), "{key}");
        }
    }
    assert_eq!(attribute(&spans[0], "gen_ai.request.max_tokens"), json!("77"));
    let messages = attribute(&spans[0], "gen_ai.input.messages");
    let messages: Value = serde_json::from_str(messages.as_str().unwrap()).unwrap();
    let parts = messages[0]["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 2, "{messages}");
    assert_eq!(
        parts[1],
        json!({
            "type": "file", "modality": "image", "mime_type": "image/png", "file_id": "image-2",
        })
    );
    assert_eq!(attribute(&spans[1], "gen_ai.input.messages"), Value::Null);
    let first: Value =
        serde_json::from_slice(&collected.seen.lock().unwrap()[0].body.clone()).unwrap();
    let resource = first["resourceSpans"][0]["resource"]["attributes"].as_array().unwrap().clone();
    let of = |key: &str| {
        let mut found = resource.iter().filter(|one| one["key"] == key);
        (found.next().map(|one| one["value"]["stringValue"].clone()), found.next().is_none())
    };
    assert_eq!(of("service.name"), (Some(json!("photic")), true));
    assert_eq!(of("deployment.environment"), (Some(json!("prod")), true));
}

/// Uploads have a limit of their own, and are streamed.
#[tokio::test]
async fn uploads_may_be_larger_than_conversations() {
    let (address, upstream) = Upstream::answering("{}").await;
    let settings =
        format!("[limits]\nbody_mib = 1\nupload_mib = 3\n[[upstream]]\nurl = 'http://{address}'");
    let watching = Watching::start(&settings).await;
    let form = |mib: usize| {
        let mut body = b"--X\r\ncontent-disposition: form-data; name=\"file\"\r\n\r\n".to_vec();
        body.resize(body.len() + (mib << 20), b'x');
        body.extend_from_slice(b"\r\n--X--\r\n");
        let head = format!(
            "POST /v1/files HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             content-type: multipart/form-data; boundary=X\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        [head.into_bytes(), body].concat()
    };
    assert_eq!(exchange(watching.address, &form(2)).await.status, 200);
    assert!(upstream.last().body.len() > 2 << 20);
    let reply = exchange(watching.address, &form(4)).await;
    assert_eq!((reply.status, reply.header("x-photic-error")), (413, Some("upload_too_large")));
    let words = vec![b' '; 2 << 20];
    let reply = exchange(watching.address, &post("/v1/messages", "", &words)).await;
    assert_eq!((reply.status, reply.header("x-photic-error")), (413, Some("request_too_large")));
}

/// Every code of the source is in the table of the document, and no other, each with what to do.
#[test]
fn every_code_of_an_error_is_explained() {
    use std::collections::BTreeSet;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut codes = BTreeSet::new();
    for file in ["src/http/failure.rs", "src/http/refusal.rs"] {
        let text = std::fs::read_to_string(root.join(file)).unwrap();
        let (_, rest) = text.split_once("const fn code(").unwrap();
        let body = rest.split("\n    }\n").next().unwrap();
        codes.extend(body.split('"').skip(1).step_by(2).map(str::to_owned));
    }
    assert!(codes.len() > 30, "{codes:?}");
    let page = std::fs::read_to_string(root.join("../../docs/gateway.md")).unwrap();
    let (_, table) =
        page.split_once("<!-- codes: a test compares them with the source -->").unwrap();
    let rows = table.split("\n\n").next().unwrap().lines().filter(|line| line.starts_with("| `"));
    let mut explained = BTreeSet::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 4, "{row}");
        assert!(cells.iter().all(|cell| cell.len() > 2), "{row}");
        for code in cells[0].split('`').skip(1).step_by(2) {
            assert!(explained.insert(code.to_owned()), "`{code}` stands there twice");
        }
    }
    assert_eq!(codes, explained);
}
