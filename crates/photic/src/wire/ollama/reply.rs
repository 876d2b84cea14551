//! Replies of `/api/chat`.

use super::lift::read_message;
use super::lower::unit;
use crate::json::{Out, Segments, Str, Value};
use crate::lift::{CallIds, Lifter};
use crate::lower::Writer;
use crate::reply::{Reply, Stop, Usage, call_id, number};
use crate::transcript::{Message, Part};

/// Reads a reply.
pub(super) fn lift_reply<'d, 'a>(
    lifter: &mut Lifter<'d, 'a>,
    root: Value<'d, 'a>,
) -> (Vec<Message<'a>>, Stop, Option<Usage>) {
    let mut messages: Vec<Message<'a>> = root
        .get("message")
        .map(|message| read_message(lifter, &mut CallIds::default(), message))
        .into_iter()
        .collect();
    let own = root.get("created_at").and_then(|time| time.str()).map(|time| time.decode());
    let own = own.unwrap_or_else(|| String::from_utf8_lossy(root.raw()));
    let mut made = 0;
    for part in messages.iter_mut().flat_map(|message| &mut message.parts) {
        if let Part::Call(call) = part {
            let node = call.node.map(|node| lifter.doc.value(node));
            if node.and_then(|call| call.get("id")).is_none_or(|id| id.is("")) {
                call.id = Str::plain(call_id(&own, made));
            }
            made += 1;
        }
    }
    let reason = root.get("done_reason").and_then(|reason| reason.str());
    (messages, stop_of(reason.as_ref()), Some(usage_of(root)))
}

/// Returns the reason why a reply ended.
pub(super) fn stop_of(reason: Option<&Str<'_>>) -> Stop {
    match reason.map(Str::decode).as_deref() {
        Some("length") => Stop::Length,
        _ => Stop::End,
    }
}

/// Returns this wire's name for the reason. Calls have none of their own.
pub(super) const fn done_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::Length => "length",
        Stop::End | Stop::Sequence | Stop::Calls | Stop::Refused => "stop",
    }
}

/// Reads the token usage.
pub(super) fn usage_of(root: Value<'_, '_>) -> Usage {
    Usage {
        input: number(root, &["prompt_eval_count"]),
        output: number(root, &["eval_count"]),
        ..Usage::default()
    }
}

/// Writes the members for the finish reason and the token usage.
pub(super) fn ending(stop: Stop, usage: &Usage) -> String {
    format!(
        "\"done\":true,\"done_reason\":\"{}\",\"total_duration\":0,\"load_duration\":0,\
         \"prompt_eval_count\":{},\"prompt_eval_duration\":0,\"eval_count\":{},\"eval_duration\":0",
        done_reason(stop),
        usage.input,
        usage.output
    )
}

/// Writes a reply.
pub(super) fn lower_reply<'a>(writer: &Writer<'_, 'a>, reply: &Reply<'a>) -> Segments<'a> {
    let mut out = Out::new();
    if let Some(failure) = &reply.error {
        out.json("{\"error\":").string(&failure.message).json("}");
        return out.finish();
    }
    out.json("{\"model\":").string(&reply.model.clone().unwrap_or(Str::plain("")));
    out.json(",\"created_at\":").quoted(&time(reply.created.unwrap_or(0))).json(",\"message\":");
    let mut message = Out::new();
    unit(writer, &mut message, reply.message());
    let message = message.finish();
    if message.is_empty() {
        out.json("{\"role\":\"assistant\",\"content\":\"\"}");
    } else {
        out.fragment(message);
    }
    out.json(",").json(&ending(reply.stop, &reply.usage.unwrap_or_default())).json("}");
    out.finish()
}

/// Formats a point in time for this wire, from the seconds since 1970.
pub(super) fn time(seconds: u64) -> String {
    // No provider sends a year beyond 9999.
    let seconds = seconds.min(253_402_300_799);
    let (days, clock) = (seconds / 86_400, seconds % 86_400);
    // Counted from the first of March of the year 0, so that leap days come last.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + era * 400 + carry;
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn seconds_become_days_of_a_calendar() {
        for (seconds, written) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_794_787_199, "2026-11-15T23:59:59Z"),
            (u64::MAX, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(time(seconds), written);
        }
    }
}
