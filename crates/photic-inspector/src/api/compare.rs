//! The difference between two turns: sums, the common beginning, pictures, settings and messages.

use std::ops::Range;

use photic::Wire;
use photic::transcript::Message;
use photic_store::{BodySide, SessionId};
use serde_json::Value;

use super::costs::Costs;
use super::index::{SessionIndex, TurnFacts};
use super::labels::line;
use super::layout::{fields_of, first_difference, message_spans, unmarked_tokens};
use super::letters::is_shown;
use super::object::{Object, dollars};
use super::spans::spans;
use super::why::first_change;
use crate::diff::differences;
use crate::failure::Failure;
use crate::inspector::Inspector;
use crate::request::ApiRequest;

/// Longest value of a setting, in characters.
const MAX_SETTING: usize = 200;
/// Bytes shown around a difference of two messages.
const AROUND: usize = 60;
/// Most rows of messages.
const MAX_ROWS: usize = 400;

/// A body, and the bytes and hash of each of its messages.
struct Side<'b> {
    body: &'b [u8],
    spans: Vec<Range<usize>>,
    hashes: Vec<[u8; 32]>,
    roles: Vec<&'static str>,
}

impl<'b> Side<'b> {
    fn of(wire: Wire, body: &'b [u8]) -> Self {
        let (transcript, _) = photic::lift(wire, body);
        let spans = message_spans(&transcript);
        let hash = |span: &Range<usize>| {
            let message = &body[span.clone()];
            let mut hasher = blake3::Hasher::new();
            // The separator before a message and its marks are not part of it.
            let tokens = unmarked_tokens(message);
            let skip = usize::from(tokens.first().is_some_and(|one| message[one.clone()] == *b","));
            for token in tokens.into_iter().skip(skip) {
                hasher.update(&message[token]);
            }
            *hasher.finalize().as_bytes()
        };
        let fields = fields_of(&transcript, spans.len());
        let role = |message: &Message<'_>| match message.role {
            photic::transcript::Role::Assistant => "assistant",
            photic::transcript::Role::Tool => "tool",
            photic::transcript::Role::System | photic::transcript::Role::Developer => "system",
            _ => "user",
        };
        let roles = transcript.messages.iter().skip(fields).map(role).collect();
        Self { body, hashes: spans.iter().map(hash).collect(), spans, roles }
    }

    fn message(&self, at: usize) -> &'b [u8] {
        let message = self.spans.get(at).map_or(&b""[..], |span| &self.body[span.clone()]);
        let start = message.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != b',');
        &message[start.unwrap_or(0)..]
    }
}

impl Inspector {
    /// Compares two turns.
    pub(crate) async fn compare(&self, id: &SessionId, ask: &ApiRequest) -> Result<Value, Failure> {
        let missing = || Failure::bad_request("`a` and `b` name the turns to compare");
        let a = ask.number("a")?.ok_or_else(missing)?;
        let b = ask.number("b")?.ok_or_else(missing)?;
        self.comparison(id, a, b).await
    }

    /// Compares two turns by their numbers.
    pub(crate) async fn comparison(
        &self,
        id: &SessionId,
        a: u64,
        b: u64,
    ) -> Result<Value, Failure> {
        let index = self.index(id).await?;
        let index = self.with_extras(id, index, a).await?;
        let index = self.with_extras(id, index, b).await?;
        let (left, right) = (index.turn(a)?, index.turn(b)?);
        let (first, second) = (self.planned(id, a).await?, self.planned(id, b).await?);
        let bodies =
            (self.body(id, a, BodySide::Model).await?, self.body(id, b, BodySide::Model).await?);
        let sides =
            (Side::of(first.profile.wire, &bodies.0), Side::of(second.profile.wire, &bodies.1));
        let end = sides.0.spans.last().map_or(bodies.0.len(), |last| last.end);
        let byte = first_difference(&bodies.0, &bodies.1, end);
        let message =
            byte.and_then(|byte| sides.1.spans.iter().position(|one| one.contains(&byte)));
        let known = byte.map(|byte| (byte, message));
        let change = known.and_then(|_| first_change_of(left, right, known));
        let common = byte.unwrap_or(end).min(bodies.1.len());
        let layout = right.extras.as_ref().map(|extras| &extras.layout);
        let common_tokens = match (byte, layout) {
            (Some(_), Some(layout)) => layout.total() - layout.from(message.unwrap_or(0)),
            _ => left.tokens(None).all(),
        };
        let costs = Costs::new(&index, &second.profile);
        let gone = left.in_sight().filter(|number| !is_shown(right.letter(*number)));
        let gone: u64 =
            gone.filter_map(|number| costs.of(left, number)).map(|one| one.tokens).sum();
        Ok(Object::new()
            .with("a", side(&costs, left))
            .with("b", side(&costs, right))
            .with("common_bytes", common)
            .with("common_tokens", common_tokens)
            .maybe("first", change.map(|change| change.value()))
            .with("gone_tokens", gone)
            .with(
                "settings",
                settings(&first, &second, (bodies.0.as_slice(), bodies.1.as_slice()), &index),
            )
            .with("messages", messages(&sides, left, right, &index))
            .value())
    }
}

/// Returns the first change between two turns, which need not be neighbors.
fn first_change_of(
    left: &TurnFacts,
    right: &TurnFacts,
    known: Option<(usize, Option<usize>)>,
) -> Option<super::why::FirstChange> {
    // The hashes of the record compare with the turn before only.
    let mut right = right.clone();
    right.row.change = None;
    first_change(left, &right, known, true)
}

fn side(costs: &Costs<'_>, turn: &TurnFacts) -> Value {
    let previous = costs.index.before(turn.row.number);
    let each = turn.in_sight().filter_map(|number| costs.of(turn, number));
    Object::new()
        .with("n", turn.row.number)
        .with("came", turn.came().0)
        .with("fates", &turn.letters)
        .with("tokens", turn.tokens(previous).value())
        .maybe("usd", turn.usd().map(dollars))
        .with("reported", turn.is_reported())
        .with("in_sight", turn.in_sight().count())
        .with("picture_tokens", each.map(|one| one.tokens).sum::<u64>())
        .with("bytes", turn.row.length)
        .value()
}

/// Returns the settings that differ: members of the bodies besides messages, the profile, and the
/// policy.
fn settings(
    first: &photic_store::PlannedTurn,
    second: &photic_store::PlannedTurn,
    bodies: (&[u8], &[u8]),
    index: &SessionIndex,
) -> Vec<Value> {
    let read = |body: &[u8]| serde_json::from_slice::<serde_json::Map<String, Value>>(body);
    let (left, right) = (read(bodies.0).unwrap_or_default(), read(bodies.1).unwrap_or_default());
    let is_list = |name: &str| matches!(name, "messages" | "input" | "contents");
    let mut found = Vec::new();
    let mut compare = |name: String, a: Option<String>, b: Option<String>| {
        if a != b {
            let cut = |text: String| line(&text, MAX_SETTING);
            let one = Object::new().with("name", name).maybe("a", a.map(cut));
            found.push(one.maybe("b", b.map(cut)).value());
        }
    };
    let text = |value: Option<&Value>| {
        let value = value?;
        let bytes = serde_json::to_vec(value).ok()?;
        let plain: Vec<u8> =
            unmarked_tokens(&bytes).into_iter().flat_map(|token| bytes[token].to_vec()).collect();
        String::from_utf8(plain).ok()
    };
    let mut names: Vec<&String> = left.keys().chain(right.keys()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names.into_iter().filter(|name| !is_list(name)) {
        compare(format!("/{name}"), text(left.get(name)), text(right.get(name)));
    }
    compare("profile".to_owned(), Some(first.profile.id.clone()), Some(second.profile.id.clone()));
    compare("limits".to_owned(), json(&first.profile.limits), json(&second.profile.limits));
    let choices = |planned: &photic_store::PlannedTurn| {
        let each = planned.policy.choices.iter().map(|(digest, choice)| {
            let name =
                index.number_of(digest).map_or("?".to_owned(), |number| format!("#{number}"));
            format!("{name} {}", serde_json::to_string(choice).unwrap_or_default().replace('"', ""))
        });
        Some(each.collect::<Vec<_>>().join(", "))
    };
    compare("choices".to_owned(), choices(first), choices(second));
    found
}

fn json(value: &impl serde::Serialize) -> Option<String> {
    serde_json::to_string(value).ok()
}

/// Returns the messages of both turns side by side.
fn messages(
    (a, b): &(Side<'_>, Side<'_>),
    left: &TurnFacts,
    right: &TurnFacts,
    index: &SessionIndex,
) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut at = (0, 0);
    while (at.0 < a.hashes.len() || at.1 < b.hashes.len()) && rows.len() < MAX_ROWS {
        let rest = (&a.hashes[at.0..], &b.hashes[at.1..]);
        let same = rest.0.iter().zip(rest.1).take_while(|(a, b)| a == b).count();
        if same > 0 {
            let row = Object::new().with("kind", "same").with("a", at.0).with("b", at.1);
            rows.push(row.with("count", same).value());
            at = (at.0 + same, at.1 + same);
            continue;
        }
        match (rest.0.first(), rest.1.first()) {
            (Some(one), Some(other)) => {
                // A message that is only on one side stands alone.
                if rest.1.contains(one) && !rest.0.contains(other) {
                    rows.push(single("added", b, at.1, index));
                    at.1 += 1;
                } else if rest.0.contains(other) && !rest.1.contains(one) {
                    rows.push(single("removed", a, at.0, index));
                    at.0 += 1;
                } else {
                    rows.push(changed((a, at.0), (b, at.1), (left, right), index));
                    at = (at.0 + 1, at.1 + 1);
                }
            }
            (Some(_), None) => {
                rows.push(single("removed", a, at.0, index));
                at.0 += 1;
            }
            (None, _) => {
                rows.push(single("added", b, at.1, index));
                at.1 += 1;
            }
        }
    }
    rows
}

fn single(kind: &str, side: &Side<'_>, at: usize, index: &SessionIndex) -> Value {
    let pieces = spans(side.message(at), true, Some(index));
    let (place, name) = if kind == "added" { ("b", "b_spans") } else { ("a", "a_spans") };
    Object::new()
        .with("kind", kind)
        .with(place, at)
        .with("count", 1)
        .maybe("role", side.roles.get(at))
        .with(name, pieces)
        .with("text", if kind == "added" { "new" } else { "removed" })
        .value()
}

/// Returns the pieces of a range, of which some are changed.
fn marked(
    text: &[u8],
    range: Range<usize>,
    changed: impl Iterator<Item = Range<usize>>,
    index: &SessionIndex,
) -> Vec<Value> {
    let mut pieces = Vec::new();
    let mut at = range.start;
    for one in changed {
        pieces.extend(spans(&text[at..one.start], false, Some(index)));
        pieces.extend(spans(&text[one.clone()], true, Some(index)));
        at = one.end;
    }
    pieces.extend(spans(&text[at..range.end], false, Some(index)));
    pieces
}

fn changed(
    (a, at_a): (&Side<'_>, usize),
    (b, at_b): (&Side<'_>, usize),
    (left, right): (&TurnFacts, &TurnFacts),
    index: &SessionIndex,
) -> Value {
    let (one, other) = (a.message(at_a), b.message(at_b));
    let found = differences(one, other);
    let range = |of: &dyn Fn(&crate::diff::Difference) -> Range<usize>, len: usize| {
        let start = found.first().map_or(0, |first| of(first).start).saturating_sub(AROUND);
        let end = found.last().map_or(len, |last| of(last).end).saturating_add(AROUND).min(len);
        start..end
    };
    let ranges = (range(&|one| one.a.clone(), one.len()), range(&|one| one.b.clone(), other.len()));
    let place = |turn: &TurnFacts, message: usize| {
        let media = turn.extras.as_ref().map(|extras| extras.layout.media.clone());
        let here = media.unwrap_or_default().into_iter().zip(turn.numbers.clone());
        let here = here.filter(move |(place, _)| place.is_some_and(|(at, _)| at == message));
        here.filter_map(|(_, number)| number).collect::<Vec<u32>>()
    };
    let mut pictures = place(left, at_a);
    pictures.extend(place(right, at_b));
    pictures.sort_unstable();
    pictures.dedup();
    pictures.retain(|number| left.letter(*number) != right.letter(*number));
    let text = pictures.first().map(|number| {
        let word = match right.letter(*number) {
            'r' => "retired",
            'd' => "dropped",
            'e' => "repeated",
            's' => "remade",
            letter if is_shown(letter) && !is_shown(left.letter(*number)) => "came back",
            _ => "changed",
        };
        format!("#{number} {word}")
    });
    Object::new()
        .with("kind", "changed")
        .with("a", at_a)
        .with("b", at_b)
        .with("count", 1)
        .maybe("role", b.roles.get(at_b))
        .with("a_spans", marked(one, ranges.0, found.iter().map(|one| one.a.clone()), index))
        .with("b_spans", marked(other, ranges.1, found.iter().map(|one| one.b.clone()), index))
        .maybe("pictures", Some(&pictures).filter(|pictures| !pictures.is_empty()))
        .with("text", text.unwrap_or_else(|| "changed".to_owned()))
        .value()
}
