//! Frames of Responses: repaired, continued, in lanes.

use photic_mock::{Chart, Options};
use photic_net::websocket::Kind;
use photic_testkit::image;
use serde_json::{Value, json};

use super::client::{Received, SocketClient, chart, create, id, mock, named, said, user};
use super::peer;
use crate::caller::{exchange, get};
use crate::gateway;

const SETTINGS: &str = "[policy]\nretention = 'all'";

fn tools() -> Value {
    json!([{"type": "function", "name": "screenshot", "parameters": {"type": "object", "properties": {}}}])
}

/// A conversation as Codex has it: a warm-up, a question, and a tool result with only the new item.
#[tokio::test(flavor = "multi_thread")]
async fn a_picture_in_a_tool_output_frame_is_repaired_and_named() {
    let provider = mock(Options::default());
    let gateway = gateway(provider.address(), SETTINGS).await;
    let mut client = SocketClient::open(gateway).await;
    assert_eq!(client.headers["x-codex-turn-state"], "mock");
    assert_eq!(client.headers["openai-model"], "mock");
    assert_eq!(client.headers["x-reasoning-included"], "false");
    let warm = client.turn(&create(json!({"input": [], "generate": false}))).await;
    let asks = json!({
        "previous_response_id": id(&warm),
        "input": [user(json!("take a screenshot"))],
        "tools": tools(),
    });
    let called = client.turn(&create(asks)).await;
    let call = &called["response"]["output"][0];
    assert_eq!(call["type"], "function_call", "{called}");
    // The picture as text, as some tools return it.
    let data = image::base64(&Chart::of(7).png().unwrap());
    let text = json!([{"type": "image", "data": data, "mimeType": "image/png"}]).to_string();
    let shows = json!({
        "previous_response_id": id(&called),
        "input": [{"type": "function_call_output", "call_id": call["call_id"], "output": text}],
        "tools": tools(),
    });
    let ended = client.turn(&create(shows)).await;
    assert!(said(&ended).contains(&Chart::of(7).words()), "{ended}");
    let page = exchange(gateway, &get("/metrics", "")).await;
    let page = String::from_utf8(page.body).unwrap();
    for line in [
        "photic_sockets_open 1",
        "photic_sockets_total{kind=\"responses\"} 1",
        "photic_socket_frames_total{from=\"client\"} 3",
        "photic_socket_frames_repaired_total 1",
        "photic_requests_total{route=\"conversation\",wire=\"openai-responses\",status=\"2xx\"} 3",
    ] {
        assert!(page.contains(line), "{line} in {page}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_that_are_fine_pass_byte_for_byte() {
    let (address, heads) = peer::start(|mut peer| async move {
        // Returns what it gets.
        let mut message = Vec::new();
        while let Ok(part) = peer.reader.next().await {
            if let photic_net::websocket::Part::Data { kind, bytes, is_last } = part {
                message.extend_from_slice(&bytes);
                if is_last {
                    let whole = std::mem::take(&mut message).into();
                    peer.writer.message(kind, &[whole]).await.unwrap();
                }
            }
        }
    })
    .await;
    let gateway = gateway(address, SETTINGS).await;
    let more = [("x-codex-window-id", "w"), ("openai-beta", "responses_websockets=2026-02-06")];
    let mut client =
        SocketClient::ask(gateway, "/pre/fix/v1/responses?a=b", &more, false).await.unwrap();
    let odd = r#"{ "type" : "response.create", "stream_id":"a.b-1", "unknown": [1 , 2], "input":[ ] , "model":"m" }"#;
    for text in
        [odd, r#"{"type":"response.steer","input":"go"}"#, "{}", "no json", "", "{\"type\":7}"]
    {
        client.send_text(text.to_owned()).await;
        assert_eq!(client.next().await, Received::Message(Kind::Text, text.to_owned().into()));
    }
    client.writer.message(Kind::Binary, &[vec![0_u8, 255].into()]).await.unwrap();
    assert_eq!(client.next().await, Received::Message(Kind::Binary, vec![0_u8, 255].into()));
    let head = heads.lock().unwrap()[0].clone();
    assert!(head.starts_with("GET /pre/fix/v1/responses?a=b HTTP/1.1\r\n"), "{head}");
    for line in ["x-codex-window-id: w", "authorization: Bearer k", &format!("host: {address}")] {
        assert!(head.contains(line), "{line} in {head}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lanes_are_answered_side_by_side_and_each_keeps_its_conversation() {
    let provider = mock(Options::default());
    let gateway = gateway(provider.address(), SETTINGS).await;
    let mut client = SocketClient::open(gateway).await;
    let lanes = ["a", "b", "c"];
    for (seed, lane) in (1..).zip(lanes) {
        let frame = json!({"stream_id": lane, "input": [user(json!([chart(seed)]))]});
        client.send(&create(frame)).await;
    }
    let mut ended = std::collections::BTreeMap::new();
    while ended.len() < 3 {
        let frame = client.ended().await;
        ended.insert(frame["stream_id"].as_str().unwrap().to_owned(), frame);
    }
    for (seed, lane) in (1..).zip(lanes) {
        assert_eq!(said(&ended[lane]), named(seed), "{lane}");
        let more = json!({
            "stream_id": lane,
            "previous_response_id": id(&ended[lane]),
            "input": [user(json!("again"))],
        });
        let next = client.turn(&create(more)).await;
        assert!(said(&next).contains(&Chart::of(seed).words()), "{next}");
    }
}

/// The largest frame that was seen of Codex: a picture of 14.6 MB.
#[tokio::test(flavor = "multi_thread")]
async fn a_frame_of_twenty_megabytes_passes() {
    let provider = mock(Options::default());
    let gateway = gateway(provider.address(), SETTINGS).await;
    let mut client = SocketClient::open(gateway).await;
    let noise = image::png_noise(2400, 2100, 5);
    let picture = super::client::picture(&noise);
    let frame = create(json!({"input": [user(json!([picture, chart(3)]))]}));
    let length = frame.to_string().len();
    assert!(length > 19_500_000, "{length}");
    let ended = client.turn(&frame).await;
    assert!(said(&ended).contains(&Chart::of(3).words()), "{ended}");
}
