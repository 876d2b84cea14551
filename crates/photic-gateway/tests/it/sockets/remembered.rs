//! Conversations that the gateway knows wholly are sent again, and no others.

use photic_net::websocket::{Close, Part};
use photic_testkit::image;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use super::client::{Received, SocketClient, create, id, picture, user};
use super::peer::{self, Peer, PeerHalves};
use crate::gateway;
use crate::healing::LessonsFile;

/// Sends the replies that a frame lists. One that is sent again with its whole conversation may list
/// others.
async fn as_told(mut peer: Peer) {
    while let Some(frame) = peer.frame().await {
        let whole = &frame["replies_to_whole"];
        let is_whole = frame["previous_response_id"].is_null() && whole.is_array();
        let replies = if is_whole { whole } else { &frame["replies"] };
        for reply in replies.as_array().into_iter().flatten() {
            let mut reply = reply.clone();
            // A long text in a reply does not make the frame of the client long.
            if let Some(length) = reply["item"]["text_length"].as_u64() {
                reply["item"]["text"] = "x".repeat(usize::try_from(length).unwrap()).into();
            }
            peer.send(&reply).await;
        }
    }
}

fn created(id: &str) -> Value {
    json!({"type": "response.created", "response": {"id": id}})
}

fn completed(id: &str) -> Value {
    json!({"type": "response.completed", "response": {"id": id, "output": []}})
}

fn rejection() -> Value {
    let says = "At least one of the image dimensions exceed max allowed size: 300 pixels";
    json!({"type": "error", "status": 400, "error": {"message": says}})
}

fn item(item: Value) -> Value {
    let mut frame = json!({"type": "response.output_item.done"});
    frame["item"] = item;
    frame
}

/// Opens a socket of a gateway of its own.
async fn open(name: &str) -> (LessonsFile, SocketClient) {
    let (address, _) = peer::start(as_told).await;
    let kept = LessonsFile::new(&format!("socket-remembered-{name}"));
    let settings = format!("{}\n[limits]\nmemory_mib = 64", kept.settings());
    let gateway = gateway(address, &settings).await;
    (kept, SocketClient::open(gateway).await)
}

/// Continues a response with a picture that is rejected. Returns the last frame: the rejection, or the
/// end of the response if the whole conversation was sent.
async fn continued(client: &mut SocketClient, previous: &str) -> Value {
    let large = picture(&image::png_noise(600, 600, 3));
    let frame = create(json!({
        "previous_response_id": previous,
        "input": [user(json!([large]))],
        "replies": [rejection()],
        "replies_to_whole": [created("whole"), completed("whole")],
    }));
    client.turn(&frame).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_is_not_wholly_known_is_not_sent_again() {
    let message = || item(json!({"type": "message", "content": []}));
    let long = || item(json!({"type": "message", "text_length": 7 << 20}));
    let reasoning = |content: Value| item(json!({"type": "reasoning", "content": content}));
    let text = json!([{"type": "reasoning_text", "text": "so"}]);
    let cases = [
        ("known", json!({}), vec![message(), reasoning(text)], true),
        ("long", json!({}), vec![long(), message()], false),
        ("reasoning", json!({}), vec![reasoning(json!([])), message()], false),
        ("conversation", json!({"conversation": "conv_1"}), vec![message()], false),
    ];
    for (name, members, items, is_known) in cases {
        let (_kept, mut client) = open(name).await;
        let mut first = create(json!({"input": [user(json!("hello"))]}));
        first.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        let replies = [vec![created("r1")], items, vec![completed("r1")]].concat();
        first["replies"] = replies.into();
        assert_eq!(id(&client.turn(&first).await), "r1", "{name}");
        let last = continued(&mut client, "r1").await;
        let expected = if is_known { completed("whole") } else { rejection() };
        assert_eq!(last, expected, "{name}");
    }
}

/// The upstream puts the input of a steer before that of the next frame.
#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_was_steered_is_not_sent_again() {
    for ends_first in [false, true] {
        let (_kept, mut client) = open(&format!("steered-{ends_first}")).await;
        let mut first = create(json!({"input": [user(json!("hello"))]}));
        let mut steer = json!({
            "type": "response.steer",
            "previous_response_id": "r1",
            "input": "and this",
        });
        let pending = json!({"type": "response.steer.pending"});
        if ends_first {
            first["replies"] = json!([created("r1"), completed("r1")]);
            steer["replies"] = json!([pending]);
        } else {
            first["replies"] = json!([created("r1")]);
            steer["replies"] = json!([pending, completed("r1")]);
        }
        client.send(&first).await;
        for expected in first["replies"].as_array().unwrap() {
            assert_eq!(client.frame().await, *expected);
        }
        client.send(&steer).await;
        for expected in steer["replies"].as_array().unwrap() {
            assert_eq!(client.frame().await, *expected);
        }
        assert_eq!(continued(&mut client, "r1").await, rejection(), "{ends_first}");
    }
}

/// An error may end a response, and `response.failed` end it again.
#[tokio::test(flavor = "multi_thread")]
async fn a_response_that_ends_twice_ends_no_other() {
    let (_kept, mut client) = open("twice").await;
    let fails = json!({"type": "error", "status": 500, "error": {"message": "try again"}});
    let failed = json!({"type": "response.failed", "response": {"id": "r1", "output": []}});
    let first = json!({"input": [], "replies": [created("r1"), fails]});
    assert_eq!(client.turn(&create(first)).await, fails);
    // The end of another response comes before the beginning of this one, and after it.
    let replies = [failed.clone(), created("r2"), completed("r0"), completed("r2")];
    client.send(&create(json!({"input": [user(json!("hello"))], "replies": replies}))).await;
    for expected in &replies {
        assert_eq!(client.frame().await, *expected);
    }
    assert_eq!(continued(&mut client, "r2").await, completed("whole"), "r2 is known");
}

/// The rejection and the close come at once, so that the close is read before anything is healed: the
/// gateway has no other thread.
#[tokio::test]
async fn a_rejection_before_a_close_is_told() {
    let (address, _) = peer::start_without_writer(|halves| async move {
        let PeerHalves { mut reader, mut to, .. } = halves;
        while !matches!(reader.next().await, Ok(Part::Data { is_last: true, .. })) {}
        let text = rejection().to_string();
        let length = u8::try_from(text.len()).unwrap();
        assert!(length < 126, "the form for short texts");
        let mut both = vec![0x81, length];
        both.extend(text.as_bytes());
        both.extend([0x88, 2]);
        both.extend(1012_u16.to_be_bytes());
        to.write_all(&both).await.unwrap();
        while reader.next().await.is_ok() {}
    })
    .await;
    let kept = LessonsFile::new("socket-remembered-closed");
    let gateway = gateway(address, &kept.settings()).await;
    let mut client = SocketClient::open(gateway).await;
    let large = picture(&image::png_noise(600, 600, 3));
    client.send(&create(json!({"input": [user(json!([large]))]}))).await;
    assert_eq!(client.frame().await, rejection());
    assert_eq!(client.next().await, Received::Close(Some(Close::new(1012, ""))));
}
