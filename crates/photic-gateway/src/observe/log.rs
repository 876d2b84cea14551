//! The log: what operators read. By itself it tells only what they should look after; as JSON it
//! tells every request in a line, and every fix in one of its own; of many of a kind, how many more.
//!
//! Lines go to a thread of their own: whoever reads them slowly holds up nobody, and misses some.

use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use super::facts::{FixNote, MAX_NOTES};
use super::metrics::route_name;
use super::request_log::{Ending, RequestLog};
use crate::config::LogFormat;
use crate::counter::Counter;

/// Lines that may wait to be written.
const WAITING: usize = 4096;
/// Bytes of lines that are written at once.
const TOGETHER: usize = 64 << 10;
/// Between two warnings: an upstream that is down fails every request.
const WARNING_EVERY: Duration = Duration::from_secs(1);

/// Where lines go.
#[derive(Debug)]
pub(crate) struct Log {
    format: LogFormat,
    lines: Option<SyncSender<Note>>,
    started: Instant,
    /// When the next warning may be given, in milliseconds since the start.
    next_warning: AtomicU64,
    suppressed: Counter,
}

enum Note {
    Line(String),
    /// To be answered when everything before it is written.
    Flush(Sender<()>),
}

impl Log {
    /// A log that is written to `sink`, unless it is off.
    pub(crate) fn new(format: LogFormat, sink: impl Write + Send + 'static) -> Self {
        let lines = (format != LogFormat::Off).then(|| {
            let (sender, receiver) = sync_channel(WAITING);
            let thread = std::thread::Builder::new().name("photic-log".to_owned());
            // Without a thread nothing is written, and lines are counted as dropped.
            let _ = thread.spawn(move || write(&receiver, sink));
            sender
        });
        let (started, next_warning) = (Instant::now(), AtomicU64::new(0));
        Self { format, lines, started, next_warning, suppressed: Counter::default() }
    }

    /// Whether it tells every request.
    pub(crate) fn tells_requests(&self) -> bool {
        self.format == LogFormat::Json
    }

    pub(super) fn ended(&self, account: &RequestLog, dropped: &Counter) {
        match self.format {
            LogFormat::Off => {}
            LogFormat::Json => {
                let time = now();
                for line in lines(account, &time) {
                    self.put(line, dropped);
                }
            }
            LogFormat::Text => {
                if let Some(says) = worry(account) {
                    self.warn(&says, dropped);
                }
            }
        }
    }

    /// Says something that somebody should look after, but not too often.
    pub(super) fn warn(&self, says: &str, dropped: &Counter) {
        let now_ms = self.started.elapsed().as_millis() as u64;
        let next = now_ms + WARNING_EVERY.as_millis() as u64;
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
                let line =
                    json!({"time": now(), "event": "warning", "says": says, "unsaid": suppressed});
                self.put(line.to_string(), dropped);
            }
            LogFormat::Text if suppressed > 0 => {
                self.put(format!("photic: warning: {says} ({suppressed} more not told)"), dropped);
            }
            LogFormat::Text => self.put(format!("photic: warning: {says}"), dropped),
        }
    }

    /// Waits until what was said is written, for a while.
    pub(crate) fn flush(&self) {
        let (sender, done) = channel();
        if self.lines.as_ref().is_some_and(|lines| lines.try_send(Note::Flush(sender)).is_ok()) {
            let _ = done.recv_timeout(Duration::from_secs(1));
        }
    }

    fn put(&self, mut line: String, dropped: &Counter) {
        let Some(lines) = &self.lines else { return };
        line.push('\n');
        if lines.try_send(Note::Line(line)).is_err() {
            dropped.add(1);
        }
    }
}

fn write(notes: &Receiver<Note>, sink: impl Write) {
    // What waits is written together; nothing waits for more to come.
    let mut sink = BufWriter::with_capacity(TOGETHER, sink);
    while let Ok(first) = notes.recv() {
        let mut next = Some(first);
        let mut written = Vec::new();
        while let Some(note) = next {
            match note {
                Note::Line(line) if sink.write_all(line.as_bytes()).is_err() => return,
                Note::Line(_) => {}
                Note::Flush(done) => written.push(done),
            }
            next = notes.try_recv().ok();
        }
        if sink.flush().is_err() {
            return;
        }
        for done in written {
            let _ = done.send(());
        }
    }
}

/// What an operator should look after: upstreams that are away, and ourselves.
fn worry(account: &RequestLog) -> Option<String> {
    let host = account.host().unwrap_or("nobody");
    if account.billed_as_text() {
        let model = account.facts.model.name().unwrap_or("a model");
        return Some(format!("`{host}` charges images to `{model}` as text"));
    }
    let code = account.trouble()?;
    let ours = code.starts_with("upstream_") || code == "internal_error";
    ours.then(|| format!("{code}: `{host}`"))
}

/// The line of a request, and one for each fix that is told.
fn lines(account: &RequestLog, time: &str) -> Vec<String> {
    let id = format!("{:016x}", account.id);
    let caller = account.route.wire().name();
    let upstream = account.upstream.as_ref().map(|(_, wire)| wire.name());
    let millis = |duration: Duration| duration.as_micros() as f64 / 1e3;
    let images = &account.facts.images;
    let fixes: Map<String, Value> =
        account.fixes.iter().map(|(name, count)| (name.to_owned(), count.into())).collect();
    let counts = |counts: &std::collections::BTreeMap<&'static str, usize>| -> Map<String, Value> {
        counts.iter().map(|(name, count)| ((*name).to_owned(), (*count).into())).collect()
    };
    let request = json!({
        "time": time,
        "event": "request",
        "id": id,
        "trace": account.trace.map(|trace| format!("{:032x}", trace.id)),
        "route": route_name(account.route),
        "from": caller,
        "to": upstream,
        "upstream": account.host(),
        "model": account.facts.model.name(),
        "status": (account.status > 0).then_some(account.status),
        "failure": account.trouble(),
        "ended": match account.ending {
            Ending::Complete => "complete",
            Ending::Open => "caller_gone",
            Ending::Broken => "upstream_broke_off",
        },
        "fixes": fixes,
        "images": {"seen": images.seen(), "shown": images.shown(), "remade": images.remade},
        "retired": counts(&account.facts.retired),
        "unrepaired": counts(&account.facts.unrepaired),
        "tokens": {"estimated": account.tokens, "reported": account.reported()},
        "healed": account.healed(),
        "billed_as_text": account.billed_as_text(),
        "bytes": {"in": account.bytes_in, "sent": account.bytes_sent, "out": account.bytes_out},
        "first_byte_ms": account.first_byte.map(millis),
        "total_ms": millis(account.begun.elapsed()),
    });
    let fix = |audit: &FixNote| {
        let line = json!({
            "time": time,
            "event": "fix",
            "id": id,
            "fix": audit.did,
            "at": audit.place(),
            "from": caller,
            "to": upstream,
            "why": audit.why(),
        });
        line.to_string()
    };
    let more = account.fixes.iter().filter(|(_, count)| *count > MAX_NOTES).map(|(name, count)| {
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
    account.facts.fixes.iter().map(fix).chain(more).chain([request.to_string()]).collect()
}

/// The time in UTC, as in RFC 3339.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    written(since)
}

fn written(since: Duration) -> String {
    let (days, seconds) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // Years begin in March, so that leap days come last; eras have 146,097 days.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let millis = since.subsec_millis();
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_names() {
        for (seconds, says) in [
            (0, "1970-01-01T00:00:00.007Z"),
            (951_782_400, "2000-02-29T00:00:00.007Z"),
            (951_868_799, "2000-02-29T23:59:59.007Z"),
            (1_709_251_199, "2024-02-29T23:59:59.007Z"),
            (4_107_542_400, "2100-03-01T00:00:00.007Z"),
            (1_794_700_800, "2026-11-15T00:00:00.007Z"),
        ] {
            assert_eq!(written(Duration::new(seconds, 7_000_000)), says);
        }
    }

    #[test]
    fn warnings_are_given_now_and_then() {
        let log = Log::new(LogFormat::Off, std::io::sink());
        for _ in 0..5 {
            log.warn("w", &Counter::default());
        }
        assert_eq!(log.suppressed.get(), 4);
    }
}
