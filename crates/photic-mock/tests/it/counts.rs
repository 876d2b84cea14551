//! Tokens follow the published rules, and what was said before is read from the cache.

use photic::Wire as PhoticWire;
use photic::profile::resolve;
use serde_json::{Value, json};

use crate::bodies::{WIRES, Wire, chart, user};
use crate::client::{post, start};

/// Input, cached and written tokens.
fn usage(wire: Wire, reply: &Value) -> (u64, u64, u64) {
    let usage = &reply["usage"];
    let number = |value: &Value| value.as_u64().unwrap();
    match wire {
        Wire::Chat => {
            let details = &usage["prompt_tokens_details"];
            (number(&usage["prompt_tokens"]), number(&details["cached_tokens"]), 0)
        }
        Wire::Responses => {
            let details = &usage["input_tokens_details"];
            (number(&usage["input_tokens"]), number(&details["cached_tokens"]), 0)
        }
        Wire::Messages => {
            let (read, written) =
                (&usage["cache_read_input_tokens"], &usage["cache_creation_input_tokens"]);
            let rest = number(&usage["input_tokens"]);
            (rest + number(read) + number(written), number(read), number(written))
        }
    }
}

#[test]
fn an_image_costs_what_its_rule_says() {
    let mock = start();
    for wire in WIRES {
        let body =
            |images: &[(&'static str, Vec<u8>)]| post(&mock, wire.path(), &wire.shows(images));
        let without = usage(wire, &body(&[]).json()).0;
        let with = usage(wire, &body(&[chart(1)]).json()).0;
        let photic_wire = PhoticWire::from_name(wire.name()).unwrap();
        let detail = (wire == Wire::Responses).then_some(photic::tokens::Detail::Auto);
        let rule = resolve(photic_wire, Some(wire.model()), None).image_tokens(384, 288, detail);
        assert_eq!(with - without, rule, "{wire:?}");
        // 26 letters.
        assert_eq!(without, 7);
    }
    let chat = post(&mock, Wire::Chat.path(), &Wire::Chat.shows(&[chart(1)])).json();
    let details = &chat["usage"]["prompt_tokens_details"];
    assert_eq!(details["text_tokens"], 7);
}

#[test]
fn a_longer_conversation_reads_the_shorter_one_from_the_cache() {
    let mock = start();
    for wire in WIRES {
        let long = "word ".repeat(4000);
        let mut list = vec![user(vec![wire.text(&long)])];
        if wire == Wire::Messages {
            list[0]["content"][0]["cache_control"] = json!({"type": "ephemeral"});
        }
        let ask = |list: &Vec<Value>| {
            usage(wire, &post(&mock, wire.path(), &wire.request(list.clone())).json())
        };
        let (input, cached, written) = ask(&list);
        assert_eq!((input, cached), (5000, 0), "{wire:?}");
        assert_eq!(written, if wire == Wire::Messages { 5000 } else { 0 });
        list.push(json!({"role": "assistant", "content": "ok"}));
        list.push(user(vec![wire.text("and more")]));
        let (input, cached, written) = ask(&list);
        assert_eq!((input, cached, written), (5003, 5000, 0), "{wire:?}");
        // One letter at the start, and nothing is left.
        list[0]["content"][0]["text"] = json!(format!("W{}", &long[1..]));
        assert_eq!(ask(&list).1, 0);
    }
}

#[test]
fn nobody_reads_the_cache_of_another_key() {
    let mock = start();
    let wire = Wire::Chat;
    let body = wire.request(vec![user(vec![wire.text(&"word ".repeat(4000))])]).to_string();
    let ask = |key: &str| {
        let headers = [("authorization", key)];
        let reply = crate::client::send(&mock, "POST", wire.path(), &headers, body.as_bytes());
        usage(wire, &reply.unwrap().json()).1
    };
    assert_eq!(ask("Bearer a"), 0);
    assert_eq!(ask("Bearer a"), 5000);
    assert_eq!(ask("Bearer b"), 0);
}

#[test]
fn without_a_mark_the_messages_wire_caches_nothing() {
    let mock = start();
    let wire = Wire::Messages;
    let body = wire.request(vec![user(vec![wire.text(&"word ".repeat(4000))])]);
    for _ in 0..2 {
        assert_eq!(usage(wire, &post(&mock, wire.path(), &body).json()), (5000, 0, 0));
    }
}
