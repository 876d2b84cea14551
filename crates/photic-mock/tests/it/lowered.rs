//! The two sides meet: what the provider turns down or cannot see, it sees once `photic` lowered
//! it.

use photic::{Policy, Wire as PhoticWire};
use photic_testkit::image;
use serde_json::{Value, json};

use crate::bodies::{WIRES, Wire, chart, user, words};
use crate::client::{post, start};

fn lowered(from: Wire, to: Wire, body: &Value) -> Value {
    let wire = |wire: Wire| PhoticWire::from_name(wire.name()).unwrap();
    let body = body.to_string();
    let (transcript, _) = photic::lift(wire(from), body.as_bytes());
    let profile = photic::profile::resolve(wire(to), Some(to.model()), None);
    let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
    let mut lowered: Value =
        serde_json::from_slice(&photic::lower(&transcript, &plan).body.to_vec()).unwrap();
    // The caller that forwards the request names the model.
    lowered["model"] = json!(to.model());
    lowered
}

#[test]
fn tool_images_are_seen_on_every_wire_whatever_form_they_came_in() {
    let mock = start();
    let (kind, bytes) = chart(4);
    let data = image::base64(&bytes);
    let texts = [
        image::data_url(kind, &bytes),
        json!([{"type": "image", "data": data, "mimeType": kind}]).to_string(),
        json!({"width": 384, "screenshot": data}).to_string(),
    ];
    for from in WIRES {
        let mut results = vec![vec![from.text("two"), from.image(kind, &bytes)]];
        results.extend(texts.iter().map(|text| vec![from.text(text)]));
        for to in WIRES {
            for parts in &results {
                let mut list = from.used_tool(parts.clone());
                let right = format!("image 1: {}", words(4));
                let body = lowered(from, to, &from.request(list.clone()));
                let reply = post(&mock, to.path(), &body);
                assert!(reply.text.contains(&right), "{from:?} {to:?} {}", reply.text);
                // With the tool at hand, what was lowered does not look like a new question.
                let mut body = from.request(list.clone());
                body["tools"] = json!([from.tool("look")]);
                let reply = post(&mock, to.path(), &lowered(from, to, &body));
                assert!(reply.text.contains(&right), "{from:?} {to:?} {}", reply.text);
                // The next turn begins with what the turn before sent.
                let before = mock.journal().pop().unwrap().units;
                list.push(json!({"role": "assistant", "content": "A chart."}));
                list.push(user(vec![from.text("And now?")]));
                let mut body = from.request(list);
                body["tools"] = json!([from.tool("look")]);
                let reply = post(&mock, to.path(), &lowered(from, to, &body));
                assert!(reply.text.contains(&right), "{from:?} {to:?} {}", reply.text);
                let after = mock.journal().pop().unwrap().units;
                assert_eq!(before, after[..before.len()], "{from:?} {to:?}");
            }
        }
    }
}
