//! The health of an upstream, as its replies show it. Nothing is sent to find it out.
//!
//! After some failures in a row, an upstream rests: it is asked last. Then one request tries it. If
//! that fails, it rests twice as long. An upstream that asked for a pause (`Retry-After`) is not asked
//! before its end.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Time for which one request tries an upstream after its rest, while others still ask it last.
const TRIAL: Duration = Duration::from_secs(5);
/// The longest rest, as a multiple of the first.
const MAX_REST: u32 = 16;
/// The longest pause that is kept, whatever an upstream asks for.
const MAX_PAUSE: Duration = Duration::from_hours(1);

/// The rules of rests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HealthRules {
    /// Failures in a row after which an upstream rests.
    pub(crate) failures: u32,
    /// The first rest.
    pub(crate) rest: Duration,
}

/// The health of an upstream.
#[derive(Debug, Default)]
pub(crate) struct Health(Mutex<HealthState>);

#[derive(Debug, Default)]
struct HealthState {
    /// Failures in a row.
    failures: u32,
    /// The rest after the next failure.
    rest: Duration,
    rests_until: Option<Instant>,
    tried_until: Option<Instant>,
    /// The end of the pause that the upstream asked for.
    paused_until: Option<Instant>,
}

/// The availability of an upstream for the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Availability {
    /// It can be asked.
    Ready,
    /// It is asked last.
    Resting,
    /// It asked for a pause of this length.
    Paused(Duration),
}

impl Health {
    fn state(&self) -> MutexGuard<'_, HealthState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a reply.
    pub(crate) fn succeeded(&self) {
        *self.state() = HealthState::default();
    }

    /// Counts a failure.
    pub(crate) fn failed(&self, rules: HealthRules) {
        let mut state = self.state();
        state.failures = state.failures.saturating_add(1);
        state.tried_until = None;
        if state.failures >= rules.failures {
            let rest = state.rest.max(rules.rest);
            state.rests_until = Some(Instant::now() + rest);
            state.rest = (2 * rest).min(rules.rest * MAX_REST);
        }
    }

    /// Notes that the upstream asked for a pause. One that is longer than an hour is cut.
    pub(crate) fn pause(&self, pause: Duration) {
        self.state().paused_until = Some(Instant::now() + pause.min(MAX_PAUSE));
    }

    /// Returns its availability. If a rest has just ended, the caller is the one to try it.
    pub(crate) fn ask(&self) -> Availability {
        let now = Instant::now();
        let mut state = self.state();
        let availability = state.at(now);
        if availability == Availability::Ready && state.rests_until.is_some() {
            state.tried_until = Some(now + TRIAL);
        }
        availability
    }

    /// Returns its availability without trying it.
    pub(crate) fn availability(&self) -> Availability {
        self.state().at(Instant::now())
    }
}

impl HealthState {
    fn at(&self, now: Instant) -> Availability {
        if let Some(pause) = self.paused_until.and_then(|until| until.checked_duration_since(now))
            && !pause.is_zero()
        {
            return Availability::Paused(pause);
        }
        let is_before = |until: Option<Instant>| until.is_some_and(|until| until > now);
        if is_before(self.rests_until) || is_before(self.tried_until) {
            return Availability::Resting;
        }
        Availability::Ready
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const RULES: HealthRules = HealthRules { failures: 2, rest: Duration::from_secs(10) };

    #[tokio::test(start_paused = true)]
    async fn no_pause_is_endless() {
        let health = Health::default();
        health.pause(Duration::from_secs(u64::MAX));
        assert_eq!(health.ask(), Availability::Paused(MAX_PAUSE));
        advance(MAX_PAUSE).await;
        assert_eq!(health.ask(), Availability::Ready);
    }

    #[tokio::test(start_paused = true)]
    async fn it_rests_longer_and_longer_and_one_request_tries_it() {
        let health = Health::default();
        health.failed(RULES);
        assert_eq!(health.ask(), Availability::Ready);
        health.failed(RULES);
        for rest in [10, 20, 40, 80, 160, 160] {
            assert_eq!(health.ask(), Availability::Resting);
            advance(Duration::from_secs(rest - 1)).await;
            assert_eq!(health.ask(), Availability::Resting);
            advance(Duration::from_secs(1)).await;
            assert_eq!(health.ask(), Availability::Ready);
            assert_eq!(health.ask(), Availability::Resting, "only one tries it");
            health.failed(RULES);
        }
        advance(Duration::from_secs(160)).await;
        assert_eq!(health.ask(), Availability::Ready);
        health.succeeded();
        assert_eq!(health.ask(), Availability::Ready);
        assert_eq!(health.ask(), Availability::Ready);
        health.failed(RULES);
        assert_eq!(health.ask(), Availability::Ready);
    }

    #[tokio::test(start_paused = true)]
    async fn a_trial_that_never_ends_is_tried_again() {
        let health = Health::default();
        health.failed(RULES);
        health.failed(RULES);
        advance(RULES.rest).await;
        assert_eq!(health.ask(), Availability::Ready);
        advance(TRIAL).await;
        assert_eq!(health.ask(), Availability::Ready);
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_that_was_asked_for_is_kept() {
        let health = Health::default();
        health.pause(Duration::from_secs(30));
        assert_eq!(health.ask(), Availability::Paused(Duration::from_secs(30)));
        advance(Duration::from_secs(30)).await;
        assert_eq!(health.ask(), Availability::Ready);
    }
}
