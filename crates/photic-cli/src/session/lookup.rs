//! Finds the session and turn that options name.

use anyhow::Context as _;
use photic_store::{Error, LocalStore, SessionId, wait};

use crate::arguments::TurnOptions;
use crate::style::Hint;

/// Finds a session by its ID, or the last one.
pub(super) fn session(store: &LocalStore, text: &str) -> anyhow::Result<SessionId> {
    if text == "last" {
        let latest = wait(store.sessions())?.into_iter().next();
        let none = anyhow::anyhow!("there are no sessions yet");
        let hint = Hint(
            "record one with `photic run --record -- CMD`, or run `photic session import request.json`",
        );
        return latest.map(|session| session.id).ok_or_else(|| none.context(hint));
    }
    let hint = Hint("run `photic session ls` to list all sessions");
    let id: SessionId =
        text.parse().with_context(|| format!("`{text}` is not a session ID")).context(hint)?;
    match wait(store.session(&id)) {
        Ok(session) => Ok(session.id),
        Err(error @ Error::NoSession(_)) => Err(anyhow::Error::from(error).context(hint)),
        Err(error) => Err(error.into()),
    }
}

/// Finds a turn by its number, or the last one.
pub(super) fn turn_of(
    store: &LocalStore,
    options: &TurnOptions,
) -> anyhow::Result<(SessionId, u64)> {
    let id = session(store, &options.id)?;
    let number = match options.turn {
        Some(number) => number,
        None => wait(store.session(&id))?.turns,
    };
    if number == 0 {
        anyhow::bail!("session `{id}` has no turn {}", options.turn.unwrap_or(1));
    }
    Ok((id, number))
}
