//! What surveying and planning a long conversation costs, and how that grows with its length.
//!
//! `cargo bench -p photic --bench plan` prints CPU times, medians of interleaved rounds. With
//! `-- --check` it also counts instructions with valgrind, and fails past their limits. No clock decides.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for people")]

mod clock;

use std::fmt::Write as _;
use std::hint::black_box;

use clock::{cpu_nanos, instructions, median};
use photic::{Policy, Profile, Wire};

const ROUNDS: usize = 31;
/// Messages of the conversations, shortest first.
const LENGTHS: [usize; 4] = [250, 500, 1000, 2000];
/// Images of the longest one; the others have as many for their length.
const IMAGES: usize = 700;
/// The claim for the longest one, printed beside what was measured.
const CLAIMED_MILLIS: f64 = 5.0;
/// Instructions for each image of the longest one: 76,000 to 83,000 when measured (2026-11-18).
const MAX_INSTRUCTIONS: u64 = 105_000;
/// Instructions for twice the length, against those for the length.
const MAX_GROWTH: f64 = 2.2;
/// What is planned, and for whom. The last takes eight images at the most: nearly all of them must go.
const SETTINGS: [(Wire, &str); 4] = [
    (Wire::Anthropic, "claude-opus-5"),
    (Wire::OpenAiResponses, "gpt-5.6"),
    (Wire::OpenAiChat, "gpt-4o"),
    (Wire::OpenAiChat, "mistral-medium-3"),
];

fn main() {
    if let Some((times, work)) = instructions::asked() {
        return repeat(times, &work);
    }
    let check = std::env::args().any(|argument| argument == "--check");
    let mut within = true;
    for (wire, model) in SETTINGS {
        let profile = photic::profile::resolve(wire, Some(model), None);
        println!("\n{wire}, {}: {IMAGES} images in {} messages", profile.id, LENGTHS[3]);
        measure(&profile);
        within &= !check || count(wire, model);
    }
    assert!(
        within,
        "past the limits: {MAX_INSTRUCTIONS} instructions for an image, or {MAX_GROWTH} times for twice the length"
    );
}

/// Plans a conversation so many times: the work that valgrind counts.
fn repeat(times: usize, work: &str) {
    let (setting, messages) = work.split_once('/').unwrap();
    let (wire, model) = SETTINGS[setting.parse::<usize>().unwrap()];
    let profile = photic::profile::resolve(wire, Some(model), None);
    let body = body(wire, messages.parse().unwrap());
    let transcript = photic::lift(wire, &body).0;
    for _ in 0..times {
        black_box(photic::plan(photic::survey(&transcript), &profile, &Policy::default()));
    }
}

/// Counts the instructions of the two longest ones; whether they are within the limits.
fn count(wire: Wire, model: &str) -> bool {
    let setting = SETTINGS.iter().position(|of| *of == (wire, model)).unwrap();
    let counted = |messages: usize| instructions::of_one(&format!("{setting}/{messages}"));
    let (Some(half), Some(whole)) = (counted(LENGTHS[2]), counted(LENGTHS[3])) else {
        println!("  not checked: there is no valgrind to count instructions with");
        return true;
    };
    let growth = whole as f64 / half as f64;
    let each = whole / IMAGES as u64;
    println!(
        "  {:.1} million instructions, {each} for an image; {growth:.2} x for twice the length",
        whole as f64 / 1e6
    );
    each <= MAX_INSTRUCTIONS && growth <= MAX_GROWTH
}

fn measure(profile: &Profile) {
    let bodies = LENGTHS.map(|messages| body(profile.wire, messages));
    let transcripts = bodies.each_ref().map(|body| photic::lift(profile.wire, body).0);
    let mut times = vec![Vec::new(); LENGTHS.len()];
    for _ in 0..ROUNDS {
        for (times, transcript) in times.iter_mut().zip(&transcripts) {
            let start = cpu_nanos();
            let plan = photic::plan(photic::survey(transcript), profile, &Policy::default());
            times.push(cpu_nanos() - start);
            assert_eq!(black_box(plan).fates.len(), transcript.media.len());
        }
    }
    // A machine that others use is now fast and now slow: the growth is judged inside each round.
    let growth = |at: usize| {
        let mut rounds: Vec<u64> = (0..ROUNDS)
            .map(|round| times[at][round] * 1000 / times[at - 1][round].max(1))
            .collect();
        median(&mut rounds) / 1000.0
    };
    let growths = [1.0, growth(1), growth(2), growth(3)];
    let medians: Vec<f64> = times.iter_mut().map(|times| median(times)).collect();
    for (at, (length, median)) in LENGTHS.iter().zip(&medians).enumerate() {
        let growth = growths[at];
        println!("  {length:>5} messages {:>8.3} ms  {growth:>5.2} x the one before", median / 1e6);
    }
    println!("  claimed for {}: {CLAIMED_MILLIS} ms of CPU", LENGTHS[3]);
    assert_eq!(transcripts[3].media.len(), IMAGES);
}

/// A conversation of so many messages, with a picture in one of three, more or less.
fn body(wire: Wire, messages: usize) -> Vec<u8> {
    let images = IMAGES * messages / LENGTHS[3];
    let (open, close) = match wire {
        Wire::Anthropic => (r#"{"model":"m","max_tokens":9,"messages":["#, "]}"),
        Wire::OpenAiResponses => (r#"{"model":"m","input":["#, "]}"),
        Wire::OpenAiChat | Wire::Gemini | Wire::BedrockConverse | Wire::Ollama => {
            (r#"{"model":"m","messages":["#, "]}")
        }
        _ => unreachable!("only the six wires are tested here"),
    };
    let words = "The agent looked at the screen and decided which button to press next.";
    let mut body = format!(r#"{open}{{"role":"user","content":"Go on."}}"#);
    let mut shown = 0;
    for turn in 1..messages.div_ceil(2) {
        // Pictures are spread evenly over the turns.
        let picture = shown * messages < images * 2 * turn;
        shown += usize::from(picture);
        let content = if picture { parts(wire, shown) } else { format!("\"{words}\"") };
        match wire {
            Wire::Anthropic => write!(
                body,
                r#",{{"role":"assistant","content":[{{"type":"text","text":"{words}"}},{{"type":"tool_use","id":"call_{turn}","name":"look","input":{{}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"call_{turn}","content":{content}}}]}}"#
            ),
            Wire::OpenAiResponses => write!(
                body,
                r#",{{"type":"function_call","call_id":"call_{turn}","name":"look","arguments":"{{}}"}},{{"type":"function_call_output","call_id":"call_{turn}","output":{content}}}"#
            ),
            // Only three wires are measured.
            Wire::OpenAiChat | Wire::Gemini | Wire::BedrockConverse | Wire::Ollama => write!(
                body,
                r#",{{"role":"assistant","content":"{words}","tool_calls":[{{"id":"call_{turn}","type":"function","function":{{"name":"look","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"call_{turn}","content":{content}}}"#
            ),
        _ => unreachable!("only the six wires are tested here"),
}
        .unwrap();
    }
    body.push_str(close);
    body.into_bytes()
}

fn parts(wire: Wire, number: usize) -> String {
    let base64 = png_base64(number);
    match wire {
        Wire::Anthropic => format!(
            r#"[{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{base64}"}}}}]"#
        ),
        Wire::OpenAiResponses => {
            format!(r#"[{{"type":"input_image","image_url":"data:image/png;base64,{base64}"}}]"#)
        }
        Wire::OpenAiChat | Wire::Gemini | Wire::BedrockConverse | Wire::Ollama => format!(
            r#"[{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{base64}"}}}}]"#
        ),
        _ => unreachable!("only the six wires are tested here"),
    }
}

/// The header of a real picture, a number, then filler: nothing here decodes pixels.
fn png_base64(number: usize) -> String {
    let filler = "gAAAABAAAAAC".repeat(340);
    format!("iVBORw0KGgoAAAANSUhEUgAABQAAAAMgCAIAAADz+lisAAAA{number:08}{filler}")
}
