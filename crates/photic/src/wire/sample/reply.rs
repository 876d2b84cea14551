//! Replies of the sample wire.

use super::lift::read_turn;
use super::lower::unit;
use crate::json::{Out, Segments, Str, Value};
use crate::lift::Lifter;
use crate::lower::Writer;
use crate::reply::{Reply, Stop, Usage, number};
use crate::transcript::Message;

/// Reads a reply.
pub(super) fn lift_reply<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    root: Value<'d, 'a>,
) -> (Vec<Message<'a>>, Stop, Option<Usage>) {
    let messages: Vec<_> =
        root.get("turn").map(|turn| read_turn(lifter, turn)).into_iter().collect();
    let calls = messages.iter().any(|message| message.calls().next().is_some());
    let stop = if calls { Stop::Calls } else { Stop::End };
    (messages, stop, root.get("usage").map(usage_of))
}

/// Reads the token usage of a reply.
pub(super) fn usage_of(usage: Value<'_, '_>) -> Usage {
    let (input, output) = (number(usage, &["read"]), number(usage, &["written"]));
    Usage { input, output, ..Usage::default() }
}

/// Writes the token usage.
pub(super) fn usage_json(usage: &Usage) -> String {
    format!("{{\"read\":{},\"written\":{}}}", usage.input, usage.output)
}

/// Writes a reply.
pub(super) fn lower_reply<'a>(writer: &Writer<'_, 'a>, reply: &Reply<'a>) -> Segments<'a> {
    let mut out = Out::new();
    if let Some(failure) = &reply.error {
        out.json("{\"error\":").string(&failure.message).json("}");
        return out.finish();
    }
    out.json("{\"model\":").string(&reply.model.clone().unwrap_or(Str::plain("")));
    out.json(",\"turn\":");
    let mut turn = Out::new();
    unit(writer, &mut turn, reply.message());
    out.fragment(turn.finish());
    out.json(",\"usage\":").json(&usage_json(&reply.usage.unwrap_or_default())).json("}");
    out.finish()
}
