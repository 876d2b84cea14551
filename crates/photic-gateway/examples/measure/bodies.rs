//! The requests: conversations with and without images.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::OnceLock;

use base64::Engine as _;

/// Returns about 2 KB of text, with or without streaming.
pub(crate) fn words(model: &str, stream: bool) -> String {
    body(model, stream, &[user()])
}

/// Returns ten tool images, which have to be hoisted: 12 MB of 9 million `bytes`.
pub(crate) fn screenshots(bytes: usize) -> String {
    let mut messages = vec![user()];
    for image in 0..10 {
        messages.push(format!(
            "{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"id\":\"c{image}\",\
             \"type\":\"function\",\"function\":{{\"name\":\"shot\",\"arguments\":\"{{}}\"}}}}]}}"
        ));
        messages.push(format!(
            "{{\"role\":\"tool\",\"tool_call_id\":\"c{image}\",\"content\":[{}]}}",
            picture(image, bytes / 10)
        ));
    }
    body("gpt-4o", false, &messages)
}

/// Returns one image in a user message, which needs no repair: 12 MB of 9 million `bytes`.
pub(crate) fn photograph(bytes: usize) -> String {
    let shown = format!("{{\"role\":\"user\",\"content\":[{}]}}", picture(0, bytes));
    body("gpt-4o", false, &[user(), shown])
}

/// An API whose requests are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    Chat,
    Responses,
    Messages,
}

impl Api {
    const fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Messages => "/v1/messages",
        }
    }
}

/// Returns a conversation of so many messages of words, 230 KB of 2,000. The message `varied` contains
/// [`SERIAL`].
pub(crate) fn session(api: Api, messages: usize, varied: usize) -> String {
    let messages: Vec<String> = (0..messages)
        .map(|number| {
            let role = if number % 2 == 0 { "user" } else { "assistant" };
            let serial = if number == varied { SERIAL } else { "as before" };
            format!(
                "{{\"role\":\"{role}\",\"content\":\"Message {number}, {serial}: the table has a row \
                 for each part, and a sum below.\"}}"
            )
        })
        .collect();
    match api {
        Api::Chat => body("gpt-4o", false, &messages),
        Api::Responses => format!("{{\"model\":\"gpt-4o\",\"input\":[{}]}}", messages.join(",")),
        Api::Messages => format!(
            "{{\"model\":\"claude-sonnet-4-5\",\"max_tokens\":500,\"messages\":[{}]}}",
            messages.join(",")
        ),
    }
}

/// Returns the bytes of the request for a turn of a session. That of the next turn begins with the same
/// messages.
pub(crate) fn turn(api: Api, session: usize, turn: usize) -> Vec<u8> {
    let body = self::session(api, 2 * turn - 1, 0);
    request(api.path(), "", &body.replace(SERIAL, &format!("number {session:08}")))
}

/// The place of a number in a body that differs in every request.
const SERIAL: &str = "number 00000000";

/// The bytes of a request that is sent repeatedly.
pub(crate) struct Repeated {
    bytes: Vec<u8>,
    /// The position of the last digit of a number that every request increases.
    serial: Option<usize>,
}

impl Repeated {
    /// Creates a request for a turn on Chat Completions.
    pub(crate) fn chat(body: &str) -> Self {
        Self::of(Api::Chat, body)
    }

    /// Creates a request for a turn on an API.
    pub(crate) fn of(api: Api, body: &str) -> Self {
        let bytes = request(api.path(), "", body);
        let serial = body.find(SERIAL).map(|at| bytes.len() - body.len() + at + SERIAL.len() - 1);
        Self { bytes, serial }
    }

    /// Returns the bytes of the next request.
    pub(crate) fn next(&mut self) -> &[u8] {
        let mut place = self.serial;
        while let Some(at) = place {
            place = (self.bytes[at] == b'9').then(|| at - 1);
            self.bytes[at] = if place.is_some() { b'0' } else { self.bytes[at] + 1 };
        }
        &self.bytes
    }
}

/// Returns the bytes of a request.
pub(crate) fn request(path: &str, headers: &str, body: &str) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\nuser-agent: measure\r\n\
         accept: */*\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n",
        key(),
        body.len()
    );
    [head.as_bytes(), body.as_bytes()].concat()
}

/// The key in requests. LiteLLM requires one that cannot be guessed.
pub(crate) fn key() -> &'static str {
    static KEY: OnceLock<String> = OnceLock::new();
    KEY.get_or_init(|| {
        let part = |number: u8| format!("{:016x}", RandomState::new().hash_one(number));
        format!("sk-{}", (0..3).map(part).collect::<String>())
    })
}

fn body(model: &str, stream: bool, messages: &[String]) -> String {
    let stream = if stream { ",\"max_tokens\":500,\"stream\":true" } else { "" };
    format!("{{\"model\":\"{model}\"{stream},\"messages\":[{}]}}", messages.join(","))
}

fn user() -> String {
    let words = "Look at the page and say what is wrong with it. ".repeat(34);
    format!("{{\"role\":\"user\",\"content\":\"{words}\"}}")
}

/// Returns the header of a PNG with noise behind it. Images within limits are not decoded.
fn picture(seed: u8, bytes: usize) -> String {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x05\0\0\0\x03\x20\x08\x06\0\0\0".to_vec();
    let mut state = u32::from(seed) + 1;
    png.extend((0..bytes).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    }));
    let base64 = base64::engine::general_purpose::STANDARD.encode(png);
    format!(
        "{{\"type\":\"image_url\",\"image_url\":{{\"url\":\"data:image/png;base64,{base64}\"}}}}"
    )
}
