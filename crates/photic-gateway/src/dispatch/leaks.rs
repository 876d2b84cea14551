//! Tests that by default a key is sent to its issuer or to no upstream: every kind of path with every
//! kind of key, without a network.

use http::Request;

use crate::config::Family;
use crate::http::Route;
use crate::upstream::Upstreams;

/// Paths, and the family that each belongs to, if any.
const PATHS: [(&str, Option<Family>); 25] = [
    ("/v1/chat/completions", Some(Family::OPENAI)),
    ("/chat/completions", Some(Family::OPENAI)),
    ("/v1/responses", Some(Family::OPENAI)),
    ("/v1/responses/r_1/cancel", Some(Family::OPENAI)),
    ("/v1/messages", Some(Family::ANTHROPIC)),
    ("/messages", Some(Family::ANTHROPIC)),
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
    ("/v1alpha/models", Some(Family::GOOGLE)),
    ("/openai/deployments/d/chat/completions", Some(Family::OPENAI)),
    ("/inference-profiles", None),
    ("/v1/host/sample", None),
    ("/anything", None),
];

/// The issuer of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Issuer {
    Known(Family),
    /// A provider without a default upstream.
    Other,
    Unknown,
}

/// Headers or queries that contain keys.
const KEYS: [(&str, &str, Issuer); 16] = [
    ("authorization", "Bearer sk-proj-K", Issuer::Known(Family::OPENAI)),
    ("authorization", "Bearer sk-K", Issuer::Known(Family::OPENAI)),
    ("authorization", "Bearer sk-ant-api03-K", Issuer::Known(Family::ANTHROPIC)),
    ("authorization", "Bearer sk-ant-oat01-K", Issuer::Known(Family::ANTHROPIC)),
    ("authorization", "Bearer AIzaK", Issuer::Known(Family::GOOGLE)),
    ("authorization", "Bearer ya29.K", Issuer::Known(Family::GOOGLE)),
    ("authorization", "Bearer ABSKK", Issuer::Known(Family::AMAZON)),
    ("authorization", "AWS4-HMAC-SHA256 Credential=K", Issuer::Known(Family::AMAZON)),
    ("authorization", "Bearer sk-or-v1-K", Issuer::Other),
    ("authorization", "Bearer gsk_K", Issuer::Other),
    ("authorization", "Bearer who-knows", Issuer::Unknown),
    ("cookie", "session=K", Issuer::Unknown),
    ("x-api-key", "K", Issuer::Known(Family::ANTHROPIC)),
    ("x-goog-api-key", "K", Issuer::Known(Family::GOOGLE)),
    ("api-key", "K", Issuer::Other),
    ("?", "key=K", Issuer::Known(Family::GOOGLE)),
];

/// Returns the family whose default upstream would get a request, or `None` if it is refused.
fn reached(upstreams: &Upstreams, method: &str, path: &str, key: (&str, &str)) -> Option<Family> {
    let request = Request::builder().method(method);
    let request = match key {
        ("?", query) => request.uri(format!("{path}?{query}")),
        (name, value) => request.uri(path).header(name, value),
    };
    let request = request.body(()).unwrap();
    let route = Route::of(request.method(), request.uri().path(), request.headers());
    let wire = upstreams.permit(route, &request).ok()?;
    let host = upstreams.choose_for_other(wire, None).unwrap().host().to_owned();
    let families = [
        ("api.openai.com", Family::OPENAI),
        ("api.anthropic.com", Family::ANTHROPIC),
        ("generativelanguage.googleapis.com", Family::GOOGLE),
        ("bedrock-runtime.us-east-1.amazonaws.com", Family::AMAZON),
        ("127.0.0.1:11434", Family::OLLAMA),
    ];
    families.iter().find(|(name, _)| *name == host).map(|(_, family)| *family)
}

#[test]
fn by_default_a_key_reaches_its_issuer_or_no_upstream() {
    let upstreams = Upstreams::new(&[]).unwrap();
    let mut tried = 0;
    for (path, of_path) in PATHS {
        for (name, value, issuer) in KEYS {
            for method in ["POST", "GET"] {
                let found = reached(&upstreams, method, path, (name, value));
                let allowed = match issuer {
                    Issuer::Known(family) => found.is_none_or(|found| found == family),
                    Issuer::Other => found.is_none(),
                    // An unknown key goes to the provider of its path, or to none.
                    Issuer::Unknown => found.is_none() || found == of_path,
                };
                assert!(allowed, "{method} {path} with {name}: {value} reached {found:?}");
                tried += 1;
            }
        }
    }
    assert_eq!(tried, 800);
}

/// The clients of each family reach it on its own paths.
#[test]
fn a_key_on_a_path_of_its_issuer_gets_there() {
    let upstreams = Upstreams::new(&[]).unwrap();
    for (path, of_path) in PATHS {
        for (name, value, issuer) in KEYS {
            let agrees = match (issuer, of_path) {
                (Issuer::Known(family), Some(of_path)) => family == of_path,
                (Issuer::Known(_), None) => true,
                // Behind a prefix is the path of a host that is not known.
                (Issuer::Unknown, Some(_)) => {
                    !path.starts_with("/api/v1/") && !path.starts_with("/openai/")
                }
                _ => false,
            };
            let found = reached(&upstreams, "POST", path, (name, value));
            assert_eq!(found.is_some(), agrees, "{path} with {name}: {value}");
        }
        let keyless = reached(&upstreams, "POST", path, ("accept", "*/*"));
        assert!(keyless.is_some(), "{path} without a key");
    }
}
