//! Counts by upstream: replies by their status, and connections that were not made by their cause.

use photic_net::ConnectFailure;

use super::request_log::RequestLog;
use super::series::{Named, Names, Page};
use crate::counter::Counter;

/// Maximum number of upstreams in labels. The last one counts all further ones.
const MAX_UPSTREAMS: usize = 32;
/// Classes of status in labels. `none` is no reply at all.
const CLASSES: [&str; 6] = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];

/// Counts by upstream.
#[derive(Debug, Default)]
pub(super) struct UpstreamCounts {
    names: Names<MAX_UPSTREAMS>,
    replies: [[Counter; CLASSES.len()]; MAX_UPSTREAMS],
    causes: Vec<Named<16>>,
}

impl UpstreamCounts {
    pub(super) fn new() -> Self {
        let causes = (0..MAX_UPSTREAMS).map(|_| Named::default()).collect();
        Self { causes, ..Self::default() }
    }

    /// Counts a request that has ended, if it had an upstream.
    pub(super) fn ended(&self, log: &RequestLog) {
        let Some(host) = log.host() else { return };
        let place = self.names.place(host);
        let is_reply = log.failure.is_none();
        let class = if is_reply { usize::from(log.status / 100).min(CLASSES.len() - 1) } else { 0 };
        self.replies[place][class].add(1);
        if let (Some(cause), Some(causes)) = (log.cause, self.causes.get(place)) {
            causes.add(ConnectFailure::name(cause), 1);
        }
    }

    /// Writes the counts to a page.
    pub(super) fn write(&self, page: &mut Page) {
        let known: Vec<_> = self.names.iter().collect();
        let name = "photic_upstream_replies_total";
        page.family(name, "counter", "Requests by upstream and status of its reply.");
        for (place, upstream) in &known {
            for (class, count) in CLASSES.iter().zip(&self.replies[*place]) {
                if count.get() > 0 {
                    let labels = [("upstream", *upstream), ("status", class)];
                    page.sample(name, &labels, count.get());
                }
            }
        }
        let name = "photic_connect_failures_total";
        page.family(name, "counter", "Connections to upstreams that were not made, by cause.");
        for (place, upstream) in &known {
            for (cause, count) in self.causes.get(*place).into_iter().flat_map(Named::iter) {
                page.sample(name, &[("upstream", upstream), ("cause", cause)], count);
            }
        }
    }
}
