//! How calls and results belong together: the segments of a conversation, and what is broken in
//! them.
//!
//! A segment is one assistant turn (its units) and whatever follows it up to the next one.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::finding::{Code, Finding};
use crate::json::{NodeId, Str};
use crate::lift::position;
use crate::transcript::{Message, Part, Role, Transcript};
use crate::wire::Wire;

/// A part of a unit.
pub(crate) type Place = (usize, usize);

/// One assistant turn and what follows it.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    /// The units of the assistant; empty for what precedes the first one.
    pub(crate) head: Range<usize>,
    /// What follows.
    pub(crate) tail: Range<usize>,
    /// Where the results stand that answer this turn's calls, in order, with the call.
    pub(crate) results: Vec<(Place, Option<Place>)>,
    /// Calls that nothing answers.
    pub(crate) missing: Vec<Place>,
    /// Results in the tail that answer nothing.
    pub(crate) orphans: Vec<Place>,
}

/// Cuts a conversation into segments and pairs results with calls.
///
/// `lenient` takes a result without a call as belonging to what the provider remembers.
pub(crate) fn segments(transcript: &Transcript<'_>, lenient: bool) -> Vec<Segment> {
    let messages = &transcript.messages;
    let flat = transcript.wire.is_flat();
    let mut segments = cut(messages, flat);
    let mut open: Vec<Vec<Place>> = segments
        .iter()
        .map(|segment| places(messages, segment.head.clone(), |part| matches!(part, Part::Call(_))))
        .collect();
    for at in 0..segments.len() {
        for place in
            places(messages, segments[at].tail.clone(), |part| matches!(part, Part::Result(_)))
        {
            let Part::Result(result) = &messages[place.0].parts[place.1] else { continue };
            // A flat list may answer late; elsewhere only turns that follow each other at once are one.
            let mut reach = (0..=at).rev().take_while(|&turn| {
                flat || (turn..at).all(|earlier| segments[earlier].tail.is_empty())
            });
            let answered = reach.find_map(|turn| {
                let index = open[turn].iter().position(|&(unit, part)| {
                    matches!(&messages[unit].parts[part], Part::Call(call) if call.id == result.call_id)
                })?;
                Some((turn, index))
            });
            match answered {
                Some((turn, index)) => {
                    let call = open[turn].remove(index);
                    segments[turn].results.push((place, Some(call)));
                }
                None if lenient => segments[at].results.push((place, None)),
                None => segments[at].orphans.push(place),
            }
        }
    }
    if !lenient {
        for (segment, open) in segments.iter_mut().zip(open) {
            segment.missing = open;
        }
    }
    segments
}

fn cut(messages: &[Message<'_>], flat: bool) -> Vec<Segment> {
    let mut segments = vec![Segment::default()];
    let mut at = 0;
    while at < messages.len() {
        if messages[at].role == Role::Assistant {
            let start = at;
            at += 1;
            // On a flat wire one turn is many items: thoughts, words, calls, hosted tools.
            while flat
                && at < messages.len()
                && matches!(messages[at].role, Role::Assistant | Role::Unknown)
            {
                at += 1;
            }
            segments.push(Segment { head: start..at, tail: at..at, ..Segment::default() });
        } else {
            at += 1;
            if let Some(segment) = segments.last_mut() {
                segment.tail.end = at;
            }
        }
    }
    segments
}

fn places(
    messages: &[Message<'_>],
    units: Range<usize>,
    wanted: impl Fn(&Part<'_>) -> bool,
) -> Vec<Place> {
    let mut places = Vec::new();
    for unit in units {
        let parts = messages[unit].parts.iter().enumerate();
        places.extend(parts.filter(|(_, part)| wanted(part)).map(|(part, _)| (unit, part)));
    }
    places
}

impl Segment {
    /// Units of the tail that stand before a result although they hold none.
    pub(crate) fn interleaved<'s>(
        &'s self,
        messages: &'s [Message<'_>],
    ) -> impl Iterator<Item = usize> + 's {
        let last = self.results.iter().map(|((unit, _), _)| *unit).max().unwrap_or(0);
        self.tail
            .clone()
            .filter(move |&unit| unit < last && messages[unit].results().next().is_none())
    }

    /// The first result that something else of the tail precedes: neighbors of one role count as
    /// one turn.
    pub(crate) fn first_late(&self, messages: &[Message<'_>]) -> Option<usize> {
        let first_other =
            places(messages, self.tail.clone(), |part| !matches!(part, Part::Result(_)))
                .first()
                .copied()?;
        self.results
            .iter()
            .map(|(place, _)| *place)
            .find(|&place| place > first_other)
            .map(|(unit, _)| unit)
    }
}

/// New ids for calls whose id an earlier call has, and for the results that answer them.
pub(crate) fn renames(
    transcript: &Transcript<'_>,
    segments: &[Segment],
) -> BTreeMap<Place, Str<'static>> {
    let messages = &transcript.messages;
    // How often each id was used; a fresh one continues the count.
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    let mut renames = BTreeMap::new();
    for segment in segments {
        for call_place in
            places(messages, segment.head.clone(), |part| matches!(part, Part::Call(_)))
        {
            let Part::Call(call) = &messages[call_place.0].parts[call_place.1] else { continue };
            let id = call.id.decode().into_owned();
            let count = used.entry(id.clone()).or_insert(0);
            *count += 1;
            if *count == 1 {
                continue;
            }
            let mut fresh = format!("{id}_{count}");
            while used.contains_key(&fresh) {
                fresh.push('_');
            }
            used.insert(fresh.clone(), 1);
            let fresh = Str::plain(fresh);
            if let Some((result, _)) =
                segment.results.iter().find(|(_, call)| *call == Some(call_place))
            {
                renames.insert(*result, fresh.clone());
            }
            renames.insert(call_place, fresh);
        }
    }
    renames
}

/// What is broken, whatever the model.
pub(crate) fn findings(transcript: &Transcript<'_>) -> Vec<Finding> {
    let messages = &transcript.messages;
    let wire = transcript.wire;
    let mut findings = Vec::new();
    let mut report = |code: Code, node: Option<NodeId>| {
        if let Some(node) = node {
            findings.push(Finding {
                code,
                at: position(transcript, node, None),
                media: None,
                cost: None,
            });
        }
    };
    let segments = segments(transcript, transcript.settings.continues_elsewhere);
    for segment in &segments {
        for &(unit, part) in &segment.missing {
            report(Code::MissingToolResult, messages[unit].parts[part].node());
        }
        for &(unit, part) in &segment.orphans {
            report(Code::OrphanToolResult, messages[unit].parts[part].node());
        }
        if wire.nests_results() {
            if let Some(unit) = segment.first_late(messages) {
                report(Code::ToolResultsNotFirst, messages[unit].node);
            }
        } else if !wire.is_flat() {
            for unit in segment.interleaved(messages) {
                report(Code::InterleavedUser, messages[unit].node);
            }
        }
    }
    if wire.wants_unique_calls() {
        for &(unit, part) in renames(transcript, &segments).keys() {
            if let Part::Call(call) = &messages[unit].parts[part] {
                report(Code::DuplicateCallId, call.node);
            }
        }
    }
    for message in messages {
        message.parts.iter().for_each(|part| report_empty(wire, part, &mut report));
    }
    findings
}

fn report_empty(wire: Wire, part: &Part<'_>, report: &mut impl FnMut(Code, Option<NodeId>)) {
    match part {
        Part::Text(text) if wire.rejects_empty_text() && text.text.is_empty() => {
            report(Code::EmptyText, text.node);
        }
        Part::Result(result) => {
            if is_empty(&result.content) && (result.is_error || !wire.nests_results()) {
                report(Code::EmptyToolContent, result.slot.or(result.node));
            } else {
                result.content.iter().for_each(|part| report_empty(wire, part, report));
            }
        }
        Part::Text(_)
        | Part::Media(_)
        | Part::Woven(_)
        | Part::Nested(_)
        | Part::Call(_)
        | Part::Thinking(_)
        | Part::Refusal(_)
        | Part::Opaque(_) => {}
    }
}

/// Whether a result says nothing.
pub(crate) fn is_empty(content: &[Part<'_>]) -> bool {
    content.iter().all(|part| matches!(part, Part::Text(text) if text.text.is_empty()))
}
