//! The differences between the body that the agent sent and the one that the model got, each with
//! its decision.

use std::ops::Range;
use std::sync::Arc;

use photic::json::{Doc, Value as Node};
use photic::{Decision, Did};
use photic_store::{BodySide, PlannedTurn, SessionId};
use serde_json::Value;

use super::index::{SessionIndex, TurnFacts};
use super::layout::mark_positions;
use super::object::Object;
use super::spans::spans;
use super::turn::{reason, words_of};
use crate::diff::{Difference, differences};
use crate::failure::Failure;
use crate::inspector::Inspector;
use crate::request::ApiRequest;

/// Most hunks of a page.
const MAX_HUNKS: u64 = 100;

/// The differences of the bodies of a turn.
#[derive(Clone, Debug)]
struct Changes {
    hunks: Vec<Hunk>,
    bytes: (usize, usize),
}

/// A difference and its decision.
#[derive(Clone, Debug)]
struct Hunk {
    span: Difference,
    pointer: String,
    did: &'static str,
    why: String,
    says: String,
    media: Option<usize>,
    /// Hash of both sides and the pointer, to find the same one in another turn.
    hash: [u8; 32],
}

impl Inspector {
    /// Returns a page of differences.
    pub(crate) async fn changes(
        &self,
        id: &SessionId,
        number: u64,
        ask: &ApiRequest,
    ) -> Result<Value, Failure> {
        let (from, limit) = (ask.number("from")?.unwrap_or(0), ask.limit(MAX_HUNKS)?);
        self.change_page(id, number, (from, limit)).await
    }

    /// Returns differences from a number on.
    pub(crate) async fn change_page(
        &self,
        id: &SessionId,
        number: u64,
        (from, limit): (u64, usize),
    ) -> Result<Value, Failure> {
        let index = self.index(id).await?;
        let turn = index.turn(number)?;
        let changes = self.changes_of(id, number).await?;
        let client = self.body(id, number, BodySide::Client).await?;
        let model = self.body(id, number, BodySide::Model).await?;
        // A turn that cannot be made again has nothing to compare with.
        let before = match index.before(number) {
            Some(before) => self.changes_of(id, before.row.number).await.ok(),
            None => None,
        };
        let start = usize::try_from(from).unwrap_or(usize::MAX).min(changes.hunks.len());
        let end = start.saturating_add(limit).min(changes.hunks.len());
        let (mut marks, mut others) = (0, 0);
        let mut items = Vec::new();
        for (at, hunk) in changes.hunks.iter().enumerate().take(end) {
            let count = if hunk.did == "marked" { &mut marks } else { &mut others };
            *count += 1;
            let label = if hunk.did == "marked" { format!("M{marks}") } else { others.to_string() };
            if at >= start {
                let is_old = before
                    .as_ref()
                    .is_some_and(|before| before.hunks.iter().any(|other| other.hash == hunk.hash));
                let bodies = (client.as_slice(), model.as_slice());
                items.push(hunk_value(hunk, label, is_old, bodies, turn, &index));
            }
        }
        Ok(Object::new()
            .with("items", items)
            .with("total", changes.hunks.len())
            .maybe("next", (end < changes.hunks.len()).then_some(end))
            .with("bytes_client", changes.bytes.0)
            .with("bytes_model", changes.bytes.1)
            .value())
    }

    async fn changes_of(&self, id: &SessionId, number: u64) -> Result<Arc<Changes>, Failure> {
        let key = format!("changes/{id}/{number}");
        if let Some(found) = self.cache.get::<Changes>(&key) {
            return Ok(found);
        }
        let client = self.body(id, number, BodySide::Client).await?;
        let model = self.body(id, number, BodySide::Model).await?;
        let planned = self.planned(id, number).await?;
        let changes = Changes::of(&client, &model, &planned);
        let weight = changes.hunks.len() * 512;
        Ok(self.cache.put(key, changes, weight))
    }
}

impl Changes {
    fn of(client: &[u8], model: &[u8], planned: &PlannedTurn) -> Self {
        let (from, to) = (Doc::read(client), Doc::read(model));
        let decided: Vec<(Range<usize>, &Decision)> = planned
            .decisions
            .iter()
            .filter_map(|one| {
                let at = one.at.as_ref()?;
                let node = from.as_ref().and_then(|doc| find(doc.root()?, &at.pointer));
                Some((node?.span(), one))
            })
            .collect();
        let marks = mark_positions(model);
        let hunks = differences(client, model).into_iter().map(|span| {
            let is_mark = marks.iter().any(|at| span.b.contains(at))
                && span.a.is_empty()
                && span.b.len() < 200;
            let decision = decided
                .iter()
                .filter(|(range, _)| touches(range, &span.a))
                .min_by_key(|(range, one)| (one.did == Did::Marked, range.len()))
                .map(|(_, one)| *one)
                .or_else(|| beside(planned, from.as_ref(), &span.a));
            let mark = planned.decisions.iter().find(|one| is_mark && one.did == Did::Marked);
            let decision = mark.or(decision);
            let pointer = to.as_ref().and_then(|doc| Some(pointer(doc, doc.root()?, &span.b)));
            let pointer = pointer.unwrap_or_default();
            let did =
                if is_mark { "marked" } else { decision.map_or("respelled", |one| one.did.name()) };
            let says = decision.map_or_else(|| Did::Respelled.says(), |one| one.did.says());
            let mut hasher = blake3::Hasher::new();
            for part in [pointer.as_bytes(), &client[span.a.clone()], &model[span.b.clone()]] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
            Hunk {
                pointer,
                did,
                why: decision.map(|one| reason(&one.did)).unwrap_or_default(),
                says,
                media: decision.and_then(|one| one.media).map(photic::MediaId::index),
                hash: *hasher.finalize().as_bytes(),
                span,
            }
        });
        Self { hunks: hunks.collect(), bytes: (client.len(), model.len()) }
    }
}

/// Returns `true` if two ranges overlap or touch.
fn touches(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start <= other.end && other.start <= one.end
}

/// Returns the decision about a part of the object that a difference is in: a block that is replaced
/// differs in several members, and the decision names one.
fn beside<'p>(
    planned: &'p PlannedTurn,
    from: Option<&Doc<'_>>,
    span: &Range<usize>,
) -> Option<&'p Decision> {
    /// Maximum steps between the object and what the decision names.
    const MAX_STEPS: usize = 3;
    let doc = from?;
    let pointer = pointer(doc, doc.root()?, span);
    let object = pointer.rsplit_once('/').map(|(object, _)| object);
    let of = |object: &str| {
        planned.decisions.iter().find(|one| {
            let inside = one.at.as_ref().and_then(|at| at.pointer.strip_prefix(object));
            inside.is_some_and(|rest| {
                (rest.is_empty() || rest.starts_with('/')) && rest.matches('/').count() <= MAX_STEPS
            })
        })
    };
    // The root is an object, too, and holds everything.
    [Some(pointer.as_str()), object]
        .into_iter()
        .flatten()
        .filter(|one| !one.is_empty())
        .find_map(of)
}

/// Finds a value by its JSON pointer.
fn find<'d, 'a>(root: Node<'d, 'a>, pointer: &str) -> Option<Node<'d, 'a>> {
    pointer.split('/').skip(1).try_fold(root, |node, step| {
        let key = step.replace("~1", "/").replace("~0", "~");
        match key.parse::<usize>() {
            Ok(index) => node.items().nth(index).or_else(|| node.get(&key)),
            Err(_) => node.get(&key),
        }
    })
}

/// Returns the JSON pointer of the smallest value that holds a range.
fn pointer(doc: &Doc<'_>, root: Node<'_, '_>, range: &Range<usize>) -> String {
    let holds = |node: &Node<'_, '_>| {
        let span = node.span();
        span.start <= range.start && range.end <= span.end
    };
    let mut node = root;
    loop {
        let member = node.entries().map(|(_, value)| value).find(&holds);
        match member.or_else(|| node.items().find(&holds)) {
            Some(inner) => node = inner,
            None => return doc.pointer_to(node),
        }
    }
}

fn hunk_value(
    hunk: &Hunk,
    label: String,
    is_old: bool,
    (client, model): (&[u8], &[u8]),
    turn: &TurnFacts,
    index: &SessionIndex,
) -> Value {
    let number = hunk.media.and_then(|media| turn.numbers.get(media).copied().flatten());
    let text = match (number, hunk.did) {
        (_, "marked") => "cache mark added".to_owned(),
        (Some(number), did) => format!("#{number} {}", words_of(did)),
        (None, _) => hunk.says.clone(),
    };
    let Difference { a, b } = &hunk.span;
    Object::new()
        .with("label", label)
        .with("pointer", &hunk.pointer)
        .with("a_from", a.start)
        .with("a_to", a.end)
        .with("b_from", b.start)
        .with("b_to", b.end)
        .with("a", spans(&client[a.clone()], true, Some(index)))
        .with("b", spans(&model[b.clone()], true, Some(index)))
        .with("did", hunk.did)
        .with("text", text)
        .with("why", if hunk.why.is_empty() { &hunk.says } else { &hunk.why })
        .maybe("picture", number)
        .with("as_before", is_old)
        .value()
}
