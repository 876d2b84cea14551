//! The summary at the end of a run: what the gateway did for the command, and what failed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use photic_gateway::{FailedRequests, Retired, SessionTurns, Tally, TokenUse};
use photic_store::LocalStore;
use serde_json::{Value, json};

use crate::style::{counted, grouped};

/// Repairs that show the model an image it would not have seen.
const MADE_VISIBLE: [&str; 2] = ["hoisted", "rewrote"];
/// Width of the names of lines.
const WIDTH: usize = 13;
/// Maximum number of sessions that are listed.
const MAX_SESSIONS: usize = 10;

/// The place of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RecordedIn {
    /// Nothing is recorded.
    Nowhere,
    /// A directory of this machine.
    Directory(PathBuf),
    /// The servers of a fleet.
    Fleet,
}

/// The counts of a run.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    /// Turns that an upstream answered.
    answered: u64,
    unanswered: u64,
    others: u64,
    changed: u64,
    visible: u64,
    fixes: BTreeMap<&'static str, u64>,
    retired: BTreeMap<&'static str, Retired>,
    passed: BTreeMap<&'static str, u64>,
    failures: Vec<FailedRequests>,
    tokens: TokenUse,
    sessions: Vec<SessionTurns>,
    lost_turns: u64,
}

/// The summary. If there were no requests, it ends with the hint of a known agent.
pub(crate) fn of(tally: &Tally, hint: Option<&str>, recorded: &RecordedIn) -> String {
    Counts::of(tally).text(hint, recorded)
}

/// The counts as JSON. `preparing_us` is the time until turns were ready to be sent.
pub(crate) fn report(tally: &Tally) -> Value {
    let (bytes_in, bytes_sent) = tally.bytes();
    let preparing_us = u64::try_from(tally.preparing().as_micros()).unwrap_or(u64::MAX);
    let counts = Counts::of(tally);
    let failures = counts.failures.iter().map(
        |failed| json!({"host": failed.host, "reason": failed.reason, "requests": failed.requests}),
    );
    let sessions = counts.sessions.iter();
    let sessions = sessions.map(|one| json!({"session": one.session, "turns": one.turns}));
    let tokens = &counts.tokens;
    json!({
        "turns": counts.answered,
        "changed": counts.changed,
        "unanswered": counts.unanswered,
        "failures": failures.collect::<Vec<_>>(),
        "images_made_visible": counts.visible,
        "fixes": counts.fixes,
        "passed_unread": counts.passed,
        "tokens": {
            "replies": tokens.reported,
            "replies_without": tokens.unreported,
            "input": tokens.input,
            "cached": tokens.cached,
            "output": tokens.output,
        },
        "input_usd": is_priced(tokens).then_some(tokens.input_usd),
        "output_usd": (tokens.reported > tokens.unpriced_outputs).then_some(tokens.output_usd),
        "sessions": sessions.collect::<Vec<_>>(),
        "bytes_in": bytes_in,
        "bytes_sent": bytes_sent,
        "preparing_us": preparing_us,
    })
}

impl Counts {
    fn of(tally: &Tally) -> Self {
        Self {
            answered: tally.requests(),
            unanswered: tally.unanswered(),
            others: tally.others(),
            changed: tally.changed(),
            visible: tally.made_visible(),
            fixes: tally.fixes(),
            retired: tally.retired(),
            passed: tally.passed(),
            failures: tally.failures(),
            tokens: tally.tokens(),
            sessions: tally.sessions(),
            lost_turns: tally.lost_turns(),
        }
    }

    fn text(&self, hint: Option<&str>, recorded: &RecordedIn) -> String {
        let mut text = self.headline(hint);
        for (name, line) in self.lines(recorded) {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n  {name:WIDTH$} {line}");
        }
        text
    }

    /// The first line.
    fn headline(&self, hint: Option<&str>) -> String {
        let requests = self.answered + self.unanswered;
        let passed: u64 = self.passed.values().sum();
        if requests == 0 && passed == 0 {
            let general = "the command may not read `OPENAI_BASE_URL` or `ANTHROPIC_BASE_URL`; \
                           `photic run --print -- CMD` shows what is set for it";
            let none = if self.others == 0 {
                "no requests".to_owned()
            } else {
                format!("no requests to a model, {} of another kind", grouped(self.others))
            };
            return format!("photic: {none}; {}", hint.unwrap_or(general));
        }
        if requests == 0 {
            return format!("photic: {} passed on unread", times(passed, "request"));
        }
        let failed: u64 = self.failures.iter().map(|one| one.requests).sum();
        let mut line = format!("photic: {}", times(requests, "request"));
        match (self.changed, self.answered) {
            (0, 0) => {}
            (0, _) => line.push_str(", nothing to repair"),
            (changed, _) => {
                let _ = write!(line, ", {} changed", grouped(changed));
            }
        }
        if failed > 0 {
            let _ = write!(line, ", {} failed", grouped(failed));
        }
        line
    }

    /// The lines after the first, each with its name.
    fn lines(&self, recorded: &RecordedIn) -> Vec<(&'static str, String)> {
        let mut lines: Vec<_> =
            self.failures.iter().map(|failed| ("failed", failure(failed))).collect();
        // Of a request that the provider rejected, nothing was visible.
        let (images, others): (Vec<_>, Vec<_>) = self
            .fixes
            .iter()
            .partition(|(name, _)| self.visible > 0 && MADE_VISIBLE.contains(*name));
        if !images.is_empty() {
            let visible = times(self.visible, "image");
            lines.push(("made visible", format!("{visible} ({})", list(&images))));
        }
        if !others.is_empty() {
            lines.push(("repaired", list(&others)));
        }
        lines.extend(self.retired.iter().map(|(reason, retired)| {
            let Retired { requests, most } = retired;
            let (most, requests) = (times(*most, "image"), times(*requests, "request"));
            ("left out", format!("up to {most} in {requests} ({})", reason.replace('_', " ")))
        }));
        if !self.passed.is_empty() {
            let requests = times(self.passed.values().sum(), "request");
            let reasons = list(&self.passed.iter().collect::<Vec<_>>());
            lines.push(("unread", format!("{requests} ({reasons})")));
        }
        if self.tokens.reported > 0 || self.tokens.unreported > 0 {
            lines.push(("tokens", tokens(&self.tokens)));
        }
        if self.tokens.reported > 0 {
            lines.push(("dollars", dollars(&self.tokens)));
        }
        lines.extend(self.recorded(recorded).into_iter().map(|line| ("session", line)));
        lines
    }

    /// The sessions, each with the command that shows it.
    fn recorded(&self, recorded: &RecordedIn) -> Vec<String> {
        let directory = match recorded {
            RecordedIn::Nowhere => return Vec::new(),
            RecordedIn::Fleet => None,
            RecordedIn::Directory(directory) => Some(directory),
        };
        let mut lines: Vec<String> = self
            .sessions
            .iter()
            .take(MAX_SESSIONS)
            .map(|one| {
                let line = format!("{}, {}", one.session, times(one.turns, "turn"));
                match directory {
                    Some(directory) => {
                        format!("{line}: photic session show {}{}", one.session, store(directory))
                    }
                    None => line,
                }
            })
            .collect();
        let more = self.sessions.len().saturating_sub(MAX_SESSIONS);
        if more > 0 {
            let store = directory.map_or_else(String::new, |directory| store(directory));
            lines.push(format!("{} more: photic session ls{store}", grouped(more as u64)));
        }
        if self.lost_turns > 0 {
            lines.push(format!("{} could not be recorded", times(self.lost_turns, "turn")));
        } else if lines.is_empty() && self.answered > 0 {
            lines.push("none: no turn was recorded".to_owned());
        }
        lines
    }
}

/// The option that names a directory of sessions, unless it is the usual one.
fn store(directory: &Path) -> String {
    if LocalStore::usual_directory().is_some_and(|usual| usual == directory) {
        return String::new();
    }
    let path = directory.display().to_string();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@%,=".contains(&byte);
    if path.bytes().all(is_plain) {
        format!(" --store {path}")
    } else {
        format!(" --store '{}'", path.replace('\'', r"'\''"))
    }
}

/// Requests that failed, such as `2 requests to api.openai.com: HTTP 401`.
fn failure(failed: &FailedRequests) -> String {
    let requests = times(failed.requests, "request");
    match &failed.host {
        Some(host) => format!("{requests} to {host}: {}", failed.reason),
        None => format!("{requests}, sent nowhere: {}", failed.reason),
    }
}

/// The tokens that the provider reported.
fn tokens(tokens: &TokenUse) -> String {
    let TokenUse { reported, unreported, input, cached, output, .. } = *tokens;
    if reported == 0 {
        return format!("not reported by the provider ({})", replies(unreported));
    }
    let mut line = format!(
        "{} input ({} from the cache), {} output",
        grouped(input),
        grouped(cached),
        grouped(output)
    );
    if unreported > 0 {
        let _ = write!(line, "; not reported in {}", replies(unreported));
    }
    line
}

/// The list price of the input and of the output.
fn dollars(tokens: &TokenUse) -> String {
    let models: Vec<String> = tokens.unpriced.iter().map(|model| format!("`{model}`")).collect();
    let models = models.join(", ");
    if !is_priced(tokens) {
        return format!("unknown: no list price for {models}");
    }
    let more = if models.is_empty() {
        String::new()
    } else {
        format!(", without {models}, whose price is unknown")
    };
    let output = match (tokens.unpriced_outputs, tokens.output_usd) {
        (0, usd) => format!("{usd:.4} for the output"),
        (count, _) if count >= tokens.reported => "output unknown: no list price".to_owned(),
        (count, usd) => format!("{usd:.4} for the output, without {}", replies(count)),
    };
    format!("{:.4} for the input at list price{more}; {output}", tokens.input_usd)
}

/// Returns `true` if some of the tokens have a price.
fn is_priced(tokens: &TokenUse) -> bool {
    tokens.reported > 0 && (tokens.unpriced.is_empty() || tokens.input_usd > 0.0)
}

/// A count of replies.
fn replies(number: u64) -> String {
    if number == 1 { "1 reply".to_owned() } else { format!("{} replies", grouped(number)) }
}

/// A count with its noun.
fn times(number: u64, thing: &str) -> String {
    counted(usize::try_from(number).unwrap_or(usize::MAX), thing)
}

/// A list such as `hoisted 6, rewrote 1`.
fn list(counts: &[(&&'static str, &u64)]) -> String {
    let one =
        |(name, count): &(&&str, &u64)| format!("{} {}", name.replace('_', " "), grouped(**count));
    counts.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
