//! Frames that the upstream rejects are healed, and the client sees no error.

use photic::profile::Limits;
use photic_mock::{Chart, Options};
use photic_net::websocket::{Kind, Part};
use photic_testkit::image;
use serde_json::{Value, json};

use super::client::{SocketClient, chart, create, id, mock, named, picture, said, user};
use super::peer::{self, Peer};
use crate::gateway;
use crate::healing::LessonsFile;

fn limited(limits: Limits) -> Options {
    Options { limits: Some(limits), ..Options::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_continuation_is_healed_with_the_whole_conversation() {
    let kept = LessonsFile::new("socket-continued");
    let provider = mock(limited(Limits { edge: Some(300), ..Limits::default() }));
    let gateway = gateway(provider.address(), &kept.settings()).await;
    let mut client = SocketClient::open(gateway).await;
    let warm = client.turn(&create(json!({"input": [], "generate": false}))).await;
    let first = json!({"previous_response_id": id(&warm), "input": [user(json!("hello"))]});
    let first = client.turn(&create(first)).await;
    let shows = json!({"previous_response_id": id(&first), "input": [user(json!([chart(7)]))]});
    let shown = client.turn(&create(shows)).await;
    assert!(said(&shown).contains(&Chart::of(7).words()), "{shown}");
    let statuses: Vec<u16> = provider.journal().iter().map(|entry| entry.status).collect();
    assert_eq!(statuses, [200, 400, 200], "one rejection, one more attempt");
    let whole = provider.journal().pop().unwrap();
    assert_eq!(whole.units.len(), 3, "the question, its answer, and the picture");
    assert_eq!(kept.lessons().len(), 1, "{:?}", kept.lessons());
    // The conversation goes on from the healed response, and the lesson is known.
    let more = json!({"previous_response_id": id(&shown), "input": [user(json!([chart(8)]))]});
    let more = client.turn(&create(more)).await;
    assert!(said(&more).contains(&Chart::of(8).words()), "{more}");
    assert_eq!(provider.journal().len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_picture_in_one_lane_is_withheld_and_other_lanes_go_on() {
    let kept = LessonsFile::new("socket-lanes");
    let provider = mock(Options::default());
    let gateway = gateway(provider.address(), &kept.settings()).await;
    let mut client = SocketClient::open(gateway).await;
    let broken = picture(&image::broken::truncated_png());
    let bad = json!({"stream_id": "bad", "input": [user(json!([chart(1), broken]))]});
    client.send(&create(bad)).await;
    for seed in 2..6 {
        let good = json!({"stream_id": "good", "input": [user(json!([chart(seed)]))]});
        client.send(&create(good)).await;
    }
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    while good.len() + bad.len() < 5 {
        let ended = client.ended().await;
        let lane = if ended["stream_id"] == "bad" { &mut bad } else { &mut good };
        lane.push(said(&ended).to_owned());
    }
    assert_eq!(good, (2..6).map(named).collect::<Vec<_>>());
    assert_eq!(bad, [named(1)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_are_counted_over_the_whole_lane() {
    let kept = LessonsFile::new("socket-count");
    let provider = mock(limited(Limits { images: Some(2), ..Limits::default() }));
    let gateway = gateway(provider.address(), &kept.settings()).await;
    let mut client = SocketClient::open(gateway).await;
    let mut previous = json!(null);
    for seed in 1..=5 {
        let frame =
            json!({"previous_response_id": previous, "input": [user(json!([chart(seed)]))]});
        let ended = client.turn(&create(frame)).await;
        assert!(said(&ended).contains(&Chart::of(seed).words()), "{ended}");
        previous = id(&ended);
    }
    let rejected = provider.journal().iter().filter(|entry| entry.status != 200).count();
    assert_eq!(rejected, 1, "the limit is learned once, and then kept to");
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_about_something_else_are_passed_on() {
    let kept = LessonsFile::new("socket-other");
    let provider = mock(Options::default());
    let gateway = gateway(provider.address(), &kept.settings()).await;
    let mut client = SocketClient::open(gateway).await;
    let frame = json!({"previous_response_id": "resp_x", "input": [user(json!([chart(1)]))]});
    let ended = client.turn(&create(frame)).await;
    assert_eq!(ended["error"]["code"], "previous_response_not_found", "{ended}");
    let ended = client.turn(&create(json!({"input": [user(json!([chart(1)]))]}))).await;
    assert_eq!(said(&ended), named(1));
}

/// Rejects the first frame for its picture, and accepts every other. A response has the name of its
/// user.
async fn rejecting_first(mut peer: Peer) {
    let (mut message, mut is_first) = (Vec::new(), true);
    while let Ok(part) = peer.reader.next().await {
        let Part::Data { bytes, is_last, .. } = part else { continue };
        message.extend_from_slice(&bytes);
        if !is_last {
            continue;
        }
        let frame: Value = serde_json::from_slice(&std::mem::take(&mut message)).unwrap();
        let replies = if std::mem::take(&mut is_first) {
            let says = "At least one of the image dimensions exceed max allowed size: 300 pixels";
            vec![json!({"type": "error", "status": 400, "error": {"message": says}})]
        } else {
            let response = json!({"id": frame["user"], "output": []});
            ["response.created", "response.completed"]
                .map(|kind| json!({"type": kind, "response": response}))
                .to_vec()
        };
        for reply in replies {
            let _ = peer.writer.message(Kind::Text, &[reply.to_string().into()]).await;
        }
    }
}

/// The first frame is rejected while the second is read. It is sent again before the second, or not at
/// all if the second is on its way.
#[tokio::test(flavor = "multi_thread")]
async fn no_frame_overtakes_one_of_its_lane_that_is_healed() {
    let (address, _) = peer::start(rejecting_first).await;
    let large = picture(&image::png_noise(600, 600, 3));
    for round in 0..12 {
        let kept = LessonsFile::new(&format!("socket-order-{round}"));
        let gateway = gateway(address, &kept.settings()).await;
        let mut client = SocketClient::open(gateway).await;
        for name in ["first", "second"] {
            let frame = json!({"user": name, "input": [user(json!([large]))]});
            client.send(&create(frame)).await;
        }
        let (first, second) = (client.ended().await, client.ended().await);
        assert!(first["type"] == "error" || id(&first) == "first", "{first}");
        assert_eq!(id(&second), "second", "{second}");
    }
}
