//! No key is sent to a host that is not configured for it: families, paths and kinds of keys, with
//! every way to configure upstreams. The defaults are tested in the crate itself, without a network.

use std::net::SocketAddr;
use std::sync::Arc;

use photic::Wire;
use photic_gateway::{Config, Family, Gateway, PathPrefixes, UpstreamConfig};

use crate::caller::{Reply, exchange, get, post};
use crate::scripted::Upstream;

/// Paths, and the family that each belongs to, if any.
const PATHS: [(&str, Option<Family>); 23] = [
    ("/v1/chat/completions", Some(Family::OPENAI)),
    ("/chat/completions", Some(Family::OPENAI)),
    ("/v1/responses", Some(Family::OPENAI)),
    ("/v1/responses/r_1/cancel", Some(Family::OPENAI)),
    ("/v1/messages", Some(Family::ANTHROPIC)),
    ("/v1/messages/count_tokens", Some(Family::ANTHROPIC)),
    ("/v1/messages/batches", Some(Family::ANTHROPIC)),
    ("/v1beta/models/g:generateContent", Some(Family::GOOGLE)),
    ("/v1beta/models/g:countTokens", Some(Family::GOOGLE)),
    ("/v1beta/openai/chat/completions", Some(Family::GOOGLE)),
    ("/model/m/converse", Some(Family::AMAZON)),
    ("/model/m/invoke", Some(Family::AMAZON)),
    ("/api/chat", Some(Family::OLLAMA)),
    ("/api/v1/chat/completions", Some(Family::OPENAI)),
    ("/v1/models", None),
    ("/v1/embeddings", None),
    ("/v1/files", None),
    ("/v1/batches", None),
    ("/upload/v1beta/files", Some(Family::GOOGLE)),
    ("/v1alpha/files", Some(Family::GOOGLE)),
    ("/openai/deployments/d/chat/completions", Some(Family::OPENAI)),
    ("/inference-profiles", None),
    ("/anything", None),
];

/// Paths of the gateway itself, or of no wire, if there is no prefix.
const OWN: [(&str, Option<Family>); 4] = [
    ("/health", None),
    ("/metrics", None),
    ("/v1/host/sample", None),
    ("/.well-known/openwop", None),
];

/// Headers and queries that contain keys.
const KEYS: [&str; 7] = [
    "authorization: Bearer sk-proj-KEY",
    "authorization: Bearer sk-ant-KEY",
    "authorization: AWS4-HMAC-SHA256 Credential=KEY",
    "x-api-key: KEY",
    "x-goog-api-key: KEY",
    "api-key: KEY",
    "?key=AIzaKEY",
];

const BODY: &[u8] = b"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";

async fn asked(gateway: SocketAddr, path: &str, key: &str) -> Reply {
    let request = if key.starts_with('?') {
        post(&format!("{path}{key}"), "", BODY)
    } else {
        post(path, &format!("{key}\r\n"), BODY)
    };
    exchange(gateway, &request).await
}

async fn serving(config: Config) -> SocketAddr {
    let gateway = Gateway::bind(config).await.unwrap();
    let address = gateway.address();
    tokio::spawn(gateway.serve(std::future::pending()));
    address
}

fn settings(upstream: Vec<UpstreamConfig>) -> Config {
    Config { listen: "127.0.0.1:0".to_owned(), upstream, ..Config::default() }
}

#[tokio::test]
async fn with_one_family_configured_no_other_upstream_is_asked() {
    for named in Family::all() {
        let (address, upstream) = Upstream::answering("{}").await;
        let wires = named.wires();
        let all = wires.map(|wire| UpstreamConfig::new(format!("http://{address}"), Some(wire)));
        let gateway = serving(settings(all.collect())).await;
        for (path, of_path) in PATHS {
            for key in KEYS {
                let before = upstream.seen.lock().unwrap().len();
                let reply = asked(gateway, path, key).await;
                let came = upstream.seen.lock().unwrap().len() - before;
                // A failure would contain the host that was tried.
                assert_ne!(reply.status, 502, "{path} with {key} for {named:?}: {reply:?}");
                match of_path {
                    Some(family) if family == named => assert_eq!(came, 1, "{path} with {key}"),
                    Some(_) => {
                        assert_eq!(came, 0, "{path} with {key} reached {named:?}");
                        assert_eq!(reply.header("x-photic-error"), Some("no_upstream"));
                    }
                    None => {}
                }
            }
        }
    }
}

#[tokio::test]
async fn what_no_glob_fits_is_refused_in_the_callers_own_words() {
    let (address, upstream) = Upstream::answering("{}").await;
    let glob = vec!["qwen*".to_owned()];
    let only =
        UpstreamConfig { models: glob, ..UpstreamConfig::new(format!("http://{address}"), None) };
    let gateway = serving(settings(vec![only])).await;
    for path in ["/v1/chat/completions", "/v1/messages", "/v1/embeddings", "/v1/models"] {
        for body in [BODY, b"{nonsense", b"{}"] {
            let reply = exchange(gateway, &post(path, "x-photic-off: 0\r\n", body)).await;
            assert_eq!(reply.status, 404);
            let message = reply.json()["error"]["message"].as_str().unwrap().to_owned();
            assert!(message.contains("no upstream is configured for this request"), "{message}");
            assert_eq!(reply.json()["type"] == "error", path.ends_with("messages"));
        }
    }
    assert_eq!(exchange(gateway, &get("/v1/models", "")).await.status, 404);
    assert!(upstream.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn behind_a_prefix_a_family_reaches_its_own_upstream_only() {
    let mut upstreams: Vec<(Family, Arc<Upstream>)> = Vec::new();
    let mut all = Vec::new();
    for family in Family::all() {
        let (address, upstream) = Upstream::answering("{}").await;
        upstreams.push((family, upstream));
        let url = format!("http://{address}");
        all.extend(family.wires().map(|wire| UpstreamConfig::new(&*url, Some(wire))));
    }
    let prefixes = Some(PathPrefixes::new("token-of-this-run"));
    let gateway = serving(Config { prefixes, ..settings(all) }).await;
    for family in Family::all() {
        for (path, _) in PATHS.into_iter().chain(OWN) {
            for key in KEYS {
                let counts = || {
                    let count = |(_, one): &(Family, Arc<Upstream>)| one.seen.lock().unwrap().len();
                    upstreams.iter().map(count).collect::<Vec<_>>()
                };
                let before = counts();
                let behind = format!("/token-of-this-run/{}{path}", family.name());
                asked(gateway, &behind, key).await;
                for (index, (other, upstream)) in upstreams.iter().enumerate() {
                    let came = counts()[index] - before[index];
                    let expected = usize::from(*other == family);
                    assert_eq!(came, expected, "{behind} with {key} reached {other:?}");
                    let head = upstream.last().head;
                    assert!(!head.contains("token-of-this-run"), "the token goes no further");
                }
            }
        }
    }
    let before: usize =
        upstreams.iter().map(|(_, upstream)| upstream.seen.lock().unwrap().len()).sum();
    for path in [
        "/v1/chat/completions",
        "/health",
        "/metrics",
        "/token-of-this-rum/openai/v1/models",
        "/token-of-this-run/v1/models",
        "/token-of-this-run/openrouter/v1/models",
        "/token-of-this-run",
    ] {
        let reply = asked(gateway, path, "authorization: Bearer k").await;
        assert_eq!((reply.status, reply.body), (404, b"{\"status\":\"not found\"}".to_vec()));
    }
    let after: usize =
        upstreams.iter().map(|(_, upstream)| upstream.seen.lock().unwrap().len()).sum();
    assert_eq!(before, after);
}

#[tokio::test]
async fn on_a_path_of_no_wire_the_key_decides_between_the_upstreams() {
    let (first, openai) = Upstream::answering("{}").await;
    let (second, google) = Upstream::answering("{}").await;
    let settings = |wire: Option<Wire>| {
        settings(vec![
            UpstreamConfig::new(format!("http://{first}"), Some(Wire::OpenAiChat)),
            UpstreamConfig::new(format!("http://{second}"), wire),
        ])
    };
    let gateway = serving(settings(Some(Wire::Gemini))).await;
    for (path, key) in [
        ("/v1alpha/files", "?key=AIzaKEY"),
        ("/upload/v1beta/files", "?key=KEY"),
        ("/upload/v1alpha/files", "?key=KEY"),
        ("/v1/files", "?key=KEY"),
        ("/v1/models", "x-goog-api-key: KEY"),
        ("/anything", "authorization: Bearer AIzaKEY"),
    ] {
        let before = google.seen.lock().unwrap().len();
        assert_eq!(asked(gateway, path, key).await.status, 200, "{path} with {key}");
        assert_eq!(google.seen.lock().unwrap().len(), before + 1, "{path} with {key}");
    }
    assert!(openai.seen.lock().unwrap().is_empty());
    // What no upstream is for, and keys of unknown issuers, go where they went.
    for key in ["authorization: Bearer sk-proj-KEY", "authorization: Bearer sk-ant-KEY", "a: b"] {
        let before = openai.seen.lock().unwrap().len();
        assert_eq!(asked(gateway, "/v1/files", key).await.status, 200, "{key}");
        assert_eq!(openai.seen.lock().unwrap().len(), before + 1, "{key}");
    }
    let before = google.seen.lock().unwrap().len();
    // Requests behind the prefix of a family stay with it, whatever key they have.
    let prefixes = Some(PathPrefixes::new("token-of-this-run"));
    let gateway = serving(Config { prefixes, ..settings(Some(Wire::Gemini)) }).await;
    asked(gateway, "/token-of-this-run/openai/v1/files", "?key=AIzaKEY").await;
    assert_eq!(google.seen.lock().unwrap().len(), before);
}

#[cfg(feature = "openwop")]
#[tokio::test]
async fn a_call_of_openwop_sends_a_key_to_its_issuer_only() {
    // Without any upstream configured, calls go to OpenAI.
    let text = "[openwop]\nenabled = true\nmodel = 'gpt-4o'";
    let config = Config { listen: "127.0.0.1:0".to_owned(), ..Config::parse(text).unwrap() };
    let gateway = serving(config).await;
    let body = b"{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";
    for key in [
        "authorization: Bearer sk-ant-KEY",
        "authorization: Bearer AIzaKEY",
        "authorization: Bearer gsk_KEY",
        "x-api-key: KEY",
        "x-goog-api-key: KEY",
        "api-key: KEY",
    ] {
        let request = post("/v1/host/sample/ai/call", &format!("{key}\r\n"), body);
        let reply = exchange(gateway, &request).await;
        let code = reply.json()["error"].clone();
        assert_eq!((reply.status, code.as_str()), (403, Some("credential_forbidden")), "{key}");
    }
}
