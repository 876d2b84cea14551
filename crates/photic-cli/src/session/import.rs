//! `photic session import`: records a captured request as a turn.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use photic_store::{FinishedTurn, LocalStore, SentBody, SentHashes, wait};
use serde_json::json;

use super::lookup::session;
use crate::arguments::ImportOptions;
use crate::input::read_bytes;
use crate::model::TargetModel;
use crate::output::print_json;
use crate::style::{CYAN, GREEN};

/// Runs the command.
pub(super) fn run(
    store: &LocalStore,
    options: &ImportOptions,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let input = read_bytes(
        options.file.as_deref(),
        "pass a file, or pipe a request body in: `photic session import request.json`",
    )?;
    let Some(wire) = options.from.or_else(|| photic::detect(&input.body)) else {
        return input.unknown();
    };
    let (transcript, _) = photic::lift(wire, &input.body);
    if !transcript.is_readable() {
        return input.unknown();
    }
    let mut policy = options.policy.policy()?;
    let (id, is_new) = match &options.session {
        Some(text) => (session(store, text)?, false),
        None => match wait(store.session_of(&transcript))? {
            Some(id) => (id, false),
            None => (wait(store.begin(&photic_store::title(&transcript)))?, true),
        },
    };
    let target = TargetModel::of(options.model.as_deref(), &transcript, wire);
    target.warn();
    let profile = &target.profile;
    policy.choices = wait(store.choices(&id))?;
    let mut survey = photic::survey(&transcript);
    survey.identify(&transcript);
    let plan = photic::plan(survey, profile, &policy);
    let prepared = photic_pixels::prepare(&transcript, &plan);
    let lowered = photic::lower_prepared(&transcript, &plan, &prepared);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let done = FinishedTurn {
        shed: &lowered.retired,
        transcript: &transcript,
        plan: &plan,
        policy: &policy,
        prepared: &prepared,
        sent: SentBody::of(&lowered.body),
        hashes: Some(&SentHashes::of(&transcript, &lowered, profile.wire)),
        conversation_key: None,
        remembered: &BTreeMap::new(),
        time: i64::try_from(now.as_millis()).unwrap_or(i64::MAX),
    };
    let number = wait(store.append(&id, &done))?;
    if json {
        return print_json(&json!({"session": id, "turn": number, "new": is_new}));
    }
    let mut out = anstream::stdout().lock();
    let what = if is_new { "a new session" } else { "an existing session" };
    writeln!(out, "{GREEN}recorded{GREEN:#} as turn {number} of {CYAN}{id}{CYAN:#}, {what}")?;
    Ok(ExitCode::SUCCESS)
}
