//! Unknown limits are learned from one rejection, and known from then on.

use std::path::PathBuf;

use photic::profile::Limits;
use photic_mock::{Chart, Options};
use photic_testkit::image;
use serde_json::{Value, json};

use crate::gateway;
use crate::poisoned::{Recorded, ask, go_on};

/// A temporary file of lessons, removed with its directory at the end.
pub(crate) struct LessonsFile(pub(crate) PathBuf);

impl LessonsFile {
    pub(crate) fn new(name: &str) -> Self {
        let folder = format!("photic-healing-{}-{name}", std::process::id());
        Self(std::env::temp_dir().join(folder))
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.0.join("learned.json")
    }

    pub(crate) fn settings(&self) -> String {
        format!("[learned]\npath = '{}'\n[policy]\nretention = 'all'", self.file().display())
    }

    pub(crate) fn lessons(&self) -> Vec<String> {
        let entries = photic_gateway::learned::read(&self.file()).unwrap();
        entries.iter().map(|entry| entry.lesson.to_string()).collect()
    }
}

impl Drop for LessonsFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A wire, with the requests that these tests need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Chat,
    Responses,
    Messages,
}

use Wire::{Chat, Messages, Responses};

impl Wire {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Chat => "/v1/chat/completions",
            Responses => "/v1/responses",
            Messages => "/v1/messages",
        }
    }

    pub(crate) fn image(self, kind: &str, bytes: &[u8]) -> Value {
        let (url, data) = (image::data_url(kind, bytes), image::base64(bytes));
        match self {
            Chat => json!({"type": "image_url", "image_url": {"url": url}}),
            Responses => json!({"type": "input_image", "image_url": url, "detail": "auto"}),
            Messages => {
                let source = json!({"type": "base64", "media_type": kind, "data": data});
                json!({"type": "image", "source": source})
            }
        }
    }

    pub(crate) fn request(self, list: &[Value]) -> Value {
        match self {
            Chat => json!({"model": "house-model", "messages": list}),
            Responses => json!({"model": "house-model", "input": list}),
            Messages => json!({"model": "house-model", "max_tokens": 100, "messages": list}),
        }
    }

    /// Returns a user message with these images.
    pub(crate) fn shows(self, images: &[Value]) -> Value {
        self.request(&[json!({"role": "user", "content": images})])
    }

    /// Returns a tool result with these images.
    pub(crate) fn returned(self, images: &[Value]) -> Value {
        match self {
            Chat => {
                let function = json!({"name": "shot", "arguments": "{}"});
                let call = json!({"id": "c00000001", "type": "function", "function": function});
                self.request(&[
                    json!({"role": "user", "content": "look"}),
                    json!({"role": "assistant", "content": null, "tool_calls": [call]}),
                    json!({"role": "tool", "tool_call_id": "c00000001", "content": images}),
                ])
            }
            Responses => self.request(&[
                json!({"role": "user", "content": "look"}),
                json!({"type": "function_call", "call_id": "c1", "name": "shot", "arguments": "{}"}),
                json!({"type": "function_call_output", "call_id": "c1", "output": images}),
            ]),
            Messages => {
                let call = json!({"type": "tool_use", "id": "c1", "name": "shot", "input": {}});
                let result = json!({"type": "tool_result", "tool_use_id": "c1", "content": images});
                self.request(&[
                    json!({"role": "user", "content": "look"}),
                    json!({"role": "assistant", "content": [call]}),
                    json!({"role": "user", "content": [result]}),
                ])
            }
        }
    }
}

pub(crate) fn chart(wire: Wire, seed: u64) -> Value {
    wire.image("image/png", &Chart::of(seed).png().unwrap())
}

/// A request, the rules of its provider, and the expected lesson.
struct Case {
    wire: Wire,
    body: Value,
    options: Options,
    learned: &'static str,
}

fn cases() -> Vec<Case> {
    let limits = |limits: Limits| Options { limits: Some(limits), ..Options::default() };
    let judge_as = |model: &str| Options { judge_as: Some(model.to_owned()), ..Options::default() };
    let mut cases = Vec::new();
    for wire in [Chat, Responses, Messages] {
        let charts = |count: u64| (1..=count).map(|seed| chart(wire, seed)).collect::<Vec<_>>();
        let noise = |side: u32| wire.image("image/png", &image::png_noise(side, side, 3));
        let mut add = |body, options, learned| cases.push(Case { wire, body, options, learned });
        let images = Limits { images: Some(3), ..Limits::default() };
        add(wire.shows(&charts(5)), limits(images), "a request has at most 3 images");
        let edge = Limits { edge: Some(300), ..Limits::default() };
        let learned = "no side of an image is longer than 300 px";
        add(wire.returned(&charts(1)), limits(edge), learned);
        let bytes = Limits { image_base64_bytes: Some(1_100_000), ..Limits::default() };
        let learned = "an image has at most 1100000 bytes after base64";
        add(wire.shows(&[noise(600)]), limits(bytes), learned);
        let body = Limits { request_bytes: Some(200_000), ..Limits::default() };
        add(wire.returned(&[noise(150), noise(151), noise(152)]), limits(body), "a request has");
        let blind = match wire {
            Chat => "gpt-3.5-turbo",
            Responses => "o3-mini",
            Messages => "claude-2.1",
        };
        add(wire.shows(&charts(1)), judge_as(blind), "images are not accepted at all");
        let broken = wire.image("image/png", &image::broken::truncated_png());
        let images = vec![charts(1).remove(0), broken, chart(wire, 2)];
        add(wire.returned(&images), Options::default(), "a media file of");
    }
    let webp = vec![Chat.image("image/webp", &image::webp()), chart(Chat, 1)];
    cases.push(Case {
        wire: Chat,
        body: Chat.shows(&webp),
        options: judge_as("grok-4"),
        learned: "`image/webp` is not accepted",
    });
    let tiny = vec![Chat.image("image/png", &image::png(8, 8, [1, 2, 3])), chart(Chat, 1)];
    cases.push(Case {
        wire: Chat,
        body: Chat.shows(&tiny),
        options: limits(Limits { min_edge: Some(28), ..Limits::default() }),
        learned: "no side of an image is shorter than 28 px",
    });
    cases.push(Case {
        wire: Chat,
        body: Chat.returned(&[chart(Chat, 1)]),
        options: judge_as("mistral-large-3"),
        learned: "a user message must not directly follow a tool message or another user message",
    });
    cases
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_is_found_once_and_known_after_a_restart() {
    for (number, Case { wire, mut body, options, learned }) in cases().into_iter().enumerate() {
        let name = format!("{number} {wire:?} {learned}");
        let kept = LessonsFile::new(&format!("limits-{number}"));
        let recorded = Recorded::start(options).await;
        let first = gateway(recorded.address, &kept.settings()).await;
        let reply = ask(first, wire.path(), &body).await;
        let said = String::from_utf8_lossy(&reply.body).into_owned();
        assert_eq!(reply.status, 200, "{name}: {said}");
        let sent = recorded.taken();
        assert!((2..=3).contains(&sent.len()), "{name}: {} requests", sent.len());
        assert!(reply.header("x-photic-healed").is_some(), "{name}");
        let lessons = kept.lessons();
        assert!(lessons.len() == 1 && lessons[0].starts_with(learned), "{name}: {lessons:?}");
        go_on(&mut body, 1);
        let reply = ask(first, wire.path(), &body).await;
        assert_eq!((reply.status, reply.header("x-photic-healed")), (200, None), "{name}");
        let next = recorded.taken();
        assert_eq!(next.len(), 1, "{name}");
        // Another gateway, which knows only the lessons in the file.
        let again = gateway(recorded.address, &kept.settings()).await;
        let reply = ask(again, wire.path(), &body).await;
        assert_eq!(reply.status, 200, "{name}");
        assert!(recorded.taken() == next, "{name}: the restarted gateway sent another body");
        // The evidence contains the provider's text and nothing else.
        let text = std::fs::read_to_string(kept.file()).unwrap();
        assert!(text.len() < 1000 && !text.contains("base64,"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_broken_is_withheld() {
    let kept = LessonsFile::new("withheld");
    let recorded = Recorded::start(Options::default()).await;
    let gateway = gateway(recorded.address, &kept.settings()).await;
    let broken = Messages.image("image/png", &image::broken::truncated_png());
    let body = Messages.returned(&[chart(Messages, 1), broken, chart(Messages, 2)]);
    let reply = ask(gateway, Messages.path(), &body).await;
    assert_eq!(reply.header("x-photic-healed"), Some("bad_image"));
    let entry = recorded.mock.journal().pop().unwrap();
    let seen: Vec<&str> = entry.images.iter().map(|image| image.words.as_str()).collect();
    assert_eq!(seen, [Chart::of(1).words(), Chart::of(2).words()]);
    let sent = String::from_utf8(recorded.taken().pop().unwrap()).unwrap();
    assert!(sent.contains("its bytes could not be read"), "{sent}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lesson_that_expired_is_learned_again() {
    let kept = LessonsFile::new("expired");
    let limits = Limits { images: Some(1), ..Limits::default() };
    let options = Options { limits: Some(limits), ..Options::default() };
    let recorded = Recorded::start(options).await;
    let body = Chat.shows(&[chart(Chat, 1), chart(Chat, 2)]);
    let first = gateway(recorded.address, &kept.settings()).await;
    assert_eq!(ask(first, Chat.path(), &body).await.status, 200);
    assert_eq!(recorded.taken().len(), 2);
    // Makes the lesson 31 days old.
    let text = std::fs::read_to_string(kept.file()).unwrap();
    let mut file: Value = serde_json::from_str(&text).unwrap();
    let at = file["entries"][0]["evidence"]["at"].as_u64().unwrap();
    file["entries"][0]["evidence"]["at"] = json!(at - 31 * 24 * 60 * 60);
    std::fs::write(kept.file(), file.to_string()).unwrap();
    let later = gateway(recorded.address, &kept.settings()).await;
    assert_eq!(ask(later, Chat.path(), &body).await.status, 200);
    assert_eq!(recorded.taken().len(), 2);
    let text = std::fs::read_to_string(kept.file()).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(file["entries"].as_array().unwrap().len(), 1);
    assert!(file["entries"][0]["evidence"]["at"].as_u64().unwrap() >= at);
}
