//! `photic session`: shows recorded sessions, and changes choices about single images.

mod choice;
mod html;
mod images;
mod import;
mod list;
mod lookup;
mod show;

use std::io::Write as _;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use photic::Choice;
use photic_store::{Error, GracePeriods, LocalStore, WorkStore as _, wait};
use serde_json::json;
use serde_json::value::RawValue;

use crate::arguments::{SessionCommand, SessionOptions, Side, TurnOptions};
use crate::output::{print, print_json};
use crate::style::{GREEN, Hint, counted, grouped};
use lookup::{session, turn_of};

/// Runs the command.
pub(crate) fn run(options: &SessionOptions) -> anyhow::Result<ExitCode> {
    let store = open(options)?;
    let json = options.json;
    match &options.command {
        SessionCommand::Ls => list::run(&store, json),
        SessionCommand::Show { turn } => {
            let (id, number) = turn_of(&store, turn)?;
            show::run(&store, &id, number, json)
        }
        SessionCommand::Export { turn, html, .. } if html.html => {
            let id = session(&store, &turn.id)?;
            html::run(store, &id, html, json)
        }
        SessionCommand::Export { turn, side, .. } => export(&store, turn, *side, json),
        SessionCommand::Images { id } => images::run(&store, &session(&store, id)?, json),
        SessionCommand::Drop(image) => choice::run(&store, image, Choice::Drop, json),
        SessionCommand::Pin(image) => choice::run(&store, image, Choice::Pin, json),
        SessionCommand::Shrink { image, edge } => {
            choice::run(&store, image, Choice::Shrink { max_edge: *edge }, json)
        }
        SessionCommand::Forget { id } => forget(&store, id, json),
        SessionCommand::Gc { grace, handles, answers } => {
            let days = |days: u64| Duration::from_secs(days.saturating_mul(24 * 60 * 60));
            let grace = GracePeriods {
                blobs: Duration::from_secs(grace.saturating_mul(60)),
                handles: days(*handles),
            };
            if let Some(before) = SystemTime::now().checked_sub(days(*answers)) {
                wait(store.record.forget_work(before))?;
            }
            collect(&store, &grace, json)
        }
        SessionCommand::Import(import) => import::run(&store, import, json),
    }
}

/// Opens the store.
fn open(options: &SessionOptions) -> anyhow::Result<LocalStore> {
    let directory = options.store.clone().or_else(LocalStore::usual_directory);
    let directory = directory
        .context(Hint("pass a directory with `--store`"))
        .context("this system has no state directory for sessions")?;
    let shown = directory.display();
    LocalStore::open(&directory).with_context(|| format!("cannot open the sessions in `{shown}`"))
}

/// Prints the body of a turn.
fn export(
    store: &LocalStore,
    options: &TurnOptions,
    side: Side,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let (id, number) = turn_of(store, options)?;
    let body = match side {
        Side::Client => wait(store.body(&id, number)),
        Side::Model => wait(store.lower(&id, number)).map(|view| view.body),
    };
    let body = match body {
        Err(error @ Error::NotReproduced(_)) => {
            let hint = Hint("use the version that recorded it, or `--as client`");
            return Err(anyhow::Error::from(error).context(hint));
        }
        other => other?,
    };
    if !json {
        return print(&body);
    }
    let body: &RawValue = serde_json::from_slice(&body).context("the body is not JSON")?;
    let side = match side {
        Side::Client => "client",
        Side::Model => "model",
    };
    print_json(&json!({"session": id, "turn": number, "as": side, "body": body}))
}

/// Deletes a session.
fn forget(store: &LocalStore, text: &str, json: bool) -> anyhow::Result<ExitCode> {
    let id = session(store, text)?;
    wait(store.forget(&id))?;
    if json {
        return print_json(&json!({"forgotten": id}));
    }
    let mut out = anstream::stdout().lock();
    writeln!(out, "{GREEN}forgotten{GREEN:#} {id}; run `photic session gc` to remove its images")?;
    Ok(ExitCode::SUCCESS)
}

/// Removes images without a session, and says why the others are kept.
fn collect(store: &LocalStore, grace: &GracePeriods, json: bool) -> anyhow::Result<ExitCode> {
    let issued = SystemTime::now().checked_sub(grace.handles).unwrap_or(SystemTime::UNIX_EPOCH);
    let collected = wait(store.collect(grace))?;
    if let Some(since) = SystemTime::now().checked_sub(grace.blobs) {
        store.blobs.tidy(since)?;
    }
    let kept = store.record.kept_blobs(issued)?;
    let counted_ones = kept.by_sessions + kept.by_handles + kept.by_uploads;
    let recent = collected.kept.saturating_sub(counted_ones);
    if json {
        let mut report = serde_json::to_value(collected)?;
        report["kept_because"] = json!({
            "in_session": kept.by_sessions, "has_handle": kept.by_handles,
            "uploaded": kept.by_uploads, "recent": recent,
        });
        return print_json(&report);
    }
    let mut out = anstream::stdout().lock();
    let of = |count: u64, bytes: u64| {
        format!("{}, {} bytes", counted(count as usize, "file"), grouped(bytes))
    };
    writeln!(
        out,
        "{GREEN}removed{GREEN:#} {}; kept {}",
        of(collected.removed, collected.removed_bytes),
        of(collected.kept, collected.kept_bytes)
    )?;
    let days = grace.handles.as_secs() / (24 * 60 * 60);
    let minutes = grace.blobs.as_secs() / 60;
    for (count, why) in [
        (kept.by_sessions, "in a session; `photic session forget ID` deletes one".to_owned()),
        (kept.by_handles, format!("with a handle that is pinned, or {days} days old at most")),
        (kept.by_uploads, "uploaded, and not expired".to_owned()),
        (recent, format!("stored in the last {minutes} minutes, and perhaps in use")),
    ] {
        if count > 0 {
            writeln!(out, "  {} {why}", grouped(count))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
