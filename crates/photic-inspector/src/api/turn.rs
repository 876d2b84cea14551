//! A turn: its pictures, tokens, cache, decisions and outcome.

use std::collections::BTreeMap;

use photic::{Did, Profile};
use photic_store::{PlannedTurn, SessionId};
use serde_json::{Value, json};

use super::costs::Costs;
use super::index::{SessionIndex, TurnFacts};
use super::object::{Object, dollars};
use super::sessions::digest_text;
use super::timeline::{Tokens, row};
use super::why::{named, unread};
use crate::failure::Failure;
use crate::inspector::Inspector;

/// Most positions that are listed for a group of decisions.
const MAX_POSITIONS: usize = 20;
/// An estimate is off if it differs from the charge by more than this part of it.
const OFF: f64 = 0.25;

impl Inspector {
    /// Returns a turn.
    pub(crate) async fn turn(&self, id: &SessionId, number: u64) -> Result<Value, Failure> {
        let index = self.index(id).await?;
        let index = self.with_extras(id, index, number).await?;
        let turn = index.turn(number)?;
        let previous = index.before(number);
        let planned = self.planned(id, number).await?;
        let before = match previous {
            Some(previous) => Some(self.planned(id, previous.row.number).await?),
            None => None,
        };
        let is_reproduced = self.is_reproduced(id, number).await?;
        let costs = Costs::new(&index, &planned.profile);
        let tokens = turn.tokens(previous);
        // First, because it examines the text of the new pictures.
        let new: Vec<u32> = index
            .pictures
            .iter()
            .filter(|picture| picture.first_turn == number)
            .map(|picture| picture.number)
            .collect();
        let findings = self.findings_with(id, &index, &new).await?;
        let pictures = self.turn_pictures(&costs, turn, &planned).await?;
        let has_reply = self.history.reply(id, number).await?.is_some();
        let warnings = findings.into_iter().filter(|one| one.warns_about(number));
        let groups = decisions(&planned, before.as_deref(), turn);
        Ok(row(turn, previous)
            .with("wire", turn.row.wire.name())
            .maybe("model", model(turn))
            .with("pictures", pictures)
            .maybe("new_tokens", turn.new_tokens(previous))
            .maybe("usd_parts", usd_parts(&costs, turn, &tokens))
            .maybe("estimate_off", estimate_off(turn))
            .with("cache", cache(turn, previous, &planned.profile))
            .with("decisions", groups)
            .with("request", request(turn, &planned, is_reproduced))
            .with("tries", tries(turn))
            .with("headers", headers(turn, &planned))
            .with("has_reply", has_reply)
            .with("warnings", warnings.map(|one| one.value()).collect::<Vec<_>>())
            .value())
    }

    /// Returns the index with all facts about a turn and the one before it.
    pub(crate) async fn with_extras(
        &self,
        id: &SessionId,
        index: std::sync::Arc<SessionIndex>,
        number: u64,
    ) -> Result<std::sync::Arc<SessionIndex>, Failure> {
        index.turn(number)?;
        let wanted = [number.saturating_sub(1).max(1), number];
        let is_known = |number: u64| index.turn(number).is_ok_and(|turn| turn.extras.is_some());
        if wanted.into_iter().all(is_known) {
            return Ok(index);
        }
        let mut index = SessionIndex::clone(&index);
        for number in wanted {
            let at = usize::try_from(number - 1).unwrap_or(usize::MAX);
            let previous = at.checked_sub(1).and_then(|at| index.turns.get(at));
            let extras = self.extras(id, index.turn(number)?, previous).await?;
            index.turns[at].extras = Some(extras);
        }
        Ok(std::sync::Arc::new(index))
    }

    /// Returns the pictures of a turn, in order.
    async fn turn_pictures(
        &self,
        costs: &Costs<'_>,
        turn: &TurnFacts,
        planned: &PlannedTurn,
    ) -> Result<Vec<Value>, Failure> {
        let mut pictures = Vec::new();
        for (media, number) in turn.numbers.iter().enumerate() {
            let Some(number) = *number else { continue };
            pictures.push(self.turn_picture(costs, turn, planned, media, number).await?.value());
        }
        Ok(pictures)
    }

    /// Returns a picture as it stands in a turn.
    pub(crate) async fn turn_picture(
        &self,
        costs: &Costs<'_>,
        turn: &TurnFacts,
        planned: &PlannedTurn,
        media: usize,
        number: u32,
    ) -> Result<Object, Failure> {
        let object = Object::new().with("picture", number).with("letter", turn.letter(number));
        let Some(one) = planned.media.get(media) else {
            return Ok(object.with("reason", "fits").with("reason_text", ""));
        };
        let is_shown = one.notice.is_none();
        let sent = one.image.sent.filter(|_| is_shown);
        let seen = sent.map(|(width, height)| {
            let seen = planned.profile.seen(width, height, one.detail);
            [seen.width, seen.height]
        });
        let made = one.made.as_ref().map(|made| made.blob);
        let sent_digest = made.map(|blob| *blob.as_bytes()).or(one.image.digest);
        let sent_bytes = match made {
            Some(blob) => self.blob_size(&costs.index.id, *blob.as_bytes()).await,
            None => Some(one.image.bytes),
        };
        let cost = costs.of(turn, number).filter(|_| is_shown);
        let placed = turn.extras.as_ref().and_then(|extras| extras.layout.media.get(media));
        // Those of earlier turns were examined there.
        let picture = costs.index.picture(number);
        let is_examined = picture.is_ok_and(|one| one.first_turn == turn.row.number);
        let x_height = match (one.image.digest.filter(|_| is_examined), seen) {
            (Some(digest), Some([width, _])) => {
                self.known_letters(&digest).and_then(|letters| letters.in_width(width))
            }
            _ => None,
        };
        Ok(object
            .with("reason", one.image.fate.reason().name())
            .with("reason_text", one.image.fate.reason().says())
            .maybe("notice", one.notice.as_ref())
            .maybe("size", one.image.size)
            .maybe("sent", sent)
            .maybe("seen", seen)
            .maybe("sent_bytes", sent_bytes.filter(|_| is_shown))
            .maybe("sent_digest", sent_digest.filter(|_| is_shown).map(|one| digest_text(&one)))
            .maybe("tokens", cost.map(|cost| cost.tokens))
            .maybe("usd", cost.and_then(|cost| cost.usd).map(dollars))
            .maybe("stands", cost.map(|cost| cost.stands.name()))
            .maybe("x_height", x_height)
            .maybe("choice", one.image.choice)
            .maybe("message", placed.copied().flatten().map(|(message, _)| message)))
    }
}

/// Returns the model of a turn.
pub(crate) fn model(turn: &TurnFacts) -> Option<String> {
    let outcome = turn.row.outcome.as_ref().and_then(|outcome| outcome.model.clone());
    outcome.or_else(|| turn.extras.as_ref()?.model.clone())
}

/// Returns the dollars of each kind of tokens.
fn usd_parts(costs: &Costs<'_>, turn: &TurnFacts, tokens: &Tokens) -> Option<Value> {
    let (price, cache) = (costs.profile.price?, &costs.profile.cache);
    let of = |tokens: Option<u64>, ratio: f64| {
        tokens.map(|tokens| dollars(price.of(tokens as f64 * ratio)))
    };
    let again = tokens.again.unwrap_or(0);
    let fresh = tokens.written.map(|written| written.saturating_sub(again));
    let output = turn.row.outcome.as_ref().and_then(|outcome| outcome.output_usd);
    Some(
        Object::new()
            .maybe("read", of(tokens.read, cache.read))
            .maybe("written", of(fresh, cache.write))
            .maybe("again", of(tokens.again.filter(|again| *again > 0), cache.write))
            .maybe("rest", of(tokens.rest, 1.0))
            .maybe("output", output.map(dollars))
            .maybe("pictures", costs.of_turn(turn).map(dollars))
            .value(),
    )
}

/// Returns a sentence if the estimate is off.
fn estimate_off(turn: &TurnFacts) -> Option<String> {
    let (charged, expected) = (turn.row.cost.usd?, turn.expected_usd()?);
    let is_off = turn.is_reported() && (expected - charged).abs() > charged * OFF;
    is_off.then(|| {
        format!("the plan expected ${expected:.4} for the input, and ${charged:.4} was charged")
    })
}

/// Returns the state of the cache.
fn cache(turn: &TurnFacts, previous: Option<&TurnFacts>, profile: &Profile) -> Value {
    let Some(before) = previous else {
        let text = "This is the first turn, so nothing could be read from a cache.";
        return json!({"state": "nothing_yet", "text": text});
    };
    if let Some(first) = turn.first(previous) {
        let place = match (first.byte, first.message) {
            (Some(byte), Some(message)) => {
                format!("First changed byte {byte}, message {message}: ")
            }
            (Some(byte), None) => format!("First changed byte {byte}, before the messages: "),
            (None, Some(message)) => format!("First changed message {message}: "),
            (None, None) => String::new(),
        };
        let text = format!("{place}{}.", first.text);
        return Object::new()
            .with("state", "broken")
            .with("text", text)
            .maybe("common_bytes", first.byte)
            .value();
    }
    if let Some(lost) = unread(before, turn, Some(profile)) {
        let text =
            format!("The request begins with turn {}, but {}.", before.row.number, lost.text);
        return json!({"state": "unmarked", "text": text});
    }
    let text = format!("The request begins with all of turn {}.", before.row.number);
    Object::new()
        .with("state", "whole")
        .with("text", text)
        .with("common_bytes", before.row.length)
        .value()
}

/// Changes of one kind, reason and text.
type Group<'p> = ((&'static str, String, String), Vec<&'p photic::Decision>);

/// Returns the changes, grouped by their kind and reason.
pub(crate) fn decisions(
    planned: &PlannedTurn,
    before: Option<&PlannedTurn>,
    turn: &TurnFacts,
) -> Vec<Value> {
    let key = |one: &photic::Decision| (one.did.name(), reason(&one.did), one.did.says());
    let earlier: Vec<_> = before
        .map(|before| before.decisions.iter().map(|one| (key(one), one.at.clone())).collect())
        .unwrap_or_default();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for one in &planned.decisions {
        let key = key(one);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, group)) => group.push(one),
            None => groups.push((key, vec![one])),
        }
    }
    let group = |((did, why, says), group): Group<'_>| {
        let number =
            |one: &&photic::Decision| turn.numbers.get(one.media?.index()).copied().flatten();
        let pictures: Vec<u32> = group.iter().filter_map(number).collect();
        let text = match pictures.as_slice() {
            [] if group.len() == 1 => says.clone(),
            [] => format!("{} times: {says}", group.len()),
            pictures => format!("{} {}", named(pictures), words_of(did)),
        };
        let same = |one: &&photic::Decision| {
            earlier.iter().any(|(key, at)| key.0 == did && key.1 == why && *at == one.at)
        };
        let at = group.iter().filter_map(|one| one.at.as_ref()).take(MAX_POSITIONS);
        Object::new()
            .with("did", did)
            .with("text", text)
            .with("why", if why.is_empty() { says } else { why.clone() })
            .with("count", group.len())
            .with("pictures", &pictures)
            .with("at", at.map(ToString::to_string).collect::<Vec<_>>())
            .with("as_before", group.iter().all(same))
            .value()
    };
    groups.into_iter().map(group).collect()
}

/// Returns the reason of a change in words, if it has one besides its kind.
pub(crate) fn reason(did: &Did) -> String {
    match did {
        Did::NotShown(reason) => reason.says().to_owned(),
        Did::LeftOutPart(because) => because.says(),
        Did::LeftOutField(field) | Did::ChangedField(field) | Did::AddedField(field) => {
            field.because.says()
        }
        _ => String::new(),
    }
}

/// Returns the words for a change of a picture.
pub(crate) fn words_of(did: &str) -> &'static str {
    match did {
        "hoisted" => "moved behind the results",
        "rewrote" => "made an image again",
        "remade" => "sent as another picture",
        "fetched" => "sent as bytes instead of an address",
        "not_shown" => "left out",
        "marked" => "marked for the cache",
        _ => "written differently",
    }
}

/// Returns the facts about the request and its answer.
fn request(turn: &TurnFacts, planned: &PlannedTurn, is_reproduced: Option<bool>) -> Value {
    let outcome = turn.row.outcome.as_ref();
    let sent_wire = planned.profile.wire;
    let digest = blake3::Hash::from_bytes(turn.row.digest).to_hex()[..12].to_owned();
    Object::new()
        .maybe("sent_wire", (sent_wire != turn.row.wire).then(|| sent_wire.name()))
        .maybe("host", outcome.and_then(|one| one.host.as_ref()))
        .maybe("id", outcome.and_then(|one| one.provider_request.as_ref()))
        .maybe("agent", outcome.and_then(|one| one.agent.as_ref()))
        .with("bytes_in", planned.client_bytes)
        .with("bytes_sent", turn.row.length)
        .with("digest", digest)
        .maybe("reproduced", is_reproduced.map(|is_same| if is_same { "yes" } else { "no" }))
        .maybe("first_byte_ms", outcome.and_then(|one| one.first_byte_ms))
        .maybe("total_ms", outcome.map(|one| one.total_ms))
        .maybe("ended", outcome.map(|one| one.ended.name()))
        .value()
}

/// Returns the attempts to send the request.
fn tries(turn: &TurnFacts) -> Vec<Value> {
    let attempts = turn.row.outcome.iter().flat_map(|outcome| &outcome.attempts);
    let attempt = |one: &photic_store::record::Attempt| {
        Object::new()
            .maybe("status", one.status)
            .maybe("class", one.class.as_ref())
            .maybe("says", one.says.as_ref())
            .with("bytes", one.bytes)
            .with("ms", one.ms)
            .value()
    };
    attempts.map(attempt).collect()
}

/// Returns the headers that tell a client about repairs.
fn headers(turn: &TurnFacts, planned: &PlannedTurn) -> Vec<[String; 2]> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for one in planned.decisions.iter().filter(|one| one.did != Did::Marked) {
        *counts.entry(one.did.name()).or_default() += 1;
    }
    let total: usize = counts.values().sum();
    let mut headers = vec![["x-photic-fixes".to_owned(), total.to_string()]];
    if total > 0 {
        let each: Vec<String> =
            counts.iter().map(|(did, count)| format!("{did}={count}")).collect();
        headers.push(["x-photic-fixed".to_owned(), each.join(", ")]);
    }
    let attempts = turn.row.outcome.iter().flat_map(|outcome| &outcome.attempts);
    let healed: Vec<String> = attempts.filter_map(|one| one.class.clone()).collect();
    if !healed.is_empty() {
        headers.push(["x-photic-healed".to_owned(), healed.join(", ")]);
    }
    headers
}
