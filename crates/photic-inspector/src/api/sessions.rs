//! The list of sessions, and the head of one.

use photic::Profile;
use photic::tokens::Rule;
use photic_store::SessionId;
use photic_store::record::{SessionCursor, SessionQuery, SessionRow};
use serde_json::Value;

use super::costs::Costs;
use super::findings::counts;
use super::index::SessionIndex;
use super::object::{Object, dollars};
use super::timeline::Sums;
use crate::failure::Failure;
use crate::inspector::Inspector;
use crate::request::ApiRequest;

/// Most rows of a page.
const MAX_ROWS: u64 = 200;
/// Buckets of the small chart of a session.
const BUCKETS: usize = 32;
/// Turns of a session that are read for its small chart.
const MAX_CHARTED: u64 = 256;
/// Time since the last turn for which a session counts as live.
const LIVE_MS: i64 = 60_000;
/// Sessions that are summed up.
const MAX_SUMMED: usize = 10_000;

/// Returns the time in milliseconds since 1970.
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}

impl Inspector {
    /// Returns a page of sessions.
    pub(crate) async fn sessions(&self, ask: &ApiRequest) -> Result<Value, Failure> {
        let before = ask.parameter("before").map(str::parse::<SessionCursor>).transpose();
        let query = SessionQuery {
            before: before.map_err(|_| Failure::bad_request("`before` is no cursor"))?,
            limit: ask.limit(MAX_ROWS)?,
            search: ask.parameter("q").unwrap_or_default().to_owned(),
        };
        let page = self.history.sessions(&query).await?;
        let mut items = Vec::with_capacity(page.sessions.len());
        for row in &page.sessions {
            items.push(self.session_row(row).await?.value());
        }
        Ok(Object::new()
            .with("items", items)
            .maybe("next", page.next.map(|next| next.to_string()))
            .with("totals", self.totals().await?)
            .value())
    }

    /// Returns the sums over all sessions.
    async fn totals(&self) -> Result<Value, Failure> {
        let mut all: Vec<SessionRow> = Vec::new();
        let mut before = None;
        // The record gives them in pages.
        loop {
            let query = SessionQuery { before, limit: MAX_SUMMED, ..SessionQuery::default() };
            let page = self.history.sessions(&query).await?;
            all.extend(page.sessions);
            before = page.next;
            if before.is_none() || all.len() >= MAX_SUMMED {
                break;
            }
        }
        let usd = all.iter().filter_map(cost).reduce(|sum, one| sum + one);
        let sum = |of: &dyn Fn(&SessionRow) -> u64| all.iter().map(of).sum::<u64>();
        Ok(Object::new()
            .with("sessions", all.len())
            .with("pictures", sum(&|row| row.session.images))
            .with("bytes", sum(&|row| row.session.bytes))
            .with("tokens", sum(&tokens))
            .maybe("usd", usd.map(dollars))
            .with("unpriced", all.iter().filter(|row| row.sums.unpriced > 0).count())
            .value())
    }

    /// Returns a row of the list.
    pub(crate) async fn session_row(&self, row: &SessionRow) -> Result<Object, Failure> {
        let (session, sums) = (&row.session, &row.sums);
        let from = session.turns.saturating_sub(MAX_CHARTED) + 1;
        let key = format!("spark/{}/{}/{}", session.id, session.turns, sums.reported);
        let known = self.cache.get::<Vec<f64>>(&key);
        let spark = if let Some(known) = known {
            known
        } else {
            let limit = MAX_CHARTED as usize;
            let turns = self.history.turns(&session.id, from, limit).await?;
            let each: Vec<f64> = if sums.usd.is_some() {
                turns.iter().map(|turn| turn.cost.usd.unwrap_or(0.0)).collect()
            } else {
                turns.iter().map(|turn| turn.cost.tokens as f64).collect()
            };
            self.cache.put(key, buckets(&each), BUCKETS * 8)
        };
        let thumb = match u32::try_from(session.images).ok().filter(|images| *images > 0) {
            Some(last) => self.history.pictures(&session.id, last, 1).await?.pictures.pop(),
            None => None,
        };
        let thumb = thumb.map(|picture| {
            let digest = digest_text(&picture.digest);
            Object::new().with("picture", picture.number).with("digest", digest).value()
        });
        Ok(Object::new()
            .with("id", session.id.as_str())
            .with("title", &session.title)
            .maybe("model", sums.model.as_ref())
            .maybe("wire", sums.wires.last().map(|wire| wire.name()))
            .with("turns", session.turns)
            .with("pictures", session.images)
            .with("bytes", session.bytes)
            .with("created", session.created)
            .with("last", session.last)
            .with("tokens", tokens(row))
            .maybe("read", (sums.reported > 0).then_some(sums.cache_read))
            .maybe("usd", cost(row).map(dollars))
            .with("unpriced", sums.unpriced)
            .with("reported", sums.reported)
            .with("spark", &*spark)
            .maybe("thumb", thumb)
            .with("live", session.turns > 0 && now() - session.last < LIVE_MS))
    }

    /// Returns the head of a session.
    pub(crate) async fn session(&self, id: &SessionId) -> Result<Value, Failure> {
        let index = self.index(id).await?;
        let profile = self.profile(id, &index).await?;
        let findings = self.head_findings(id, &index).await?;
        let mut sums = Sums::of(&index);
        if let Some(profile) = &profile {
            let costs = Costs::new(&index, profile);
            let each = index.turns.iter().filter_map(|turn| costs.of_turn(turn));
            sums.usd_pictures = each.reduce(|sum, one| sum + one);
        }
        let changed = index
            .turns
            .iter()
            .filter(|turn| turn.extras.as_ref().is_some_and(|extras| extras.changes > 0));
        let changed = if index.turns.iter().all(|turn| turn.extras.is_some()) {
            Some(changed.count())
        } else {
            None
        };
        Ok(self
            .session_row(&index.row)
            .await?
            .with("sums", sums.value(profile.as_ref()))
            .with("in_sight", index.turns.last().map_or(0, |turn| turn.in_sight().count()))
            .maybe("changed", changed)
            .with("findings", counts(&findings))
            .maybe("profile", profile.as_ref().map(profile_facts))
            .with("choices", choices(&index))
            .value())
    }
}

/// Returns the tokens of a session: reported where known, else expected.
fn tokens(row: &SessionRow) -> u64 {
    if row.sums.reported == row.session.turns { row.sums.input } else { row.sums.expected_tokens }
}

/// Returns the cost of a session: its input, and its output where known.
fn cost(row: &SessionRow) -> Option<f64> {
    Some(row.sums.usd? + row.sums.output_usd.unwrap_or(0.0))
}

/// Returns the choices in force.
fn choices(index: &SessionIndex) -> Vec<Value> {
    let chosen = index.pictures.iter().filter_map(|one| Some((one.number, one.choice?)));
    let each = chosen.map(|(number, choice)| {
        Object::new().with("picture", number).with("choice", choice).value()
    });
    each.collect()
}

/// Returns the first letters of a digest.
pub(crate) fn digest_text(digest: &photic::Digest) -> String {
    blake3::Hash::from_bytes(*digest).to_hex()[..16].to_owned()
}

/// Sums values in at most [`BUCKETS`] buckets.
fn buckets(values: &[f64]) -> Vec<f64> {
    let size = values.len().div_ceil(BUCKETS).max(1);
    values.chunks(size).map(|chunk| dollars(chunk.iter().sum())).collect()
}

/// Returns the facts of a profile for formulas.
fn profile_facts(profile: &Profile) -> Value {
    let (rule, text) = rule_text(&profile.tokens);
    let price = profile.price;
    Object::new()
        .with("name", &profile.id)
        .maybe("input_usd", price.map(|price| price.input_usd_per_million))
        .maybe("output_usd", price.and_then(|price| price.output_usd_per_million))
        .with("cache_read", profile.cache.read)
        .with("cache_write", profile.cache.write)
        .maybe("cache_ttl", profile.cache.ttl_seconds)
        .with("cache_min", profile.cache.min_tokens)
        .with("token_rule", rule)
        .with("token_rule_text", text)
        .value()
}

/// Returns the name of a rule, and its numbers.
pub(crate) fn rule_text(rule: &Rule) -> (String, String) {
    let value = serde_json::to_value(rule).unwrap_or_default();
    let name = value.get("rule").and_then(Value::as_str).unwrap_or("unknown").to_owned();
    let numbers =
        value.as_object().into_iter().flatten().filter(|(key, value)| {
            key.as_str() != "rule" && (value.is_number() || value.is_string())
        });
    let numbers: Vec<String> = numbers
        .map(|(key, value)| {
            format!("{} {}", key.replace('_', " "), value.to_string().replace('"', ""))
        })
        .collect();
    let text =
        if numbers.is_empty() { name.clone() } else { format!("{name}: {}", numbers.join(", ")) };
    (name, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_at_most_32_buckets_and_keeps_the_sum() {
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        let charted = buckets(&values);
        assert!(charted.len() <= BUCKETS);
        assert!((charted.iter().sum::<f64>() - values.iter().sum::<f64>()).abs() < 1e-6);
        assert_eq!(buckets(&[0.5]), [0.5]);
    }

    #[test]
    fn a_rule_is_told_with_its_numbers() {
        let (name, text) = rule_text(&Rule::Cells28 { max_edge: 2576, max_tokens: 4784 });
        assert_eq!(name, "cells28");
        assert_eq!(text, "cells28: max edge 2576, max tokens 4784");
    }
}
