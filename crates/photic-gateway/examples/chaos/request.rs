//! One request: its size, its wire, its trouble, and its images, which no other request has.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic::Wire;
use photic_mock::{Chart, Misbehavior};
use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_testkit::SplitMix64;
use serde_json::{Value, json};

use crate::Outcome;

/// Number of charts. Every request has a different pair of them.
const CHARTS: u64 = 128;
/// Maximum bytes of noise in one image. Every endpoint accepts as many.
const MAX_NOISE: usize = 2_500_000;

/// The charts, drawn once, and noise to make images larger.
pub(crate) struct Pictures {
    charts: Vec<(Vec<u8>, String)>,
    noise: Vec<u8>,
}

/// The trouble of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trouble {
    None,
    /// The provider misbehaves.
    Provider(Misbehavior),
    /// The client disconnects before the whole request is sent.
    LeavesAsking,
    /// The client disconnects after the reply has begun.
    LeavesReading,
}

/// One request.
pub(crate) struct Request {
    pub(crate) wire: Wire,
    pub(crate) crosses: bool,
    pub(crate) streams: bool,
    pub(crate) trouble: Trouble,
    pub(crate) bytes: Vec<u8>,
    /// The answer of a model that sees its images.
    pub(crate) answer: String,
}

impl Pictures {
    pub(crate) fn new() -> Outcome<Self> {
        let options = EncodeOptions {
            accepts: &["image/png"],
            prefer: Prefer::Lossless,
            ..Default::default()
        };
        let drawn = |seed| {
            let chart = Chart::of(seed);
            let png = encode(&chart.draw(128, 96), &options).map_err(|no| format!("{no:?}"))?;
            Ok((png.bytes, chart.words()))
        };
        let mut random = SplitMix64::new(7);
        let noise = (0..MAX_NOISE).map(|_| random.below(256) as u8).collect();
        Ok(Self { charts: (0..CHARTS).map(drawn).collect::<Outcome<_>>()?, noise })
    }

    /// Returns a chart with noise in a chunk that decoders ignore, and its text.
    fn heavy(&self, chart: u64, noise: usize) -> (Vec<u8>, &str) {
        let (png, words) = &self.charts[(chart % CHARTS) as usize];
        let Some(end) = png.len().checked_sub(12) else { return (png.clone(), words) };
        let noise = &self.noise[..noise.min(MAX_NOISE)];
        let mut bytes = png[..end].to_vec();
        bytes.extend((noise.len() as u32).to_be_bytes());
        let from = bytes.len();
        bytes.extend_from_slice(b"noIz");
        bytes.extend_from_slice(noise);
        let sum = checksum(&bytes[from..]);
        bytes.extend(sum.to_be_bytes());
        bytes.extend_from_slice(&png[end..]);
        (bytes, words)
    }
}

impl Request {
    /// Returns the request of a number and a seed.
    pub(crate) fn new(number: u64, seed: u64, pictures: &Pictures) -> Self {
        let mut random = SplitMix64::new(seed.wrapping_mul(1 << 32).wrapping_add(number));
        let size = size(number, &mut random);
        // One wire accepts at most 32 MB.
        let wires = if size > 15_000_000 { 2 } else { 3 };
        let wire = Wire::ALL[random.below(wires)];
        let crosses = wires == 3 && wire != Wire::OpenAiResponses && random.below(4) == 0;
        let trouble = match random.below(100) {
            0..=4 => Trouble::LeavesAsking,
            5..=9 => Trouble::LeavesReading,
            // The last one invents answers, which could not be told from those of another request.
            10..=44 => {
                Trouble::Provider(Misbehavior::ALL[random.below(Misbehavior::ALL.len() - 1)])
            }
            _ => Trouble::None,
        };
        let streams = random.below(2) == 0;
        Self::made((wire, crosses, streams), trouble, (number, size), pictures)
    }

    /// Returns a request without trouble.
    pub(crate) fn plain(pictures: &Pictures) -> Self {
        Self::made((Wire::OpenAiChat, false, false), Trouble::None, (0, 2000), pictures)
    }

    fn made(
        (wire, crosses, streams): (Wire, bool, bool),
        trouble: Trouble,
        (number, size): (u64, usize),
        pictures: &Pictures,
    ) -> Self {
        let noise = size / 4 * 3 / MAX_NOISE;
        let count = 2.max(noise + 1);
        let each = (size / 4 * 3 / count).saturating_sub(600);
        let mut images = Vec::new();
        let mut said = Vec::new();
        for index in 0..count {
            // The first two identify the request, the others are arbitrary.
            let chart = match index {
                0 => number % CHARTS,
                1 => number / CHARTS,
                other => other as u64,
            };
            let (bytes, words) = pictures.heavy(chart, each);
            said.push(format!("image {}: {words}", index + 1));
            images.push(image(wire, &STANDARD.encode(bytes)));
        }
        let body = body(wire, crosses, streams, &images).to_string();
        let misbehave = match trouble {
            Trouble::Provider(kind) => format!("x-mock-misbehave: {kind}\r\n"),
            Trouble::None | Trouble::LeavesAsking | Trouble::LeavesReading => String::new(),
        };
        let path = match wire {
            Wire::OpenAiChat => "/v1/chat/completions",
            Wire::OpenAiResponses => "/v1/responses",
            Wire::Anthropic => "/v1/messages",
            Wire::Gemini | Wire::BedrockConverse | Wire::Ollama => "", // never drawn
            _ => unreachable!("only the six wires are tested here"),
        };
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer k\r\n\
             anthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n{misbehave}\
             content-length: {}\r\n\r\n",
            body.len()
        );
        let bytes = [head.as_bytes(), body.as_bytes()].concat();
        Self { wire, crosses, streams, trouble, bytes, answer: said.join("; ") }
    }

    /// Returns a short description, without its images.
    pub(crate) fn describe(&self) -> String {
        format!(
            "{}{}{}, {} bytes, {}",
            self.wire.name(),
            if self.crosses { " across" } else { "" },
            if self.streams { " streamed" } else { "" },
            self.bytes.len(),
            self.trouble.name()
        )
    }
}

impl Trouble {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Provider(kind) => kind.name(),
            Self::LeavesAsking => "leaves while asking",
            Self::LeavesReading => "leaves while reading",
        }
    }
}

/// Returns a size from 2 KB to 40 MB. Most are small, and 25 of 10,000 are above 30 MB.
fn size(number: u64, random: &mut SplitMix64) -> usize {
    let (least, most) = match number {
        number if number % 400 == 399 => (30_000_000_f64, 40_000_000_f64),
        number if number % 40 == 39 => (300_000_f64, 8_000_000_f64),
        _ => (2_000_f64, 300_000_f64),
    };
    let share = random.below(1 << 20) as f64 / f64::from(1 << 20);
    (least.ln() + (most.ln() - least.ln()) * share).exp() as usize
}

fn image(wire: Wire, base64: &str) -> Value {
    let url = || format!("data:image/png;base64,{base64}");
    match wire {
        Wire::OpenAiChat => json!({"type": "image_url", "image_url": {"url": url()}}),
        Wire::OpenAiResponses => json!({"type": "input_image", "image_url": url()}),
        Wire::Anthropic => json!({
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": base64},
        }),
        // Never drawn: only the first three are.
        Wire::Gemini | Wire::BedrockConverse | Wire::Ollama => Value::Null,
        _ => unreachable!("only the six wires are tested here"),
    }
}

/// Returns a conversation whose images are in a tool result, so that some wires have to move them.
fn body(wire: Wire, crosses: bool, streams: bool, images: &[Value]) -> Value {
    let ask = json!({"role": "user", "content": "What is on the screen?"});
    let mut body = match wire {
        Wire::OpenAiChat => {
            let function = json!({"name": "shot", "arguments": "{}"});
            let call = json!({"id": "c1", "type": "function", "function": function});
            json!({"model": if crosses { "messages-1" } else { "gpt-5.4" }, "messages": [
                ask,
                {"role": "assistant", "content": null, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c1", "content": images},
            ]})
        }
        Wire::OpenAiResponses => json!({"model": "gpt-5.4", "input": [
            ask,
            {"type": "function_call", "call_id": "c1", "name": "shot", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": images},
        ]}),
        Wire::Gemini | Wire::BedrockConverse | Wire::Ollama => json!({}),
        Wire::Anthropic => {
            let model = if crosses { "chat-1" } else { "claude-sonnet-5" };
            let call = json!({"type": "tool_use", "id": "c1", "name": "shot", "input": {}});
            let result = json!({"type": "tool_result", "tool_use_id": "c1", "content": images});
            json!({"model": model, "max_tokens": 100, "messages": [
                ask,
                {"role": "assistant", "content": [call]},
                {"role": "user", "content": [result]},
            ]})
        }
        _ => unreachable!("only the six wires are tested here"),
    };
    body["stream"] = json!(streams);
    body
}

/// Returns the checksum of a PNG chunk.
fn checksum(bytes: &[u8]) -> u32 {
    static TABLE: std::sync::LazyLock<Vec<u32>> = std::sync::LazyLock::new(|| {
        let step = |sum: u32, _| if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 };
        (0..256).map(|byte| (0..8).fold(byte, step)).collect()
    });
    let table = &*TABLE;
    let next = |sum: u32, byte: &u8| table[((sum ^ u32::from(*byte)) & 255) as usize] ^ (sum >> 8);
    !bytes.iter().fold(!0, next)
}
