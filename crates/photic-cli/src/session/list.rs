//! `photic session ls`.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use photic_store::{LocalStore, wait};

use crate::output::print_json;
use crate::style::{CYAN, DIM, byte_size, grouped};

/// Runs the command.
pub(super) fn run(store: &LocalStore, json: bool) -> anyhow::Result<ExitCode> {
    let sessions = wait(store.sessions())?;
    if json {
        return print_json(&serde_json::to_value(&sessions)?);
    }
    let mut out = anstream::stdout().lock();
    if sessions.is_empty() {
        writeln!(out, "no sessions yet; record one with `photic run --record -- CMD`")?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(
        out,
        "{DIM}{:<18}  {:>6}  {:>6}  {:>10}  {:>12}  title{DIM:#}",
        "session", "turns", "images", "size", "last"
    )?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    for session in &sessions {
        let last = u64::try_from(session.last / 1000).unwrap_or(0);
        writeln!(
            out,
            "{CYAN}{:<18}{CYAN:#}  {:>6}  {:>6}  {:>10}  {:>12}  {}",
            session.id,
            grouped(session.turns),
            grouped(session.images),
            byte_size(session.bytes),
            ago(now.saturating_sub(last)),
            session.title,
        )?;
    }
    Ok(ExitCode::SUCCESS)
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
    use super::ago;

    #[test]
    fn times_are_told_roughly() {
        assert_eq!(
            [3, 61, 7200, 172_800].map(ago),
            ["just now", "1 min ago", "2 h ago", "2 days ago"].map(str::to_owned)
        );
    }
}
