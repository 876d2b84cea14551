//! From a transcript and a plan to a body: the same wire keeps every byte that the plan did not
//! touch, another wire is written from the transcript.

mod bundle;
mod decision;
mod nested;
mod parts;
mod place;
mod splice;
mod write;

pub use decision::{Decision, Did};
pub(crate) use place::Step;
pub(crate) use write::{Writer, joined, list_of_strings, texts};

use crate::json::Segments;
use crate::plan::Plan;
use crate::transcript::Transcript;
use crate::wire::{Wire, anthropic, openai_chat, openai_responses};

/// A body ready to be sent, and what was done to get there.
#[derive(Clone, Debug)]
pub struct Lowered<'a> {
    /// The body, in segments that mostly borrow from the one that came in.
    pub body: Segments<'a>,
    /// What was done, in the order of the conversation.
    pub decisions: Vec<Decision>,
}

/// Writes a request body for the plan's wire.
pub fn lower<'a>(transcript: &Transcript<'a>, plan: &Plan) -> Lowered<'a> {
    if !transcript.is_readable() {
        return Lowered { body: Segments::whole(transcript.body), decisions: Vec::new() };
    }
    let (steps, mut decisions) = place::place(transcript, plan);
    let mut writer = Writer::new(transcript, plan);
    let body = if plan.profile.wire == transcript.wire {
        splice::splice(&writer, &steps)
    } else {
        match plan.profile.wire {
            Wire::OpenAiChat => openai_chat::body(&mut writer, &steps),
            Wire::OpenAiResponses => openai_responses::body(&mut writer, &steps),
            Wire::Anthropic => anthropic::body(&mut writer, &steps),
        }
    };
    decisions.append(&mut writer.decisions);
    Lowered { body, decisions }
}

/// Writes one unit of a wire: one element of its list of messages, or several.
fn unit<'a>(writer: &Writer<'_, 'a>, out: &mut crate::json::Out<'a>, step: &Step<'a>) {
    match writer.wire() {
        Wire::OpenAiChat => openai_chat::unit(writer, out, &step.message),
        Wire::OpenAiResponses => openai_responses::unit(writer, out, &step.message),
        Wire::Anthropic => anthropic::unit(writer, out, &step.message),
    }
}

/// Writes what stands in the content slot of a unit.
fn content<'a>(writer: &Writer<'_, 'a>, out: &mut crate::json::Out<'a>, step: &Step<'a>) {
    match writer.wire() {
        Wire::OpenAiChat => openai_chat::content(writer, out, &step.message),
        Wire::OpenAiResponses => openai_responses::content(writer, out, &step.message),
        Wire::Anthropic => anthropic::content(writer, out, &step.message),
    }
}
