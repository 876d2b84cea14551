//! Two services keep what was said, and may be referred to it.

use serde_json::json;

use crate::bodies::{Wire, chart, user, words};
use crate::client::{post, start};

#[test]
fn a_request_may_go_on_from_an_earlier_reply() {
    let mock = start();
    let wire = Wire::Responses;
    let mut first = wire.request(vec![user(vec![wire.text("Please look.")])]);
    first["tools"] = json!([wire.tool("look")]);
    let reply = post(&mock, wire.path(), &first).json();
    let (kind, bytes) = chart(3);
    let output = json!({"type": "function_call_output", "call_id": reply["output"][0]["call_id"], "output": [wire.image(kind, &bytes)]});
    let mut next = wire.request(vec![output.clone()]);
    next["previous_response_id"] = reply["id"].clone();
    let text = post(&mock, wire.path(), &next).text;
    assert!(text.contains(&words(3)), "{text}");
    // The same by naming the item.
    let reference = json!({"type": "item_reference", "id": reply["output"][0]["id"]});
    let named = wire.request(vec![first["input"][0].clone(), reference, output.clone()]);
    let text = post(&mock, wire.path(), &named).text;
    assert!(text.contains(&words(3)), "{text}");
    // Alone, it answers nothing.
    let alone = post(&mock, wire.path(), &wire.request(vec![output]));
    assert!(alone.text.contains("No tool call found for function call output"), "{}", alone.text);
}

#[test]
fn what_is_not_kept_is_not_found() {
    let mock = start();
    let wire = Wire::Responses;
    let mut body = wire.shows(&[]);
    body["store"] = json!(false);
    let reply = post(&mock, wire.path(), &body).json();
    body["previous_response_id"] = reply["id"].clone();
    let text = post(&mock, wire.path(), &body).text;
    assert!(text.contains("previous_response_not_found"), "{text}");
    let reference = json!({"type": "item_reference", "id": "msg_nowhere"});
    let text = post(&mock, wire.path(), &wire.request(vec![reference])).text;
    assert!(text.contains("Item with id 'msg_nowhere' not found."), "{text}");
}

#[test]
fn a_thread_goes_on_with_what_is_new() {
    let mock = start();
    let wire = Wire::Messages;
    let mut first = wire.request(vec![user(vec![wire.text("Please look.")])]);
    first["tools"] = json!([wire.tool("look")]);
    first["thread"] = json!({"type": "create"});
    first["stream"] = json!(true);
    let events = post(&mock, wire.path(), &first).text;
    let id = events.split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap();
    let call = events.split("\"id\":\"").nth(2).unwrap().split('"').next().unwrap();
    let (kind, bytes) = chart(3);
    let result =
        json!({"type": "tool_result", "tool_use_id": call, "content": [wire.image(kind, &bytes)]});
    let mut next = wire.request(vec![user(vec![result])]);
    next["thread"] = json!({"type": "continue", "previous_message_id": id});
    let reply = post(&mock, wire.path(), &next);
    assert!(reply.text.contains(&words(3)), "{}", reply.text);
    next["thread"]["previous_message_id"] = json!("msg_nowhere");
    let reply = post(&mock, wire.path(), &next);
    assert_eq!(reply.status, 404);
    assert_eq!(reply.json()["error"]["details"]["error_code"], "thread_not_found");
}
