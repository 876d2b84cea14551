//! Broken sessions work again: histories that a strict provider rejects are answered through the
//! gateway, and so are the ten turns after them, each beginning with the bytes of the one before.
//!
//! `tests/poisoned/NN-wire-what.json` are request bodies. `{{png WxH}}` and `{{noise WxH}}` are
//! replaced by images that are too large to be committed, and `{"@repeat": N, "of": …}` by N parts.
//! `@` in a recipe makes each of them a different image.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use photic_mock::{Mock, Options};
use photic_testkit::image;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::caller::{Reply, exchange, post};
use crate::gateway;
use crate::scripted::{Act, Upstream};

/// Turns after the rejected one.
const TURNS: usize = 10;
/// The content of the valid image that every history has beside the broken one.
const CHART: u64 = 7;

/// Returns the path of a wire, by its name in file names.
pub(crate) fn path(name: &str) -> &'static str {
    match name.split('-').nth(1) {
        Some("chat") => "/v1/chat/completions",
        Some("responses") => "/v1/responses",
        _ => "/v1/messages",
    }
}

pub(crate) const KEYS: &str = "authorization: Bearer k\r\nanthropic-version: 2023-06-01\r\n";

/// Returns every history, by name.
fn histories() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/poisoned");
    let mut histories: Vec<(String, Value)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| {
            let file = file.unwrap();
            let name = file.path().file_stem().unwrap().to_str().unwrap().to_owned();
            let body = serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap();
            (name, expanded(body, 0))
        })
        .collect();
    histories.sort_by(|(one, _), (other, _)| one.cmp(other));
    histories
}

/// Replaces recipes by images and parts.
fn expanded(value: Value, number: u32) -> Value {
    match value {
        Value::Array(list) => {
            let each = list.into_iter().flat_map(|item| match item["@repeat"].as_u64() {
                None => vec![expanded(item, number)],
                Some(times) => (0..u32::try_from(times).unwrap())
                    .map(|number| expanded(item["of"].clone(), number))
                    .collect(),
            });
            Value::Array(each.collect())
        }
        Value::Object(object) => Value::Object(
            object.into_iter().map(|(key, value)| (key, expanded(value, number))).collect(),
        ),
        Value::String(text) => match text.split_once("{{") {
            None => Value::String(text),
            Some((before, rest)) => {
                let (recipe, after) = rest.split_once("}}").unwrap();
                let picture = image::base64(&picture(recipe, number));
                Value::String([before, &picture, after].concat())
            }
        },
        other => other,
    }
}

fn picture(recipe: &str, number: u32) -> Vec<u8> {
    let mut words = recipe.split(' ');
    let (kind, size) = (words.next().unwrap(), words.next().unwrap());
    let (width, height) = size.split_once('x').unwrap();
    let (width, height) = (width.parse().unwrap(), height.parse().unwrap());
    let number = if words.next() == Some("@") { number } else { 0 };
    match kind {
        "png" => image::png(width, height, [number as u8, 30, 60]),
        "noise" => image::png_noise(width, height, number.into()),
        other => unreachable!("{other}"),
    }
}

/// The mock provider, behind a relay that keeps every byte sent to it.
pub(crate) struct Recorded {
    pub(crate) mock: Arc<Mock>,
    pub(crate) address: SocketAddr,
    pub(crate) bodies: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Recorded {
    pub(crate) async fn start(options: Options) -> Self {
        // The mock has its own runtime, which cannot be started inside another.
        let mock = std::thread::spawn(|| Mock::start(options).unwrap()).join().unwrap();
        let mock = Arc::new(mock);
        let bodies: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
        let (to, kept) = (mock.address(), Arc::clone(&bodies));
        let (address, _) = Upstream::start(move |seen| {
            let path = seen.head.split(' ').nth(1).unwrap();
            kept.lock().unwrap().push(seen.body.clone());
            vec![Act::Send(relay(to, &post(path, KEYS, &seen.body))), Act::Close]
        })
        .await;
        Self { mock, address, bodies }
    }

    /// Returns the bodies that were sent since the last call.
    pub(crate) fn taken(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.bodies.lock().unwrap())
    }
}

/// Sends a request, and returns its reply as bytes.
fn relay(to: SocketAddr, request: &[u8]) -> Vec<u8> {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(to).unwrap();
    stream.write_all(request).unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    reply
}

pub(crate) async fn ask(to: SocketAddr, path: &str, body: &Value) -> Reply {
    exchange(to, &post(path, KEYS, body.to_string().as_bytes())).await
}

/// Returns the key of the list of messages.
fn list(body: &Value) -> &'static str {
    if body.get("input").is_some() { "input" } else { "messages" }
}

/// Adds one turn.
pub(crate) fn go_on(body: &mut Value, turn: usize) {
    let text = if list(body) == "input" { "input_text" } else { "text" };
    let name = list(body);
    let messages = body[name].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": format!("Answer {turn}.")}));
    let part = json!({"type": text, "text": format!("Question {turn}?")});
    messages.push(json!({"role": "user", "content": [part]}));
}

/// Returns a body up to the end of its last message.
fn prefix(body: &[u8]) -> &[u8] {
    #[derive(serde::Deserialize)]
    struct Lists<'a> {
        #[serde(borrow)]
        messages: Option<&'a RawValue>,
        #[serde(borrow)]
        input: Option<&'a RawValue>,
    }
    let lists: Lists<'_> = serde_json::from_slice(body).unwrap();
    let list = lists.messages.or(lists.input).unwrap().get();
    let start = list.as_ptr().addr() - body.as_ptr().addr();
    let end = start + list.len() - 1;
    assert_eq!(body[end], b']');
    body[..end].trim_ascii_end()
}

/// Continues a history through a gateway. Returns the number of heals, or the problem.
async fn revived(name: &str, mut body: Value) -> Result<usize, String> {
    let wrong = |turn: usize, what: &str| Err(format!("{name}, turn {turn}: {what}"));
    let recorded = Recorded::start(Options::default()).await;
    let path = path(name);
    let dead = ask(recorded.mock.address(), path, &body).await;
    if !matches!(dead.status, 400 | 413) {
        return wrong(0, &format!("not dead: {}", dead.status));
    }
    let gateway = gateway(recorded.address, "").await;
    let mut before: Vec<u8> = Vec::new();
    let mut healed = 0;
    for turn in 0..=TURNS {
        let reply = ask(gateway, path, &body).await;
        let said = String::from_utf8(reply.body.clone()).unwrap();
        if reply.status != 200 {
            return wrong(turn, &said);
        }
        let sent = recorded.taken();
        // Once healed, no later turn is rejected.
        if turn > 0 && sent.len() > 1 {
            return wrong(turn, &format!("{} requests", sent.len()));
        }
        healed += sent.len() - 1;
        assert_eq!(reply.header("x-photic-healed").is_some(), sent.len() > 1, "{name}");
        let now = sent.last().unwrap();
        if !now.starts_with(&before) {
            return wrong(turn, "the prefix changed");
        }
        before = prefix(now).to_vec();
        let sees = said.contains(&photic_mock::Chart::of(CHART).words());
        if sees == name.contains("blind") {
            return wrong(turn, &said);
        }
        go_on(&mut body, turn);
    }
    Ok(healed)
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_sessions_come_back() {
    let histories = histories();
    assert_eq!(histories.len(), 30);
    let (mut healed, mut wrong) = (Vec::new(), Vec::new());
    for (name, body) in histories {
        match revived(&name, body).await {
            Ok(0) => {}
            Ok(_) => healed.push(name),
            Err(problem) => wrong.push(problem),
        }
    }
    assert!(wrong.is_empty(), "{} of 30:\n{}", wrong.len(), wrong.join("\n"));
    // Most are repaired before they are sent. Damage that only a decoder finds takes a rejection.
    let expected = [
        "04-messages-truncated-png",
        "05-messages-bad-check-sum",
        "09-chat-truncated-jpeg",
        "13-responses-truncated-png-from-a-tool",
        "15-responses-two-broken-ones",
    ];
    assert_eq!(healed, expected);
}
