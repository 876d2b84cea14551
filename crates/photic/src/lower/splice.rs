//! Writes a body for its own wire: the body that came in, with new pieces where the plan changed
//! it.
//!
//! Separators, key order, unknown fields and white space stay. This keeps the prompt cache valid
//! and changes nothing that was not planned.

use super::Replaced;
use super::step::Step;
use super::write::Writer;
use crate::json::{Fragment, Out, Segments};
use crate::transcript::{Home, Part};

/// Writes the body. Also returns what was replaced in the one that came in.
pub(super) fn splice<'a>(
    writer: &Writer<'_, 'a>,
    steps: &[Step<'a>],
) -> (Segments<'a>, Vec<Replaced>) {
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
    // Without a list, the whole input is one string, which becomes a list in `field`.
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

    /// Replaces a message that is in a field of the body.
    fn field(&mut self, writer: &Writer<'_, 'a>, step: &Step<'a>) {
        if let Some(slot) = step.message.slot {
            let mut out = Out::new();
            writer.content(&mut out, &step.message);
            self.replace(writer.transcript.doc.value(slot).span(), out);
        }
    }

    /// Edits the list of messages: units that stay, move or are removed, and ours between them.
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
        // A unit stays in place as long as everything before it does.
        let mut anchors = Vec::new();
        let mut is_anchor = Vec::new();
        let steps: Vec<&Step<'a>> =
            steps.iter().filter(|step| step.message.home == Home::List).collect();
        for step in &steps {
            let stays =
                step.origin.filter(|&origin| anchors.last().is_none_or(|&last| origin > last));
            is_anchor.push(stays.is_some());
            anchors.extend(stays);
        }
        let mut steps = steps.into_iter().zip(is_anchor).peekable();
        // The steps before the first unit that stays.
        let mut front = Out::new();
        while let Some((step, _)) = steps.next_if(|(_, stays)| !stays) {
            write(writer, &mut front, step);
        }
        if !front.is_empty() {
            if !anchors.is_empty() {
                front.json(",");
            }
            self.replace(list.start + 1..list.start + 1, front);
        }
        let mut kept_before = false;
        let mut previous_end = list.start + 1;
        for (position, (index, span)) in units.iter().enumerate() {
            if anchors.binary_search(index).is_err() {
                // Removed together with the separator before it. If no unit stays before it, the
                // separator behind it is removed instead.
                let next = units.get(position + 1).map_or(span.end, |(_, next)| next.start);
                let gone = if kept_before { previous_end..span.end } else { span.start..next };
                self.replace(gone, Out::new());
                previous_end = span.end;
                continue;
            }
            kept_before = true;
            previous_end = span.end;
            if let Some((step, _)) = steps.next() {
                self.patch(writer, step, span.clone());
            }
            let mut after = Out::new();
            while let Some((ours, _)) = steps.next_if(|(_, stays)| !stays) {
                write(writer, &mut after, ours);
            }
            if !after.is_empty() {
                let mut comma = Out::new();
                comma.json(",").fragment(after.finish());
                self.replace(span.end..span.end, comma);
            }
        }
    }

    /// Changes a unit that stays: its content or its ids are replaced, its other fields are kept.
    fn patch(&mut self, writer: &Writer<'_, 'a>, step: &Step<'a>, span: std::ops::Range<usize>) {
        if step.is_renamed() && !writer.rules().nests_results {
            self.rename(writer, step);
        }
        if !step.touched {
            return;
        }
        if writer.rules().images_beside {
            self.images(writer, step, span.clone());
        }
        let mut out = Out::new();
        if let Some(slot) = step.message.slot {
            writer.content(&mut out, &step.message);
            self.replace(writer.transcript.doc.value(slot).span(), out);
        } else {
            out.key(writer.content_key(&step.message));
            writer.content(&mut out, &step.message);
            if writer.transcript.body[span.clone()].contains(&b':') {
                out.json(",");
            }
            self.replace(span.start + 1..span.start + 1, out);
        }
    }

    /// Replaces the pictures, on the wire that keeps them beside the content.
    fn images(&mut self, writer: &Writer<'_, 'a>, step: &Step<'a>, span: std::ops::Range<usize>) {
        let node = step.message.node.map(|node| writer.transcript.doc.value(node));
        let old = node.and_then(|message| message.get("images"));
        let mut out = Out::new();
        let shows = writer.wire().protocol().images(writer, &mut out, &step.message);
        if let Some(old) = old {
            self.replace(old.span(), out);
        } else if shows {
            let mut member = Out::new();
            member.key("images").fragment(out.finish()).json(",");
            self.replace(span.start + 1..span.start + 1, member);
        }
    }

    /// Replaces the ids in their place.
    fn rename(&mut self, writer: &Writer<'_, 'a>, step: &Step<'a>) {
        let (of_call, of_result) = writer.rules().id_members;
        for part in &step.message.parts {
            let (node, member, id) = match part {
                Part::Call(call) if call.renamed => (call.node, of_call, &call.id),
                Part::Result(result) if result.renamed => (result.node, of_result, &result.call_id),
                _ => continue,
            };
            let old = node.and_then(|node| writer.transcript.doc.value(node).get(member));
            if let Some(old) = old {
                let mut out = Out::new();
                out.string(id);
                self.replace(old.span(), out);
            }
        }
    }

    fn apply(mut self, body: &'a [u8]) -> (Segments<'a>, Vec<Replaced>) {
        if self.list.is_empty() {
            return (Segments::whole(body), Vec::new());
        }
        self.list.sort_by_key(|(span, _)| (span.start, span.end));
        let mut replaced = Vec::with_capacity(self.list.len());
        let mut out = Out::new();
        let mut at = 0;
        for (span, with) in self.list {
            let (start, end) = (span.start.max(at), span.end.max(at));
            replaced.push(Replaced { span: start..end, length: with.len() });
            out.raw(&body[at..start]).fragment(with);
            at = end;
        }
        out.raw(&body[at..]);
        (out.finish(), replaced)
    }
}

/// Writes a unit in a new position.
fn write<'a>(writer: &Writer<'_, 'a>, out: &mut Out<'a>, step: &Step<'a>) {
    match (step.origin, step.message.node) {
        (Some(_), Some(node)) if !step.touched && !step.is_renamed() => {
            out.comma().raw(writer.transcript.raw(node));
        }
        (Some(_), Some(node)) => {
            // Its own fields, around its new content.
            let value = writer.transcript.doc.value(node);
            let mut inner = Edits::default();
            inner.patch(writer, step, value.span());
            inner.list.sort_by_key(|(span, _)| span.start);
            let body = writer.transcript.body;
            let span = value.span();
            let mut at = span.start;
            out.comma();
            for (edit, with) in inner.list {
                out.raw(&body[at..edit.start]).fragment(with);
                at = edit.end;
            }
            out.raw(&body[at..span.end]);
        }
        _ => writer.wire().protocol().unit(writer, out, &step.message),
    }
}
