//! A tool image is seen by the model for every wire of the client and every wire of the upstream.

use photic::profile::Placement;
use photic::{Policy, Profile, Stream, Wire};
use photic_mock::{Mock, Options};
use photic_testkit::image;
use serde_json::{Value, json};

use crate::caller::{Reply, exchange, post};
use crate::started;

/// An unknown model, so that the profile of the wire applies.
const MODEL: &str = "some-model";

/// Returns a turn in which a tool has returned an image, as a client of the wire sends it.
pub(crate) fn turn(wire: Wire, stream: bool) -> Vec<u8> {
    let call = json!({"id": "call_1", "type": "function",
        "function": {"name": "take", "arguments": "{}"}});
    let shot = image::data_url("image/png", &image::png(300, 200, [200, 10, 20]));
    let chat = json!({"model": MODEL, "stream": stream, "max_completion_tokens": 99, "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is it?"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": [
            {"type": "text", "text": "taken"},
            {"type": "image_url", "image_url": {"url": shot}}]}],
        "tools": [{"type": "function", "function": {"name": "take", "parameters":
            {"type": "object", "properties": {}}}}]});
    let chat = chat.to_string().into_bytes();
    let mut profile = Profile::generic(wire);
    // In the tool result, as clients send it that know nothing about placements.
    profile.placement.image = Placement::Native;
    let (transcript, _) = photic::lift(Wire::OpenAiChat, &chat);
    let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::hands_off());
    photic::lower(&transcript, &plan).body.to_vec()
}

pub(crate) fn path(wire: Wire, stream: bool) -> String {
    match (wire, stream) {
        (Wire::OpenAiChat, _) => "/v1/chat/completions".to_owned(),
        (Wire::OpenAiResponses, _) => "/v1/responses".to_owned(),
        (Wire::Anthropic, _) => "/v1/messages".to_owned(),
        (Wire::Gemini, false) => format!("/v1beta/models/{MODEL}:generateContent"),
        (Wire::Gemini, true) => format!("/v1beta/models/{MODEL}:streamGenerateContent?alt=sse"),
        (Wire::BedrockConverse, false) => format!("/model/{MODEL}/converse"),
        (Wire::BedrockConverse, true) => format!("/model/{MODEL}/converse-stream"),
        (Wire::Ollama, _) => "/api/chat".to_owned(),
        _ => unreachable!("only the six wires are tested here"),
    }
}

/// Returns the text of a reply, read as by a client of the wire.
fn said(wire: Wire, stream: bool, reply: &Reply) -> String {
    if !stream {
        let lifted = photic::lift_reply(wire, &reply.body);
        let chat = photic::lower_reply(&lifted, Wire::OpenAiChat).to_vec();
        let chat: Value = serde_json::from_slice(&chat).unwrap();
        return chat["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned();
    }
    let mut events = Stream::with_usage(wire, Wire::OpenAiChat);
    let chat = [events.feed(&reply.body), events.finish()].concat();
    let chat = String::from_utf8(chat).unwrap();
    let data = chat.lines().filter_map(|line| line.strip_prefix("data: {"));
    let chunks = data.map(|rest| serde_json::from_str::<Value>(&format!("{{{rest}")).unwrap());
    let words = chunks.map(|chunk| {
        assert!(chunk["error"].is_null(), "{chunk}");
        chunk["choices"][0]["delta"]["content"].as_str().unwrap_or_default().to_owned()
    });
    words.collect()
}

/// Starts a provider that speaks one wire. It runs on its own threads, and is started and dropped on
/// a blocking thread.
async fn provider(wire: Wire) -> Mock {
    let options = Options { wires: vec![wire], ..Options::default() };
    tokio::task::spawn_blocking(|| Mock::start(options).unwrap()).await.unwrap()
}

async fn crossed(caller: Wire, upstream: Wire) {
    let mock = provider(upstream).await;
    let settings =
        format!("[[upstream]]\nurl='http://{}'\nwire='{upstream}'\nmodels=['*']", mock.address());
    let gateway = started(&settings).await;
    for stream in [false, true] {
        let key = match caller {
            Wire::Anthropic => "x-api-key: k\r\nanthropic-version: 2023-06-01\r\n",
            Wire::Gemini => "x-goog-api-key: k\r\n",
            _ => "authorization: Bearer k\r\n",
        };
        let request = post(&path(caller, stream), key, &turn(caller, stream));
        let reply = exchange(gateway, &request).await;
        let text = String::from_utf8_lossy(&reply.body);
        assert_eq!(reply.status, 200, "{caller} → {upstream}: {text}");
        assert!(reply.complete);
        let said = said(caller, stream, &reply);
        assert_eq!(said, "image 1: not a chart", "{caller} → {upstream}, {stream}: {text}");
    }
    tokio::task::spawn_blocking(move || drop(mock)).await.unwrap();
}

/// A client that does not ask for events gets one array, from upstreams of every wire.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_may_be_an_array() {
    for upstream in [Wire::Anthropic, Wire::Ollama] {
        let mock = provider(upstream).await;
        let address = mock.address();
        let settings =
            format!("[[upstream]]\nurl='http://{address}'\nwire='{upstream}'\nmodels=['*']");
        let gateway = started(&settings).await;
        let path = format!("/v1beta/models/{MODEL}:streamGenerateContent");
        let request = post(&path, "x-goog-api-key: k\r\n", &turn(Wire::Gemini, true));
        let reply = exchange(gateway, &request).await;
        let chunks: Vec<Value> = serde_json::from_slice(&reply.body).unwrap();
        assert!(chunks.len() > 2, "{chunks:?}");
        let words = chunks
            .iter()
            .filter_map(|chunk| chunk["candidates"][0]["content"]["parts"][0]["text"].as_str());
        assert_eq!(words.collect::<String>(), "image 1: not a chart");
        tokio::task::spawn_blocking(move || drop(mock)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_is_seen_between_every_two_wires() {
    for caller in Wire::ALL {
        for upstream in Wire::ALL {
            crossed(caller, upstream).await;
        }
    }
}
