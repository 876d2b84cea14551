//! `photic session`: what was recorded, and the user's own choices about single images.

mod choose;
mod images;
mod import;
mod list;
mod show;

use std::io::Write as _;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use photic::Choice;
use photic_store::{Error, GracePeriods, LocalStore, SessionId, WorkStore as _, wait};
use serde_json::json;
use serde_json::value::RawValue;

use crate::arguments::{SessionCommand, SessionOptions, Side, TurnOptions};
use crate::style::{GREEN, Hint, counted, grouped};

pub(crate) fn run(options: &SessionOptions) -> anyhow::Result<ExitCode> {
    let store = open(options)?;
    let json = options.json;
    match &options.command {
        SessionCommand::Ls => list::run(&store, json),
        SessionCommand::Show { turn } => {
            let (id, number) = turn_of(&store, turn)?;
            show::run(&store, &id, number, json)
        }
        SessionCommand::Export { turn, side } => export(&store, turn, *side, json),
        SessionCommand::Images { id } => images::run(&store, &session(&store, id)?, json),
        SessionCommand::Drop(image) => choose::run(&store, image, Choice::Drop, json),
        SessionCommand::Pin(image) => choose::run(&store, image, Choice::Pin, json),
        SessionCommand::Shrink { image, edge } => {
            choose::run(&store, image, Choice::Shrink { max_edge: *edge }, json)
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

fn open(options: &SessionOptions) -> anyhow::Result<LocalStore> {
    let directory = options.store.clone().or_else(LocalStore::usual_directory);
    let directory = directory
        .context(Hint("name a directory with `--store`"))
        .context("this system does not say where sessions are kept")?;
    let shown = directory.display();
    LocalStore::open(&directory).with_context(|| format!("cannot open the sessions in `{shown}`"))
}

/// The session that somebody means.
fn session(store: &LocalStore, text: &str) -> anyhow::Result<SessionId> {
    if text == "last" {
        let latest = wait(store.sessions())?.into_iter().next();
        let none = anyhow::anyhow!("there is no session yet");
        let hint =
            Hint("keep one: `photic run --record -- CMD`, or `photic session import request.json`");
        return latest.map(|session| session.id).ok_or_else(|| none.context(hint));
    }
    let hint = Hint("`photic session ls` lists all sessions");
    let id: SessionId =
        text.parse().with_context(|| format!("`{text}` names no session")).context(hint)?;
    match wait(store.session(&id)) {
        Ok(session) => Ok(session.id),
        Err(error @ Error::NoSession(_)) => Err(anyhow::Error::from(error).context(hint)),
        Err(error) => Err(error.into()),
    }
}

/// The turn that somebody means.
fn turn_of(store: &LocalStore, options: &TurnOptions) -> anyhow::Result<(SessionId, u64)> {
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
        return crate::print(&body);
    }
    let body: &RawValue = serde_json::from_slice(&body).context("the body is no JSON")?;
    let side = match side {
        Side::Client => "client",
        Side::Model => "model",
    };
    print_json(&json!({"session": id, "turn": number, "as": side, "body": body}))
}

fn forget(store: &LocalStore, text: &str, json: bool) -> anyhow::Result<ExitCode> {
    let id = session(store, text)?;
    wait(store.forget(&id))?;
    if json {
        return print_json(&json!({"forgotten": id}));
    }
    let mut out = anstream::stdout().lock();
    writeln!(out, "{GREEN}forgotten{GREEN:#} {id}; `photic session gc` removes what only it had")?;
    Ok(ExitCode::SUCCESS)
}

fn collect(store: &LocalStore, grace: &GracePeriods, json: bool) -> anyhow::Result<ExitCode> {
    let collected = wait(store.collect(grace))?;
    if let Some(since) = SystemTime::now().checked_sub(grace.blobs) {
        store.blobs.tidy(since)?;
    }
    if json {
        return print_json(&serde_json::to_value(collected)?);
    }
    let mut out = anstream::stdout().lock();
    let of = |count: u64, bytes: u64| {
        format!("{}, {} bytes", counted(count as usize, "file"), grouped(bytes))
    };
    let removed = of(collected.removed, collected.removed_bytes);
    let kept = of(collected.kept, collected.kept_bytes);
    writeln!(out, "{GREEN}removed{GREEN:#} {removed}; kept {kept}")?;
    Ok(ExitCode::SUCCESS)
}

fn print_json(value: &serde_json::Value) -> anyhow::Result<ExitCode> {
    crate::print(format!("{value:#}\n").as_bytes())
}

/// Bytes as people read them.
fn bytes(number: u64) -> String {
    match number {
        0..10_000 => format!("{} B", grouped(number)),
        10_000..10_000_000 => format!("{} kB", grouped(number / 1000)),
        _ => format!("{} MB", grouped(number / 1_000_000)),
    }
}
