//! `photic profiles show`: all facts about one model with sources, and statements of its endpoint.

use std::io::Write;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use photic::Profile;
use photic::profile::capability::{Heard, Stated};
use photic::profile::{Capability, MediaKind};
use photic_gateway::learned::{self, Entry, Evidence, Identity, Lesson};
use serde_json::json;

use super::ask::{EndpointAnswer, ask};
use super::{as_text, file, without_facts};
use crate::arguments::ShowOptions;
use crate::model::{print_notes, profile_on_any_wire};
use crate::style::{DIM, GREEN, Hint, YELLOW, counted};

/// Runs the command.
pub(super) fn run(options: &ShowOptions) -> anyhow::Result<ExitCode> {
    let file = file(options.file.as_deref())?;
    let host = options.base_url.as_deref().map(host);
    let entries = match (&file, host) {
        (Some(file), Some(host)) => {
            let mut entries =
                learned::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
            entries.retain(|entry| entry.host == host && entry.model == options.model);
            entries
        }
        _ => Vec::new(),
    };
    let wire = options.wire.unwrap_or_else(|| profile_on_any_wire(Some(&options.model)).wire);
    let mut profile = photic::profile::resolve(wire, Some(&options.model), host);
    learned::tighten(&mut profile, &entries);
    print_notes(&options.model, &profile);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let day = Evidence::probed(now, "").day();
    let mut answers = Vec::new();
    let mut heard = Vec::new();
    if let Some(base) = &options.base_url {
        answers = ask(wire, base, &options.model, options.key_env.as_deref())?;
        for answer in &answers {
            heard.extend(profile.hear(&answer.statements, &answer.asked, &day));
        }
    }
    let lessons = lessons(options, host.unwrap_or_default(), now, &heard);
    if options.learn {
        let file = file
            .context(Hint("pass a file with `--file`"))
            .context("this system has no file for learned facts")?;
        learned::teach(&file, &lessons)
            .with_context(|| format!("cannot change `{}`", file.display()))?;
    }
    let mut out = anstream::stdout().lock();
    if options.json {
        let asked: Vec<_> = answers
            .iter()
            .map(|answer| json!({"asked": answer.asked, "outcome": answer.outcome}))
            .collect();
        let all = json!({
            "profile": profile.id,
            "basis": profile.basis(),
            "known": without_facts(&profile),
            "facts": profile.provenance(),
            "asked": asked,
            "heard": heard,
            "learned": if options.learn { lessons.as_slice() } else { &[] },
        });
        serde_json::to_writer_pretty(&mut out, &all)?;
        writeln!(out)?;
    } else {
        in_words(&mut out, options, &profile, &answers, &heard)?;
        if options.learn {
            writeln!(out, "{} learned", counted(lessons.len(), "lesson"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the facts for people.
fn in_words(
    out: &mut impl Write,
    options: &ShowOptions,
    profile: &Profile,
    answers: &[EndpointAnswer],
    heard: &[Heard],
) -> anyhow::Result<()> {
    as_text(out, &options.model, profile)?;
    for answer in answers {
        writeln!(out, "{GREEN}asked{GREEN:#} {}: {}", answer.asked, answer.outcome)?;
    }
    for one in heard {
        let said = &one.statement;
        let before = one.before.map_or_else(|| "unknown".to_owned(), |before| before.to_string());
        let (section, field, value, by) = (said.section, said.field, said.value, &said.said_by);
        writeln!(out, "  {section}.{field} = {value} {DIM}({by}){DIM:#}")?;
        let verdict = if one.wins { "used" } else { "ignored" };
        writeln!(out, "    {YELLOW}{verdict}{YELLOW:#}, known before: {before}; {}", one.why)?;
    }
    if !answers.is_empty() && !heard.iter().any(|one| one.statement.field == "images") {
        writeln!(
            out,
            "the endpoint does not state whether it sees images; run `photic probe` to find out"
        )?;
    }
    Ok(())
}

/// The lessons for gateways: only statements that tighten. Whether a model sees has to be proven by
/// a probe.
fn lessons(options: &ShowOptions, host: &str, now: u64, heard: &[Heard]) -> Vec<Entry> {
    let lesson = |one: &Heard| match (one.statement.field, one.statement.value) {
        ("images", Stated::Sight(Capability::No)) => Some(Lesson::Blind { of: MediaKind::Image }),
        ("context_tokens", Stated::Tokens(most)) => Some(Lesson::ContextTokens { most }),
        _ => None,
    };
    let entry = |one: &Heard| {
        let said = &one.statement;
        Some(Entry {
            host: host.to_owned(),
            model: options.model.clone(),
            wire: options.wire,
            lesson: lesson(one)?,
            teacher: Identity::Operator,
            evidence: Evidence::probed(now, &format!("its endpoint says so: {}", said.said_by)),
        })
    };
    heard.iter().filter(|one| one.wins).filter_map(entry).collect()
}

/// The host of a base URL, with its port if it has one.
fn host(base: &str) -> &str {
    let rest = base.split_once("://").map_or(base, |(_, rest)| rest);
    rest.split(['/', '?']).next().unwrap_or_default()
}
