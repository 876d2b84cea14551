//! Streamed replies: from every wire to every wire, however the bytes are cut.

use photic::{Stream, Wire};
use serde_json::{Value, json};

/// A reply of some words, two calls side by side, and a bill, as Chat Completions streams it.
fn chat() -> Vec<u8> {
    let chunk = |delta: Value, finish: Value| {
        json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 7, "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    };
    let call = |index: u64, id: &str, name: &str| {
        json!({"tool_calls": [{"index": index, "id": id, "type": "function",
            "function": {"name": name, "arguments": ""}}]})
    };
    let arguments = |index: u64, text: &str| json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]});
    let mut chunks = vec![
        chunk(json!({"role": "assistant", "content": ""}), Value::Null),
        chunk(json!({"content": "Let me \"look\"\n"}), Value::Null),
        chunk(json!({"content": "at both: é 界 🙂"}), Value::Null),
        chunk(call(0, "call_a", "shot"), Value::Null),
        chunk(arguments(0, "{\"full\":"), Value::Null),
        chunk(arguments(0, "true}"), Value::Null),
        chunk(call(1, "call_b", "shot"), Value::Null),
        chunk(arguments(1, "{\"name\":\"a \\\"b\\\"\"}"), Value::Null),
        chunk(json!({}), json!("tool_calls")),
    ];
    chunks.push(json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 7,
        "model": "m", "choices": [], "usage": {"prompt_tokens": 120, "completion_tokens": 30,
        "total_tokens": 150, "prompt_tokens_details": {"cached_tokens": 100}}}));
    let mut stream: String =
        chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect::<Vec<_>>().concat();
    stream.push_str("data: [DONE]\n\n");
    stream.into_bytes()
}

fn convert(from: Wire, to: Wire, stream: &[u8], chunk: usize) -> Vec<u8> {
    let mut way = Stream::with_usage(from, to);
    let mut out: Vec<u8> = stream.chunks(chunk).flat_map(|bytes| way.feed(bytes)).collect();
    out.extend(way.finish());
    assert!(way.is_over());
    out
}

/// The data of all events.
fn events(stream: &[u8]) -> Vec<Value> {
    let text = String::from_utf8(stream.to_vec()).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// What a client of Chat Completions puts together from a stream.
fn gathered(stream: &[u8]) -> Value {
    let mut text = String::new();
    let mut calls: Vec<(String, String, String)> = Vec::new();
    let (mut finish, mut usage) = (Value::Null, Value::Null);
    for event in events(stream) {
        let choice = &event["choices"][0];
        text.push_str(choice["delta"]["content"].as_str().unwrap_or(""));
        for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let index = usize::try_from(call["index"].as_u64().unwrap()).unwrap();
            let part = |value: &Value| value.as_str().unwrap_or("").to_owned();
            if index == calls.len() {
                calls.push((part(&call["id"]), part(&call["function"]["name"]), String::new()));
            }
            calls[index].2.push_str(&part(&call["function"]["arguments"]));
        }
        if !choice["finish_reason"].is_null() {
            finish = choice["finish_reason"].clone();
        }
        if !event["usage"].is_null() {
            let of = |name: &str| event["usage"][name].clone();
            usage = json!([
                of("prompt_tokens"),
                of("completion_tokens"),
                event["usage"]["prompt_tokens_details"]["cached_tokens"]
            ]);
        }
    }
    json!({"text": text, "calls": calls, "finish": finish, "usage": usage})
}

#[test]
fn a_reply_survives_every_way_between_wires() {
    let original = chat();
    let wanted = gathered(&original);
    assert_eq!(wanted["finish"], "tool_calls");
    for there in Wire::ALL {
        for further in Wire::ALL {
            let first = convert(Wire::OpenAiChat, there, &original, usize::MAX);
            let second = convert(there, further, &first, usize::MAX);
            let back = convert(further, Wire::OpenAiChat, &second, usize::MAX);
            let mut wanted = wanted.clone();
            if there == Wire::Ollama || further == Wire::Ollama {
                // It has no word for what came from a cache.
                wanted["usage"][2] = json!(0);
            }
            assert_eq!(gathered(&back), wanted, "by {there} and {further}");
        }
    }
}

#[test]
fn the_bytes_may_be_cut_anywhere() {
    for from in Wire::ALL {
        let stream = convert(Wire::OpenAiChat, from, &chat(), usize::MAX);
        for to in Wire::ALL {
            let whole = convert(from, to, &stream, usize::MAX);
            for size in [1, 2, 3, 7, 64, 1000] {
                assert_eq!(convert(from, to, &stream, size), whole, "{from} → {to} by {size}");
            }
        }
    }
}

#[test]
fn what_came_in_goes_out_at_once() {
    let stream = chat();
    let text = String::from_utf8(stream).unwrap();
    for to in Wire::ALL {
        let mut way = Stream::new(Wire::OpenAiChat, to);
        let mut seen = 0;
        for event in text.split_inclusive("\n\n").take(8) {
            let out = way.feed(event.as_bytes());
            seen += usize::from(!out.is_empty());
        }
        let wanted = match to {
            Wire::OpenAiChat | Wire::OpenAiResponses | Wire::Anthropic | Wire::BedrockConverse => 8,
            // Only words: their beginning has no event, and a call is told when it is whole.
            Wire::Gemini | Wire::Ollama => 2,
            _ => unreachable!("only the six wires are tested here"),
        };
        assert_eq!(seen, wanted, "{to} held something back");
    }
}

#[test]
fn messages_are_told_in_the_order_that_its_clients_rely_on() {
    let out = convert(Wire::OpenAiChat, Wire::Anthropic, &chat(), usize::MAX);
    let kinds: Vec<String> =
        events(&out).iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect();
    let block = |deltas: usize| {
        let mut kinds = vec!["content_block_start"];
        kinds.extend(std::iter::repeat_n("content_block_delta", deltas));
        kinds.push("content_block_stop");
        kinds
    };
    let wanted = [
        vec!["message_start"],
        block(2),
        block(2),
        block(1),
        vec!["message_delta", "message_stop"],
    ];
    assert_eq!(kinds, wanted.concat());
}

#[test]
fn responses_end_with_the_whole_response() {
    let out = convert(Wire::OpenAiChat, Wire::OpenAiResponses, &chat(), usize::MAX);
    let events = events(&out);
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number);
    }
    let last = events.last().unwrap();
    assert_eq!(last["type"], "response.completed");
    let output = last["response"]["output"].as_array().unwrap();
    assert_eq!(output.len(), 3);
    assert_eq!(output[0]["content"][0]["text"], "Let me \"look\"\nat both: é 界 🙂");
    assert_eq!(output[1]["arguments"], "{\"full\":true}");
    assert_eq!(output[2]["call_id"], "call_b");
    assert_eq!(last["response"]["usage"]["input_tokens"], 120);
}

#[test]
fn a_stream_that_ends_early_says_so_in_the_words_of_its_reader() {
    let stream = chat();
    for (to, word) in [
        (Wire::OpenAiChat, "\"error\":{"),
        (Wire::OpenAiResponses, "\"type\":\"error\""),
        (Wire::Anthropic, "event: error"),
        (Wire::Gemini, "\"error\":{\"code\":500"),
        (Wire::BedrockConverse, "internalServerException"),
        (Wire::Ollama, "{\"error\":"),
    ] {
        let half = convert(Wire::OpenAiChat, to, &stream[..stream.len() / 2], usize::MAX);
        let text = String::from_utf8_lossy(&half);
        assert!(text.contains(word) && text.contains("ended before"), "{to}: {text}");
    }
    // Some servers stop without the formal end; that is no failure.
    let end = stream.len() - "data: [DONE]\n\n".len();
    let whole = convert(Wire::OpenAiChat, Wire::Anthropic, &stream[..end], usize::MAX);
    assert!(
        String::from_utf8(whole)
            .unwrap()
            .ends_with("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
    );
}

/// An exception of `ConverseStream`; the sums, which nobody asks for, are dots.
const CONVERSE_ERROR: &str = "\0\0\0\x44\0\0\0\x1c....\x0f:exception-type\x07\0\x09throttled{\"message\":\"Overloaded\"}....";

#[test]
fn errors_in_mid_stream_are_errors_on_every_wire() {
    for from in Wire::ALL {
        let error = match from {
            Wire::Anthropic => {
                "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
            }
            Wire::OpenAiChat => {
                "data: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
            }
            Wire::Gemini => {
                "data: {\"error\":{\"code\":503,\"message\":\"Overloaded\",\"status\":\"UNAVAILABLE\"}}\n\n"
            }
            Wire::BedrockConverse => CONVERSE_ERROR,
            Wire::Ollama => "{\"error\":\"Overloaded\"}\n",
            Wire::OpenAiResponses => {
                "event: error\ndata: {\"type\":\"error\",\"code\":\"overloaded_error\",\"message\":\"Overloaded\"}\n\n"
            }
            _ => unreachable!("only the six wires are tested here"),
        };
        for to in Wire::ALL {
            let mut way = Stream::new(from, to);
            let out = way.feed(error.as_bytes());
            let out = String::from_utf8_lossy(&out);
            assert!(out.contains("Overloaded"), "{from} → {to}: {out}");
            assert!(way.is_over() && way.finish().is_empty());
        }
    }
}

#[test]
fn free_text_arguments_become_json() {
    let stream = "data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"model\":\"m\"}}\n\n\
        data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"custom_tool_call\",\"call_id\":\"c\",\"name\":\"patch\"}}\n\n\
        data: {\"type\":\"response.custom_tool_call_input.delta\",\"output_index\":0,\"delta\":\"a \\\"b\\\"\"}\n\n\
        data: {\"type\":\"response.custom_tool_call_input.done\",\"output_index\":0,\"input\":\"a \\\"b\\\"\"}\n\n\
        data: {\"type\":\"response.completed\",\"response\":{\"output\":[]}}\n\n";
    let out = convert(Wire::OpenAiResponses, Wire::OpenAiChat, stream.as_bytes(), usize::MAX);
    let calls = gathered(&out)["calls"].clone();
    assert_eq!(calls, json!([["c", "patch", "{\"input\":\"a \\\"b\\\"\"}"]]));
}

#[test]
fn nonsense_is_no_event() {
    for from in Wire::ALL {
        for to in Wire::ALL {
            let mut way = Stream::with_usage(from, to);
            let out = way.feed(b"data: nonsense\n\ndata: {}\n\ndata: []\n\n: ping\n\nevent: x\n\n");
            // An empty chunk of Chat Completions or Gemini is a beginning; what is no frame is the
            // end of a stream of frames.
            let begins = matches!(from, Wire::OpenAiChat | Wire::Gemini);
            assert!(out.is_empty() || begins || from == Wire::BedrockConverse, "{from} → {to}");
        }
    }
}
