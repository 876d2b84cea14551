//! Rows of the timeline, and the tokens and dollars of turns.

use photic::Profile;
use photic_store::SessionId;
use serde_json::Value;

use super::index::{SessionIndex, TurnFacts};
use super::labels::line;
use super::letters::{is_shown, of};
use super::object::{Object, dollars};
use super::why::{FirstChange, first_change, named};
use crate::failure::Failure;
use crate::inspector::Inspector;
use crate::request::ApiRequest;

/// Most rows of a page.
const MAX_ROWS: u64 = 200;
/// Longest words of a row, in characters.
const MAX_WORDS: usize = 60;
/// Most notes of a row.
const MAX_NOTES: usize = 4;

/// Tokens of a turn. All but `expected` as reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) expected: u64,
    pub(crate) input: Option<u64>,
    pub(crate) read: Option<u64>,
    pub(crate) written: Option<u64>,
    pub(crate) rest: Option<u64>,
    pub(crate) again: Option<u64>,
    pub(crate) output: Option<u64>,
    pub(crate) reasoning: Option<u64>,
}

impl Tokens {
    /// Returns all input: as reported, else as expected.
    pub(crate) fn all(&self) -> u64 {
        self.input.unwrap_or(self.expected)
    }

    pub(crate) fn value(&self) -> Value {
        Object::new()
            .with("expected", self.expected)
            .maybe("input", self.input)
            .maybe("read", self.read)
            .maybe("written", self.written)
            .maybe("rest", self.rest)
            .maybe("again", self.again.filter(|again| *again > 0))
            .maybe("output", self.output)
            .maybe("reasoning", self.reasoning)
            .value()
    }
}

impl TurnFacts {
    /// Returns `true` if the provider reported usage.
    pub(crate) fn is_reported(&self) -> bool {
        self.row.outcome.as_ref().is_some_and(|outcome| outcome.usage.input.is_some())
    }

    /// Returns the tokens, of which those behind the turn before are new.
    pub(crate) fn tokens(&self, previous: Option<&Self>) -> Tokens {
        let expected = self.row.cost.tokens;
        let Some(outcome) = self.row.outcome.as_ref().filter(|_| self.is_reported()) else {
            return Tokens { expected, ..Tokens::default() };
        };
        let usage = outcome.usage;
        let input = usage.input;
        let cached = usage.cache_read.unwrap_or(0) + usage.cache_write.unwrap_or(0);
        let again = usage
            .cache_write
            .filter(|_| previous.is_some())
            .map(|written| written.saturating_sub(self.new_tokens(previous).unwrap_or(written)));
        Tokens {
            expected,
            input,
            read: usage.cache_read,
            written: usage.cache_write,
            rest: input.map(|input| input.saturating_sub(cached)),
            again,
            output: usage.output,
            reasoning: usage.reasoning,
        }
    }

    /// Returns the tokens behind the end of the turn before: by the plan, on the scale of what was
    /// reported. Without a plan, the growth since the turn before if that is whole.
    pub(crate) fn new_tokens(&self, previous: Option<&Self>) -> Option<u64> {
        let usage = |turn: &Self| turn.row.outcome.as_ref().and_then(|one| one.usage.input);
        let previous = previous?;
        if !self.may_differ(previous)
            && let Some((before, now)) = usage(previous).zip(usage(self))
        {
            return Some(now.saturating_sub(before));
        }
        let extras = self.extras.as_ref()?;
        let scale = match usage(self) {
            Some(input) if self.row.cost.tokens > 0 => input as f64 / self.row.cost.tokens as f64,
            _ => 1.0,
        };
        Some((extras.new_tokens as f64 * scale).round() as u64)
    }

    /// Returns the cost in US dollars: input as charged or expected, and output where known.
    pub(crate) fn usd(&self) -> Option<f64> {
        let output = self.row.outcome.as_ref().and_then(|outcome| outcome.output_usd);
        Some(self.row.cost.usd? + output.unwrap_or(0.0))
    }

    /// Returns the cost that the plan expected.
    pub(crate) fn expected_usd(&self) -> Option<f64> {
        match &self.extras {
            Some(extras) => extras.expected_usd,
            None if self.is_reported() => None,
            None => self.row.cost.usd,
        }
    }

    /// Returns the words for what came, and the call that it answers.
    pub(crate) fn came(&self) -> (String, Option<String>) {
        let arrived = self.row.arrived.as_ref();
        let tools = arrived.map(|arrived| arrived.tools.join(", ")).filter(|text| !text.is_empty());
        let words = arrived.map(|arrived| arrived.words.clone()).filter(|text| !text.is_empty());
        let came = self.extras.as_ref().map(|extras| &extras.came);
        let text = came.map(|came| came.text.clone()).filter(|text| !text.is_empty());
        let call = came.and_then(|came| came.call.clone()).or_else(|| tools.clone());
        let text = text.or(words).or(tools).unwrap_or_default();
        (line(&text, MAX_WORDS), call.map(|call| line(&call, MAX_WORDS)))
    }

    /// Returns the first change since the turn before.
    pub(crate) fn first(&self, previous: Option<&Self>) -> Option<FirstChange> {
        let known = self.extras.as_ref().and_then(|extras| extras.first);
        let is_compared = self.extras.as_ref().is_some_and(|extras| extras.is_compared);
        first_change(previous?, self, known, is_compared)
    }
}

/// Returns a row of the timeline.
pub(crate) fn row(turn: &TurnFacts, previous: Option<&TurnFacts>) -> Object {
    let (came, call) = turn.came();
    let outcome = turn.row.outcome.as_ref();
    let scale = turn.tokens(previous).all() as f64 / turn.row.cost.tokens.max(1) as f64;
    let marks = turn.extras.as_ref().map(|extras| {
        let marks = extras.layout.marks.iter();
        marks.map(|mark| (*mark as f64 * scale).round() as u64).collect::<Vec<_>>()
    });
    let tries = outcome.map(|outcome| outcome.attempts.len()).filter(|tries| *tries > 1);
    let status = outcome.and_then(|outcome| outcome.status).filter(|status| *status != 200);
    let is_failed = status.is_some_and(|status| status >= 400);
    Object::new()
        .with("n", turn.row.number)
        .with("at", turn.row.time)
        .with("came", came)
        .maybe("call", call)
        .with("fates", &turn.letters)
        .with("tokens", turn.tokens(previous).value())
        .maybe("usd", turn.usd().map(dollars))
        .maybe("expected_usd", turn.expected_usd().map(dollars))
        .with("reported", turn.is_reported())
        .maybe("marks", marks.filter(|marks| !marks.is_empty()))
        .maybe("first", turn.first(previous).map(|first| first.value()))
        .list("notes", notes(turn, previous))
        .maybe("tries", tries)
        .maybe("status", status)
        .maybe("failed", is_failed.then_some(true))
}

fn note(kind: &str, code: &str, text: String, picture: Option<u32>) -> Value {
    let note = Object::new().with("kind", kind).with("code", code).with("text", text);
    note.maybe("picture", picture).value()
}

/// Returns what is to note about a turn, in order of weight.
fn notes(turn: &TurnFacts, previous: Option<&TurnFacts>) -> Vec<Value> {
    let mut notes = Vec::new();
    if let Some(outcome) = &turn.row.outcome {
        let first = outcome.attempts.first();
        let status = outcome.status.filter(|status| *status >= 400);
        let rejected = first.and_then(|one| one.status).filter(|status| *status >= 400);
        match (status, rejected) {
            (Some(status), _) => notes.push(note("bad", "failed", format!("{status}"), None)),
            (None, Some(rejected)) if outcome.attempts.len() > 1 => {
                notes.push(note("warn", "healed", format!("{rejected}, healed"), None));
            }
            (None, _) if outcome.attempts.len() > 1 => {
                notes.push(note("warn", "retried", "sent again".to_owned(), None));
            }
            _ => {}
        }
    }
    let fresh = |number: u32| previous.is_none_or(|previous| of(&previous.letters, number) == '.');
    if let Some(extras) = &turn.extras {
        for (media, did) in &extras.repaired {
            let Some(number) = turn.numbers.get(*media).copied().flatten() else { continue };
            if !fresh(number) {
                continue;
            }
            let (code, word) = match *did {
                "rewrote" => ("rescued", "rescued"),
                "hoisted" => ("moved", "moved"),
                _ => continue,
            };
            notes.push(note("ok", code, format!("#{number} {word}"), Some(number)));
        }
    }
    if let Some(previous) = previous {
        changes(turn, previous, &mut notes);
    }
    notes.truncate(MAX_NOTES);
    notes
}

/// Adds the changes of fates since the turn before.
fn changes(turn: &TurnFacts, previous: &TurnFacts, notes: &mut Vec<Value>) {
    let mut found: Vec<(&str, &str, &str, Vec<u32>)> = vec![
        ("warn", "came_back", "came back", Vec::new()),
        ("info", "dropped", "dropped", Vec::new()),
        ("info", "pinned", "pinned", Vec::new()),
        ("info", "retired", "retired", Vec::new()),
        ("info", "repeated", "repeated", Vec::new()),
    ];
    for (number, now) in (1..).zip(turn.letters.chars()) {
        let before = of(&previous.letters, number);
        let code = match (before, now) {
            (before, now) if before == now => continue,
            (before, now) if before != '.' && !is_shown(before) && is_shown(now) => "came_back",
            (_, 'd') => "dropped",
            (_, 'p') => "pinned",
            (_, 'r') => "retired",
            (_, 'e') => "repeated",
            _ => continue,
        };
        if let Some(entry) = found.iter_mut().find(|entry| entry.1 == code) {
            entry.3.push(number);
        }
    }
    for (kind, code, word, pictures) in found.into_iter().filter(|entry| !entry.3.is_empty()) {
        let one = pictures.first().copied().filter(|_| pictures.len() == 1);
        notes.push(note(kind, code, format!("{} {word}", named(&pictures)), one));
    }
}

impl Inspector {
    /// Returns a page of the timeline.
    pub(crate) async fn turns(&self, id: &SessionId, ask: &ApiRequest) -> Result<Value, Failure> {
        let index = self.index(id).await?;
        let (from, limit) = (ask.number("from")?.unwrap_or(1).max(1), ask.limit(MAX_ROWS)?);
        Ok(page(&index, from, limit))
    }
}

impl Inspector {
    /// Returns the rows of a session from a number on.
    pub(crate) async fn rows(&self, id: &SessionId, from: u64) -> Result<Vec<Value>, Failure> {
        let index = self.index(id).await?;
        let turns = index.turns.iter().filter(|turn| turn.row.number >= from);
        Ok(turns.map(|turn| row(turn, index.before(turn.row.number)).value()).collect())
    }
}

/// Returns rows from a number on.
pub(crate) fn page(index: &SessionIndex, from: u64, limit: usize) -> Value {
    let start = usize::try_from(from - 1).unwrap_or(usize::MAX).min(index.turns.len());
    let end = start.saturating_add(limit).min(index.turns.len());
    let rows = index.turns[start..end].iter();
    let rows = rows.map(|turn| row(turn, index.before(turn.row.number)).value());
    let most = index.turns.iter().map(|turn| turn.tokens(None).all()).max().unwrap_or(0);
    Object::new()
        .with("items", rows.collect::<Vec<_>>())
        .with("total", index.turns.len())
        .maybe("next", (end < index.turns.len()).then_some(end + 1))
        .with("max_tokens", most)
        .value()
}

/// Sums over turns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    read: Option<u64>,
    written: Option<u64>,
    rest: Option<u64>,
    again: Option<u64>,
    output: Option<u64>,
    usd: Option<f64>,
    usd_output: Option<f64>,
    pub(crate) usd_pictures: Option<f64>,
    expected_tokens: u64,
    expected_usd: Option<f64>,
}

impl Sums {
    /// Sums all turns of a session.
    pub(crate) fn of(index: &SessionIndex) -> Self {
        let mut sums = Self::default();
        let count = |sum: &mut Option<u64>, one: Option<u64>| {
            *sum = one.map(|one| one + sum.unwrap_or(0)).or(*sum);
        };
        let add = |sum: &mut Option<f64>, one: Option<f64>| {
            *sum = one.map(|one| one + sum.unwrap_or(0.0)).or(*sum);
        };
        for turn in &index.turns {
            let tokens = turn.tokens(index.before(turn.row.number));
            count(&mut sums.read, tokens.read);
            count(&mut sums.written, tokens.written);
            count(&mut sums.rest, tokens.rest);
            count(&mut sums.again, tokens.again);
            count(&mut sums.output, tokens.output);
            add(&mut sums.usd, turn.usd());
            let output = turn.row.outcome.as_ref().and_then(|outcome| outcome.output_usd);
            add(&mut sums.usd_output, output);
            add(&mut sums.expected_usd, turn.expected_usd());
            sums.expected_tokens += tokens.expected;
        }
        sums
    }

    /// Returns the sums as JSON. The profile has the price of writing again.
    pub(crate) fn value(&self, profile: Option<&Profile>) -> Value {
        let price = profile.and_then(|profile| Some((profile.price?, &profile.cache)));
        let again = price.zip(self.again).map(|((price, cache), again)| {
            price.of(again as f64 * (cache.write - cache.read).max(0.0))
        });
        Object::new()
            .maybe("read", self.read)
            .maybe("written", self.written)
            .maybe("rest", self.rest)
            .maybe("again", self.again)
            .maybe("output", self.output)
            .maybe("usd", self.usd.map(dollars))
            .maybe("usd_pictures", self.usd_pictures.map(dollars))
            .maybe("usd_output", self.usd_output.map(dollars))
            .maybe("usd_again", again.map(dollars))
            .with("expected_tokens", self.expected_tokens)
            .maybe("expected_usd", self.expected_usd.map(dollars))
            .value()
    }
}
