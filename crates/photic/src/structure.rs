//! Pairs calls with results: finds the segments of a conversation, and the errors in them.
//!
//! A segment is one assistant turn (its units) and everything that follows it up to the next one.
//! Every pass here is linear, because conversations are untrusted input.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::finding::{Code, Finding};
use crate::json::{NodeId, Str};
use crate::profile::CallIds;
use crate::transcript::{Call, CallKind, Message, Part, Role, Transcript};
use crate::wire::Wire;

/// A part of a unit: the index of the unit, and that of the part.
pub(crate) type PartIndex = (usize, usize);

/// One assistant turn and the units that follow it.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    /// The units of the assistant; empty for the segment before the first turn.
    pub(crate) head: Range<usize>,
    /// The units that follow.
    pub(crate) tail: Range<usize>,
    /// The results that answer this turn's calls, in order, each with its call.
    pub(crate) results: Vec<(PartIndex, Option<PartIndex>)>,
    /// Calls without a result.
    pub(crate) missing: Vec<PartIndex>,
    /// Results in the tail that answer no call, in order.
    pub(crate) orphans: Vec<PartIndex>,
}

/// The reader that a conversation is checked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// Its own wire. State kept by the provider counts, and a call for a screenshot may wait.
    OwnWire,
    /// Another wire, which knows only the content of the body.
    OtherWire,
}

/// Cuts a conversation into segments and pairs results with calls.
pub(crate) fn segments(transcript: &Transcript<'_>, reader: Reader) -> Vec<Segment> {
    let lenient = reader == Reader::OwnWire && transcript.settings.continues_elsewhere;
    let messages = &transcript.messages;
    let mut segments = cut(messages, transcript.wire);
    if !has_calls(messages) {
        return segments;
    }
    let mut open = OpenCalls::default();
    // The calls of each segment that have no result yet.
    let mut waiting = vec![0_usize; segments.len()];
    for at in 0..segments.len() {
        // A flat list may answer late. On other wires a turn is over once another unit followed
        // it.
        if at > 0 && !transcript.wire.rules().flat && !segments[at - 1].tail.is_empty() {
            open.clear();
        }
        calls(messages, segments[at].head.clone()).for_each(|(place, call)| {
            open.add(call.id.decode(), at, place);
            waiting[at] += 1;
        });
        places(messages, segments[at].tail.clone()).for_each(|(place, part)| {
            let Part::Result(result) = part else { return };
            if reader == Reader::OwnWire && result.kind == CallKind::Hosted {
                segments[at].results.push((place, None));
                return;
            }
            match open.take(result.call_id.decode()) {
                Some((turn, call)) => {
                    waiting[turn] -= 1;
                    segments[turn].results.push((place, Some(call)));
                }
                None if lenient => segments[at].results.push((place, None)),
                None => segments[at].orphans.push(place),
            }
        });
    }
    if !lenient {
        for (segment, _) in segments.iter_mut().zip(waiting).filter(|(_, waiting)| *waiting > 0) {
            let answered: BTreeSet<PartIndex> =
                segment.results.iter().filter_map(|(_, call)| *call).collect();
            segment.missing = calls(messages, segment.head.clone())
                .map(|(place, _)| place)
                .filter(|place| !answered.contains(place))
                // A screenshot cannot be replaced by text.
                .filter(|place| reader == Reader::OtherWire || !is_screen(messages, *place))
                .collect();
        }
    }
    segments
}

/// Returns `true` if there is a call or a result. Without any, there is nothing to pair.
fn has_calls(messages: &[Message<'_>]) -> bool {
    let mut parts = messages.iter().flat_map(|message| &message.parts);
    parts.any(|part| matches!(part, Part::Call(_) | Part::Result(_)))
}

/// Calls that wait for a result, by id. The nearest turn comes first, and within it the first
/// call.
#[derive(Default)]
struct OpenCalls<'a>(BTreeSet<(Cow<'a, str>, Reverse<usize>, PartIndex)>);

impl<'a> OpenCalls<'a> {
    fn clear(&mut self) {
        if !self.0.is_empty() {
            self.0.clear();
        }
    }

    fn add(&mut self, id: Cow<'a, str>, turn: usize, place: PartIndex) {
        self.0.insert((id, Reverse(turn), place));
    }

    fn take(&mut self, id: Cow<'a, str>) -> Option<(usize, PartIndex)> {
        let first = (id.clone(), Reverse(usize::MAX), (0, 0));
        let &(ref found, Reverse(turn), place) = self.0.range(first..).next()?;
        if *found != id {
            return None;
        }
        self.0.remove(&(id, Reverse(turn), place));
        Some((turn, place))
    }
}

fn is_screen(messages: &[Message<'_>], (unit, part): PartIndex) -> bool {
    matches!(&messages[unit].parts[part], Part::Call(call) if call.kind == CallKind::Screen)
}

fn cut(messages: &[Message<'_>], wire: Wire) -> Vec<Segment> {
    let turns = messages.iter().filter(|message| message.role == Role::Assistant).count();
    let mut segments = Vec::with_capacity(turns + 1);
    segments.push(Segment::default());
    let mut at = 0;
    while at < messages.len() {
        if messages[at].role == Role::Assistant {
            let start = at;
            at += 1;
            // On a flat wire, one turn is many items: reasoning, texts, calls, hosted tools. On
            // wires with nested results, neighbors of one role count as one turn.
            while at < messages.len()
                && match messages[at].role {
                    Role::Assistant => wire.rules().flat || wire.rules().nests_results,
                    Role::Unknown => wire.rules().flat,
                    Role::System | Role::Developer | Role::User | Role::Tool => false,
                }
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

/// Returns the calls of some units, each with its place.
fn calls<'t, 'a>(
    messages: &'t [Message<'a>],
    units: Range<usize>,
) -> impl Iterator<Item = (PartIndex, &'t Call<'a>)> {
    places(messages, units).filter_map(|(place, part)| match part {
        Part::Call(call) => Some((place, call)),
        _ => None,
    })
}

/// Returns the parts of some units, each with its place.
fn places<'t, 'a>(
    messages: &'t [Message<'a>],
    units: Range<usize>,
) -> impl Iterator<Item = (PartIndex, &'t Part<'a>)> {
    units.clone().zip(&messages[units]).flat_map(|(unit, message)| {
        let parts = message.parts.iter().enumerate();
        parts.map(move |(part, of)| ((unit, part), of))
    })
}

impl Segment {
    /// Returns the units of the tail that come before a result but hold none.
    pub(crate) fn interleaved<'s>(
        &'s self,
        messages: &'s [Message<'_>],
    ) -> impl Iterator<Item = usize> + 's {
        let last = self.results.iter().map(|((unit, _), _)| *unit).max().unwrap_or(0);
        self.tail
            .clone()
            .filter(move |&unit| unit < last && messages[unit].results().next().is_none())
    }

    /// Returns the unit of the first result that comes after other content of the tail. Neighbors
    /// of one role count as one turn.
    pub(crate) fn first_late(&self, messages: &[Message<'_>]) -> Option<usize> {
        let is_other = |part: &Part<'_>| !matches!(part, Part::Result(_));
        let first_other = self
            .tail
            .clone()
            .find_map(|unit| Some((unit, messages[unit].parts.iter().position(is_other)?)))?;
        self.results
            .iter()
            .map(|(place, _)| *place)
            .find(|&place| place > first_other)
            .map(|(unit, _)| unit)
    }
}

/// Returns new ids for calls whose id the target does not take: another call has it, it is not a
/// plain word, or it does not fit the endpoint's dialect. The results that answer them get the new
/// ids too, and so do results that will get a call of their own.
pub(crate) fn renames(
    transcript: &Transcript<'_>,
    segments: &[Segment],
    target: Wire,
    dialect: CallIds,
) -> BTreeMap<PartIndex, Str<'static>> {
    let messages = &transcript.messages;
    // Other wires do not restrict ids, and an id that looks like an instruction must not be passed
    // on.
    let plain_only = target.rules().plain_call_ids || transcript.own_wire() != Some(target);
    // The result that answers each call, once it is needed: ids are nearly always taken as they are.
    let mut answers: Option<BTreeMap<PartIndex, PartIndex>> = None;
    // The number of uses of each id. A new id continues the count.
    let mut used: BTreeMap<Cow<'_, str>, usize> = BTreeMap::new();
    let mut renames = BTreeMap::new();
    for segment in segments {
        if !target.rules().unique_call_ids && !used.is_empty() {
            used.clear();
        }
        let own = calls(messages, segment.head.clone()).map(|(place, _)| place);
        for place in own.chain(segment.orphans.iter().copied()) {
            let id = match &messages[place.0].parts[place.1] {
                Part::Call(call) => call.id.decode(),
                Part::Result(result) => result.call_id.decode(),
                _ => continue,
            };
            let shaped = |id: Cow<'_, str>| match dialect {
                CallIds::NineLetters => nine_letters(&id),
                CallIds::Any => id.into_owned(),
            };
            let is_taken = !(plain_only && plain_id(&id) != id)
                && (dialect == CallIds::Any || nine_letters(&id) == id);
            if is_taken && !used.contains_key(&id) {
                used.insert(id, 1);
                continue;
            }
            let wanted = shaped(if plain_only { plain_id(&id) } else { id.clone() });
            let count = used.entry(Cow::Owned(wanted.clone())).or_insert(0);
            *count += 1;
            // The longer one may be too long for a plain id.
            let longer = |id: String| {
                let plain = if plain_only { plain_id(&id).into_owned() } else { id };
                shaped(plain.into())
            };
            let mut fresh =
                if *count == 1 { wanted.clone() } else { longer(format!("{wanted}_{count}")) };
            while fresh != wanted && used.contains_key(fresh.as_str()) {
                fresh = longer(format!("{fresh}_"));
            }
            used.entry(Cow::Owned(fresh.clone())).or_insert(1);
            if fresh == id {
                continue;
            }
            let answers = answers.get_or_insert_with(|| {
                let results = segments.iter().flat_map(|segment| &segment.results);
                results.filter_map(|&(result, call)| Some((call?, result))).collect()
            });
            if let Some(result) = answers.get(&place) {
                renames.insert(*result, Str::plain(fresh.clone()));
            }
            renames.insert(place, Str::plain(fresh));
        }
    }
    renames
}

/// Returns an id that every wire takes: `id` itself if it is a plain word, else a name made from
/// it.
pub(crate) fn plain_id(id: &str) -> Cow<'_, str> {
    let is_plain = (1..=64).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if is_plain {
        return Cow::Borrowed(id);
    }
    let digest = blake3::hash(id.as_bytes()).to_hex();
    Cow::Owned(format!("call_{}", &digest.as_str()[..24]))
}

/// Returns nine letters or digits: `id` itself if it is that, else a name made from it.
pub(crate) fn nine_letters(id: &str) -> String {
    if id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return id.to_owned();
    }
    blake3::hash(id.as_bytes()).to_hex().as_str()[..9].to_owned()
}

/// Returns the errors that hold for every model.
pub(crate) fn findings(transcript: &Transcript<'_>) -> Vec<Finding> {
    let messages = &transcript.messages;
    let wire = transcript.wire;
    let mut findings = Vec::new();
    let mut report = |code: Code, node: Option<NodeId>| {
        if let Some(node) = node {
            findings.push(Finding {
                code,
                at: transcript.position_of(node, None),
                media: None,
                cost: None,
            });
        }
    };
    let segments = segments(transcript, Reader::OwnWire);
    for segment in &segments {
        for &(unit, part) in &segment.missing {
            report(Code::MissingToolResult, messages[unit].parts[part].node());
        }
        for &(unit, part) in &segment.orphans {
            report(Code::OrphanToolResult, messages[unit].parts[part].node());
        }
        if wire.rules().nests_results {
            if let Some(unit) = segment.first_late(messages) {
                report(Code::ToolResultsNotFirst, messages[unit].node);
            }
        } else if !wire.rules().flat {
            for unit in segment.interleaved(messages) {
                report(Code::InterleavedUser, messages[unit].node);
            }
        }
    }
    // There are no rules for the ids in a dump.
    let renamed = transcript.own_wire();
    let renamed = renamed.map(|wire| renames(transcript, &segments, wire, CallIds::Any));
    for &(unit, part) in renamed.unwrap_or_default().keys() {
        if let Part::Call(call) = &messages[unit].parts[part] {
            let id = call.id.decode();
            let code = if wire.rules().plain_call_ids && plain_id(&id) != id {
                Code::InvalidCallId
            } else {
                Code::DuplicateCallId
            };
            report(code, call.node);
        }
    }
    // As in placing: a unit that is not understood does not open a conversation.
    let opening = messages
        .iter()
        .find(|message| !matches!(message.role, Role::System | Role::Developer | Role::Unknown));
    if wire.rules().starts_with_user
        && let Some(message) = opening.filter(|message| message.role == Role::Assistant)
    {
        report(Code::AssistantFirst, message.node);
    }
    for message in messages {
        message.parts.iter().for_each(|part| report_empty(wire, part, message.slot, &mut report));
    }
    findings
}

fn report_empty(
    wire: Wire,
    part: &Part<'_>,
    slot: Option<NodeId>,
    report: &mut impl FnMut(Code, Option<NodeId>),
) {
    match part {
        Part::Text(text) if wire.rules().rejects_empty_text && text.is_blank() => {
            report(Code::EmptyText, text.node.or(slot));
        }
        Part::Result(result) => {
            // On some wires a result that failed holds only text.
            let strange = |part: &Part<'_>| matches!(part, Part::Opaque(_) | Part::Nested(_));
            if result.is_error
                && wire.rules().text_only_failures
                && result.content.iter().any(strange)
            {
                report(Code::ImageInErrorResult, result.slot);
            }
            if is_empty(&result.content) && (result.is_error || !wire.rules().nests_results) {
                report(Code::EmptyToolContent, result.slot.or(result.node));
            } else {
                // A successful result may be an empty string.
                let parts = result.content.iter().filter(|part| part.node().is_some());
                parts.for_each(|part| report_empty(wire, part, None, report));
            }
        }
        Part::Text(_)
        | Part::Media(_)
        | Part::TextWithMedia(_)
        | Part::Nested(_)
        | Part::Call(_)
        | Part::Thinking(_)
        | Part::Mark(_)
        | Part::Refusal(_)
        | Part::Opaque(_) => {}
    }
}

/// Returns `true` if a result has no content.
pub(crate) fn is_empty(content: &[Part<'_>]) -> bool {
    content.iter().all(|part| matches!(part, Part::Text(text) if text.text.is_empty()))
}
