//! Counts of repaired requests, for a program that embeds the gateway.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use photic::reply::Usage;
use photic_store::SessionId;

use super::request_log::{Ending, RequestLog};
use crate::http::{Refusal, Route};
use crate::record::Turn;
use crate::upstream::ResolvedProfile;

/// Maximum number of names of models, and of visible images, that are remembered.
const MAX_NAMES: usize = 1 << 16;

/// Counts of the requests and fixes of a gateway since it started.
#[derive(Debug, Default)]
pub struct Tally {
    requests: AtomicU64,
    changed: AtomicU64,
    bytes_in: AtomicU64,
    bytes_sent: AtomicU64,
    /// Microseconds from the beginning of requests until they were ready to be sent.
    preparing: AtomicU64,
    fixes: Mutex<BTreeMap<&'static str, u64>>,
    retired: Mutex<BTreeMap<&'static str, Retired>>,
    passed: Mutex<BTreeMap<&'static str, u64>>,
    /// Requests that no upstream answered.
    unanswered: AtomicU64,
    /// Requests that are no turns, such as lists of models, and were answered.
    others: AtomicU64,
    /// By host and reason.
    failures: Mutex<BTreeMap<(Option<String>, String), u64>>,
    tokens: Mutex<TokenUse>,
    /// Turns by session.
    sessions: Mutex<BTreeMap<SessionId, u64>>,
    lost_turns: AtomicU64,
    /// Hashes of images that repairs made visible.
    visible: Mutex<BTreeSet<u64>>,
}

/// Requests that failed at one host for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedRequests {
    /// The host and port of the upstream, as configured. `None` if the gateway chose no upstream.
    pub host: Option<String>,
    /// The reason, such as `connection refused` or `HTTP 401`.
    pub reason: String,
    /// The number of requests.
    pub requests: u64,
}

/// The tokens that providers reported in their replies, and their list price.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenUse {
    /// Replies that reported tokens.
    pub reported: u64,
    /// Successful replies to turns that reported none.
    pub unreported: u64,
    /// Input tokens, cached or not.
    pub input: u64,
    /// Input tokens that were read from the cache of the provider.
    pub cached: u64,
    /// Output tokens.
    pub output: u64,
    /// The list price of the input of all replies whose model has one, in US dollars.
    pub input_usd: f64,
    /// The list price of the output of all replies whose model has one, in US dollars.
    pub output_usd: f64,
    /// Replies whose output has no list price.
    pub unpriced_outputs: u64,
    /// The models without a list price.
    pub unpriced: BTreeSet<String>,
}

/// The turns of a session that were recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionTurns {
    /// The id of the session.
    pub session: String,
    /// The number of turns.
    pub turns: u64,
}

/// Counts of media that were left out of requests for one reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retired {
    /// Requests that left something out.
    pub requests: u64,
    /// Maximum number of media that a single request left out.
    pub most: u64,
}

impl Tally {
    /// Returns the number of turns that were answered.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Returns the number of turns that were changed.
    pub fn changed(&self) -> u64 {
        self.changed.load(Ordering::Relaxed)
    }

    /// Returns the bytes of all turns, as they came in and as they were sent. A turn that is sent again
    /// counts once.
    pub fn bytes(&self) -> (u64, u64) {
        (self.bytes_in.load(Ordering::Relaxed), self.bytes_sent.load(Ordering::Relaxed))
    }

    /// Returns the time that all turns took until they were ready to be sent. It contains the time in
    /// which the client sent its body.
    pub fn preparing(&self) -> Duration {
        Duration::from_micros(self.preparing.load(Ordering::Relaxed))
    }

    /// Counts the cost of a turn that is about to be sent.
    pub(crate) fn add_cost(&self, bytes_in: u64, bytes_sent: u64, preparing: Duration) {
        self.bytes_in.fetch_add(bytes_in, Ordering::Relaxed);
        self.bytes_sent.fetch_add(bytes_sent, Ordering::Relaxed);
        let micros = u64::try_from(preparing.as_micros()).unwrap_or(u64::MAX);
        self.preparing.fetch_add(micros, Ordering::Relaxed);
    }

    /// Returns the counts of fixes, by their names in `x-photic-fixed`. An image that is sent again in
    /// every turn counts in every turn.
    pub fn fixes(&self) -> BTreeMap<&'static str, u64> {
        self.fixes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the counts of media that were left out of requests, by reason.
    pub fn retired(&self) -> BTreeMap<&'static str, Retired> {
        self.retired.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the counts of requests that could hold pictures and were passed on unread, by the
    /// reasons in `x-photic-passed`.
    pub fn passed(&self) -> BTreeMap<&'static str, u64> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the number of requests that no upstream answered.
    pub fn unanswered(&self) -> u64 {
        self.unanswered.load(Ordering::Relaxed)
    }

    /// Returns the number of answered requests that are no turns, such as lists of models.
    pub fn others(&self) -> u64 {
        self.others.load(Ordering::Relaxed)
    }

    /// Returns the requests that failed: those that got no complete answer, and turns that an upstream
    /// answered with an error. A client that disconnected is no failure.
    pub fn failures(&self) -> Vec<FailedRequests> {
        let failures = lock(&self.failures);
        let each = failures.iter().map(|((host, reason), requests)| FailedRequests {
            host: host.clone(),
            reason: reason.clone(),
            requests: *requests,
        });
        each.collect()
    }

    /// Returns the tokens that providers reported. Complete only if the gateway serves one command
    /// ([`Serves::OneCommand`](crate::Serves::OneCommand)); otherwise only replies to requests with
    /// media are read.
    pub fn tokens(&self) -> TokenUse {
        lock(&self.tokens).clone()
    }

    /// Returns the sessions that turns were recorded in, those with the most turns first. Counted only
    /// if the gateway serves one command.
    pub fn sessions(&self) -> Vec<SessionTurns> {
        let sessions = lock(&self.sessions);
        let each = sessions
            .iter()
            .map(|(session, turns)| SessionTurns { session: session.to_string(), turns: *turns });
        let mut sessions: Vec<SessionTurns> = each.collect();
        sessions.sort_by_key(|one| std::cmp::Reverse(one.turns));
        sessions
    }

    /// Returns the number of turns that should have been recorded and were not.
    pub fn lost_turns(&self) -> u64 {
        self.lost_turns.load(Ordering::Relaxed)
    }

    /// Returns the number of different images that repairs made visible. Counted only if the gateway
    /// serves one command.
    pub fn made_visible(&self) -> u64 {
        lock(&self.visible).len() as u64
    }

    /// Counts images that a repair made visible, by a hash of each.
    pub(crate) fn show(&self, images: &BTreeSet<u64>) {
        if !images.is_empty() {
            let mut visible = lock(&self.visible);
            if visible.len() < MAX_NAMES {
                visible.extend(images);
            }
        }
    }

    /// Counts a turn that was recorded, or was to be recorded and is lost.
    pub(crate) fn record(&self, turn: Option<&Turn>) {
        match turn {
            Some(turn) => *lock(&self.sessions).entry(turn.session.clone()).or_default() += 1,
            None => {
                self.lost_turns.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Counts the end of a request. Takes no lock unless it failed or its usage is known.
    pub(super) fn ended(&self, log: &RequestLog) {
        if let Some(reason) = failure(log) {
            let host = log.host().map(str::to_owned);
            *lock(&self.failures).entry((host, reason)).or_default() += 1;
        }
        let is_switched = log.status == 101 || log.failure == Some(Refusal::NoSocket.code());
        if log.failure.is_some() {
            self.unanswered.fetch_add(u64::from(!is_switched), Ordering::Relaxed);
            return;
        }
        let is_conversation = !matches!(log.route, Route::Other(_) | Route::Media | Route::Openwop);
        if !is_conversation && log.passed.is_none() {
            self.others.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(outcome) = &log.outcome
            && log.route.is_turn()
            && log.is_success()
        {
            let mut tokens = lock(&self.tokens);
            let Some(usage) = outcome.usage.get() else { return tokens.unreported += 1 };
            tokens.add(usage, outcome.profile.as_deref(), log.facts.model.name());
        }
    }

    /// Counts a request that was passed on unread.
    pub(crate) fn pass(&self, reason: &'static str) {
        let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        *passed.entry(reason).or_default() += 1;
    }

    /// Counts a request. Takes no lock if nothing was changed.
    pub(crate) fn add(
        &self,
        fixes: &BTreeMap<&'static str, usize>,
        retired: &BTreeMap<&'static str, usize>,
    ) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        if !retired.is_empty() {
            let mut all = self.retired.lock().unwrap_or_else(PoisonError::into_inner);
            for (reason, count) in retired {
                let reason = all.entry(reason).or_default();
                reason.requests += 1;
                reason.most = reason.most.max(*count as u64);
            }
        }
        if fixes.is_empty() {
            return;
        }
        self.changed.fetch_add(1, Ordering::Relaxed);
        let mut total = self.fixes.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, count) in fixes {
            *total.entry(name).or_default() += *count as u64;
        }
    }
}

impl TokenUse {
    fn add(&mut self, usage: &Usage, profile: Option<&ResolvedProfile>, model: Option<&str>) {
        self.reported += 1;
        self.input = self.input.saturating_add(usage.input);
        self.cached = self.cached.saturating_add(usage.cache_read);
        self.output = self.output.saturating_add(usage.output);
        match profile.and_then(|known| known.profile.output_usd(usage)) {
            Some(usd) => self.output_usd += usd,
            None => self.unpriced_outputs += 1,
        }
        match profile.and_then(|known| known.profile.usd(usage)) {
            Some(usd) => self.input_usd += usd,
            None if self.unpriced.len() < MAX_NAMES => {
                self.unpriced.insert(model.unwrap_or("unknown").to_owned());
            }
            None => {}
        }
    }
}

/// Returns the reason for which a request failed.
fn failure(log: &RequestLog) -> Option<String> {
    if let Some(cause) = log.cause {
        return Some(cause.to_string());
    }
    if let Some(code) = log.failure {
        // The client is expected to send it by HTTP now.
        let is_failed = code != Refusal::NoSocket.code();
        return is_failed.then(|| match code {
            "upstream_timeout" => "no answer in time".to_owned(),
            "upstream_closed" => "the connection was closed without a reply".to_owned(),
            code => code.replace('_', " "),
        });
    }
    if log.ending == Ending::Broken {
        return Some("the reply broke off".to_owned());
    }
    let is_conversation = !matches!(log.route, Route::Other(_) | Route::Media | Route::Openwop);
    (is_conversation && log.status >= 400).then(|| format!("HTTP {}", log.status))
}

fn lock<T>(counts: &Mutex<T>) -> MutexGuard<'_, T> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_adds_up() {
        let tally = Tally::default();
        let none = BTreeMap::new();
        tally.add(&none, &none);
        tally.add(&BTreeMap::from([("hoisted", 2)]), &BTreeMap::from([("over_count", 5)]));
        let both = BTreeMap::from([("hoisted", 1), ("remade", 1)]);
        tally.add(&both, &BTreeMap::from([("over_count", 3)]));
        let retired = Retired { requests: 2, most: 5 };
        assert_eq!(tally.retired(), BTreeMap::from([("over_count", retired)]));
        assert_eq!((tally.requests(), tally.changed()), (3, 2));
        tally.add_cost(10, 7, Duration::from_micros(3));
        tally.add_cost(1, 1, Duration::from_micros(4));
        assert_eq!((tally.bytes(), tally.preparing()), ((11, 8), Duration::from_micros(7)));
        assert_eq!(tally.fixes(), BTreeMap::from([("hoisted", 3), ("remade", 1)]));
    }
}
