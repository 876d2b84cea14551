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
        let is_last = self.tried.len() >= routes.rules().attempts;
        if is_last || !routes.budget().take() {
            return None;
        }
        let next = routes.pick(&picked.route, &self.tried, can_serve, picked.is_bound)?;
        // The reply at hand is better than one after a long pause.
        if next.pause > routes.rules().wait {
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
