//! What a late turn of a long session costs, stage by stage: 500 turns of an agent that looks at
//! something in each, 2,000 messages, pictures named and not resent.
//!
//! `cargo bench -p photic --bench turn`. CPU time for each message, medians of interleaved rounds.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for people")]

mod clock;

use std::fmt::Write as _;
use std::hint::black_box;

use clock::{cpu_nanos, median};
use photic::{Policy, Wire};

const ROUNDS: usize = 25;
const TURNS: usize = 500;
const WORDS: &str = "The agent looked at the screen and decided which button to press next.";

fn main() {
    println!("CPU ns for each of {} messages, medians of {ROUNDS}", 4 * TURNS);
    println!("{:18} {:>8} {:>8} {:>8} {:>8}", "", "lift", "survey", "plan", "lower");
    for (wire, model) in [
        (Wire::Anthropic, "claude-opus-5"),
        (Wire::OpenAiResponses, "gpt-5.6"),
        (Wire::OpenAiChat, "gpt-4o"),
    ] {
        let profile = photic::profile::resolve(wire, Some(model), None);
        let policy = Policy::default();
        let body = body(wire);
        let mut times = [const { Vec::new() }; 4];
        for _ in 0..ROUNDS {
            let mut stages = times.iter_mut();
            let mut clock = cpu_nanos();
            let mut done = || {
                let now = cpu_nanos();
                stages.next().unwrap().push(now - clock);
                clock = cpu_nanos();
            };
            let (transcript, _) = photic::lift(wire, black_box(&body));
            done();
            let survey = photic::survey(&transcript);
            done();
            let plan = photic::plan(survey, &profile, &policy);
            done();
            black_box(photic::lower(&transcript, &plan));
            done();
        }
        let each = times.map(|mut times| median(&mut times) / (4 * TURNS) as f64);
        println!("{wire:18} {:8.0} {:8.0} {:8.0} {:8.0}", each[0], each[1], each[2], each[3]);
    }
}

/// Four messages a turn: a question, a look, what was seen, an answer.
fn body(wire: Wire) -> Vec<u8> {
    let list = if wire == Wire::OpenAiResponses { "input" } else { "messages" };
    let mut body = format!(r#"{{"model":"m","max_tokens":9,"{list}":["#);
    for turn in 0..TURNS {
        let comma = if turn == 0 { "" } else { "," };
        let url = format!("photic:{turn:032x}");
        match wire {
            Wire::Anthropic => write!(
                body,
                r#"{comma}{{"role":"user","content":"{WORDS} {turn}"}},{{"role":"assistant","content":[{{"type":"tool_use","id":"call_{turn}","name":"look","input":{{}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"call_{turn}","content":[{{"type":"image","source":{{"type":"url","url":"{url}"}}}}]}}]}},{{"role":"assistant","content":"{WORDS}"}}"#
            ),
            Wire::OpenAiResponses => write!(
                body,
                r#"{comma}{{"role":"user","content":"{WORDS} {turn}"}},{{"type":"function_call","call_id":"call_{turn}","name":"look","arguments":"{{}}"}},{{"type":"function_call_output","call_id":"call_{turn}","output":[{{"type":"input_image","image_url":"{url}"}}]}},{{"role":"assistant","content":"{WORDS}"}}"#
            ),
            Wire::OpenAiChat | Wire::Gemini | Wire::BedrockConverse | Wire::Ollama => write!(
                body,
                r#"{comma}{{"role":"user","content":"{WORDS} {turn}"}},{{"role":"assistant","content":"","tool_calls":[{{"id":"call_{turn}","type":"function","function":{{"name":"look","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"call_{turn}","content":[{{"type":"image_url","image_url":{{"url":"{url}"}}}}]}},{{"role":"assistant","content":"{WORDS}"}}"#
            ),
        _ => unreachable!("only the six wires are tested here"),
}
        .unwrap();
    }
    body.push_str("]}");
    body.into_bytes()
}
