//! The log for operators. As text it contains warnings only. As JSON it has a line for every request
//! and for every fix, up to a number of fixes of a kind.
//!
//! A separate thread writes the lines. If the reader is slow, lines are dropped, and no request
//! waits.

use std::collections::BTreeSet;
use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use photic_net::ConnectFailure;
use serde_json::{Map, Value, json};

use super::facts::{FixNote, MAX_NOTES};
use super::metrics::route_name;
use super::request_log::{Ending, RequestLog};
use super::time::{now, since_1970};
use crate::config::LogFormat;
use crate::counter::Counter;
use crate::http::Passed;

/// Maximum lines that may wait to be written.
const MAX_WAITING: usize = 4096;
/// Bytes of lines that are written at once.
const BUFFER_BYTES: usize = 64 << 10;
/// Minimum time between two warnings. While an upstream is down, every request fails.
const WARNING_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum number of clients and reasons that are remembered. Clients choose their names.
const MAX_WARNED: usize = 1024;

/// The log.
#[derive(Debug)]
pub(crate) struct Log {
    format: LogFormat,
    lines: OnceLock<SyncSender<Message>>,
    started: Instant,
    /// The time from which the next warning is allowed, in milliseconds since the start.
    next_warning: AtomicU64,
    suppressed: Counter,
    /// Clients and reasons that a warning about a passed request was given for.
    warned: Mutex<BTreeSet<(u64, Passed)>>,
}

/// A message to the thread that writes lines.
enum Message {
    Line(String),
    /// Is answered when all lines before it are written.
    Flush(Sender<()>),
}

impl Log {
    /// Creates a log that is written nowhere yet.
    pub(crate) fn new(format: LogFormat) -> Self {
        let lines = OnceLock::new();
        let (started, next_warning) = (Instant::now(), AtomicU64::new(0));
        let (suppressed, warned) = (Counter::default(), Mutex::default());
        Self { format, lines, started, next_warning, suppressed, warned }
    }

    /// Begins to write to `sink`, unless the log is off or is written already.
    pub(crate) fn write_to(&self, sink: impl Write + Send + 'static) {
        if self.format == LogFormat::Off {
            return;
        }
        self.lines.get_or_init(|| {
            let (sender, receiver) = sync_channel(MAX_WAITING);
            let thread = std::thread::Builder::new().name("photic-log".to_owned());
            // Without a thread nothing is written, and lines are counted as dropped.
            let _ = thread.spawn(move || write(&receiver, sink));
            sender
        });
    }

    /// Returns `true` if it has a line for every request.
    pub(crate) fn tells_requests(&self) -> bool {
        self.format == LogFormat::Json
    }

    /// Returns `true` if it has a line for every request that repeats the head of the request.
    pub(super) fn tells_access(&self) -> bool {
        self.format == LogFormat::Combined
    }

    /// Writes the lines of a request.
    pub(super) fn ended(&self, log: &RequestLog, dropped: &Counter) {
        match self.format {
            LogFormat::Off => {}
            LogFormat::Json => {
                let time = now();
                for line in lines(log, &time) {
                    self.put(line, dropped);
                }
            }
            LogFormat::Text | LogFormat::Combined => {
                if let Some(access) = &log.access {
                    let caller = log.caller.as_ref().map(|caller| &*caller.name);
                    let reply = (log.status, log.bytes_out);
                    self.put(access.line(caller, reply, since_1970()), dropped);
                }
                if let Some(says) = self.passed(log) {
                    self.put(format!("photic: warning: {says}"), dropped);
                }
                if let Some(says) = warning(log) {
                    self.warn(&says, dropped);
                }
            }
        }
    }

    /// Returns the warning about a request that was passed on unread, once for each client and
    /// reason.
    fn passed(&self, log: &RequestLog) -> Option<String> {
        let reason = log.passed?;
        let why = reason.warning()?;
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.len() >= MAX_WARNED {
            warned.clear();
        }
        warned.insert((log.client, reason)).then(|| {
            let host = log.host().unwrap_or("no upstream");
            format!("a request to `{host}` was passed on unread, pictures included: {why}")
        })
    }

    /// Writes a warning, at most one in [`WARNING_INTERVAL`].
    pub(crate) fn warn(&self, says: &str, dropped: &Counter) {
        let now_ms = self.started.elapsed().as_millis() as u64;
        let next = now_ms + WARNING_INTERVAL.as_millis() as u64;
        let due = |at: u64| (at <= now_ms).then_some(next);
        if self.next_warning.fetch_update(Ordering::Relaxed, Ordering::Relaxed, due).is_err() {
            self.suppressed.add(1);
            return;
        }
        let suppressed = self.suppressed.get();
        self.suppressed.subtract(suppressed);
        match self.format {
            LogFormat::Off => {}
            LogFormat::Json => {
                let line = json!({
                    "time": now(),
                    "event": "warning",
                    "says": says,
                    "suppressed": suppressed,
                });
                self.put(line.to_string(), dropped);
            }
            LogFormat::Text | LogFormat::Combined if suppressed > 0 => {
                let line = format!("photic: warning: {says} ({suppressed} more warnings omitted)");
                self.put(line, dropped);
            }
            LogFormat::Text | LogFormat::Combined => {
                self.put(format!("photic: warning: {says}"), dropped);
            }
        }
    }

    /// Writes a line about the gateway itself, whatever was written before.
    pub(crate) fn tell(&self, event: &'static str, says: &str, dropped: &Counter) {
        match self.format {
            LogFormat::Off => {}
            LogFormat::Json => {
                let line = json!({"time": now(), "event": event, "says": says});
                self.put(line.to_string(), dropped);
            }
            LogFormat::Text | LogFormat::Combined => self.put(format!("photic: {says}"), dropped),
        }
    }

    /// Waits until all lines are written, for a bounded time.
    pub(crate) fn flush(&self) {
        let (sender, done) = channel();
        if self.lines.get().is_some_and(|lines| lines.try_send(Message::Flush(sender)).is_ok()) {
            let _ = done.recv_timeout(Duration::from_secs(1));
        }
    }

    fn put(&self, mut line: String, dropped: &Counter) {
        let Some(lines) = self.lines.get() else { return };
        line.push('\n');
        if lines.try_send(Message::Line(line)).is_err() {
            dropped.add(1);
        }
    }
}

/// Writes lines until the log is dropped or a write fails.
fn write(messages: &Receiver<Message>, sink: impl Write) {
    // Waiting lines are written together. No line waits for further ones.
    let mut sink = BufWriter::with_capacity(BUFFER_BYTES, sink);
    while let Ok(first) = messages.recv() {
        let mut next = Some(first);
        let mut flushes = Vec::new();
        while let Some(message) = next {
            match message {
                Message::Line(line) if sink.write_all(line.as_bytes()).is_err() => return,
                Message::Line(_) => {}
                Message::Flush(done) => flushes.push(done),
            }
            next = messages.try_recv().ok();
        }
        if sink.flush().is_err() {
            return;
        }
        for done in flushes {
            let _ = done.send(());
        }
    }
}

/// Returns the warning about a request, if an upstream or the gateway itself failed.
fn warning(log: &RequestLog) -> Option<String> {
    let host = log.host().unwrap_or("no upstream");
    if log.billed_as_text() {
        let model = log.facts.model.name().unwrap_or("a model");
        return Some(format!("`{host}` bills images to `{model}` as text"));
    }
    let code = log.trouble()?;
    let ours = code.starts_with("upstream_") || code == "internal_error";
    ours.then(|| match log.cause {
        Some(cause) => format!("{code}: `{host}`: {cause}; {}", cause.hint()),
        None => format!("{code}: `{host}`"),
    })
}

/// Returns the lines of each fix of a request, and of the request itself.
fn lines(log: &RequestLog, time: &str) -> Vec<String> {
    let id = format!("{:016x}", log.id);
    let caller = log.route.wire().name();
    let upstream = log.upstream.as_ref().map(|(_, wire)| wire.name());
    let millis = |duration: Duration| duration.as_micros() as f64 / 1e3;
    let images = &log.facts.images;
    let fixes: Map<String, Value> =
        log.fixes.iter().map(|(name, count)| (name.to_owned(), count.into())).collect();
    let counts = |counts: &std::collections::BTreeMap<&'static str, usize>| -> Map<String, Value> {
        counts.iter().map(|(name, count)| ((*name).to_owned(), (*count).into())).collect()
    };
    let request = json!({
        "time": time,
        "event": "request",
        "id": id,
        "trace": log.trace.map(|trace| format!("{:032x}", trace.id)),
        "route": route_name(log.route),
        "from": caller,
        "to": upstream,
        "upstream": log.host(),
        "model": log.facts.model.name(),
        "status": (log.status > 0).then_some(log.status),
        "failure": log.trouble(),
        "cause": log.cause.map(ConnectFailure::name),
        "ended": match log.ending {
            Ending::Complete => "complete",
            Ending::Open => "caller_gone",
            Ending::Broken => "upstream_broke_off",
        },
        "fixes": fixes,
        "images": {"seen": images.seen(), "shown": images.shown(), "remade": images.remade},
        "passed": log.passed.map(Passed::name),
        "retired": counts(&log.facts.retired),
        "unrepaired": counts(&log.facts.unrepaired),
        "tokens": {
            "estimated": log.tokens,
            "reported": log.reported(),
            "output": log.usage().map(|usage| usage.output),
        },
        "caller": log.caller.as_ref().map(|caller| &*caller.name),
        "healed": log.healed(),
        "billed_as_text": log.billed_as_text(),
        "bytes": {"in": log.bytes_in, "sent": log.bytes_sent, "out": log.bytes_out},
        "first_byte_ms": log.first_byte.map(millis),
        "total_ms": millis(log.begun.elapsed()),
    });
    let fix = |note: &FixNote| {
        let line = json!({
            "time": time,
            "event": "fix",
            "id": id,
            "fix": note.did,
            "at": note.place(),
            "from": caller,
            "to": upstream,
            "why": note.why(),
        });
        line.to_string()
    };
    let more = log.fixes.iter().filter(|(_, count)| *count > MAX_NOTES).map(|(name, count)| {
        let line = json!({
            "time": time,
            "event": "fix",
            "id": id,
            "fix": name,
            "more": count - MAX_NOTES,
            "from": caller,
            "to": upstream,
        });
        line.to_string()
    });
    log.facts.fixes.iter().map(fix).chain(more).chain([request.to_string()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_given_now_and_then() {
        let log = Log::new(LogFormat::Off);
        for _ in 0..5 {
            log.warn("w", &Counter::default());
        }
        assert_eq!(log.suppressed.get(), 4);
    }
}
