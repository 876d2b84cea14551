//! A recorded session of four turns, and the service over it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use photic::{Choice, Policy, Wire};
use photic_inspector::{Access, Inspector, ServedBy, Service, Token};
use photic_store::record::{Attempt, ReportedUsage, RequestOutcome};
use photic_store::{FinishedTurn, LocalStore, Record as _, SentBody, SentHashes, SessionId, wait};
use serde_json::{Value, json};

pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";
/// A key in the words of a tool, and the mail address of a customer.
pub(crate) const SECRETS: [&str; 3] =
    ["sk-ant-REDACTED", "ines.aldana@example.com", "/home/ines/shop"];
/// Markup in the title and in the name of a tool.
pub(crate) const HOSTILE: &str = "</script><img src=x onerror=alert(1)>";

static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// A store with a session, in a folder that is removed at the end.
pub(crate) struct World {
    folder: PathBuf,
    pub(crate) store: Arc<LocalStore>,
    pub(crate) id: SessionId,
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn picture(index: u8) -> String {
    let png = photic_testkit::image::png_with_text(
        640,
        400,
        [40, 90 + index * 20, 200],
        &[("index", &index.to_string())],
    );
    photic_testkit::image::base64(&png)
}

/// The body of a turn: its own messages behind those of the turns before it.
pub(crate) fn body(turn: u8) -> Vec<u8> {
    let text = format!("Refund order 11198 {HOSTILE} for {}", SECRETS[1]);
    let mut messages = vec![json!({"role": "user", "content": [{"type": "text", "text": text}]})];
    for index in 0..turn {
        let id = format!("toolu_{index}");
        messages.push(json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "screenshot", "input": {"path": SECRETS[2]}}]}));
        let said = format!("page {index}, key {}", SECRETS[0]);
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": [
                {"type": "text", "text": said},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                    "data": picture(index)}}]}]}));
    }
    let body = json!({"model": "claude-opus-4-5", "max_tokens": 500,
        "system": "You help customers.", "messages": messages});
    serde_json::to_vec(&body).unwrap()
}

impl World {
    /// Records turns of one session.
    pub(crate) fn new(turns: u8) -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("photic-inspector-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&folder);
        let store = LocalStore::open(&folder).unwrap();
        let id = wait(store.begin(&format!("Refund {HOSTILE}"))).unwrap();
        let world = Self { folder, store: Arc::new(store), id };
        for turn in 1..=turns {
            world.record(turn);
        }
        world
    }

    /// Records a turn and its outcome.
    pub(crate) fn record(&self, turn: u8) {
        let body = body(turn);
        let (transcript, _) = photic::lift(Wire::Anthropic, &body);
        let profile = photic::profile::resolve(
            Wire::Anthropic,
            Some("claude-opus-4-5"),
            Some("api.anthropic.com"),
        );
        let mut policy = Policy::default();
        policy.marks = true;
        policy.choices = wait(self.store.choices(&self.id)).unwrap();
        let mut survey = photic::survey(&transcript);
        survey.identify(&transcript);
        let plan = photic::plan(survey, &profile, &policy);
        let prepared = photic_pixels::prepare(&transcript, &plan);
        let lowered = photic::lower_prepared(&transcript, &plan, &prepared);
        let done = FinishedTurn {
            shed: &lowered.retired,
            transcript: &transcript,
            plan: &plan,
            policy: &policy,
            prepared: &prepared,
            sent: SentBody::of(&lowered.body),
            hashes: Some(&SentHashes::of(&transcript, &lowered, profile.wire)),
            conversation_key: None,
            remembered: &BTreeMap::new(),
            time: 1_794_931_400_000 + i64::from(turn) * 10_000,
        };
        let number = wait(self.store.append(&self.id, &done)).unwrap();
        let before = u64::from(turn) * 900;
        let usage = ReportedUsage {
            input: Some(before + 1000),
            cache_read: Some(if turn == 1 { 0 } else { before }),
            cache_write: Some(if turn == 1 { before + 1000 } else { 1000 }),
            output: Some(40),
            reasoning: None,
        };
        let attempt = Attempt::new(Some(200), done.sent.length, 900);
        let outcome = RequestOutcome {
            session: Some(self.id.clone()),
            turn: Some(number),
            begun: done.time,
            first_byte_ms: Some(900),
            total_ms: 1900,
            status: Some(200),
            host: Some("api.anthropic.com".to_owned()),
            agent: Some("claude-cli/2.1 (ines-macbook)".to_owned()),
            model: Some("claude-opus-4-5".to_owned()),
            attempts: vec![attempt],
            usage,
            input_usd: Some(0.01),
            output_usd: Some(0.001),
            ..RequestOutcome::default()
        };
        wait(self.store.record.conclude(&self.store.tenant, &outcome, None)).unwrap();
    }

    /// Chooses something for the first picture.
    pub(crate) fn drop_first(&self) {
        let images = wait(self.store.images(&self.id)).unwrap();
        let digest = images[0].digest.unwrap();
        wait(self.store.choose(&self.id, &digest, Some(Choice::Drop))).unwrap();
    }

    pub(crate) fn inspector(&self) -> Inspector {
        Inspector::new(Arc::clone(&self.store) as _, ServedBy::Command)
    }

    pub(crate) fn service(&self) -> Service {
        let token = Token::new(TOKEN).unwrap();
        let access = Access::new(token, "127.0.0.1:4142".parse().unwrap(), &[]);
        Service::new(self.inspector(), access)
    }

    /// Returns the answer to a GET with the cookie.
    pub(crate) async fn get(&self, service: &Service, path: &str) -> Value {
        let path = format!("/sessions/{}{path}", self.id);
        let (status, body) = self.ask(service, &path).await;
        assert_eq!(status, 200, "{path}: {}", String::from_utf8_lossy(&body));
        serde_json::from_slice(&body).unwrap()
    }

    /// Returns status and bytes of the answer to a GET with the cookie.
    pub(crate) async fn ask(&self, service: &Service, path: &str) -> (u16, Vec<u8>) {
        let cookie = enter(service).await;
        let response =
            service.respond(request(Method::GET, path, &[("cookie", &cookie)], "")).await;
        let status = response.status().as_u16();
        (status, bytes(response).await)
    }
}

/// Creates a request to the API, with the host of the listener.
pub(crate) fn request(
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Request<Full<Bytes>> {
    let mut request = Request::builder()
        .method(method)
        .uri(format!("/inspect/api/v1{path}"))
        .header("host", "127.0.0.1:4142");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Full::new(Bytes::from(body.to_owned()))).unwrap()
}

/// Exchanges the token for the cookie.
pub(crate) async fn enter(service: &Service) -> String {
    let body = json!({"token": TOKEN}).to_string();
    let request = request(Method::POST, "/enter", &[("x-photic-inspect", "1")], &body);
    let response = service.respond(request).await;
    assert_eq!(response.status(), 204);
    let cookie = response.headers()["set-cookie"].to_str().unwrap();
    cookie.split(';').next().unwrap().to_owned()
}

pub(crate) async fn bytes<B>(response: Response<B>) -> Vec<u8>
where
    B: http_body::Body,
    B::Error: std::fmt::Debug,
{
    response.into_body().collect().await.unwrap().to_bytes().to_vec()
}
