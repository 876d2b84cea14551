//! Models with several upstreams: their order for each request, and the limits of sending again.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use super::health::{Availability, HealthRules};
use super::provider::Upstream;
use crate::config::{Config, ConfigError, FailoverConfig, ModelConfig};

/// Retries that are possible after a quiet time.
const RESERVE: i64 = 50;
/// Parts of a retry in the budget, so that a percentage of one can be added.
const PARTS: i64 = 100;

/// All models with upstreams of their own.
#[derive(Debug)]
pub(crate) struct ModelRoutes {
    routes: Vec<Arc<ModelRoute>>,
    rules: FailoverRules,
    budget: RetryBudget,
    random: Random,
}

/// The limits of sending a request again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailoverRules {
    /// Maximum number of times that one request is sent.
    pub(crate) attempts: usize,
    pub(crate) health: HealthRules,
    /// The longest pause of an upstream that is waited for.
    pub(crate) wait: Duration,
}

/// A model, and the upstreams that serve it.
#[derive(Debug)]
pub(crate) struct ModelRoute {
    /// The name or glob, as a list for [`photic::profile::specificity`].
    name: Vec<String>,
    candidates: Vec<Candidate>,
    /// Set if it is left out of lists.
    hidden: bool,
}

/// An upstream that serves a model.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) upstream: Arc<Upstream>,
    /// The name of the model there, if it is another one.
    pub(crate) model: Option<Arc<str>>,
    weight: u32,
}

/// The upstream that a request is sent to next.
#[derive(Clone, Debug)]
pub(crate) struct Picked {
    pub(crate) route: Arc<ModelRoute>,
    pub(crate) index: usize,
    /// The pause that the upstream asked for.
    pub(crate) pause: Duration,
    /// Set if the request refers to something that only the first upstream has.
    pub(crate) is_bound: bool,
}

impl Picked {
    /// Returns the upstream and the model.
    pub(crate) fn candidate(&self) -> &Candidate {
        &self.route.candidates[self.index]
    }
}

impl ModelRoutes {
    /// Creates the routes of a configuration, or `None` if it has none.
    ///
    /// # Errors
    ///
    /// Fails if a route names an upstream that does not exist, or has no upstreams or wrong weights.
    pub(super) fn new(
        config: &Config,
        all: &[Arc<Upstream>],
    ) -> Result<Option<Arc<Self>>, ConfigError> {
        if config.model.is_empty() {
            return Ok(None);
        }
        let routes = config.model.iter().map(|model| ModelRoute::new(model, all).map(Arc::new));
        let FailoverConfig { attempts, budget_percent, failures, rest_s, wait_s, seed } =
            config.failover;
        let seconds = |seconds: u32| Duration::from_secs(seconds.into());
        Ok(Some(Arc::new(Self {
            routes: routes.collect::<Result<_, _>>()?,
            rules: FailoverRules {
                attempts: attempts.max(1) as usize,
                health: HealthRules { failures: failures.max(1), rest: seconds(rest_s.max(1)) },
                wait: seconds(wait_s),
            },
            budget: RetryBudget::new(budget_percent),
            random: Random::new(seed),
        })))
    }

    /// The limits of sending a request again.
    pub(crate) const fn rules(&self) -> FailoverRules {
        self.rules
    }

    /// The retries that are possible.
    pub(crate) const fn budget(&self) -> &RetryBudget {
        &self.budget
    }

    /// Returns the route of a model.
    pub(crate) fn find(&self, model: Option<&str>) -> Option<&Arc<ModelRoute>> {
        let model = model?;
        let found =
            self.routes.iter().rev().filter_map(|route| {
                Some((photic::profile::specificity(&route.name, model)?, route))
            });
        // The last of equals is returned, and the first configured one must win, hence `rev`.
        found.max_by_key(|(specific, _)| *specific).map(|(_, route)| route)
    }

    /// Returns the names that clients can ask for, without globs and hidden ones.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let shown = self.routes.iter().filter(|route| !route.hidden);
        shown.flat_map(|route| &route.name).map(String::as_str).filter(|name| !name.contains('*'))
    }

    /// Returns the upstreams of all routes, each once.
    pub(crate) fn upstreams(&self) -> Vec<&Arc<Upstream>> {
        let mut all: Vec<&Arc<Upstream>> = Vec::new();
        for candidate in self.routes.iter().flat_map(|route| &route.candidates) {
            if !all.iter().any(|one| Arc::ptr_eq(one, &candidate.upstream)) {
                all.push(&candidate.upstream);
            }
        }
        all
    }

    /// Picks the upstream that a request is sent to next, after it was sent to those in `tried`.
    pub(crate) fn pick(
        &self,
        route: &Arc<ModelRoute>,
        tried: &[usize],
        can_serve: impl Fn(&Upstream) -> bool,
        is_bound: bool,
    ) -> Option<Picked> {
        let count = |index: usize| tried.iter().filter(|it| **it == index).count();
        let indexes = 0..if is_bound { 1 } else { route.candidates.len() };
        let usable: Vec<usize> =
            indexes.filter(|index| can_serve(&route.candidates[*index].upstream)).collect();
        let fewest = usable.iter().map(|index| count(*index)).min()?;
        let mut open: Vec<usize> =
            usable.iter().copied().filter(|index| count(*index) == fewest).collect();
        if tried.is_empty() && !is_bound {
            self.put_first_by_weight(route, &mut open);
        }
        // Those that were asked less often come first, then the others.
        let is_open = |index: &usize| count(*index) == fewest;
        let rest = usable.iter().copied().filter(|index| !is_open(index));
        let rank = |index: &usize| {
            let availability = route.candidates[*index].upstream.health().availability();
            match (availability, is_open(index)) {
                (Availability::Ready, true) => (0, Duration::ZERO),
                (Availability::Resting, true) => (1, Duration::ZERO),
                (Availability::Paused(pause), true) if pause <= self.rules.wait => (2, pause),
                (Availability::Ready, false) => (3, Duration::ZERO),
                (Availability::Resting, false) => (4, Duration::ZERO),
                (Availability::Paused(pause), _) => (5, pause),
            }
        };
        let ranked = open.iter().copied().chain(rest).map(|index| (rank(&index), index));
        // The first of equals.
        let ((_, pause), index) = ranked.min_by_key(|(rank, _)| *rank)?;
        route.candidates[index].upstream.health().ask();
        Some(Picked { route: Arc::clone(route), index, pause, is_bound })
    }

    /// Moves one of these upstreams to the front, by chance and weight, among those that are available.
    fn put_first_by_weight(&self, route: &ModelRoute, open: &mut [usize]) {
        let weight = |index: usize| {
            let candidate = &route.candidates[index];
            let is_ready = candidate.upstream.health().availability() == Availability::Ready;
            if is_ready { u64::from(candidate.weight) } else { 0 }
        };
        let total: u64 = open.iter().map(|index| weight(*index)).sum();
        if total == 0 {
            return;
        }
        let mut left = self.random.below(total);
        for at in 0..open.len() {
            let weight = weight(open[at]);
            if left < weight {
                open[..=at].rotate_right(1);
                return;
            }
            left -= weight;
        }
    }

    /// Returns the time to wait before the same upstream is asked again.
    pub(crate) fn backoff(&self, times: usize) -> Duration {
        let most = 100_u64 << times.min(4);
        Duration::from_millis(most / 2 + self.random.below(most / 2))
    }
}

impl ModelRoute {
    fn new(config: &ModelConfig, all: &[Arc<Upstream>]) -> Result<Self, ConfigError> {
        let wrong = |key: &str, problem: String| ConfigError::Value {
            key: format!("model.{key}"),
            problem: format!("{problem} (model `{}`)", config.name),
        };
        if config.upstreams.is_empty() {
            let problem = "it has no upstream; name one of `[[upstream]]`".to_owned();
            return Err(wrong("upstreams", problem));
        }
        if !config.weights.is_empty() && config.weights.len() != config.upstreams.len() {
            let problem = "there must be as many as `upstreams`, or none".to_owned();
            return Err(wrong("weights", problem));
        }
        let mut candidates = Vec::with_capacity(config.upstreams.len());
        for (index, text) in config.upstreams.iter().enumerate() {
            let (name, model) = match text.split_once('/') {
                Some((name, model)) => (name, Some(model)),
                None => (text.as_str(), None),
            };
            let mut named = all.iter().filter(|one| one.name() == name && !one.is_behind_prefix());
            let upstream = named.next().ok_or_else(|| {
                let problem = format!("there is no `[[upstream]]` with `name = \"{name}\"`");
                wrong("upstreams", problem)
            })?;
            if named.next().is_some() {
                let problem = format!("several upstreams are named `{name}`; give each a `name`");
                return Err(wrong("upstreams", problem));
            }
            let weight = config.weights.get(index).copied().unwrap_or(0);
            let model = model.filter(|model| !model.is_empty()).map(Arc::from);
            candidates.push(Candidate { upstream: Arc::clone(upstream), model, weight });
        }
        let is_undecided = |one: &&Candidate| !one.upstream.decides_credentials();
        let is_one_host =
            candidates.iter().all(|one| one.upstream.host() == candidates[0].upstream.host());
        if let Some(one) = candidates.iter().find(is_undecided).filter(|_| !is_one_host) {
            let problem = format!(
                "the upstream `{}` would get the keys of callers that are meant for another one; \
                 give it a `key`, or set its `credentials` to `own` or `passthrough`",
                one.upstream.name()
            );
            return Err(wrong("upstreams", problem));
        }
        Ok(Self { name: vec![config.name.clone()], candidates, hidden: config.hidden })
    }

    /// Returns `true` if a request could be sent to another upstream.
    pub(crate) fn has_several(&self) -> bool {
        self.candidates.len() > 1
    }
}

/// A budget of retries: a share of all requests, and a reserve.
#[derive(Debug)]
pub(crate) struct RetryBudget {
    parts: AtomicI64,
    per_request: i64,
}

impl RetryBudget {
    fn new(percent: u32) -> Self {
        Self { parts: AtomicI64::new(RESERVE * PARTS), per_request: percent.into() }
    }

    /// Adds the share of one request.
    pub(crate) fn add_request(&self) {
        let add = |parts: i64| Some((parts + self.per_request).min(RESERVE * PARTS));
        let _ = self.parts.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// Takes one retry. Returns `false` if there is none.
    pub(crate) fn take(&self) -> bool {
        let take = |parts: i64| (parts >= PARTS).then_some(parts - PARTS);
        self.parts.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }
}

/// Random numbers from a seed (`SplitMix64`).
#[derive(Debug)]
pub(super) struct Random(AtomicU64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        use std::hash::{BuildHasher as _, RandomState};
        let seed = if seed == 0 { RandomState::new().hash_one(0_u8) } else { seed };
        Self(AtomicU64::new(seed))
    }

    /// Returns a number below a bound, which is not zero.
    pub(super) fn below(&self, bound: u64) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let state = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::Upstreams;

    fn routes(settings: &str) -> Result<Arc<ModelRoutes>, String> {
        let upstreams = "[[upstream]]\nurl='http://a'\nname='a'\nkey='k'\n\
                         [[upstream]]\nurl='http://b'\nname='b'\nkey='k'\n\
                         [[upstream]]\nurl='http://c'\nname='c'\ncredentials='own'\n\
                         [[upstream]]\nurl='http://d'\n[[upstream]]\nurl='http://d'\n";
        let config = Config::parse(&format!("{upstreams}{settings}")).unwrap();
        let all = Upstreams::of(&config).map_err(|error| error.to_string())?;
        Ok(Arc::clone(all.routes().unwrap()))
    }

    fn pick(routes: &ModelRoutes, tried: &[usize]) -> (usize, Duration) {
        let route = routes.find(Some("m")).unwrap();
        let picked = routes.pick(route, tried, |_| true, false).unwrap();
        (picked.index, picked.pause)
    }

    #[test]
    fn mistakes_are_named() {
        for (settings, says) in [
            ("upstreams=[]", "has no upstream"),
            ("upstreams=['x']", "no `[[upstream]]` with `name = \"x\"`"),
            ("upstreams=['d']", "several upstreams are named `d`"),
            ("upstreams=['a','b']\nweights=[1]", "as many as `upstreams`"),
        ] {
            let error = routes(&format!("[[model]]\nname='m'\n{settings}")).unwrap_err();
            assert!(error.contains(says) && error.contains("(model `m`)"), "{error}");
        }
        let undecided = "[[upstream]]\nurl='http://e'\nname='e'\n\
                         [[model]]\nname='m'\nupstreams=['a','e']";
        let error = routes(undecided).unwrap_err();
        assert!(error.contains("the upstream `e` would get the keys of callers"), "{error}");
    }

    #[test]
    fn the_most_specific_name_is_found() {
        let routes = routes(
            "[[model]]\nname='gpt-*'\nupstreams=['a']\n[[model]]\nname='gpt-5'\nupstreams=['b/x']\n\
             [[model]]\nname='secret'\nupstreams=['b']\nhidden=true",
        )
        .unwrap();
        let found = |model| routes.find(Some(model)).map(|route| route.candidates[0].clone());
        assert_eq!(found("gpt-4o").unwrap().upstream.name(), "a");
        let renamed = found("gpt-5").unwrap();
        assert_eq!((renamed.upstream.name(), renamed.model.as_deref()), ("b", Some("x")));
        assert!(found("claude").is_none() && routes.find(None).is_none());
        assert_eq!(routes.names().collect::<Vec<_>>(), ["gpt-5"]);
    }

    #[tokio::test(start_paused = true)]
    async fn upstreams_are_asked_in_order_and_those_that_rest_last() {
        let routes = routes(
            "[[model]]\nname='m'\nupstreams=['a','b','c']\n[failover]\nfailures=1\nrest_s=10",
        )
        .unwrap();
        assert_eq!(pick(&routes, &[]).0, 0);
        assert_eq!(pick(&routes, &[0]).0, 1);
        assert_eq!(pick(&routes, &[0, 1]).0, 2);
        assert_eq!(pick(&routes, &[0, 1, 2]).0, 0);
        let health =
            |index: usize| routes.find(Some("m")).unwrap().candidates[index].upstream.health();
        health(0).failed(routes.rules().health);
        assert_eq!(pick(&routes, &[]).0, 1);
        assert_eq!(pick(&routes, &[1, 2]).0, 0);
        for index in [1, 2] {
            health(index).pause(Duration::from_secs(index as u64));
        }
        // One that rests is asked before the end of a pause.
        assert_eq!(pick(&routes, &[]), (0, Duration::ZERO));
        health(0).pause(Duration::from_secs(9));
        assert_eq!(pick(&routes, &[]), (1, Duration::from_secs(1)));
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!(pick(&routes, &[]), (0, Duration::ZERO));
    }

    #[test]
    fn weights_spread_requests_by_a_seed() {
        let counts = |seed: u64| {
            let routes = routes(&format!(
                "[[model]]\nname='m'\nupstreams=['a','b','c']\nweights=[3,1,0]\n[failover]\nseed={seed}"
            ))
            .unwrap();
            let mut counts = [0; 3];
            (0..4000).for_each(|_| counts[pick(&routes, &[]).0] += 1);
            counts
        };
        let [a, b, c] = counts(7);
        assert!((2800..3200).contains(&a) && (800..1200).contains(&b) && c == 0, "{a} {b} {c}");
        assert_eq!(counts(7), [a, b, c]);
    }

    #[test]
    fn a_budget_is_a_share_of_the_requests_and_a_reserve() {
        let budget = RetryBudget::new(50);
        let mut taken = 0;
        while budget.take() {
            taken += 1;
        }
        assert_eq!(taken, RESERVE);
        (0..100).for_each(|_| budget.add_request());
        assert_eq!((0..100).filter(|_| budget.take()).count(), 50);
        (0..1000).for_each(|_| budget.add_request());
        assert_eq!((0..1000).filter(|_| budget.take()).count(), 50);
    }
}
