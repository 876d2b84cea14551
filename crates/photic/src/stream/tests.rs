//! A stream of each wire, as its provider documents it, to each other wire.

use serde_json::Value;

use super::*;

const CHAT: &str = include_str!("../../tests/data/streams/openai-chat.sse");
const RESPONSES: &str = include_str!("../../tests/data/streams/openai-responses.sse");
const MESSAGES: &str = include_str!("../../tests/data/streams/anthropic.sse");

fn recorded(wire: Wire) -> &'static str {
    match wire {
        Wire::OpenAiChat => CHAT,
        Wire::OpenAiResponses => RESPONSES,
        Wire::Anthropic => MESSAGES,
    }
}

fn translated(from: Wire, to: Wire, stream: &str, size: usize) -> String {
    let mut translator = Translator::new(from, to);
    let mut out = Vec::new();
    for piece in stream.as_bytes().chunks(size) {
        out.extend(translator.push(piece));
    }
    out.extend(translator.finish());
    String::from_utf8(out).unwrap()
}

fn events(stream: &str) -> Vec<Value> {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// What a client makes of a stream: words, calls with their arguments, why it ended, tokens.
#[derive(Debug, Default, PartialEq)]
struct Told {
    words: String,
    calls: Vec<(String, String, String)>,
    stop: Option<Stop>,
    input: u64,
    output: u64,
}

fn told(wire: Wire, stream: &str) -> Told {
    let mut told = Told::default();
    let mut lift: Box<dyn LiftStream> = match wire {
        Wire::OpenAiChat => Box::new(openai_chat::StreamLift::default()),
        Wire::OpenAiResponses => Box::new(openai_responses::StreamLift::default()),
        Wire::Anthropic => Box::new(anthropic::StreamLift::default()),
    };
    for event in events(stream) {
        let text = event.to_string();
        let doc = Doc::parse(text.as_bytes()).unwrap();
        lift.lift(doc.root().unwrap(), &mut |event| match event {
            Event::Text(words) => told.words += &words.decode(),
            Event::Call { id, name } => {
                told.calls.push((id.decode().into(), name.decode().into(), String::new()));
            }
            Event::Arguments { call, piece } => told.calls[call].2 += &piece.decode(),
            Event::Usage(usage) => (told.input, told.output) = (usage.input, usage.output),
            Event::Stop(stop) => told.stop = Some(stop),
            Event::Failure { message, .. } => panic!("{}", message.decode()),
            Event::Begin(_) | Event::End => {}
        });
    }
    told
}

#[test]
fn a_client_of_any_wire_is_told_the_same() {
    for from in Wire::ALL {
        let original = told(from, recorded(from));
        assert!(!original.words.is_empty() && original.calls.len() == 2, "{from}: {original:?}");
        assert!(original.input > 0 && original.output > 0, "{from}");
        for (.., arguments) in &original.calls {
            assert!(serde_json::from_str::<Value>(arguments).is_ok(), "{from}: {arguments}");
        }
        for to in Wire::ALL {
            let stream = translated(from, to, recorded(from), usize::MAX);
            assert_eq!(told(to, &stream), original, "{from} to {to}:\n{stream}");
        }
    }
}

#[test]
fn it_does_not_matter_how_the_bytes_arrive() {
    for from in Wire::ALL {
        for to in Wire::ALL {
            let whole = translated(from, to, recorded(from), usize::MAX);
            for size in [1, 7, 100] {
                assert_eq!(translated(from, to, recorded(from), size), whole, "{from} to {to}");
            }
        }
    }
}

#[test]
fn words_go_out_when_they_come_in() {
    for from in Wire::ALL {
        for to in Wire::ALL {
            let mut translator = Translator::new(from, to);
            for event in recorded(from).split_inclusive("\n\n") {
                let out = String::from_utf8(translator.push(event.as_bytes())).unwrap();
                assert_eq!(
                    told(to, &out).words,
                    told(from, event).words,
                    "{from} to {to}: {event}"
                );
            }
        }
    }
}

#[test]
fn blocks_open_and_close_one_after_another() {
    for from in [Wire::OpenAiChat, Wire::OpenAiResponses] {
        let stream = translated(from, Wire::Anthropic, recorded(from), 64);
        let (mut open, mut next) = (None, 0);
        for event in events(&stream) {
            match event["type"].as_str().unwrap() {
                "content_block_start" => {
                    assert_eq!((open, event["index"].as_u64()), (None, Some(next)));
                    open = Some(next);
                    next += 1;
                }
                "content_block_delta" => assert_eq!(event["index"].as_u64(), open),
                "content_block_stop" => assert_eq!(event["index"].as_u64(), open.take()),
                _ => {}
            }
        }
        assert_eq!((open, next), (None, 3), "{stream}");
        let named = stream.lines().filter_map(|line| line.strip_prefix("event: "));
        assert!(named.eq(events(&stream).iter().map(|event| event["type"].as_str().unwrap())));
    }
}

#[test]
fn a_response_ends_with_all_of_it() {
    for from in [Wire::OpenAiChat, Wire::Anthropic] {
        let events = events(&translated(from, Wire::OpenAiResponses, recorded(from), 50));
        for (number, event) in events.iter().enumerate() {
            assert_eq!(event["sequence_number"], number);
        }
        let last = events.last().unwrap();
        assert_eq!(last["type"], "response.completed");
        let output = last["response"]["output"].as_array().unwrap();
        let told = told(from, recorded(from));
        assert_eq!(output[0]["content"][0]["text"], told.words);
        let calls = output[1..].iter().map(|item| item["arguments"].as_str().unwrap());
        assert!(calls.eq(told.calls.iter().map(|(.., arguments)| arguments)));
    }
}

#[test]
fn a_stream_that_breaks_off_says_so() {
    for from in Wire::ALL {
        let half = &recorded(from)[..recorded(from).len() / 3];
        for to in Wire::ALL {
            let stream = translated(from, to, half, 100);
            assert!(stream.contains("broke off"), "{from} to {to}:\n{stream}");
            assert!(!stream.contains("[DONE]") && !stream.contains("message_stop"), "{stream}");
        }
    }
}

#[test]
fn errors_are_translated_and_end_it() {
    let stream = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\
                  \"message\":\"Overloaded\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    let chat = translated(Wire::Anthropic, Wire::OpenAiChat, stream, 10);
    let told = events(&chat);
    assert_eq!(told.len(), 1, "{chat}");
    assert_eq!(told[0]["error"]["type"], "overloaded_error");
    assert!(!chat.contains("[DONE]"));
}

#[test]
fn an_end_without_a_word_is_an_end() {
    let stop = "data: {\"id\":\"x\",\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}";
    let stream = translated(Wire::OpenAiChat, Wire::Anthropic, stop, 9);
    assert!(stream.ends_with("data: {\"type\":\"message_stop\"}\n\n"), "{stream}");
}
