//! `photic session ls`.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use photic_store::{LocalStore, Session, SessionTotals, Tenant, wait};
use serde_json::{Value, json};

use crate::output::print_json;
use crate::style::{CYAN, DIM, byte_size, counted, grouped};

/// Runs the command.
pub(super) fn run(store: &LocalStore, json: bool) -> anyhow::Result<ExitCode> {
    let sessions = wait(store.sessions())?;
    let totals = store.record.totals(&Tenant::local())?;
    let totals_of = |session: &Session| totals.get(&session.id).copied().unwrap_or_default();
    if json {
        let sessions: Vec<Value> =
            sessions.iter().map(|session| as_json(session, totals_of(session))).collect();
        return print_json(&Value::Array(sessions));
    }
    let mut out = anstream::stdout().lock();
    if sessions.is_empty() {
        writeln!(out, "no sessions yet; record one with `photic run --record -- CMD`")?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(
        out,
        "{DIM}{:<18}  {:>6}  {:>6}  {:>10}  {:>11}  {:>10}  {:>12}  title{DIM:#}",
        "session", "turns", "images", "size", "tokens", "dollars", "last"
    )?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut sum = Sum::default();
    for session in &sessions {
        let last = u64::try_from(session.last / 1000).unwrap_or(0);
        let totals = totals_of(session);
        sum.add(session, totals);
        writeln!(
            out,
            "{CYAN}{:<18}{CYAN:#}  {:>6}  {:>6}  {:>10}  {:>11}  {:>10}  {:>12}  {}",
            session.id,
            grouped(session.turns),
            grouped(session.images),
            byte_size(session.bytes),
            grouped(totals.tokens),
            dollars(totals),
            ago(now.saturating_sub(last)),
            session.title,
        )?;
    }
    if sessions.len() > 1 {
        writeln!(
            out,
            "{DIM}{:<18}  {:>6}  {:>6}  {:>10}  {:>11}  {:>10}{DIM:#}",
            counted(sessions.len(), "session"),
            grouped(sum.turns),
            grouped(sum.images),
            byte_size(sum.bytes),
            grouped(sum.totals.tokens),
            dollars(sum.totals),
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Sums over all sessions.
#[derive(Default)]
struct Sum {
    turns: u64,
    images: u64,
    bytes: u64,
    totals: SessionTotals,
}

impl Sum {
    /// Adds a session.
    fn add(&mut self, session: &Session, totals: SessionTotals) {
        self.turns += session.turns;
        self.images += session.images;
        self.bytes += session.bytes;
        self.totals.tokens += totals.tokens;
        self.totals.unpriced += totals.unpriced;
        if let Some(usd) = totals.usd {
            self.totals.usd = Some(self.totals.usd.unwrap_or_default() + usd);
        }
    }
}

/// The dollars of a session, with a sign if some turns have no known price.
pub(super) fn dollars(totals: SessionTotals) -> String {
    match (totals.usd, totals.unpriced) {
        (None, _) => "?".to_owned(),
        (Some(usd), 0) => format!("{usd:.4}"),
        (Some(usd), _) => format!("> {usd:.4}"),
    }
}

/// A session as JSON.
pub(super) fn as_json(session: &Session, totals: SessionTotals) -> Value {
    let mut value = json!(session);
    value["tokens"] = json!(totals.tokens);
    if let Some(usd) = totals.usd {
        value["usd"] = json!(usd);
    }
    if totals.unpriced > 0 {
        value["unpriced_turns"] = json!(totals.unpriced);
    }
    value
}

/// An approximate age.
fn ago(seconds: u64) -> String {
    match seconds {
        0..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::{ago, dollars};
    use photic_store::SessionTotals;

    #[test]
    fn dollars_say_if_some_turns_have_no_price() {
        let of =
            |usd, unpriced| dollars(SessionTotals { usd, unpriced, ..SessionTotals::default() });
        assert_eq!(of(Some(0.5), 0), "0.5000");
        assert_eq!(of(Some(0.5), 2), "> 0.5000");
        assert_eq!(of(None, 3), "?");
    }

    #[test]
    fn times_are_told_roughly() {
        assert_eq!(
            [3, 61, 7200, 172_800].map(ago),
            ["just now", "1 min ago", "2 h ago", "2 days ago"].map(str::to_owned)
        );
    }
}
