//! The upstreams that one request was sent to, with what became of it.

use std::fmt;
use std::sync::Arc;

use super::cause::Cause;
use super::model_routes::{ModelRoutes, Picked};
use super::provider::Upstream;

/// The upstreams that one request was sent to.
#[derive(Debug)]
pub(crate) struct Trail {
    /// The upstream that the request is with now.
    current: Arc<Upstream>,
    failed: Vec<(Arc<Upstream>, Cause)>,
    /// The indexes of all that were asked.
    tried: Vec<usize>,
}

impl Trail {
    /// Begins with the first upstream.
    pub(crate) fn new(first: &Picked) -> Self {
        let current = Arc::clone(&first.candidate().upstream);
        Self { current, failed: Vec::new(), tried: vec![first.index] }
    }

    /// Notes that the request failed at its upstream, and picks the next one, if the limits allow it.
    pub(crate) fn next(
        &mut self,
        routes: &ModelRoutes,
        picked: &Picked,
        cause: Cause,
        can_serve: impl Fn(&Upstream) -> bool,
    ) -> Option<Picked> {
        if self.tried.len() >= routes.rules().attempts {
            return None;
        }
        let next = routes.pick(&picked.route, &self.tried, can_serve, picked.is_bound)?;
        // The reply at hand is better than one after a long pause.
        if next.pause > routes.rules().wait {
            return None;
        }
        // Taken last, so that only what is sent again counts.
        if !routes.budget().take() {
            return None;
        }
        self.failed.push((Arc::clone(&self.current), cause));
        self.tried.push(next.index);
        self.current = Arc::clone(&next.candidate().upstream);
        Some(next)
    }

    /// Returns the number of times that this upstream was asked before.
    pub(crate) fn times(&self, index: usize) -> usize {
        self.tried.iter().filter(|it| **it == index).count().saturating_sub(1)
    }
}

/// `NAME`, or `NAME; failed="NAME:CAUSE NAME:CAUSE"`, as in the header of a reply.
impl fmt::Display for Trail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.current.name())?;
        for (index, (upstream, cause)) in self.failed.iter().enumerate() {
            let before = if index == 0 { "; failed=\"" } else { " " };
            write!(f, "{before}{}:{}", upstream.name(), cause.name())?;
        }
        f.write_str(if self.failed.is_empty() { "" } else { "\"" })
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::time::Duration;

    use photic_net::ConnectFailure;
    use tokio::time::{advance, sleep};

    use super::super::Upstreams;
    use super::super::model_routes::Random;
    use super::*;
    use crate::config::Config;

    const FAULTS: [Cause; 6] = [
        Cause::ServerError,
        Cause::NoAnswer,
        Cause::Closed,
        Cause::NotAReply,
        Cause::BrokeOff,
        Cause::NoConnection(ConnectFailure::Refused),
    ];

    fn routes(count: usize, random: &Random) -> Arc<ModelRoutes> {
        let mut text = String::from("[failover]\nbudget_percent=1000\nfailures=2\nseed=1\n");
        writeln!(text, "attempts={count}").unwrap();
        for index in 0..count {
            let name = format!("url='http://h{index}'\nname='{index}'");
            writeln!(text, "[[upstream]]\n{name}\ncredentials='own'").unwrap();
        }
        let names: Vec<String> = (0..count).map(|index| format!("'{index}'")).collect();
        writeln!(text, "[[model]]\nname='m'\nupstreams=[{}]", names.join(",")).unwrap();
        if random.below(2) == 0 {
            let weights: Vec<String> = (0..count).map(|_| random.below(4).to_string()).collect();
            writeln!(text, "weights=[{}]", weights.join(",")).unwrap();
        }
        let upstreams = Upstreams::of(&Config::parse(&text).unwrap()).unwrap();
        Arc::clone(upstreams.routes().unwrap())
    }

    /// Sends one request, as a turn is sent. `asks` tells what becomes of it at an upstream.
    async fn send(
        routes: &ModelRoutes,
        mut asks: impl AsyncFnMut(usize) -> Option<Cause>,
    ) -> Result<Trail, Trail> {
        routes.budget().add_request();
        let route = routes.find(Some("m")).unwrap();
        let mut picked = routes.pick(route, &[], |_| true, false).unwrap();
        let mut trail = Trail::new(&picked);
        loop {
            if picked.pause > routes.rules().wait {
                return Err(trail);
            }
            sleep(picked.pause).await;
            let Some(cause) = asks(picked.index).await else {
                picked.candidate().upstream.health().succeeded();
                return Ok(trail);
            };
            match cause {
                Cause::RateLimited => {
                    let health = picked.candidate().upstream.health();
                    health.pause(Duration::from_mins(1));
                }
                _ => picked.candidate().upstream.health().failed(routes.rules().health),
            }
            match trail.next(routes, &picked, cause, |_| true) {
                Some(next) => picked = next,
                None => return Err(trail),
            }
        }
    }

    /// One upstream always answers. The others fail, pause and hang at random.
    #[tokio::test(start_paused = true)]
    async fn no_request_is_lost_that_an_upstream_could_have_answered() {
        for seed in 1..=300 {
            let random = Random::new(seed);
            let count = 2 + random.below(3) as usize;
            let sound = random.below(count as u64) as usize;
            let routes = routes(count, &random);
            for number in 0..30 {
                advance(Duration::from_millis(random.below(20_000))).await;
                let sent = send(&routes, async |index| {
                    sleep(Duration::from_millis(random.below(3_000))).await;
                    match random.below(9) as usize {
                        _ if index == sound => None,
                        fault @ 0..6 => Some(FAULTS[fault]),
                        6 => Some(Cause::RateLimited),
                        _ => None,
                    }
                });
                let sent = sent.await;
                assert!(sent.is_ok(), "seed {seed}, request {number}: {}", sent.unwrap_err());
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_is_sent_as_often_as_the_limits_allow() {
        let routes = routes(3, &Random::new(1));
        let mut asked = Vec::new();
        let sent = send(&routes, async |index| {
            asked.push(index);
            Some(Cause::Closed)
        });
        let trail = sent.await.unwrap_err();
        assert_eq!(asked.len(), 3);
        asked.sort_unstable();
        assert_eq!(asked, [0, 1, 2]);
        let text = trail.to_string();
        assert_eq!(text.matches(":closed").count(), 2, "{text}");
        while routes.budget().take() {}
        let mut times = 0;
        let sent = send(&routes, async |_| {
            times += 1;
            Some(Cause::Closed)
        });
        assert!(sent.await.is_err());
        // A thousand percent of one request are ten retries.
        assert_eq!(times, 3);
    }

    #[test]
    fn a_trail_names_who_failed() {
        let routes = routes(2, &Random::new(2));
        let route = routes.find(Some("m")).unwrap();
        let first = routes.pick(route, &[], |_| true, false).unwrap();
        let mut trail = Trail::new(&first);
        let name = first.candidate().upstream.name().to_owned();
        assert_eq!(trail.to_string(), name);
        let next = trail.next(&routes, &first, Cause::ServerError, |_| true).unwrap();
        assert_ne!(next.index, first.index);
        let other = next.candidate().upstream.name();
        assert_eq!(trail.to_string(), format!("{other}; failed=\"{name}:server_error\""));
    }
}
