//! Prints diagnoses for people or as JSON.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use photic_doctor::{Diagnosis, Medium, Remedy, RepairReport, SessionFormat};
use serde_json::{Value, json};

use crate::arguments::DoctorOptions;
use crate::style::{CYAN, DIM, GREEN, RED, YELLOW, counted, grouped};

/// Largest number of problems of one kind that are listed; a session of screenshots may have
/// hundreds.
const MAX_PER_CODE: usize = 5;

/// Prints the diagnosis of one session.
pub(super) fn one(file: &Path, found: &Diagnosis, options: &DoctorOptions) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    if options.json {
        writeln!(out, "{:#}", as_json(file, found))?;
        return Ok(());
    }
    let mut told: BTreeMap<&str, usize> = BTreeMap::new();
    for medium in found.broken() {
        let Some(ailment) = &medium.ailment else { continue };
        let code = ailment.code.name();
        let count = told.entry(code).or_default();
        *count += 1;
        if *count <= MAX_PER_CODE {
            writeln!(out, "{YELLOW}{code}{YELLOW:#} {DIM}at{DIM:#} {}", medium.at)?;
            writeln!(out, "  {}", ailment.why)?;
            writeln!(out, "  {}; {}\n", facts(medium), helps(&ailment.remedy))?;
        }
    }
    for (code, count) in told {
        if let Some(more) = count.checked_sub(MAX_PER_CODE).filter(|&more| more > 0) {
            let more = counted(more, "more time");
            writeln!(out, "{YELLOW}{code}{YELLOW:#} {more}; pass `--json` to list them all\n")?;
        }
    }
    for finding in found.findings.iter().filter(|finding| finding.media.is_none()) {
        writeln!(out, "{YELLOW}{}{YELLOW:#} {DIM}at{DIM:#} {}", finding.code.name(), finding.at)?;
        writeln!(out, "  {}\n", finding.code.says())?;
    }
    let name = file.display();
    let (format, profile) = (found.format.name(), &found.profile);
    let sick = found.broken().count().max(found.findings.len());
    if sick == 0 {
        writeln!(out, "{GREEN}healthy{GREEN:#}: {name} ({format}, profile `{profile}`)")?;
    } else {
        let sick = counted(sick, "problem");
        writeln!(out, "{RED}broken{RED:#}: {name} ({format}, profile `{profile}`); {sick}")?;
    }
    writeln!(out, "  {}", sizes(found))?;
    if sick > 0 {
        let command = repair_command(file, options);
        writeln!(out, "\n{CYAN}hint:{CYAN:#} run `{command}` to write a repaired copy")?;
    }
    Ok(())
}

/// The command that repairs this session.
fn repair_command(file: &Path, options: &DoctorOptions) -> String {
    let quoted = |word: &str| {
        let is_plain = word.chars().all(|one| one.is_alphanumeric() || "/._-+=:@~".contains(one));
        if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    let model = options.model.as_ref().map(|model| format!(" --for {}", quoted(model)));
    let wire = options.wire.map(|wire| format!(" --wire {wire}"));
    let (model, wire) = (model.unwrap_or_default(), wire.unwrap_or_default());
    format!("photic doctor {}{model}{wire} --fix", quoted(&file.to_string_lossy()))
}

/// Describes what a repair did.
pub(super) fn repaired(done: &RepairReport) -> String {
    if matches!(done.diagnosis.format, SessionFormat::Request(_)) {
        return counted(done.diagnosis.findings.len(), "problem") + " of a request";
    }
    let did = [
        (done.remade, "made again"),
        (done.relabeled, "relabeled"),
        (done.noticed, "replaced by a notice"),
    ];
    let did = did.into_iter().filter(|(count, _)| *count > 0);
    let did = did.map(|(count, what)| format!("{} {what}", counted(count, "image")));
    did.collect::<Vec<_>>().join(", ")
}

/// Prints the broken ones of many sessions.
pub(super) fn many(
    sick: &[(PathBuf, Diagnosis)],
    known: usize,
    unread: usize,
    where_from: &str,
    options: &DoctorOptions,
) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    if options.json {
        let list: Vec<Value> = sick.iter().map(|(file, found)| as_json(file, found)).collect();
        let report = json!({"sessions": known, "no_sessions": unread, "sick": list});
        writeln!(out, "{report:#}")?;
        return Ok(());
    }
    for (file, found) in sick {
        let mut codes: Vec<&str> = found
            .broken()
            .filter_map(|medium| medium.ailment.as_ref())
            .map(|ailment| ailment.code.name())
            .chain(found.findings.iter().map(|finding| finding.code.name()))
            .collect();
        codes.sort_unstable();
        codes.dedup();
        writeln!(out, "{RED}broken{RED:#} {}", file.display())?;
        writeln!(out, "  {}: {}; {}", found.format.name(), codes.join(", "), sizes(found))?;
    }
    let sessions = counted(known, "session");
    if sick.is_empty() {
        writeln!(out, "{GREEN}healthy{GREEN:#}: {sessions} in {where_from}")?;
    } else {
        writeln!(out, "\n{} of {sessions} in {where_from} are broken", sick.len())?;
        writeln!(
            out,
            "\n{CYAN}hint:{CYAN:#} run `photic doctor FILE` to see which image, and why"
        )?;
    }
    Ok(())
}

/// A diagnosis as JSON.
fn as_json(file: &Path, found: &Diagnosis) -> Value {
    let mut report = json!(found);
    report["file"] = json!(file);
    report["is_sick"] = json!(found.is_broken());
    report["media_bytes"] = json!(found.media_bytes());
    report["repeated_bytes"] = json!(found.repeated_bytes());
    report["tokens"] = json!(found.tokens());
    report
}

/// Type, size and price of a medium.
fn facts(medium: &Medium) -> String {
    let kind = medium.media_type.unwrap_or("unknown type");
    let size =
        medium.size.map_or(String::new(), |(width, height)| format!(" {width}x{height} px,"));
    let cost = match medium.tokens {
        0 => String::new(),
        tokens => format!(", {} tokens per turn", grouped(tokens)),
    };
    format!("{kind},{size} {} bytes{cost}", grouped(medium.bytes))
}

/// Describes what a repair would do.
const fn helps(remedy: &Remedy) -> &'static str {
    match remedy {
        Remedy::Relabel(_) => "a repair corrects its media type",
        Remedy::Respell => "a repair writes it as the endpoint expects",
        Remedy::Remake(..) => "a repair converts it to a picture that is accepted",
        Remedy::Notice(_) => "a repair replaces it by a notice",
    }
}

/// Counts of records, bytes and tokens.
fn sizes(found: &Diagnosis) -> String {
    let records = counted(found.records, "record");
    let media = grouped(found.media.len() as u64);
    let (bytes, of_media) = (grouped(found.bytes), grouped(found.media_bytes()));
    let repeated = grouped(found.repeated_bytes());
    let tokens = grouped(found.tokens());
    format!(
        "{records}, {bytes} bytes; {media} media of {of_media} bytes, {repeated} of them repeated; {tokens} tokens per turn"
    )
}
