//! What a turn of words costs, with nothing to repair: 2 KB, and 2,000 messages of a long session.
//!
//! `cargo bench -p photic --bench small` prints CPU times stage by stage, medians of interleaved
//! rounds. With `-- --check` it also counts instructions with valgrind, and fails past their limits.
//! No clock decides.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for people")]

mod clock;

use std::fmt::Write as _;
use std::hint::black_box;

use clock::{cpu_nanos, instructions, median};
use photic::{Policy, Profile, Wire};

const ROUNDS: usize = 25;
/// Turns of the long sessions, each of four messages.
const TURNS: usize = 500;
const WORDS: &str = "The agent looked at the screen and decided which button to press next.";
/// What is repaired, for whom, and the instructions that all stages may take: 16,214, and 13.0, 18.0 and
/// 14.5 million when measured (2026-11-19).
const BODIES: [(&str, Wire, &str, u64); 4] = [
    ("2 KB", Wire::OpenAiChat, "gpt-4o", 19_000),
    ("2,000 messages", Wire::OpenAiChat, "gpt-4o", 14_000_000),
    ("2,000 messages", Wire::Anthropic, "claude-opus-5", 18_900_000),
    ("2,000 messages", Wire::OpenAiResponses, "gpt-5.6", 15_200_000),
];

fn main() {
    if let Some((times, work)) = instructions::asked() {
        return repeat(times, &work);
    }
    let check = std::env::args().any(|argument| argument == "--check");
    let mut within = true;
    for (number, (name, wire, model, most)) in BODIES.into_iter().enumerate() {
        let body = body(number);
        let profile = photic::profile::resolve(wire, Some(model), None);
        println!("\n{name}, {wire}: {} bytes; CPU µs each, median of {ROUNDS}", body.len());
        measure(wire, &body, &profile);
        within &= !check || count(number, most);
    }
    assert!(within, "past the limits of instructions");
}

/// Repairs a body so many times: the work that valgrind counts.
fn repeat(times: usize, work: &str) {
    let number = work.parse::<usize>().unwrap();
    let (_, wire, model, _) = BODIES[number];
    let body = body(number);
    let profile = photic::profile::resolve(wire, Some(model), None);
    // What is made once and kept is not counted.
    for _ in 0..=times {
        let (transcript, findings) = photic::lift(wire, black_box(&body));
        let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
        let lowered = photic::lower(&transcript, &plan);
        assert!(lowered.body.is(&body) && lowered.decisions.is_empty() && findings.is_empty());
    }
}

/// Counts the instructions of all stages; whether they are within the limit.
fn count(number: usize, most: u64) -> bool {
    let Some(counted) = instructions::of_one(&number.to_string()) else {
        println!("  not checked: there is no valgrind to count instructions with");
        return true;
    };
    println!("  {counted} instructions, of {most} allowed");
    counted <= most
}

fn measure(wire: Wire, body: &[u8], profile: &Profile) {
    let policy = Policy::default();
    let (transcript, _) = photic::lift(wire, body);
    let plan = photic::plan(photic::survey(&transcript), profile, &policy);
    let times = 4_000_000 / body.len() as u32;
    stage("lift", times, || drop(black_box(photic::lift(wire, black_box(body)))));
    stage("survey", times, || drop(black_box(photic::survey(black_box(&transcript)))));
    stage("survey and plan", times, || {
        drop(black_box(photic::plan(photic::survey(&transcript), profile, &policy)));
    });
    stage("lower", times, || drop(black_box(photic::lower(&transcript, black_box(&plan)))));
}

fn stage(name: &str, times: u32, work: impl Fn()) {
    let mut taken = Vec::new();
    for _ in 0..ROUNDS {
        let start = cpu_nanos();
        (0..times).for_each(|_| work());
        taken.push(cpu_nanos() - start);
    }
    println!("  {name:16} {:10.2}", median(&mut taken) / f64::from(times) / 1000.0);
}

fn body(number: usize) -> Vec<u8> {
    let (_, wire, ..) = BODIES[number];
    if number > 0 {
        return session(wire);
    }
    let words = "Look at the page and say what is wrong with it. ".repeat(40);
    format!("{{\"model\":\"gpt-4o\",\"messages\":[{{\"role\":\"user\",\"content\":\"{words}\"}}]}}")
        .into_bytes()
}

/// Four messages a turn: a question, a call, what was read, an answer.
fn session(wire: Wire) -> Vec<u8> {
    let list = if wire == Wire::OpenAiResponses { "input" } else { "messages" };
    let mut body = format!(r#"{{"model":"m","max_tokens":9,"{list}":["#);
    for turn in 0..TURNS {
        let comma = if turn == 0 { "" } else { "," };
        match wire {
            Wire::Anthropic => write!(
                body,
                r#"{comma}{{"role":"user","content":"{WORDS} {turn}"}},{{"role":"assistant","content":[{{"type":"tool_use","id":"call_{turn}","name":"look","input":{{}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"call_{turn}","content":"{WORDS}"}}]}},{{"role":"assistant","content":"{WORDS}"}}"#
            ),
            Wire::OpenAiResponses => write!(
                body,
                r#"{comma}{{"role":"user","content":"{WORDS} {turn}"}},{{"type":"function_call","call_id":"call_{turn}","name":"look","arguments":"{{}}"}},{{"type":"function_call_output","call_id":"call_{turn}","output":"{WORDS}"}},{{"role":"assistant","content":"{WORDS}"}}"#
            ),
            _ => write!(
                body,
                r#"{comma}{{"role":"user","content":"{WORDS} {turn}"}},{{"role":"assistant","content":"","tool_calls":[{{"id":"call_{turn}","type":"function","function":{{"name":"look","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"call_{turn}","content":"{WORDS}"}},{{"role":"assistant","content":"{WORDS}"}}"#
            ),
        }
        .unwrap();
    }
    body.push_str("]}");
    body.into_bytes()
}
