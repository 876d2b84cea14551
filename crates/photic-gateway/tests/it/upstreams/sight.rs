//! Failover across wires keeps pictures in sight: the provider that answers names the chart.

use photic_mock::{Chart, Options};
use serde_json::Value;

use super::{status, upstream};
use crate::caller::{Reply, exchange, post};
use crate::healing::{Wire, chart};
use crate::poisoned::{KEYS, Recorded};
use crate::scripted::Upstream;
use crate::started;

use Wire::{Chat, Messages, Responses};

/// Returns the text of an answer.
fn words(wire: Wire, reply: &Reply) -> String {
    let json = reply.json();
    let text: &Value = match wire {
        Chat => &json["choices"][0]["message"]["content"],
        Responses => &json["output"][0]["content"][0]["text"],
        Messages => &json["content"][0]["text"],
    };
    text.as_str().unwrap_or_else(|| panic!("{json}")).to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_upstream_that_answers_sees_the_picture() {
    let recorded = Recorded::start(Options::default()).await;
    let (broken, _) = Upstream::start(|_| status("500 Internal Server Error", "")).await;
    for (seed, wire) in [(1, Chat), (2, Messages), (3, Responses)] {
        for (first, second) in [
            ("openai-chat", "anthropic"),
            ("anthropic", "openai-chat"),
            ("gemini", "openai-responses"),
        ] {
            let text = [
                upstream("broken", broken, &format!("wire = '{first}'\nkey = 'k'")),
                upstream("sound", recorded.address, &format!("wire = '{second}'\nkey = 'k'")),
                "[[model]]\nname = '*'\nupstreams = ['broken', 'sound']\n".to_owned(),
            ];
            let gateway = started(&text.concat()).await;
            let body = wire.returned(&[chart(wire, seed)]).to_string();
            let reply = exchange(gateway, &post(wire.path(), KEYS, body.as_bytes())).await;
            assert_eq!(reply.status, 200, "{wire:?} by {second}: {}", reply.json());
            let said = reply.header("x-photic-upstream").unwrap();
            assert_eq!(said, "sound; failed=\"broken:server_error\"");
            let answer = words(wire, &reply);
            assert!(answer.contains(&Chart::of(seed).words()), "{wire:?} by {second}: {answer}");
            let entry = recorded.mock.journal().pop().unwrap();
            assert!(entry.violations.is_empty(), "{wire:?} by {second}: {:?}", entry.violations);
        }
    }
}
