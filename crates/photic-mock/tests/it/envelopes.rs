//! Clouds that wrap the Messages API, and hosts that serve a wire behind a prefix.

use serde_json::json;

use crate::bodies::{WIRES, Wire, chart, words};
use crate::client::{post, start};
use crate::routes::streamed;

#[test]
fn wrapped_bodies_are_read_like_plain_ones() {
    let mock = start();
    let right = format!("image 1: {}", words(3));
    let mut body = Wire::Messages.shows(&[chart(3)]);
    let model = body["model"].as_str().unwrap().to_owned();
    body.as_object_mut().unwrap().remove("model");
    body["anthropic_version"] = json!("bedrock-2023-05-31");
    let reply = post(&mock, &format!("/model/{model}/invoke"), &body);
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!(reply.json()["content"][0]["text"], right.as_str());
    assert_eq!(reply.json()["model"], model.as_str());
    let vertex = "/v1/projects/p/locations/r/publishers/anthropic/models";
    let reply = post(&mock, &format!("{vertex}/{model}:rawPredict"), &body);
    assert_eq!(reply.json()["content"][0]["text"], right.as_str());
    body["stream"] = json!(true);
    let reply = post(&mock, &format!("{vertex}/{model}:streamRawPredict"), &body);
    assert_eq!(streamed(Wire::Messages, &reply.events()), right);
}

#[test]
fn a_body_that_does_not_fit_its_envelope_is_refused() {
    let mock = start();
    let body = Wire::Messages.shows(&[chart(3)]);
    let reply = post(&mock, "/model/m/invoke", &body);
    assert_eq!(reply.status, 400, "{}", reply.text);
    let mut body = body.clone();
    body["anthropic_version"] = json!("bedrock-2023-05-31");
    let reply = post(&mock, "/model/m/invoke", &body);
    assert!(reply.text.contains("model: Extra inputs are not permitted"), "{}", reply.text);
}

#[test]
fn a_prefix_does_not_matter() {
    let mock = start();
    for wire in WIRES {
        let body = wire.shows(&[chart(4)]);
        for prefix in ["/anthropic", "/openai", "/api", "/openai/deployments/d"] {
            let reply = post(&mock, &format!("{prefix}{}", wire.path()), &body);
            assert_eq!(reply.status, 200, "{prefix} {wire:?}: {}", reply.text);
            assert!(reply.text.contains(&words(4)), "{prefix} {wire:?}");
        }
    }
}
