//! Every API, whole and as a stream, with `/v1` and without.

use serde_json::{Value, json};

use photic_testkit::oracle;

use crate::bodies::{WIRES, Wire, chart, user, words};
use crate::client::{get, post, send, start};

#[test]
fn every_wire_names_the_chart() {
    let mock = start();
    for wire in WIRES {
        let body = wire.shows(&[chart(3), chart(4)]);
        let right = format!("image 1: {}; image 2: {}", words(3), words(4));
        for path in [wire.path(), &wire.path()[3..]] {
            let reply = post(&mock, path, &body);
            assert_eq!(reply.status, 200, "{path}: {}", reply.text);
            let read = oracle::reply(wire.name(), reply.text.as_bytes()).unwrap();
            assert_eq!(read.texts.join("|"), right, "{path}");
            assert_eq!(read.model, wire.model());
            assert!(read.usage.unwrap().input > 100);
        }
    }
}

#[test]
fn every_wire_streams_the_same_words() {
    let mock = start();
    for wire in WIRES {
        let mut body = wire.shows(&[chart(5)]);
        body["stream"] = json!(true);
        let reply = post(&mock, wire.path(), &body);
        assert_eq!(reply.header("content-type"), Some("text/event-stream; charset=utf-8"));
        assert!(reply.whole);
        assert_eq!(streamed(wire, &reply.events()), format!("image 1: {}", words(5)), "{wire:?}");
    }
}

/// The words of a stream, put together as a client of the wire does.
pub(crate) fn streamed(wire: Wire, events: &[String]) -> String {
    let read = |event: &String| serde_json::from_str::<Value>(event).ok();
    let delta = |event: Value| {
        let piece = match wire {
            Wire::Chat => &event["choices"][0]["delta"]["content"],
            Wire::Responses if event["type"] == "response.output_text.delta" => &event["delta"],
            Wire::Responses => &Value::Null,
            Wire::Messages => &event["delta"]["text"],
        };
        piece.as_str().map(str::to_owned)
    };
    events.iter().filter_map(read).filter_map(delta).collect()
}

#[test]
fn streams_begin_and_end_as_their_wire_does() {
    let mock = start();
    let types = |wire: Wire| -> Vec<String> {
        let mut body = wire.shows(&[]);
        body["stream"] = json!(true);
        let events = post(&mock, wire.path(), &body).events();
        let kind = |event: &String| {
            let event: Value = serde_json::from_str(event).unwrap();
            event["type"].as_str().unwrap().to_owned()
        };
        let mut types: Vec<String> = events.iter().map(kind).collect();
        types.dedup();
        types
    };
    assert_eq!(
        types(Wire::Messages),
        [
            "message_start",
            "content_block_start",
            "ping",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop"
        ]
    );
    assert_eq!(
        types(Wire::Responses),
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed"
        ]
    );
}

#[test]
fn chat_streams_usage_only_where_it_was_asked_for() {
    let mock = start();
    let mut body = Wire::Chat.shows(&[]);
    body["stream"] = json!(true);
    let events = post(&mock, Wire::Chat.path(), &body).events();
    assert_eq!(events.last().unwrap(), "[DONE]");
    assert!(events.iter().all(|event| !event.contains("\"usage\"")));
    body["stream_options"] = json!({"include_usage": true});
    let events = post(&mock, Wire::Chat.path(), &body).events();
    let last: Value = serde_json::from_str(&events[events.len() - 2]).unwrap();
    assert_eq!(last["choices"], json!([]));
    assert!(last["usage"]["prompt_tokens"].as_u64().unwrap() > 0);
}

#[test]
fn who_sees_nothing_says_so() {
    let mock = start();
    for wire in WIRES {
        let reply = post(&mock, wire.path(), &wire.shows(&[])).text;
        assert!(reply.contains("I see no image."), "{reply}");
    }
}

#[test]
fn tokens_are_counted_without_asking() {
    let mock = start();
    let mut body = Wire::Messages.shows(&[chart(1)]);
    body.as_object_mut().unwrap().remove("max_tokens");
    let counted = post(&mock, "/v1/messages/count_tokens", &body).json();
    body["max_tokens"] = json!(9);
    let asked = post(&mock, "/v1/messages", &body).json();
    assert!(counted["input_tokens"].as_u64().unwrap() > 100);
    assert_eq!(counted["input_tokens"], asked["usage"]["input_tokens"]);
}

#[test]
fn models_are_listed_in_the_shape_of_whoever_asks() {
    let options = photic_mock::Options { models: vec!["m1".to_owned()], ..Default::default() };
    let mock = photic_mock::Mock::start(options).unwrap();
    let openai = get(&mock, "/v1/models").json();
    assert_eq!((&openai["object"], &openai["data"][0]["id"]), (&json!("list"), &json!("m1")));
    let version = [("anthropic-version", "2023-06-01")];
    let anthropic = send(&mock, "GET", "/models", &version, b"").unwrap().json();
    assert_eq!(
        (&anthropic["data"][0]["type"], &anthropic["last_id"]),
        (&json!("model"), &json!("m1"))
    );
    assert_eq!(get(&mock, "/v1/models/m1").status, 200);
    assert_eq!(get(&mock, "/v1/models/m2").status, 404);
}

#[test]
fn some_speak_one_wire_only() {
    let options =
        photic_mock::Options { wires: vec![photic::Wire::OpenAiChat], ..Default::default() };
    let mock = photic_mock::Mock::start(options).unwrap();
    for wire in WIRES {
        let body = wire.request(vec![user(vec![wire.text("hello")])]);
        let status = if wire == Wire::Chat { 200 } else { 404 };
        assert_eq!(post(&mock, wire.path(), &body).status, status, "{}", wire.path());
    }
    assert_eq!(post(&mock, "/v1/messages/count_tokens", &json!({})).status, 404);
}

#[test]
fn the_journal_says_what_came_and_holds_no_media() {
    let mock = start();
    let (kind, bytes) = chart(6);
    let body = Wire::Chat.shows(&[(kind, bytes.clone())]);
    post(&mock, "/v1/chat/completions", &body);
    let reply = get(&mock, "/__mock/requests");
    let journal = reply.json();
    assert_eq!(journal["total"], 1);
    let entry = &journal["requests"][0];
    assert_eq!(entry["status"], 200);
    assert_eq!(entry["bytes"], body.to_string().len());
    assert_eq!(entry["images"][0]["words"], words(6));
    assert_eq!(entry["images"][0]["bytes"], bytes.len());
    assert_eq!(entry["units"].as_array().unwrap().len(), 1);
    assert!(!reply.text.contains(&photic_testkit::image::base64(&bytes)[..40]));
    assert_eq!(mock.journal()[0].said, format!("image 1: {}", words(6)));
    send(&mock, "DELETE", "/__mock/requests", &[], b"").unwrap();
    assert!(mock.journal().is_empty());
}
