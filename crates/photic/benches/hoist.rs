//! What hoisting ten images out of a 12 MB body costs, against one memcpy of it.
//!
//! `cargo bench -p photic --bench hoist` prints CPU times, medians of interleaved rounds. With
//! `-- --check` it also counts instructions with valgrind, and fails past the limits of instructions
//! and allocated bytes. No clock decides.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for people")]

mod clock;

use std::alloc::System;
use std::fmt::Write as _;
use std::hint::black_box;

use clock::{cpu_nanos, instructions, median};
use photic::media::Payload;
use photic::retention::Retention;
use photic::{Policy, Profile, Wire};
use serde_json::value::RawValue;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const ROUNDS: usize = 21;
const IMAGES: usize = 10;
const IMAGE_BASE64: usize = 1_236_000;
/// The claim, printed beside what was measured.
const CLAIMED_MEMCPYS: f64 = 2.0;
/// Bytes that may be allocated beyond the body, and in how many pieces.
const MAX_ALLOCATED: usize = 1_000_000;
const MAX_ALLOCATIONS: usize = 2_000;
/// Instructions for a thousand bytes of the body, written to one buffer: 1,900 when measured (2026-11-18).
const MAX_INSTRUCTIONS: u64 = 2_400;

/// Something to time.
type Work<'w> = Box<dyn FnMut() -> usize + 'w>;

/// Writes the result of a tool around an image in base64.
type Spelling = fn(&str) -> String;

/// The bodies, by how their images came.
const BODIES: [(&str, Spelling); 2] = [
    ("images as `image_url` parts of tool messages", as_part),
    ("images stringified by the AI SDK", as_text),
];

fn main() {
    if let Some((times, work)) = instructions::asked() {
        return repeat(times, &work);
    }
    let check = std::env::args().any(|argument| argument == "--check");
    let mut within = true;
    for (number, (name, result)) in BODIES.into_iter().enumerate() {
        let body = chat_body(result);
        println!("\n{name}: {} bytes, {IMAGES} images", body.len());
        within &= measure(&body);
        within &= !check || count(number, body.len());
    }
    assert!(
        !check || within,
        "past the limits: {MAX_ALLOCATED} bytes in {MAX_ALLOCATIONS} allocations, {MAX_INSTRUCTIONS} instructions for a thousand bytes"
    );
}

/// Hoists so many times: the work that valgrind counts.
fn repeat(times: usize, work: &str) {
    let body = chat_body(BODIES[work.parse::<usize>().unwrap()].1);
    let profile = Profile::generic(Wire::OpenAiChat);
    let mut written = vec![0u8; body.len() + (1 << 20)];
    for _ in 0..times {
        black_box(hoist(&body, &profile, Some(&mut written)));
    }
}

/// Counts the instructions of hoisting out of a body; whether they are within the limit.
fn count(number: usize, bytes: usize) -> bool {
    let Some(counted) = instructions::of_one(&number.to_string()) else {
        println!("  not checked: there is no valgrind to count instructions with");
        return true;
    };
    let each = counted * 1000 / bytes as u64;
    println!("  {:.1} million instructions, {each} for a thousand bytes", counted as f64 / 1e6);
    each <= MAX_INSTRUCTIONS
}

fn measure(body: &[u8]) -> bool {
    let profile = Profile::generic(Wire::OpenAiChat);
    let buffer = || vec![0u8; body.len() + (1 << 20)];
    let (mut copied, mut scanned, mut written, mut raw) = (buffer(), buffer(), buffer(), buffer());
    let mut contenders: [(&str, Work<'_>); 6] = [
        ("memcpy", Box::new(|| gather(&mut copied, [body].into_iter()))),
        ("span scan + copy", Box::new(|| scan(body) + gather(&mut scanned, [body].into_iter()))),
        ("photic: lift, survey, plan, lower", Box::new(|| hoist(body, &profile, None))),
        ("photic, written to one buffer", Box::new(|| hoist(body, &profile, Some(&mut written)))),
        ("serde_json RawValue, read and written", Box::new(|| raw_values(body, &mut raw))),
        ("serde_json Value, read and written", Box::new(|| values(body))),
    ];
    let mut times = vec![Vec::new(); contenders.len()];
    for _ in 0..ROUNDS {
        for (times, (_, work)) in times.iter_mut().zip(&mut contenders) {
            let start = cpu_nanos();
            black_box(work());
            times.push(cpu_nanos() - start);
        }
    }
    let medians: Vec<f64> = times.iter_mut().map(|times| median(times)).collect();
    for ((name, _), median) in contenders.iter().zip(&medians) {
        println!("  {name:<40} {:>8.3} ms  {:>5.2} x memcpy", median / 1e6, median / medians[0]);
    }
    let region = Region::new(ALLOCATOR);
    black_box(hoist(body, &profile, None));
    let change = region.change();
    let (allocated, pieces) = (change.bytes_allocated, change.allocations + change.reallocations);
    println!("  allocated beyond the body: {allocated} bytes in {pieces} pieces");
    println!("  claimed when written to one buffer: {CLAIMED_MEMCPYS} x memcpy");
    allocated < MAX_ALLOCATED && pieces < MAX_ALLOCATIONS
}

/// What the gateway will do with every request.
fn hoist(body: &[u8], profile: &Profile, into: Option<&mut Vec<u8>>) -> usize {
    let (transcript, findings) = photic::lift(Wire::OpenAiChat, body);
    let mut policy = Policy::default();
    policy.retention = Retention::All;
    let plan = photic::plan(photic::survey(&transcript), profile, &policy);
    assert_eq!(plan.ledger.images, IMAGES);
    let lowered = photic::lower(&transcript, &plan);
    match into {
        Some(buffer) => gather(buffer, lowered.body.iter()),
        None => lowered.body.len() + findings.len(),
    }
}

fn gather<'s>(buffer: &mut [u8], segments: impl Iterator<Item = &'s [u8]>) -> usize {
    let mut at = 0;
    for segment in segments {
        buffer[at..at + segment.len()].copy_from_slice(segment);
        at += segment.len();
    }
    black_box(&buffer[..at]).len()
}

/// The least that any reader must do: find where every string ends.
fn scan(body: &[u8]) -> usize {
    let mut at = 0;
    let mut strings = 0;
    while let Some(open) = memchr::memchr(b'"', &body[at..]) {
        at += open + 1;
        while let Some(found) = memchr::memchr2(b'"', b'\\', &body[at..]) {
            at += found + 1;
            if body[at - 1] == b'"' {
                break;
            }
            at += 1;
        }
        strings += 1;
    }
    strings
}

fn raw_values(body: &[u8], buffer: &mut Vec<u8>) -> usize {
    #[derive(serde::Deserialize, serde::Serialize)]
    struct Body<'b> {
        model: &'b str,
        #[serde(borrow)]
        messages: Vec<&'b RawValue>,
    }
    let body: Body<'_> = serde_json::from_slice(body).unwrap();
    buffer.clear();
    serde_json::to_writer(&mut *buffer, &body).unwrap();
    buffer.len()
}

fn values(body: &[u8]) -> usize {
    let body: serde_json::Value = serde_json::from_slice(body).unwrap();
    serde_json::to_vec(&body).unwrap().len()
}

fn chat_body(result: impl Fn(&str) -> String) -> Vec<u8> {
    let prose = "The agent looked at the screen and decided which button to press next. ".repeat(4);
    let mut body =
        format!(r#"{{"model":"some-model","messages":[{{"role":"system","content":"{prose}"}}"#);
    for image in 0..IMAGES {
        write!(
            body,
            r#",{{"role":"user","content":"Step {image}. {prose}"}},{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{image}","type":"function","function":{{"name":"screenshot","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"call_{image}","content":{}}}"#,
            result(&png_base64(image))
        )
        .unwrap();
    }
    body.push_str("]}");
    body.into_bytes()
}

fn as_part(base64: &str) -> String {
    format!(
        r#"[{{"type":"text","text":"the page"}},{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{base64}"}}}}]"#
    )
}

fn as_text(base64: &str) -> String {
    let parts = format!(
        r#"[{{"type":"text","text":"the page"}},{{"type":"image-data","data":"{base64}","mediaType":"image/png"}}]"#
    );
    serde_json::to_string(&parts).unwrap()
}

/// A whole PNG as far as its lengths tell: a header, one chunk of noise, an end. Nothing here decodes
/// pixels.
fn png_base64(seed: usize) -> String {
    let mut png =
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x05\0\0\0\x03\x20\x08\x02\0\0\0\0\0\0\0".to_vec();
    let noise = IMAGE_BASE64 / 4 * 3 - png.len() - 24;
    png.extend((noise as u32).to_be_bytes());
    png.extend(b"IDAT");
    let mut state = seed as u64 + 1;
    png.extend((0..noise).map(|_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    }));
    png.extend(b"\0\0\0\0\0\0\0\0IEND\xaeB\x60\x82");
    String::from_utf8(Payload::encode(&png).base64().to_vec()).unwrap()
}
