//! Callers with tokens of an identity provider: who gets in, with which limits, and after a rotation.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

use crate::caller::{Reply, exchange, post};
use crate::scratch::{Scratch, quoted};
use crate::scripted::{Act, Upstream, ok};
use crate::started;

const ISSUER: &str = "https://login.example";
const BODY: &[u8] = br#"{"model":"gpt-4o","messages":[]}"#;

/// A key of an identity provider.
struct Signer {
    id: &'static str,
    secret: EncodingKey,
    public: Value,
    raw: Vec<u8>,
}

impl Signer {
    fn new(id: &'static str) -> Self {
        let pair = rcgen::KeyPair::generate().unwrap();
        let raw = pair.public_key_raw().to_vec();
        let (x, y) = raw[1..].split_at(32);
        let public = json!({
            "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": id,
            "x": URL_SAFE_NO_PAD.encode(x), "y": URL_SAFE_NO_PAD.encode(y),
        });
        Self { id, secret: EncodingKey::from_ec_der(&pair.serialize_der()), public, raw }
    }

    fn sign(&self, claims: &Value) -> String {
        let header = Header { kid: Some(self.id.to_owned()), ..Header::new(Algorithm::ES256) };
        encode(&header, claims, &self.secret).unwrap()
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
}

fn claims(changes: &Value) -> Value {
    let mut claims = json!({
        "iss": ISSUER, "aud": "photic", "sub": "team/ci", "exp": now() + 600, "nbf": now() - 60,
    });
    for (name, value) in changes.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims
}

/// An identity provider whose keys can be replaced.
struct Provider {
    address: SocketAddr,
    keys: Arc<Mutex<Value>>,
    upstream: Arc<Upstream>,
}

impl Provider {
    async fn start(keys: &[&Signer]) -> Self {
        let keys = Arc::new(Mutex::new(set(keys)));
        let current = Arc::clone(&keys);
        let (address, upstream) = Upstream::start(move |_| {
            vec![Act::Send(ok(current.lock().unwrap().to_string().as_bytes()))]
        })
        .await;
        Self { address, keys, upstream }
    }

    fn fetched(&self) -> usize {
        self.upstream.seen.lock().unwrap().len()
    }

    /// Starts a gateway for tokens of this provider.
    async fn gateway(&self, settings: &str) -> SocketAddr {
        let (upstream, _) = Upstream::answering("{}").await;
        let address = self.address;
        started(&format!(
            "{settings}\n[oidc]\nissuer = '{ISSUER}'\njwks = 'http://{address}/keys'\n\
             limits_claim = 'photic'\n[[upstream]]\nurl = 'http://{upstream}'"
        ))
        .await
    }
}

fn set(keys: &[&Signer]) -> Value {
    json!({"keys": keys.iter().map(|key| key.public.clone()).collect::<Vec<_>>()})
}

async fn ask(gateway: SocketAddr, token: &str) -> Reply {
    let headers = format!("authorization: Bearer {token}\r\n");
    exchange(gateway, &post("/v1/chat/completions", &headers, BODY)).await
}

async fn is_refused(gateway: SocketAddr, token: &str, code: &str, what: &str) {
    let reply = ask(gateway, token).await;
    assert_eq!((reply.status, reply.header("x-photic-error")), (401, Some(code)), "{what}");
    assert!(reply.header("www-authenticate").unwrap().starts_with("Bearer"), "{what}");
    assert!(!String::from_utf8_lossy(&reply.body).contains(token), "{what}");
}

#[tokio::test]
async fn only_tokens_of_the_issuer_for_this_gateway_get_in() {
    let (key, stranger) = (Signer::new("k1"), Signer::new("k1"));
    let provider = Provider::start(&[&key]).await;
    let gateway = provider.gateway("").await;
    assert_eq!(ask(gateway, &key.sign(&claims(&json!({})))).await.status, 200);
    let several = claims(&json!({"aud": ["other", "photic"]}));
    assert_eq!(ask(gateway, &key.sign(&several)).await.status, 200);
    for (what, changes, code) in [
        ("expired", json!({"exp": now() - 120}), "token_expired"),
        ("not valid yet", json!({"nbf": now() + 600}), "token_refused"),
        ("another audience", json!({"aud": "another"}), "token_refused"),
        ("another issuer", json!({"iss": "https://evil.example"}), "token_refused"),
        ("no audience", json!({"aud": null}), "token_refused"),
        ("no end", json!({"exp": null}), "token_refused"),
        ("no name", json!({"sub": null}), "token_refused"),
        ("a name that breaks lines", json!({"sub": "a\nb"}), "token_refused"),
        ("limits that mean nothing", json!({"photic": {"token_per_day": 1}}), "token_refused"),
    ] {
        is_refused(gateway, &key.sign(&claims(&changes)), code, what).await;
    }
    is_refused(gateway, &stranger.sign(&claims(&json!({}))), "token_refused", "forged").await;
    // The claims of one token with the signature of another.
    let (real, other) =
        (key.sign(&claims(&json!({}))), key.sign(&claims(&json!({"sub": "admin"}))));
    let parts = |token: &str| token.split('.').map(str::to_owned).collect::<Vec<_>>();
    let (real, other) = (parts(&real), parts(&other));
    let mixed = format!("{}.{}.{}", real[0], other[1], real[2]);
    is_refused(gateway, &mixed, "token_refused", "claims of another").await;
}

#[tokio::test]
async fn the_algorithm_is_not_chosen_by_who_shows_the_token() {
    let key = Signer::new("k1");
    let provider = Provider::start(&[&key]).await;
    let gateway = provider.gateway("").await;
    let claims = claims(&json!({}));
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    for algorithm in ["none", "None", "NONE", "nOnE", "", "HS256", "XX"] {
        let head = part(&json!({"alg": algorithm, "typ": "JWT", "kid": "k1"}));
        for signature in ["", "AA"] {
            let token = format!("{head}.{}.{signature}", part(&claims));
            let reply = ask(gateway, &token).await;
            let code = reply.header("x-photic-error");
            assert_eq!((reply.status, code), (401, Some("token_refused")), "{algorithm}");
        }
    }
    // The public key as a shared secret, which everybody knows.
    for secret in [key.raw.clone(), key.public.to_string().into_bytes()] {
        let header = Header { kid: Some("k1".to_owned()), ..Header::new(Algorithm::HS256) };
        let token = encode(&header, &claims, &EncodingKey::from_secret(&secret)).unwrap();
        is_refused(gateway, &token, "token_refused", "a public key as secret").await;
    }
}

#[tokio::test]
async fn keys_are_fetched_when_they_rotate_and_not_for_everybody() {
    let (old, new) = (Signer::new("old"), Signer::new("new"));
    let provider = Provider::start(&[&old]).await;
    let gateway = provider.gateway("").await;
    assert_eq!(provider.fetched(), 1, "at the start");
    let (by_old, by_new) = (old.sign(&claims(&json!({}))), new.sign(&claims(&json!({}))));
    assert_eq!(ask(gateway, &by_old).await.status, 200);
    *provider.keys.lock().unwrap() = set(&[&old, &new]);
    assert_eq!(ask(gateway, &by_new).await.status, 200);
    assert_eq!(provider.fetched(), 2);
    // A key that was withdrawn is not remembered with its tokens.
    *provider.keys.lock().unwrap() = set(&[&new]);
    let third = Signer::new("third");
    is_refused(gateway, &third.sign(&claims(&json!({}))), "token_refused", "an unknown key").await;
    assert_eq!(provider.fetched(), 3);
    is_refused(gateway, &by_old, "token_refused", "a withdrawn key").await;
    // Anybody can make up names of keys.
    for number in 0..50 {
        let header = json!({"alg": "ES256", "kid": format!("made-up-{number}")});
        let token = format!("{}.e30.AA", URL_SAFE_NO_PAD.encode(header.to_string()));
        assert_eq!(ask(gateway, &token).await.status, 401);
    }
    assert!(provider.fetched() <= 6, "{}", provider.fetched());
    assert_eq!(ask(gateway, &by_new).await.status, 200);
}

#[tokio::test]
async fn claims_and_the_file_limit_who_shows_a_token() {
    let key = Signer::new("k1");
    let provider = Provider::start(&[&key]).await;
    let scratch = Scratch::new();
    let file = scratch.write("callers.toml", "[[caller]]\nname = 'by-token'\nmodels = ['gpt-5*']");
    let (upstream, _) = Upstream::answering("{}").await;
    let gateway = started(&format!(
        "[callers]\nfile = {}\n[oidc]\nissuer = '{ISSUER}'\njwks = 'http://{}/keys'\n\
         limits_claim = 'photic'\nlike = 'by-token'\n[[upstream]]\nurl = 'http://{upstream}'",
        quoted(&file),
        provider.address
    ))
    .await;
    let reply = ask(gateway, &key.sign(&claims(&json!({})))).await;
    assert_eq!(reply.header("x-photic-error"), Some("model_not_allowed"), "those of `like`");
    let own = claims(&json!({"photic": {"models": ["gpt-4o"], "requests_per_minute": 1000}}));
    assert_eq!(ask(gateway, &key.sign(&own)).await.status, 200);
}

#[tokio::test]
async fn without_the_keys_of_the_issuer_callers_are_told_to_wait() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    drop(silent);
    let key = Signer::new("k1");
    let gateway = started(&format!(
        "[oidc]\nissuer = '{ISSUER}'\njwks = 'http://{address}/keys'\n\
         [[upstream]]\nurl = 'http://127.0.0.1:1'"
    ))
    .await;
    let reply = ask(gateway, &key.sign(&claims(&json!({})))).await;
    assert_eq!((reply.status, reply.header("x-photic-error")), (503, Some("keys_away")));
    assert_eq!(reply.header("retry-after"), Some("2"));
}
