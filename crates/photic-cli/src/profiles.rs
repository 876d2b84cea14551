//! `photic profiles`: what is known about a model and its endpoint, with sources.

mod ask;
mod show;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use photic::Profile;
use photic::profile::Fact;
use photic_gateway::learned::{self, Entry};
use serde_json::{Value, json};

use crate::arguments::{ProfilesCommand, ProfilesOptions};
use crate::model::{print_notes, profile_on_any_wire};
use crate::probe::ProbeTable;
use crate::settings;
use crate::style::{CYAN, DIM, GREEN, Hint, counted};

/// Runs the command.
pub(crate) fn run(options: &ProfilesOptions) -> anyhow::Result<ExitCode> {
    if let Some(ProfilesCommand::Show(options)) = &options.show {
        return show::run(options);
    }
    let file = file(options.file.as_deref())?;
    if let Some(what) = &options.forget {
        return forget(options, file.as_deref(), what);
    }
    if let Some(table) = &options.import {
        return import(options, file.as_deref(), table);
    }
    let mut entries = match &file {
        None => Vec::new(),
        Some(file) => {
            learned::read(file).with_context(|| format!("cannot read `{}`", file.display()))?
        }
    };
    let wanted =
        |asked: &Option<String>, is: &str| asked.as_deref().is_none_or(|asked| asked == is);
    entries
        .retain(|entry| wanted(&options.host, &entry.host) && wanted(&options.model, &entry.model));
    let profile = options.model.as_deref().map(|model| profile(options, model, &entries));
    if let (Some(model), Some(profile)) = (&options.model, &profile) {
        print_notes(model, profile);
    }
    let mut out = anstream::stdout().lock();
    if options.json {
        let facts = profile.as_ref().map(Profile::provenance);
        let all = json!({
            "profile": profile.as_ref().map(|profile| profile.id.as_str()),
            "known": profile.as_ref().map(without_facts),
            "basis": profile.as_ref().map(Profile::basis),
            "facts": facts,
            "learned": entries,
            "file": file,
        });
        serde_json::to_writer_pretty(&mut out, &all)?;
        writeln!(out)?;
    } else {
        if let Some(profile) = &profile {
            as_text(&mut out, options.model.as_deref().unwrap_or_default(), profile)?;
        }
        lessons(&mut out, file.as_deref(), &entries)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The file with learned facts.
fn file(named: Option<&Path>) -> anyhow::Result<Option<PathBuf>> {
    match named {
        Some(file) => Ok(Some(file.to_owned())),
        None => settings::learned_file(),
    }
}

/// Deletes lessons about a host or a model.
fn forget(options: &ProfilesOptions, file: Option<&Path>, what: &str) -> anyhow::Result<ExitCode> {
    let file = file
        .context(Hint("pass a file with `--file`"))
        .context("this system has no file for learned facts")?;
    // A model's name may contain a slash; a host does not.
    let (host, model) =
        what.split_once('/').map_or((what, None), |(host, model)| (host, Some(model)));
    let gone = learned::forget(file, host, model)
        .with_context(|| format!("cannot change `{}`", file.display()))?;
    let mut out = anstream::stdout().lock();
    if options.json {
        writeln!(out, "{}", json!({ "forgotten": gone }))?;
    } else {
        writeln!(out, "{} forgotten", counted(gone, "lesson"))?;
        // Lessons may be in the database of a fleet instead.
        anstream::eprintln!(
            "{DIM}only in `{}`; gateways of a fleet use its database: see `photic fleet \
             lessons`{DIM:#}",
            file.display()
        );
    }
    Ok(if gone > 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Imports the table of a probe.
fn import(
    options: &ProfilesOptions,
    file: Option<&Path>,
    table: &Path,
) -> anyhow::Result<ExitCode> {
    let file = file
        .context(Hint("pass a file with `--file`"))
        .context("this system has no file for learned facts")?;
    let entries = ProbeTable::read(table)?.lessons();
    learned::teach(file, &entries)
        .with_context(|| format!("cannot change `{}`", file.display()))?;
    let mut out = anstream::stdout().lock();
    if options.json {
        writeln!(out, "{}", json!({ "learned": entries.len() }))?;
    } else {
        writeln!(out, "{} learned", counted(entries.len(), "lesson"))?;
    }
    Ok(if entries.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// The profile of a model, tightened by lessons if a host is given.
fn profile(options: &ProfilesOptions, model: &str, entries: &[Entry]) -> Profile {
    let wire = options.wire.unwrap_or_else(|| profile_on_any_wire(Some(model)).wire);
    let mut profile = photic::profile::resolve(wire, Some(model), options.host.as_deref());
    if options.host.is_some() {
        learned::tighten(&mut profile, entries);
    }
    profile
}

/// A profile as JSON, without the list of facts.
fn without_facts(profile: &Profile) -> Value {
    let mut value = serde_json::to_value(profile).unwrap_or_default();
    if let Value::Object(object) = &mut value {
        object.remove("facts");
    }
    value
}

/// Prints a profile with its sources.
fn as_text(out: &mut impl Write, model: &str, profile: &Profile) -> anyhow::Result<()> {
    let (wire, id, basis) = (profile.wire, &profile.id, profile.basis().name());
    writeln!(out, "{GREEN}{model}{GREEN:#} on {wire}, profile `{id}`, tokens {basis}")?;
    let values = without_facts(profile);
    let mut section = "";
    let mut facts: Vec<&Fact> = profile.provenance().iter().collect();
    facts.sort_by(|one, other| one.section.cmp(&other.section));
    for fact in facts {
        if fact.section != section {
            section = &fact.section;
            writeln!(out, "\n{CYAN}{section}{CYAN:#}")?;
        }
        for field in &fact.fields {
            writeln!(out, "  {field} = {}", values[section][field])?;
        }
        let confidence = serde_json::to_value(fact.confidence)?;
        let confidence = confidence.as_str().unwrap_or_default();
        let whose = match fact.profile.as_str() {
            "learned" => "learned, ",
            "endpoint" => "endpoint, ",
            _ => "",
        };
        writeln!(out, "    {DIM}{whose}{}, {confidence}: {}{DIM:#}", fact.as_of, fact.source)?;
    }
    writeln!(out)?;
    Ok(())
}

/// Prints lessons by endpoint.
fn lessons(out: &mut impl Write, file: Option<&Path>, entries: &[Entry]) -> anyhow::Result<()> {
    if entries.is_empty() {
        let place = file.map(|file| format!(" ({})", file.display())).unwrap_or_default();
        writeln!(out, "nothing learned yet{DIM}{place}{DIM:#}")?;
        return Ok(());
    }
    let mut entries: Vec<&Entry> = entries.iter().collect();
    entries.sort_by_key(|entry| (&entry.host, &entry.model, &entry.lesson));
    let mut endpoint = ("", "");
    for Entry { host, model, wire, lesson, teacher, evidence } in entries {
        if endpoint != (host.as_str(), model.as_str()) {
            endpoint = (host, model);
            let model = if model.is_empty() { "any model" } else { model };
            writeln!(out, "{GREEN}learned{GREEN:#} from {host} about {model}")?;
        }
        let on = wire.map(|wire| format!(" on {wire}")).unwrap_or_default();
        writeln!(out, "  {lesson}{on}")?;
        let (day, source) = (evidence.day(), evidence.source());
        writeln!(out, "    {DIM}{day}, taught to {teacher}, {source}{DIM:#}")?;
    }
    Ok(())
}
