//! The verdict about a reply, and the verdicts that each trouble allows.

use photic::Wire;
use photic_mock::Misbehavior;
use serde_json::Value;

use crate::client::Reply;
use crate::request::{Request, Trouble};

/// The answer of a model that sees no image.
const BLIND: &str = "I see no image.";
/// The answer of the trouble `constant`.
const CONSTANT: &str = "The picture shows a bar chart with rising values.";

/// The verdict about a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// The answer to this request.
    Answered,
    /// The beginning of the answer, then a closed connection or an error event.
    BrokeOff,
    /// The answer of a provider that did not look at the images.
    Blind,
    /// A success without text, as the provider sent it.
    Nothing,
    /// A failure, in the error format of the wire.
    Failed(u16),
    /// The client disconnected.
    Left,
    /// A wrong reply: the answer to another request, the format of another wire, or a success
    /// instead of a failure.
    Wrong,
    /// No reply.
    Silence,
    /// No reply within the time limit.
    Hung,
}

impl Verdict {
    pub(crate) fn of(request: &Request, reply: &Reply) -> Self {
        if reply.hung {
            return Self::Hung;
        }
        if reply.left {
            return Self::Left;
        }
        let verdict = match reply.status {
            0 => Self::Silence,
            200 => said(request, reply),
            status if is_envelope(request.wire, &reply.body) && reply.whole => Self::Failed(status),
            _ => Self::Wrong,
        };
        if expected(request).contains(&verdict) { verdict } else { verdict.wrong() }
    }

    pub(crate) const fn is_wrong(self) -> bool {
        matches!(self, Self::Wrong | Self::Silence | Self::Hung)
    }

    /// Returns the verdict for an unexpected reply. A missing reply stays a missing reply.
    const fn wrong(self) -> Self {
        match self {
            Self::Silence => Self::Silence,
            _ => Self::Wrong,
        }
    }

    pub(crate) fn name(self) -> String {
        match self {
            Self::Answered => "its answer".to_owned(),
            Self::BrokeOff => "half of its answer".to_owned(),
            Self::Blind => "a blind answer".to_owned(),
            Self::Nothing => "an empty success".to_owned(),
            Self::Failed(status) => format!("a failure, {status}"),
            Self::Left => "left".to_owned(),
            Self::Wrong => "WRONG".to_owned(),
            Self::Silence => "SILENCE".to_owned(),
            Self::Hung => "HUNG".to_owned(),
        }
    }
}

/// Returns the verdict about a reply, by the trouble of its request.
fn expected(request: &Request) -> &'static [Verdict] {
    use Verdict::{Answered, Blind, BrokeOff, Failed, Nothing};
    match request.trouble {
        Trouble::None | Trouble::LeavesAsking | Trouble::LeavesReading => &[Answered],
        Trouble::Provider(kind) => match kind {
            // As text, a large image does not fit into the model's context.
            Misbehavior::BillAsText => &[Answered, Failed(400)],
            // It may see images that were moved out of tool results.
            Misbehavior::IgnoreToolImages | Misbehavior::Late => &[Answered, Blind],
            Misbehavior::DropImages | Misbehavior::Constant => &[Blind],
            Misbehavior::RateLimit => &[Failed(429)],
            Misbehavior::Busy => &[Answered, Failed(429)],
            Misbehavior::ServerError => &[Failed(500)],
            Misbehavior::Hang => &[Failed(504)],
            Misbehavior::Close => &[Failed(502)],
            // A reply that is not streamed is translated as a whole, so it fails as a whole.
            Misbehavior::Cut if request.crosses => &[BrokeOff, Failed(502)],
            Misbehavior::Cut => &[BrokeOff],
            Misbehavior::Empty => &[Nothing],
            Misbehavior::Guess => &[],
        },
    }
}

fn said(request: &Request, reply: &Reply) -> Verdict {
    let (text, ended) = if reply.body.starts_with(b"{") {
        match serde_json::from_slice::<Value>(&reply.body) {
            Ok(body) => (whole(request.wire, &body), reply.whole),
            Err(_) => return if reply.whole { Verdict::Wrong } else { Verdict::BrokeOff },
        }
    } else {
        let (text, failed) = streamed(request.wire, &String::from_utf8_lossy(&reply.body));
        (text, reply.whole && !failed)
    };
    match text.as_str() {
        "" if ended => Verdict::Nothing,
        text if !ended && request.answer.starts_with(text) => Verdict::BrokeOff,
        text if ended && text == request.answer => Verdict::Answered,
        BLIND | CONSTANT if ended => Verdict::Blind,
        _ => Verdict::Wrong,
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns the text of a reply that is not streamed.
fn whole(wire: Wire, body: &Value) -> String {
    match wire {
        Wire::OpenAiChat => text(&body["choices"][0]["message"]["content"]),
        Wire::OpenAiResponses => {
            let items = body["output"].as_array().into_iter().flatten();
            items.map(|item| text(&item["content"][0]["text"])).collect()
        }
        Wire::Anthropic => text(&body["content"][0]["text"]),
        // Never drawn.
        Wire::Gemini | Wire::BedrockConverse | Wire::Ollama => String::new(),
        _ => unreachable!("only the six wires are tested here"),
    }
}

/// Returns the text of a stream, and `true` if it contains an error event.
fn streamed(wire: Wire, events: &str) -> (String, bool) {
    let mut words = String::new();
    let mut failed = false;
    for data in events.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let Ok(event) = serde_json::from_str::<Value>(data) else { continue };
        failed |= event.get("error").is_some_and(|error| !error.is_null())
            || matches!(event["type"].as_str(), Some("error" | "response.failed"));
        words += &match wire {
            Wire::OpenAiChat => text(&event["choices"][0]["delta"]["content"]),
            Wire::OpenAiResponses if event["type"] == "response.output_text.delta" => {
                text(&event["delta"])
            }
            Wire::OpenAiResponses | Wire::Gemini | Wire::BedrockConverse | Wire::Ollama => {
                String::new()
            }
            Wire::Anthropic => text(&event["delta"]["text"]),
            _ => unreachable!("only the six wires are tested here"),
        };
    }
    (words, failed)
}

/// Returns `true` if a failure has the error format of this wire.
fn is_envelope(wire: Wire, body: &[u8]) -> bool {
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return false };
    let error = &body["error"];
    let told = error["message"].is_string() && error["type"].is_string();
    told && match wire {
        Wire::OpenAiChat | Wire::OpenAiResponses => error.get("code").is_some(),
        Wire::Anthropic => body["type"] == "error",
        Wire::Gemini | Wire::BedrockConverse | Wire::Ollama => false,
        _ => unreachable!("only the six wires are tested here"),
    }
}
