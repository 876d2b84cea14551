//! The metrics, and their page for Prometheus.
//!
//! Labels are bounded: there are few routes, wires and classes of status. Names of models are taken
//! only from requests that succeeded, and only the first 63.

use std::time::{SystemTime, UNIX_EPOCH};

use photic::Wire;

use super::gauges::{Gauges, UpstreamFigures};
use super::request_log::RequestLog;
use super::series::{Histogram, Named, Names, Page};
use super::socket_counts::SocketCounts;
use super::upstream_counts::UpstreamCounts;
use super::usage::CallerUsage;
use crate::counter::Counter;
use crate::http::Route;
use crate::memory::Use;
use crate::record::Server;

/// Names of routes in labels.
const ROUTES: [&str; 3] = ["conversation", "count_tokens", "other"];
/// Classes of status in labels.
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
/// Maximum number of models in labels. The last one counts all further models.
const MAX_MODELS: usize = 64;

/// All counters of a gateway.
#[derive(Debug)]
pub(crate) struct Metrics {
    started: SystemTime,
    in_flight: Counter,
    /// By route, wire of the client, class of status.
    requests: [[[Counter; CLASSES.len()]; Wire::ALL.len()]; ROUTES.len()],
    failures: Named<32>,
    fixes: Named<32>,
    retired: Named<8>,
    unrepaired: Named<16>,
    passed: Named<8>,
    kept: Counter,
    hoisted: Counter,
    elided: Counter,
    refused: Counter,
    remade: Counter,
    healed: Counter,
    billed_as_text: Counter,
    bytes_in: Counter,
    bytes_sent: Counter,
    bytes_out: Counter,
    durations: [Histogram; ROUTES.len()],
    first_bytes: [Histogram; ROUTES.len()],
    models: Names<MAX_MODELS>,
    /// By model: requests, estimated tokens, reported tokens, reported output tokens.
    by_model: [[Counter; 4]; MAX_MODELS],
    upstreams: UpstreamCounts,
    /// The usage of callers that are known by name.
    pub(crate) callers: CallerUsage,
    /// Settings that were reloaded, and settings that were refused.
    pub(crate) reloads: [Counter; 2],
    pub(crate) sockets: SocketCounts,
    pub(crate) lines_dropped: Counter,
    pub(super) spans_sent: Counter,
    pub(super) spans_dropped: Counter,
}

impl Metrics {
    /// Creates counters at zero.
    pub(crate) fn new() -> Self {
        Self {
            started: SystemTime::now(),
            in_flight: Counter::default(),
            requests: Default::default(),
            failures: Named::default(),
            fixes: Named::default(),
            retired: Named::default(),
            unrepaired: Named::default(),
            passed: Named::default(),
            kept: Counter::default(),
            hoisted: Counter::default(),
            elided: Counter::default(),
            refused: Counter::default(),
            remade: Counter::default(),
            healed: Counter::default(),
            billed_as_text: Counter::default(),
            bytes_in: Counter::default(),
            bytes_sent: Counter::default(),
            bytes_out: Counter::default(),
            durations: Default::default(),
            first_bytes: Default::default(),
            models: Names::default(),
            by_model: std::array::from_fn(|_| Default::default()),
            upstreams: UpstreamCounts::new(),
            callers: CallerUsage::default(),
            reloads: Default::default(),
            sockets: SocketCounts::default(),
            lines_dropped: Counter::default(),
            spans_sent: Counter::default(),
            spans_dropped: Counter::default(),
        }
    }

    /// Counts a request that begins.
    pub(super) fn began(&self) {
        self.in_flight.add(1);
    }

    /// Counts a request when the head of its reply is known.
    pub(super) fn answered(&self, log: &RequestLog) {
        let class = usize::from(log.status / 100).clamp(1, CLASSES.len()) - 1;
        self.requests[route(log.route)][log.route.wire().index()][class].add(1);
        self.healed.add(u64::from(log.healed() > 0));
        self.bytes_in.add(log.bytes_in);
        self.bytes_sent.add(log.bytes_sent);
        for (name, count) in log.fixes.iter() {
            self.fixes.add(name, count as u64);
        }
        for (name, count) in &log.facts.retired {
            self.retired.add(name, *count as u64);
        }
        for (name, count) in &log.facts.unrepaired {
            self.unrepaired.add(name, *count as u64);
        }
        if let Some(passed) = log.passed {
            self.passed.add(passed.name(), 1);
        }
        let images = &log.facts.images;
        if images.seen() > 0 {
            self.kept.add(images.kept.into());
            self.hoisted.add(images.hoisted.into());
            self.elided.add(images.elided.into());
            self.refused.add(images.refused.into());
            self.remade.add(images.remade.into());
        }
    }

    /// Counts a request when its reply has ended or broken off.
    pub(super) fn ended(&self, log: &RequestLog) {
        self.in_flight.subtract(1);
        let route = route(log.route);
        self.durations[route].record(log.begun.elapsed());
        if let Some(first) = log.first_byte {
            self.first_bytes[route].record(first);
        }
        self.bytes_out.add(log.bytes_out);
        self.upstreams.ended(log);
        if let Some(trouble) = log.trouble() {
            self.failures.add(trouble, 1);
        }
        self.billed_as_text.add(log.billed_as_text().into());
        if let Some(model) = log.facts.model.name().filter(|_| log.is_success()) {
            let place = self.models.place(model);
            let [requests, estimated, reported, output] = &self.by_model[place];
            requests.add(1);
            estimated.add(log.tokens);
            let usage = log.usage().copied().unwrap_or_default();
            reported.add(usage.input);
            output.add(usage.output);
        }
    }

    /// Writes the families with labels.
    fn families(&self, page: &mut Page, gauges: &Gauges) {
        self.requests(page);
        self.pictures(page);
        self.models(page);
        self.upstreams.write(page);
        self.callers.write(page);
        self.sockets.write(page);
        upstreams(page, &gauges.upstreams);
        let name = "photic_reloads_total";
        page.family(name, "counter", "Times that settings were reloaded or refused.");
        for (result, count) in ["done", "refused"].iter().zip(&self.reloads) {
            page.sample(name, &[("result", result)], count.get());
        }
    }

    /// Renders the page for Prometheus.
    pub(crate) fn page(&self, gauges: &Gauges) -> String {
        let mut page = Page::default();
        self.families(&mut page, gauges);
        let (hits, misses, bytes) = gauges.picture_cache;
        let (kept, lost) = gauges.turns;
        let (recorded_bytes, recorded_bytes_read) = gauges.recorded_bytes;
        let (continued, read_whole, conversation_bytes) = gauges.conversations;
        for (name, help, value) in [
            (
                "photic_request_bytes_total",
                "Bytes of request bodies from clients.",
                self.bytes_in.get(),
            ),
            (
                "photic_upstream_bytes_total",
                "Bytes of conversations as sent to upstreams.",
                self.bytes_sent.get(),
            ),
            ("photic_reply_bytes_total", "Bytes of reply bodies to clients.", self.bytes_out.get()),
            ("photic_picture_cache_hits_total", "Prepared images found in the cache.", hits),
            ("photic_picture_cache_misses_total", "Images that had to be prepared.", misses),
            (
                "photic_conversations_continued_total",
                "Requests of which known turns were not read again.",
                continued,
            ),
            (
                "photic_conversations_read_total",
                "Requests of at least 4 KiB that were read whole.",
                read_whole,
            ),
            (
                "photic_log_lines_dropped_total",
                "Log lines dropped because the reader was too slow.",
                self.lines_dropped.get(),
            ),
            (
                "photic_spans_sent_total",
                "Spans that the collector accepted.",
                self.spans_sent.get(),
            ),
            ("photic_spans_dropped_total", "Spans that were dropped.", self.spans_dropped.get()),
            ("photic_turns_kept_total", "Turns that were recorded.", kept),
            ("photic_turns_lost_total", "Turns that could not be recorded.", lost),
            (
                "photic_turns_bytes_total",
                "Bytes of the requests of recorded turns.",
                recorded_bytes,
            ),
            (
                "photic_turns_bytes_read_total",
                "Bytes of these that were read to record them.",
                recorded_bytes_read,
            ),
            (
                "photic_audit_lost_total",
                "Audit entries that could not be written.",
                gauges.audit_lost,
            ),
        ] {
            page.single(name, "counter", help, value);
        }
        for (name, help, value) in [
            ("photic_requests_in_flight", "Running requests.", self.in_flight.get()),
            ("photic_pixel_jobs", "Running jobs on pixels.", gauges.pixel_jobs),
            (
                "photic_memory_budget_bytes",
                "Bytes that requests and caches may take together.",
                gauges.memory_total,
            ),
            ("photic_picture_cache_bytes", "Bytes of prepared images in the cache.", bytes),
            (
                "photic_conversations_bytes",
                "Bytes of conversations that are kept for their next turns.",
                conversation_bytes,
            ),
        ] {
            page.single(name, "gauge", help, value);
        }
        let name = "photic_memory_bytes";
        page.family(name, "gauge", "Bytes of the memory budget in use, by purpose.");
        for (what, bytes) in Use::ALL.into_iter().zip(gauges.memory_used) {
            page.sample(name, &[("of", what.name())], bytes);
        }
        page.family("photic_store_away", "gauge", "1 if a server of the store is unavailable.");
        for server in Server::ALL {
            let is_away = u64::from(gauges.unavailable.contains(&server));
            page.sample("photic_store_away", &[("store", server.name())], is_away);
        }
        page.family("photic_build_info", "gauge", "The version.");
        page.sample("photic_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
        let started = self.started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let help = "Start time of the process, in seconds since 1970.";
        page.single("process_start_time_seconds", "gauge", help, started);
        page.finish()
    }

    fn requests(&self, page: &mut Page) {
        let name = "photic_requests_total";
        page.family(name, "counter", "Requests that were answered.");
        for (route, wires) in ROUTES.iter().zip(&self.requests) {
            for (wire, classes) in Wire::ALL.iter().zip(wires) {
                for (class, count) in CLASSES.iter().zip(classes).filter(|(_, it)| it.get() > 0) {
                    let labels = [("route", *route), ("wire", wire.name()), ("status", class)];
                    page.sample(name, &labels, count.get());
                }
            }
        }
        let name = "photic_failures_total";
        page.family(name, "counter", "Requests that failed in the gateway, by code.");
        for (code, count) in self.failures.iter() {
            page.sample(name, &[("code", code)], count);
        }
        for (name, help, histograms) in [
            (
                "photic_request_duration_seconds",
                "Time from the request to the end of its reply.",
                &self.durations,
            ),
            (
                "photic_first_byte_seconds",
                "Time from the request to the first byte of its reply.",
                &self.first_bytes,
            ),
        ] {
            page.family(name, "histogram", help);
            for (route, histogram) in ROUTES.iter().zip(histograms) {
                page.histogram(name, ("route", route), histogram);
            }
        }
    }

    fn pictures(&self, page: &mut Page) {
        let name = "photic_fixes_total";
        page.family(name, "counter", "Fixes in requests, by kind.");
        for (fix, count) in self.fixes.iter() {
            page.sample(name, &[("fix", fix)], count);
        }
        let name = "photic_retired_total";
        let help = "Media that were left out of requests, by reason. Counted in every turn.";
        page.family(name, "counter", help);
        for (reason, count) in self.retired.iter() {
            page.sample(name, &[("reason", reason)], count);
        }
        let name = "photic_passed_total";
        let help = "Requests that could hold pictures and were passed on unread, by reason.";
        page.family(name, "counter", help);
        for (reason, count) in self.passed.iter() {
            page.sample(name, &[("reason", reason)], count);
        }
        let name = "photic_unrepaired_total";
        page.family(name, "counter", "Findings that were not repaired, by code.");
        for (code, count) in self.unrepaired.iter() {
            page.sample(name, &[("code", code)], count);
        }
        let name = "photic_images_total";
        page.family(name, "counter", "Images in requests, by fate.");
        for (fate, count) in [
            ("kept", &self.kept),
            ("hoisted", &self.hoisted),
            ("elided", &self.elided),
            ("refused", &self.refused),
        ] {
            page.sample(name, &[("fate", fate)], count.get());
        }
        for (name, help, count) in [
            ("photic_images_remade_total", "Images that were shrunk or converted.", &self.remade),
            (
                "photic_healed_total",
                "Requests that were sent again after a rejection.",
                &self.healed,
            ),
            (
                "photic_billed_as_text_total",
                "Replies that billed images as text.",
                &self.billed_as_text,
            ),
        ] {
            page.single(name, "counter", help, count.get());
        }
    }

    fn models(&self, page: &mut Page) {
        let known: Vec<_> = self.models.iter().collect();
        for (name, help, which) in [
            ("photic_model_requests_total", "Requests that succeeded, by model.", 0),
            ("photic_input_tokens_estimated_total", "Estimated input tokens.", 1),
            ("photic_input_tokens_reported_total", "Input tokens that upstreams reported.", 2),
            ("photic_output_tokens_reported_total", "Output tokens that upstreams reported.", 3),
        ] {
            page.family(name, "counter", help);
            for (place, model) in &known {
                let count = self.by_model[*place][which].get();
                if count > 0 {
                    page.sample(name, &[("model", model)], count);
                }
            }
        }
    }
}

/// Writes the figures of the upstreams.
fn upstreams(page: &mut Page, all: &[UpstreamFigures]) {
    let name = "photic_upstream_requests_total";
    page.family(name, "counter", "Requests that were sent to upstreams, by outcome.");
    for one in all {
        for (cause, count) in &one.attempts {
            page.sample(name, &[("upstream", &one.name), ("cause", cause)], count);
        }
    }
    let name = "photic_upstream_resting";
    page.family(name, "gauge", "1 if an upstream of a `[[model]]` failed and is asked last.");
    for (one, is_resting) in all.iter().filter_map(|one| Some((one, one.is_resting?))) {
        page.sample(name, &[("upstream", &one.name)], u64::from(is_resting));
    }
}

const fn route(route: Route) -> usize {
    match route {
        Route::Turn(_) => 0,
        Route::CountTokens(_) => 1,
        Route::Compact(_)
        | Route::Batch(_)
        | Route::Other(_)
        | Route::Health
        | Route::Ready
        | Route::Metrics
        | Route::Media
        | Route::Openwop => 2,
    }
}

/// Returns the name of a route in labels and in the log.
pub(super) const fn route_name(it: Route) -> &'static str {
    ROUTES[route(it)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wires_stand_where_they_are_named() {
        assert!(Wire::ALL.iter().enumerate().all(|(index, it)| it.index() == index));
    }

    #[test]
    fn models_of_failed_requests_get_no_name() {
        let metrics = Metrics::new();
        let mut log = RequestLog::new(Route::Turn(Wire::Anthropic.into()), 1);
        log.facts = crate::observe::Facts::default().named(Some("guessed"));
        for (status, known) in [(404, false), (200, true)] {
            metrics.began();
            log.status = status;
            metrics.answered(&log);
            metrics.ended(&log);
            let mut page = Page::default();
            metrics.models(&mut page);
            assert_eq!(page.finish().contains("guessed"), known);
        }
    }
}
