//! The same wire: the body that came in, with new pieces spliced in where the plan touched it.
//!
//! Separators, key order, unknown fields and white space stay; that is what keeps a prompt cache
//! warm and a gateway honest.

use super::place::Step;
use super::write::Writer;
use super::{content, unit};
use crate::json::{Fragment, Out, Segments};
use crate::transcript::Home;

/// Writes the body.
pub(super) fn splice<'a>(writer: &Writer<'_, 'a>, steps: &[Step<'a>]) -> Segments<'a> {
    let transcript = writer.transcript;
    let mut edits = Edits::default();
    for step in steps {
        if step.touched
            && let Some(origin) = step.origin
            && transcript.messages[origin].home == Home::Field
        {
            edits.field(writer, step);
        }
    }
    // Without a list the whole input is one string, which becomes a list in `field`.
    if let Some(list) = transcript.list {
        edits.list(writer, steps, transcript.doc.value(list).span());
    }
    edits.apply(transcript.body)
}

/// Replacements of spans of the body, in order.
#[derive(Default)]
struct Edits<'a> {
    list: Vec<(std::ops::Range<usize>, Fragment<'a>)>,
}

impl<'a> Edits<'a> {
    fn replace(&mut self, span: std::ops::Range<usize>, with: Out<'a>) {
        self.list.push((span, with.finish()));
    }

    /// A message that stands in a field of the body.
    fn field(&mut self, writer: &Writer<'_, 'a>, step: &Step<'a>) {
        if let Some(slot) = step.message.slot {
            let mut out = Out::new();
            content(writer, &mut out, step);
            self.replace(writer.transcript.doc.value(slot).span(), out);
        }
    }

    /// The list of messages: units in place, moved, removed, and ours between them.
    fn list(&mut self, writer: &Writer<'_, 'a>, steps: &[Step<'a>], list: std::ops::Range<usize>) {
        let transcript = writer.transcript;
        let units: Vec<(usize, std::ops::Range<usize>)> = transcript
            .messages
            .iter()
            .enumerate()
            .filter(|(_, message)| message.home == Home::List)
            .filter_map(|(index, message)| {
                Some((index, transcript.doc.value(message.node?).span()))
            })
            .collect();
        let in_list = |step: &&Step<'a>| step.message.home == Home::List;
        // A unit stays in place as long as everything before it does.
        let mut anchors = Vec::new();
        for step in steps.iter().filter(in_list) {
            if let Some(origin) = step.origin
                && anchors.last().is_none_or(|&last| origin > last)
            {
                anchors.push(origin);
            }
        }
        let mut kept_any = false;
        let mut steps = steps.iter().filter(in_list).peekable();
        // What comes before the first unit that stays.
        let mut front = Out::new();
        while let Some(step) = steps.next_if(|step| !is_anchor(step, &anchors)) {
            write(writer, front.comma(), step);
            kept_any = true;
        }
        if kept_any {
            if !anchors.is_empty() {
                front.json(",");
            }
            self.replace(list.start + 1..list.start + 1, front);
        }
        let mut emitted = false;
        let mut previous_end = None;
        for (index, span) in &units {
            if anchors.binary_search(index).is_err() {
                // Gone from here, with the separator before it; or, if nothing stays before it,
                // with the one behind.
                let start = if emitted { previous_end.unwrap_or(span.start) } else { span.start };
                let end = if emitted { span.end } else { next_start(&units, span.end) };
                self.replace(start..end, Out::new());
                previous_end = Some(span.end);
                continue;
            }
            emitted = true;
            previous_end = Some(span.end);
            let Some(step) = steps.next() else { break };
            if step.touched {
                self.patch(writer, step, span.clone());
            }
            let mut after = Out::new();
            let mut any = false;
            while let Some(ours) = steps.next_if(|step| !is_anchor(step, &anchors)) {
                after.json(",");
                write(writer, &mut after, ours);
                any = true;
            }
            if any {
                self.replace(span.end..span.end, after);
            }
        }
    }

    /// A unit that stays but changes: its content is replaced, its other fields are not.
    fn patch(&mut self, writer: &Writer<'_, 'a>, step: &Step<'a>, span: std::ops::Range<usize>) {
        let mut out = Out::new();
        if let Some(slot) = step.message.slot {
            content(writer, &mut out, step);
            self.replace(writer.transcript.doc.value(slot).span(), out);
        } else {
            out.key(writer.content_key(&step.message));
            content(writer, &mut out, step);
            if writer.transcript.body[span.clone()].contains(&b':') {
                out.json(",");
            }
            self.replace(span.start + 1..span.start + 1, out);
        }
    }

    fn apply(mut self, body: &'a [u8]) -> Segments<'a> {
        if self.list.is_empty() {
            return Segments::whole(body);
        }
        self.list.sort_by_key(|(span, _)| (span.start, span.end));
        let mut out = Out::new();
        let mut at = 0;
        for (span, with) in self.list {
            out.raw(&body[at..span.start.max(at)]).fragment(with);
            at = span.end.max(at);
        }
        out.raw(&body[at..]);
        out.finish()
    }
}

fn is_anchor(step: &Step<'_>, anchors: &[usize]) -> bool {
    step.origin.is_some_and(|origin| anchors.binary_search(&origin).is_ok())
}

fn next_start(units: &[(usize, std::ops::Range<usize>)], after: usize) -> usize {
    units.iter().map(|(_, span)| span.start).find(|&start| start >= after).unwrap_or(after)
}

/// A unit where it did not stand before.
fn write<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, step: &Step<'a>) {
    match (step.origin, step.message.node) {
        (Some(_), Some(node)) if !step.touched => {
            out.raw(writer.transcript.raw(node));
        }
        (Some(_), Some(node)) => {
            // Its own fields around its new content.
            let value = writer.transcript.doc.value(node);
            let mut inner = Edits::default();
            inner.patch(writer, step, value.span());
            let body = writer.transcript.body;
            let span = value.span();
            let mut at = span.start;
            for (edit, with) in inner.list {
                out.raw(&body[at..edit.start]).fragment(with);
                at = edit.end;
            }
            out.raw(&body[at..span.end]);
        }
        _ => unit(writer, out, step),
    }
}
