//! Each way of misbehaving, as the client suffers it.

use std::time::Duration;

use photic_mock::{Misbehavior, Mock, Options};
use serde_json::json;

use crate::bodies::{WIRES, Wire, chart, user, words};
use crate::client::{misbehave, post, send_within, start};
use crate::routes::streamed;

#[test]
fn tool_images_are_taken_and_ignored() {
    let mock = start();
    let (kind, bytes) = chart(1);
    for wire in WIRES {
        let mut list = wire.used_tool(vec![wire.image(kind, &bytes)]);
        let body = wire.request(list.clone());
        let reply = misbehave(&mock, wire.path(), &body, "ignore-tool-images");
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert!(reply.text.contains("I see no image."), "{}", reply.text);
        // What the user shows is still seen.
        let (kind, bytes) = chart(2);
        list.push(user(vec![wire.image(kind, &bytes)]));
        let reply = misbehave(&mock, wire.path(), &wire.request(list), "ignore-tool-images");
        assert!(reply.text.contains(&format!("image 1: {}", words(2))), "{}", reply.text);
    }
}

#[test]
fn images_are_dropped() {
    let mock = start();
    for wire in WIRES {
        let reply = misbehave(&mock, wire.path(), &wire.shows(&[chart(1)]), "drop-images");
        assert!(reply.text.contains("I see no image."), "{}", reply.text);
        let entry = mock.journal().pop().unwrap();
        assert_eq!((entry.images_sent, entry.images.len()), (1, 0));
    }
}

#[test]
fn base64_is_billed_as_text() {
    let mock = start();
    let (kind, bytes) = ("image/png", photic_testkit::image::png_noise(64, 64, 1));
    for wire in WIRES {
        let body = wire.shows(&[(kind, bytes.clone())]);
        post(&mock, wire.path(), &body);
        misbehave(&mock, wire.path(), &body, "bill-as-text");
        let [fair, unfair] = &mock.journal()[mock.journal().len() - 2..] else { panic!() };
        assert!(unfair.input_tokens as usize > bytes.len() / 3);
        assert!(fair.input_tokens < unfair.input_tokens / 4, "{fair:?} {unfair:?}");
    }
}

#[test]
fn answers_are_a_turn_late() {
    let mock = start();
    for wire in WIRES {
        let show = |seed| {
            let (kind, bytes) = chart(seed);
            user(vec![wire.image(kind, &bytes), wire.text("What is it?")])
        };
        let reply = misbehave(&mock, wire.path(), &wire.request(vec![show(1)]), "late");
        assert!(reply.text.contains("I see no image."), "{}", reply.text);
        let said = json!({"role": "assistant", "content": "a chart"});
        let body = wire.request(vec![show(1), said, show(2)]);
        let reply = misbehave(&mock, wire.path(), &body, "late");
        assert!(reply.text.contains(&words(1)), "{}", reply.text);
        assert!(!reply.text.contains("image 2"), "{}", reply.text);
    }
}

#[test]
fn statuses() {
    let mock = start();
    for wire in WIRES {
        let reply = misbehave(&mock, wire.path(), &wire.shows(&[]), "429");
        assert_eq!((reply.status, reply.header("retry-after")), (429, Some("1")));
        let kind = &reply.json()["error"]["type"];
        assert_eq!(kind, if wire == Wire::Messages { "rate_limit_error" } else { "requests" });
        let reply = misbehave(&mock, wire.path(), &wire.shows(&[]), "500");
        assert_eq!(reply.status, 500);
        let kind = &reply.json()["error"]["type"];
        assert_eq!(kind, if wire == Wire::Messages { "api_error" } else { "server_error" });
    }
}

#[test]
fn busy_now_and_then_and_notes_who_does_not_wait() {
    let mock = Mock::start(Options { misbehave: vec![Misbehavior::Busy], ..Options::default() });
    let mock = mock.unwrap();
    let ask = || post(&mock, Wire::Chat.path(), &Wire::Chat.shows(&[])).status;
    let (moment, second) = (Duration::from_millis(600), Duration::from_millis(1100));
    assert_eq!((1..10).map(|_| ask()).collect::<Vec<_>>(), [200; 9]);
    assert_eq!([ask(), ask()], [429, 429]);
    let early = || mock.journal().iter().filter(|entry| !entry.violations.is_empty()).count();
    assert_eq!(early(), 0, "what was under way is no offense");
    let refused = std::time::Instant::now();
    std::thread::sleep(moment);
    let (status, offenses) = (ask(), early());
    // On a machine that takes longer the second is over.
    if refused.elapsed() < Duration::from_millis(900) {
        assert_eq!((status, offenses), (429, 1));
    }
    std::thread::sleep(second);
    assert_eq!((ask(), early()), (200, offenses));
}

#[test]
fn no_answer() {
    let mock = start();
    for (kind, patience) in [("hang", Duration::from_secs(1)), ("close", Duration::from_mins(1))] {
        let body = Wire::Chat.shows(&[]).to_string();
        let headers = [("authorization", "Bearer k"), ("x-mock-misbehave", kind)];
        let begun = std::time::Instant::now();
        let (path, body_bytes) = (Wire::Chat.path(), body.as_bytes());
        let reply = send_within(patience, &mock, "POST", path, &headers, body_bytes);
        assert!(reply.is_none(), "{kind}");
        // The client gave up, or the connection ended before that.
        assert_eq!(begun.elapsed() >= patience, kind == "hang");
        assert_eq!(mock.journal().last().unwrap().bytes, body.len());
    }
}

#[test]
fn replies_are_cut_in_the_middle() {
    let mock = start();
    for wire in WIRES {
        let mut body = wire.shows(&[chart(1)]);
        let reply = misbehave(&mock, wire.path(), &body, "cut");
        assert_eq!((reply.status, reply.whole), (200, false));
        assert!(!reply.text.is_empty());
        body["stream"] = json!(true);
        let reply = misbehave(&mock, wire.path(), &body, "cut");
        assert_eq!((reply.status, reply.whole), (200, false));
        let said = streamed(wire, &reply.events());
        let all = format!("image 1: {}", words(1));
        assert!(!said.is_empty() && all.starts_with(&said) && said != all, "{said}");
    }
}

#[test]
fn nothing_and_always_the_same() {
    let mock = start();
    for wire in WIRES {
        let reply = misbehave(&mock, wire.path(), &wire.shows(&[chart(1)]), "empty");
        assert_eq!((reply.status, &*reply.text), (200, ""));
        let reply = misbehave(&mock, wire.path(), &wire.shows(&[chart(1)]), "constant");
        assert!(reply.text.contains("The picture shows a bar chart"), "{}", reply.text);
    }
}

#[test]
fn answers_are_made_up() {
    let mock = start();
    for wire in WIRES {
        let mut body = wire.shows(&[chart(1)]);
        let ask = "The picture is a grid of 3 rows and 3 columns.";
        let list = if wire == Wire::Responses { "input" } else { "messages" };
        body[list][0]["content"].as_array_mut().unwrap().push(wire.text(ask));
        let said = |reply: &str| photic_mock::chart::colors(reply);
        let one = misbehave(&mock, wire.path(), &body, "guess").text;
        let other = misbehave(&mock, wire.path(), &body, "guess").text;
        assert_eq!((said(&one).len(), said(&other).len()), (9, 9), "{one}");
        assert_ne!(said(&one), said(&other));
    }
}

#[test]
fn told_once_for_all_requests_or_together() {
    let misbehave_always = vec![Misbehavior::DropImages];
    let mock = Mock::start(Options { misbehave: misbehave_always, ..Default::default() }).unwrap();
    let reply = post(&mock, Wire::Chat.path(), &Wire::Chat.shows(&[chart(1)]));
    assert!(reply.text.contains("I see no image."));
    let reply = misbehave(&mock, Wire::Chat.path(), &Wire::Chat.shows(&[]), "constant, 429");
    assert_eq!(reply.status, 429);
    assert_eq!(mock.journal().last().unwrap().misbehaved, ["constant", "429", "drop-images"]);
    let reply = misbehave(&mock, Wire::Chat.path(), &Wire::Chat.shows(&[]), "nap");
    assert!(reply.text.contains("`nap` is not one of ignore-tool-images"), "{}", reply.text);
}
