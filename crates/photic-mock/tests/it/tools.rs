//! The script: who is asked to look, and can, calls the tool first.

use photic_testkit::oracle;
use serde_json::{Value, json};

use crate::bodies::{WIRES, Wire, chart, user, words};
use crate::client::{post, start};

fn ask(wire: Wire, text: &str) -> Value {
    let mut body = wire.request(vec![user(vec![wire.text(text)])]);
    body["tools"] = json!([wire.tool("search"), wire.tool("take_screenshot")]);
    body
}

#[test]
fn a_tool_that_shows_is_called_and_its_result_answered() {
    let mock = start();
    for wire in WIRES {
        let mut body = ask(wire, "Take a screenshot and tell me.");
        let reply = post(&mock, wire.path(), &body);
        let read = oracle::reply(wire.name(), reply.text.as_bytes()).unwrap();
        let [call] = &read.calls[..] else { panic!("{}", reply.text) };
        assert_eq!((&*call.name, &*call.arguments), ("take_screenshot", "{\"n\":1}"));
        assert_eq!(mock.journal().last().unwrap().said, "calls take_screenshot");
        // The loop goes on as a client's would, the image hoisted where the wire wants it.
        let (kind, bytes) = chart(9);
        let image = wire.image(kind, &bytes);
        let list = if wire == Wire::Responses { "input" } else { "messages" };
        let reply = reply.json();
        let more = match wire {
            Wire::Chat => vec![
                reply["choices"][0]["message"].clone(),
                json!({"role": "tool", "tool_call_id": call.id, "content": "see below"}),
                user(vec![wire.text("From take_screenshot:"), image]),
            ],
            Wire::Responses => vec![
                reply["output"][0].clone(),
                json!({"type": "function_call_output", "call_id": call.id, "output": [image]}),
            ],
            Wire::Messages => {
                let result =
                    json!({"type": "tool_result", "tool_use_id": call.id, "content": [image]});
                vec![json!({"role": "assistant", "content": reply["content"]}), user(vec![result])]
            }
        };
        body[list].as_array_mut().unwrap().extend(more);
        let reply = post(&mock, wire.path(), &body);
        assert!(reply.text.contains(&format!("image 1: {}", words(9))), "{}", reply.text);
        // A new question, a new look.
        body[list].as_array_mut().unwrap().push(json!({"role": "assistant", "content": "so"}));
        body[list].as_array_mut().unwrap().push(user(vec![wire.text("Look again.")]));
        let reply = post(&mock, wire.path(), &body);
        let read = oracle::reply(wire.name(), reply.text.as_bytes()).unwrap();
        assert_eq!(read.calls.len(), 1, "{}", reply.text);
        assert_ne!(read.calls[0].id, call.id);
    }
}

#[test]
fn both_means_two_calls_at_once() {
    let mock = start();
    for wire in WIRES {
        let mut body = ask(wire, "Please look at both pages.");
        let reply = post(&mock, wire.path(), &body);
        let read = oracle::reply(wire.name(), reply.text.as_bytes()).unwrap();
        let arguments: Vec<&str> = read.calls.iter().map(|call| &*call.arguments).collect();
        assert_eq!(arguments, ["{\"n\":1}", "{\"n\":2}"]);
        if wire == Wire::Messages {
            body["tool_choice"] = json!({"type": "auto", "disable_parallel_tool_use": true});
        } else {
            body["parallel_tool_calls"] = json!(false);
        }
        let reply = post(&mock, wire.path(), &body);
        let read = oracle::reply(wire.name(), reply.text.as_bytes()).unwrap();
        assert_eq!(read.calls.len(), 1);
    }
}

#[test]
fn who_spells_a_call_out_gets_it() {
    let mock = start();
    for wire in WIRES {
        let mut body = ask(wire, "Now call search with {\"for\": \"a {b}\"} and nothing else.");
        let list = if wire == Wire::Responses { "input" } else { "messages" };
        // Beside it, words that would have another tool called.
        let content = &mut body[list][0]["content"];
        content.as_array_mut().unwrap().push(wire.text("call gone with {} or look."));
        let reply = post(&mock, wire.path(), &body);
        let read = oracle::reply(wire.name(), reply.text.as_bytes()).unwrap();
        let [call] = &read.calls[..] else { panic!("{}", reply.text) };
        assert_eq!((&*call.name, &*call.arguments), ("search", "{\"for\":\"a {b}\"}"));
    }
}

#[test]
fn calls_are_streamed_piece_by_piece() {
    let mock = start();
    for wire in WIRES {
        let mut body = ask(wire, "Please view it twice.");
        body["stream"] = json!(true);
        let events = post(&mock, wire.path(), &body).events();
        let events: Vec<Value> =
            events.iter().filter_map(|event| serde_json::from_str(event).ok()).collect();
        let mut arguments = [String::new(), String::new()];
        for event in &events {
            let (index, piece) = match wire {
                Wire::Chat => {
                    let call = &event["choices"][0]["delta"]["tool_calls"][0];
                    (&call["index"], &call["function"]["arguments"])
                }
                Wire::Responses if event["type"] == "response.function_call_arguments.delta" => {
                    (&event["output_index"], &event["delta"])
                }
                Wire::Responses => continue,
                Wire::Messages => (&event["index"], &event["delta"]["partial_json"]),
            };
            if let (Some(index), Some(piece)) = (index.as_u64(), piece.as_str()) {
                arguments[index as usize] += piece;
            }
        }
        assert_eq!(arguments, ["{\"n\":1}", "{\"n\":2}"], "{wire:?}");
        let text = serde_json::to_string(&events).unwrap();
        let end = match wire {
            Wire::Chat => "\"finish_reason\":\"tool_calls\"",
            Wire::Responses => "\"type\":\"response.completed\"",
            Wire::Messages => "\"stop_reason\":\"tool_use\"",
        };
        assert!(text.contains(end), "{text}");
    }
}

#[test]
fn nobody_looks_unasked_or_where_no_tool_shows() {
    let mock = start();
    for wire in WIRES {
        let mut forbidden = ask(wire, "Please look.");
        forbidden["tool_choice"] =
            if wire == Wire::Messages { json!({"type": "none"}) } else { json!("none") };
        let mut blind = ask(wire, "Please look.");
        blind["tools"] = json!([wire.tool("search")]);
        for body in [ask(wire, "Hello, overlook this."), forbidden, blind] {
            let reply = post(&mock, wire.path(), &body);
            assert!(reply.text.contains("I see no image."), "{}", reply.text);
        }
    }
}
