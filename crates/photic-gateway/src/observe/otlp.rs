//! Sends traces to a collector in batches: OTLP over HTTP, in its JSON encoding.
//!
//! Spans follow OpenTelemetry's conventions for generative AI. They contain no message, no media and
//! no key. Of images they contain type, size and fate. Spans that the collector does not accept are
//! dropped.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Request, Uri};
use photic_net::{Client, Outgoing, Timeouts};
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};

use super::facts::ImageNote;
use super::log::Log;
use super::metrics::Metrics;
use super::request_log::RequestLog;
use crate::config::{ConfigError, Telemetry};
use crate::counter::Counter;

/// Maximum spans that may wait.
const MAX_WAITING: usize = 2048;
/// Maximum spans in one batch.
const MAX_BATCH: usize = 512;
/// Time for which the first span of a batch waits for others.
const BATCH_DELAY: Duration = Duration::from_secs(1);
/// Time for the collector's answer to a batch.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);

/// The queue of finished spans.
#[derive(Debug)]
pub(crate) struct Spans(Sender<String>);

/// Sends spans to the collector.
#[derive(Debug)]
pub(crate) struct Exporter {
    spans: Receiver<String>,
    endpoint: Uri,
    headers: HeaderMap,
    /// The attributes of this process.
    resource: Value,
}

/// Returns the URL of the collector, if one is configured.
///
/// # Errors
///
/// Fails if it is not an `http` or `https` URL, or if it contains a login.
pub(crate) fn endpoint(settings: &Telemetry) -> Result<Option<Uri>, ConfigError> {
    let Some(text) = settings.otlp.as_deref().filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    // The error does not show the URL, because it may contain a password.
    let wrong = |problem: &str| ConfigError::Value {
        key: "telemetry.otlp".to_owned(),
        problem: problem.to_owned(),
    };
    let base = text.trim_end_matches('/');
    let path = if base.ends_with("/v1/traces") { "" } else { "/v1/traces" };
    let uri: Uri = [base, path].concat().parse().map_err(|_| wrong("invalid URL"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(wrong("the URL does not begin with `http://` or `https://`"));
    }
    if uri.authority().is_none_or(|authority| authority.as_str().contains('@')) {
        let problem =
            "the URL has no host, or contains a login; set `OTEL_EXPORTER_OTLP_HEADERS` instead";
        return Err(wrong(problem));
    }
    Ok(Some(uri))
}

impl Exporter {
    /// Creates a queue of spans and the exporter that sends them.
    pub(crate) fn new(endpoint: Uri, settings: &Telemetry) -> (Spans, Self) {
        let (sender, spans) = channel(MAX_WAITING);
        let (headers, resource) = (settings.headers.map().clone(), resource(settings));
        (Spans(sender), Self { spans, endpoint, headers, resource })
    }

    /// Sends batches until `stop` is sent, and then the remaining spans.
    pub(crate) async fn run(
        mut self,
        metrics: &Metrics,
        log: &Log,
        mut stop: oneshot::Receiver<()>,
    ) {
        let client = Client::new(Timeouts { answer: EXPORT_TIMEOUT, ..Timeouts::default() });
        let mut stopping = false;
        while !stopping {
            let mut batch = Vec::new();
            tokio::select! {
                span = self.spans.recv() => batch.extend(span),
                _ = &mut stop => stopping = true,
            }
            let until = Instant::now() + BATCH_DELAY;
            while batch.len() < MAX_BATCH && !stopping {
                tokio::select! {
                    span = timeout_at(until, self.spans.recv()) => match span {
                        Ok(Some(span)) => batch.push(span),
                        Ok(None) | Err(_) => break,
                    },
                    _ = &mut stop => stopping = true,
                }
            }
            self.send(&client, batch, metrics, log).await;
        }
        loop {
            let rest: Vec<String> =
                std::iter::from_fn(|| self.spans.try_recv().ok()).take(MAX_BATCH).collect();
            if rest.is_empty() {
                break;
            }
            self.send(&client, rest, metrics, log).await;
        }
    }

    async fn send(&self, client: &Client, batch: Vec<String>, metrics: &Metrics, log: &Log) {
        if batch.is_empty() {
            return;
        }
        let count = batch.len() as u64;
        let mut request = Request::new(Outgoing::pieces(vec![self.payload(&batch).into()]));
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = self.endpoint.clone();
        *request.headers_mut() = self.headers.clone();
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let reply = timeout(EXPORT_TIMEOUT, client.send(request)).await;
        match reply {
            Ok(Ok(reply)) if reply.status().is_success() => metrics.spans_sent.add(count),
            _ => {
                metrics.spans_dropped.add(count);
                let says = format!("the trace collector did not accept {count} spans");
                log.warn(&says, &metrics.lines_dropped);
            }
        }
    }

    /// Renders the body of an export request.
    fn payload(&self, spans: &[String]) -> String {
        let resource = &self.resource;
        let scope = json!({"name": "photic", "version": env!("CARGO_PKG_VERSION")});
        format!(
            "{{\"resourceSpans\":[{{\"resource\":{resource},\"scopeSpans\":[{{\"scope\":{scope},\
             \"spans\":[{}]}}]}}]}}",
            spans.join(",")
        )
    }
}

/// Returns the attributes of this process. Its name and version come before those of the environment.
fn resource(settings: &Telemetry) -> Value {
    let own =
        [("service.name", &*settings.service), ("service.version", env!("CARGO_PKG_VERSION"))];
    let others = settings.resource.iter().filter(|(key, _)| own.iter().all(|(own, _)| own != key));
    let all = own.into_iter().chain(others);
    let all: Vec<Value> =
        all.map(|(key, value)| json!({"key": key, "value": {"stringValue": value}})).collect();
    json!({"attributes": all})
}

impl Spans {
    /// Queues the span of a request, or counts it as dropped.
    pub(super) fn ended(&self, log: &RequestLog, dropped: &Counter) {
        if let Some(span) = span(log)
            && self.0.try_send(span).is_err()
        {
            dropped.add(1);
        }
    }
}

/// Renders the span of a request, if it is traced.
fn span(log: &RequestLog) -> Option<String> {
    let trace = log.trace?;
    let nanos = |time: SystemTime| {
        time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string()
    };
    let model = log.facts.model.name();
    let error = error(log);
    let mut span = json!({
        "traceId": format!("{:032x}", trace.id),
        "spanId": format!("{:016x}", trace.span),
        "name": model.map_or_else(|| "chat".to_owned(), |model| format!("chat {model}")),
        // A client span, as the conventions require for a call to a model.
        "kind": 3,
        "startTimeUnixNano": nanos(trace.began),
        "endTimeUnixNano": nanos(trace.began + log.begun.elapsed()),
        "attributes": attributes(described(log, error.as_deref())),
        "status": if error.is_some() { json!({"code": 2}) } else { json!({}) },
    });
    if let Some(parent) = trace.parent {
        span["parentSpanId"] = format!("{parent:016x}").into();
    }
    Some(span.to_string())
}

/// Returns the type of the error: the gateway's code, or the status of the reply.
fn error(log: &RequestLog) -> Option<String> {
    let status = || (log.status >= 400).then(|| log.status.to_string());
    log.trouble().map(str::to_owned).or_else(status)
}

/// Returns the attributes of a span.
fn described(log: &RequestLog, error: Option<&str>) -> Vec<(&'static str, Value)> {
    let text = |text: &str| json!({"stringValue": text});
    // 64-bit numbers are strings in this encoding.
    let number = |number: u64| json!({"intValue": number.to_string()});
    let list = |texts: Vec<String>| {
        let values: Vec<Value> = texts.iter().map(|it| text(it)).collect();
        json!({"arrayValue": {"values": values}})
    };
    let images = log.facts.images;
    let mut all = vec![
        ("gen_ai.operation.name", text("chat")),
        ("photic.request_id", text(&format!("{:016x}", log.id))),
        ("photic.wire.caller", text(log.route.wire().name())),
        ("photic.fixes", number(log.fixes.count() as u64)),
        ("photic.images.seen", number(images.seen().into())),
        ("photic.images.shown", number(images.shown().into())),
        ("photic.tokens.estimated", number(log.tokens)),
        ("photic.bytes.request", number(log.bytes_in)),
        ("photic.bytes.upstream", number(log.bytes_sent)),
        ("photic.bytes.reply", number(log.bytes_out)),
    ];
    if let Some((upstream, wire)) = &log.upstream {
        let (host, port) = upstream.endpoint();
        all.push(("gen_ai.provider.name", text(wire.http().provider)));
        all.push(("photic.wire.upstream", text(wire.name())));
        all.push(("server.address", text(host)));
        all.push(("server.port", number(port.into())));
    }
    if let Some(model) = log.facts.model.name() {
        all.push(("gen_ai.request.model", text(model)));
    }
    if let Some(usage) = log.usage() {
        all.push(("gen_ai.usage.input_tokens", number(usage.input)));
        all.push(("gen_ai.usage.output_tokens", number(usage.output)));
        all.push(("gen_ai.usage.cache_read.input_tokens", number(usage.cache_read)));
        all.push(("gen_ai.usage.cache_creation.input_tokens", number(usage.cache_write)));
        if usage.reasoning > 0 {
            all.push(("gen_ai.usage.reasoning.output_tokens", number(usage.reasoning)));
        }
    }
    if let Some(most) = log.max_tokens {
        all.push(("gen_ai.request.max_tokens", number(most)));
    }
    if let Some(caller) = &log.caller {
        all.push(("enduser.id", text(&caller.name)));
    }
    if log.status > 0 {
        all.push(("http.response.status_code", number(log.status.into())));
    }
    if let Some(first) = log.first_byte {
        all.push(("photic.first_byte.seconds", json!({"doubleValue": first.as_secs_f64()})));
    }
    if log.fixes.count() > 0 {
        let each = log.fixes.iter().map(|(name, count)| format!("{name}={count}"));
        all.push(("photic.fixed", list(each.collect())));
    }
    for (key, counts) in
        [("photic.retired", &log.facts.retired), ("photic.unrepaired", &log.facts.unrepaired)]
    {
        if !counts.is_empty() {
            let each = counts.iter().map(|(name, count)| format!("{name}={count}"));
            all.push((key, list(each.collect())));
        }
    }
    if !log.facts.image_notes.is_empty() {
        let each = log.facts.image_notes.iter().map(described_image);
        all.push(("photic.images", list(each.collect())));
        all.push(("gen_ai.input.messages", text(&references(&log.facts.image_notes))));
    }
    if log.healed() > 0 {
        all.push(("photic.healed", number(log.healed() as u64)));
    }
    if log.billed_as_text() {
        all.push(("photic.billed_as_text", json!({"boolValue": true})));
    }
    if let Some(error) = error {
        all.push(("error.type", text(error)));
    }
    all
}

/// Describes an image like `hoisted image/png 1280x800 93412`, without its content.
fn described_image(image: &ImageNote) -> String {
    let kind = image.media_type.unwrap_or("unknown");
    let size = image.size.map_or_else(String::new, |(width, height)| format!(" {width}x{height}"));
    format!("{} {kind}{size} {}", image.fate, image.bytes)
}

/// Describes the images that the model was shown as parts of a message, in the form of the conventions:
/// each is a reference by its place among the images of the request. Words and bytes are left out.
fn references(images: &[ImageNote]) -> String {
    let shown = images.iter().enumerate().filter(|(_, image)| image.is_shown());
    let parts = shown.map(|(index, image)| {
        json!({
            "type": "file",
            "modality": "image",
            "mime_type": image.media_type,
            "file_id": format!("image-{}", index + 1),
        })
    });
    json!([{"role": "user", "parts": parts.collect::<Vec<_>>()}]).to_string()
}

fn attributes(all: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    all.into_iter().map(|(key, value)| json!({"key": key, "value": value})).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_traces_go() {
        let at = |otlp: &str| {
            let otlp = Some(otlp.to_owned());
            endpoint(&Telemetry { otlp, ..Telemetry::default() })
        };
        let to = |otlp: &str| at(otlp).unwrap().unwrap().to_string();
        assert_eq!(to("http://h:4318"), "http://h:4318/v1/traces");
        assert_eq!(to("http://h:4318/"), "http://h:4318/v1/traces");
        assert_eq!(to("https://h/in/v1/traces"), "https://h/in/v1/traces");
        assert!(at("").unwrap().is_none());
        for wrong in ["h:4318", "ftp://h", "http://u:password@h"] {
            let says = at(wrong).unwrap_err().to_string();
            assert!(says.contains("telemetry.otlp") && !says.contains("password"), "{says}");
        }
    }
}
