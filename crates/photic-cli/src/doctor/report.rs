//! Prints diagnoses for people or as JSON.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use photic_doctor::{Diagnosis, Medium, Remedy, RepairReport, SessionFormat};
use serde_json::{Value, json};

use super::resume::Resume;
use crate::arguments::DoctorOptions;
use crate::output::named_file;
use crate::style::{CYAN, DIM, GREEN, RED, YELLOW, counted, grouped, quoted};

/// Largest number of problems of one kind that are listed; a session of screenshots may have
/// hundreds.
const MAX_PER_CODE: usize = 5;

/// The file with a session.
pub(super) struct SessionFile<'f> {
    /// Its path.
    pub(super) path: &'f Path,
    /// Its name for messages.
    pub(super) name: &'f str,
    /// The file for a copy that is printed, if standard input or standard output was named.
    pub(super) output: Option<PathBuf>,
}

impl<'f> SessionFile<'f> {
    /// A file that the user named.
    pub(super) fn named(path: &'f Path) -> Self {
        Self { path, name: path.to_str().unwrap_or("the session"), output: None }
    }

    /// Returns `true` if a copy goes to standard output.
    pub(super) fn is_printed(&self, options: &DoctorOptions) -> bool {
        self.output.is_some() && named_file(options.output.as_deref()).is_none()
    }
}

/// Prints the diagnosis of one session.
pub(super) fn one(
    file: &SessionFile<'_>,
    found: &Diagnosis,
    options: &DoctorOptions,
) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    let resume = Resume::of(file.path, found)?.filter(|_| file.output.is_none());
    if options.json {
        writeln!(out, "{:#}", as_json(Path::new(file.name), found, resume.as_ref()))?;
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
    if let Some(cut) = &found.cut_line {
        let kind = cut.kind.as_ref().map_or(String::new(), |kind| format!(" of type `{kind}`"));
        writeln!(out, "{YELLOW}cut_line{YELLOW:#} {DIM}at{DIM:#} line {}", cut.record)?;
        writeln!(
            out,
            "  the record{kind} ends after {} bytes: the agent was stopped while it wrote",
            grouped(cut.bytes as u64)
        )?;
        writeln!(
            out,
            "  the rest of it is lost; a repair leaves this line out and keeps the {} before it\n",
            counted(cut.kept, "line")
        )?;
    }
    let name = file.name;
    let (format, profile) = (found.format.name(), &found.profile);
    let sick =
        found.broken().count().max(found.findings.len()) + usize::from(found.cut_line.is_some());
    if sick == 0 {
        writeln!(out, "{GREEN}healthy{GREEN:#}: {name} ({format}, profile `{profile}`)")?;
    } else {
        let sick = counted(sick, "problem");
        writeln!(out, "{RED}broken{RED:#}: {name} ({format}, profile `{profile}`); {sick}")?;
    }
    writeln!(out, "  {}", sizes(found))?;
    if let Some(first) = found.unreadable_lines.first() {
        let lines = counted(found.unreadable_lines.len(), "line");
        writeln!(
            out,
            "{YELLOW}note:{YELLOW:#} {lines} are not JSON, the first is line {first}; they stay as they are"
        )?;
    }
    let moved = found.moved();
    if moved > 0 {
        let command = restore_command(file.path, options);
        writeln!(
            out,
            "{CYAN}note:{CYAN:#} {} media are in the blob store; run `{command}` before an agent \
             goes on with the session",
            grouped(moved as u64)
        )?;
    }
    if sick > 0 {
        let command = repair_command(file.name, options);
        writeln!(out, "\n{CYAN}hint:{CYAN:#} run `{command}` to write a repaired copy")?;
    }
    if let Some(resume) = resume.filter(|_| moved == 0) {
        let when = if sick > 0 { "once it is repaired, resume it with" } else { "resume it with" };
        writeln!(out, "  {when} `{}`", resume.line())?;
    }
    Ok(())
}

/// Says how the agent goes on with a repaired session. `original` is the file beside which a copy
/// was written: an agent finds a session in the place and under the name that it gave it.
pub(super) fn how_to_resume(resume: &Resume, original: Option<&Path>) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    let line = resume.line();
    match original.filter(|_| !resume.is_of_file) {
        None => writeln!(out, "  resume it with `{line}`")?,
        Some(original) => {
            writeln!(
                out,
                "  the agent finds it in the place of the original, `{}`: put it there, or repair \
                 with `--in-place`; then resume it with `{line}`",
                original.display()
            )?;
        }
    }
    Ok(())
}

/// The command that puts media back.
pub(super) fn restore_command(file: &Path, options: &DoctorOptions) -> String {
    let store = options.store.as_ref();
    let store = store.map(|store| format!(" --store {}", quoted(&store.to_string_lossy())));
    let store = store.unwrap_or_default();
    format!("photic doctor {} --restore{store}", quoted(&file.to_string_lossy()))
}

/// The command that repairs this session.
fn repair_command(file: &str, options: &DoctorOptions) -> String {
    let file =
        if options.file.as_ref().is_some_and(|file| file.as_os_str() == "-") { "-" } else { file };
    let model = options.model.as_ref().map(|model| format!(" --for {}", quoted(model)));
    let wire = options.wire.map(|wire| format!(" --wire {wire}"));
    let (model, wire) = (model.unwrap_or_default(), wire.unwrap_or_default());
    format!("photic doctor {}{model}{wire} --fix", quoted(file))
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
    let cut = done.diagnosis.cut_line.as_ref().filter(|_| done.is_shortened);
    let cut = cut.map(|cut| {
        let (line, kept) = (cut.record, counted(cut.kept, "line"));
        format!("the cut line {line} left out, the {kept} before it kept")
    });
    did.chain(cut).collect::<Vec<_>>().join(", ")
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
        let mut list = Vec::with_capacity(sick.len());
        for (file, found) in sick {
            list.push(as_json(file, found, Resume::of(file, found)?.as_ref()));
        }
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
            .chain(found.cut_line.as_ref().map(|_| "cut_line"))
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
fn as_json(file: &Path, found: &Diagnosis, resume: Option<&Resume>) -> Value {
    let mut report = json!(found);
    for (number, medium) in report["media"].as_array_mut().into_iter().flatten().enumerate() {
        medium["index"] = json!(number + 1);
    }
    if let Some(resume) = resume {
        report["resume"] = json!(resume);
    }
    if found.moved() > 0 {
        report["moved"] = json!(found.moved());
    }
    // A path may not be UTF-8.
    report["file"] = json!(file.to_string_lossy());
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
