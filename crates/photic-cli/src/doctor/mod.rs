//! `photic doctor`: repairs sessions that an image or a cut line broke, and checks the installation.
//!
//! Handles output, progress, exit codes and file names. `photic-doctor` diagnoses and repairs.

#[cfg(feature = "fleet")]
mod bucket;
#[cfg(not(feature = "fleet"))]
#[path = "bucket_absent.rs"]
mod bucket;
mod folders;
mod health;
mod private_folder;
mod progress;
mod report;
mod resume;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use photic_doctor::{Diagnosis, DiagnosisTarget, Error, SessionFormat};
use photic_store::{FileBlobs, LocalStore};

use crate::arguments::DoctorOptions;
use crate::model::print_notes;
use crate::output::{is_standard_output, named_file};
use crate::style::{GREEN, Hint, YELLOW, grouped};
use private_folder::{PrivateFolder, STANDARD_INPUT};
use progress::Progress;
use report::SessionFile;
use resume::Resume;

/// Runs the command.
pub(crate) fn run(options: &DoctorOptions) -> anyhow::Result<ExitCode> {
    if let Some(endpoint) = &options.endpoint {
        return health::run(endpoint, options);
    }
    let bucket = options.store.as_deref().and_then(Path::to_str);
    if let Some(bucket) = bucket.filter(|name| options.file.is_none() && name.starts_with("s3://"))
    {
        return bucket::run(bucket, options.json);
    }
    let Some(file) = &options.file else {
        return list(options, &folders::usual(), "the default folders of agents");
    };
    if file.as_os_str() == "-" {
        return standard_input(options);
    }
    if file.is_dir() {
        if options.fix || options.externalize || options.restore {
            let hint = Hint("pass one session; `photic doctor DIR` lists the broken ones");
            bail!(anyhow::anyhow!("`{}` is a folder", file.display()).context(hint));
        }
        return list(options, std::slice::from_ref(file), &file.display().to_string());
    }
    let named = SessionFile::named(file);
    if options.output.as_deref().is_some_and(is_standard_output) {
        let folder = PrivateFolder::create()?;
        return one(options, &SessionFile { output: Some(folder.output()), ..named });
    }
    one(options, &named)
}

/// Handles one session.
fn one(options: &DoctorOptions, file: &SessionFile<'_>) -> anyhow::Result<ExitCode> {
    if options.externalize || options.restore {
        return move_media(options, file);
    }
    if options.fix {
        return fix(options, file);
    }
    if options.in_place || options.output.is_some() {
        let hint = Hint("add `--fix`, `--externalize` or `--restore`");
        bail!(anyhow::anyhow!("`--in-place` and `--output` need an action").context(hint));
    }
    let found = diagnose(options, file.path).map_err(|error| hinted(error, file))?;
    note(options, &found);
    report::one(file, &found, options)?;
    Ok(verdict(found.is_broken()))
}

/// Handles a session on standard input. A copy goes to standard output, unless a file is named.
fn standard_input(options: &DoctorOptions) -> anyhow::Result<ExitCode> {
    if options.in_place {
        let hint =
            Hint("name the file, or leave `--in-place` out to get the copy on standard output");
        bail!(anyhow::anyhow!("standard input has no place to write to").context(hint));
    }
    let folder = PrivateFolder::create()?;
    let path = folder.read_standard_input()?;
    one(options, &SessionFile { path: &path, name: STANDARD_INPUT, output: Some(folder.output()) })
}

/// Tells on standard error what is special about the model of `--for`.
fn note(options: &DoctorOptions, found: &Diagnosis) {
    if let Some(model) = &options.model {
        print_notes(model, &photic_doctor::profile(found.format, &question(options), None));
    }
}

/// The endpoint and model that a session is diagnosed for.
fn question(options: &DoctorOptions) -> DiagnosisTarget {
    DiagnosisTarget { model: options.model.clone(), wire: options.wire }
}

/// Diagnoses one file, with a progress bar.
fn diagnose(options: &DoctorOptions, file: &Path) -> Result<Diagnosis, Error> {
    let mut progress = Progress::of(file);
    let found = photic_doctor::diagnose(file, &question(options), &mut |done| progress.at(done));
    progress.end();
    found
}

/// Adds advice to an error, if there is any.
fn hinted(error: Error, file: &SessionFile<'_>) -> anyhow::Error {
    // The file that standard input is kept in is not the user's.
    if file.output.is_some() && matches!(error, Error::UnknownFormat(_)) {
        let says = format!(
            "{} is not a session that photic knows; supported are {}",
            file.name,
            SessionFormat::supported()
        );
        return anyhow::anyhow!(says)
            .context(Hint("see docs/doctor.md for where each agent keeps its sessions"));
    }
    let hint = match &error {
        Error::UnknownFormat(_) => "see docs/doctor.md for where each agent keeps its sessions",
        Error::Changed(_) => "close the agent and try again",
        Error::Database(..) => "close the agent that uses it and try again",
        Error::Blobs(_) | Error::NotABlob(..) => {
            "pass the store they were moved to with `--store DIR`"
        }
        Error::NoLines(_) => "`--fix` can repair it",
        _ => return error.into(),
    };
    anyhow::Error::from(error).context(Hint(hint))
}

/// The exit code of a diagnosis.
fn verdict(is_sick: bool) -> ExitCode {
    ExitCode::from(u8::from(is_sick))
}

/// Lists the broken sessions below some folders, the newest first.
fn list(
    options: &DoctorOptions,
    folders: &[PathBuf],
    where_from: &str,
) -> anyhow::Result<ExitCode> {
    let files = folders::sessions(folders);
    let mut sick = Vec::new();
    let (mut known, mut unread) = (0, 0);
    for file in files {
        match diagnose(options, &file) {
            Ok(found) => {
                known += 1;
                if found.is_broken() {
                    sick.push((file, found));
                }
            }
            // Other files in a folder are not an error.
            Err(Error::UnknownFormat(_)) => unread += 1,
            Err(error) => {
                unread += 1;
                anstream::eprintln!("{YELLOW}warning:{YELLOW:#} {:#}", anyhow::Error::from(error));
            }
        }
    }
    report::many(&sick, known, unread, where_from, options)?;
    Ok(verdict(!sick.is_empty()))
}

/// Writes a repaired copy.
fn fix(options: &DoctorOptions, file: &SessionFile<'_>) -> anyhow::Result<ExitCode> {
    let to = target(options, file, "repaired");
    let path = file.path;
    let mut progress = Progress::of(path);
    let done = photic_doctor::repair(path, &to, &question(options), &mut |at| progress.at(at));
    progress.end();
    let Some(done) = done.map_err(|error| hinted(error, file))? else {
        if file.is_printed(options) {
            // A pipe gets the session, repaired or not.
            return print_file(path);
        }
        if options.json {
            anstream::println!("{}", serde_json::json!({"sick": 0}));
        } else {
            anstream::println!("{GREEN}healthy{GREEN:#}: {}; nothing to repair", file.name);
        }
        return Ok(ExitCode::SUCCESS);
    };
    note(options, &done.diagnosis);
    if file.is_printed(options) {
        anstream::eprintln!("{GREEN}repaired{GREEN:#}: {}", report::repaired(&done));
        return print_file(&to);
    }
    let (written, backup) = finish(options, file, to)?;
    let resume = Resume::of(&written, &done.diagnosis)?;
    if options.json {
        let mut report = serde_json::json!({
            "remade": done.remade, "relabeled": done.relabeled, "noticed": done.noticed,
            "is_shortened": done.is_shortened, "written": written, "bytes": done.bytes,
            "diagnosis": done.diagnosis,
        });
        if let Some(backup) = &backup {
            report["backup"] = serde_json::json!(backup);
        }
        if let Some(resume) = &resume {
            report["resume"] = serde_json::json!(resume);
        }
        anstream::println!("{report:#}");
        return Ok(ExitCode::SUCCESS);
    }
    anstream::println!("{GREEN}repaired{GREEN:#}: {}", report::repaired(&done));
    print_paths(&written, backup.as_deref(), done.diagnosis.bytes, done.bytes);
    if let Some(resume) = &resume {
        report::how_to_resume(resume, (!options.in_place).then_some(file.path))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Moves media out of a session, or back.
fn move_media(options: &DoctorOptions, file: &SessionFile<'_>) -> anyhow::Result<ExitCode> {
    let blobs = blobs(options)?;
    let (name, moved) =
        if options.restore { ("restored", "put back") } else { ("small", "moved out") };
    let to = target(options, file, name);
    let done = if options.restore {
        photic_doctor::restore(file.path, &to, &blobs)
    } else {
        photic_doctor::externalize(file.path, &to, &blobs)
    };
    let done = done.map_err(|error| hinted(error, file))?;
    if file.is_printed(options) {
        anstream::eprintln!("{GREEN}{moved}{GREEN:#}: {} media", grouped(done.media as u64));
        return print_file(&to);
    }
    let (written, backup) = finish(options, file, to)?;
    if options.json {
        let mut report = serde_json::json!({
            "media": done.media, "before": done.before, "bytes": done.after, "written": written,
        });
        if let Some(backup) = &backup {
            report["backup"] = serde_json::json!(backup);
        }
        anstream::println!("{report:#}");
        return Ok(ExitCode::SUCCESS);
    }
    anstream::println!("{GREEN}{moved}{GREEN:#}: {} media", grouped(done.media as u64));
    print_paths(&written, backup.as_deref(), done.before, done.after);
    if options.externalize && done.media > 0 {
        let restore = report::restore_command(&written, options);
        anstream::println!(
            "  for keeping: run `{restore}` before an agent goes on with the session"
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints a file byte for byte.
fn print_file(path: &Path) -> anyhow::Result<ExitCode> {
    let mut file =
        std::fs::File::open(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let mut out = std::io::stdout().lock();
    std::io::copy(&mut file, &mut out)
        .and_then(|_| out.flush())
        .context("cannot write to standard output")?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the names of the written files.
fn print_paths(written: &Path, backup: Option<&Path>, before: u64, after: u64) {
    let (before, after) = (grouped(before), grouped(after));
    anstream::println!("  {} ({before} bytes before, {after} after)", written.display());
    if let Some(backup) = backup {
        anstream::println!("  backup of the original: {}", backup.display());
    }
}

/// Opens the blob store.
fn blobs(options: &DoctorOptions) -> anyhow::Result<FileBlobs> {
    let directory = options.store.clone().or_else(LocalStore::usual_directory);
    let directory = directory
        .context(Hint("pass a directory with `--store`"))
        .context("this system has no state directory for media")?;
    let folder = directory.join("doctor");
    FileBlobs::open(&folder).with_context(|| format!("cannot open `{}`", folder.display()))
}

/// The file to write first: beside the original, with a name that tells what it is.
fn target(options: &DoctorOptions, file: &SessionFile<'_>, what: &str) -> PathBuf {
    if let Some(output) = named_file(options.output.as_deref()).or(file.output.as_deref()) {
        return output.to_owned();
    }
    let file = file.path;
    let mut name = file.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{what}"));
    if let Some(extension) = file.extension() {
        name.push(".");
        name.push(extension);
    }
    file.with_file_name(name)
}

/// Replaces the original if requested. Returns the path of the result, and of the backup if there
/// is one.
fn finish(
    options: &DoctorOptions,
    file: &SessionFile<'_>,
    written: PathBuf,
) -> anyhow::Result<(PathBuf, Option<PathBuf>)> {
    if !options.in_place {
        return Ok((written, None));
    }
    let backup =
        photic_doctor::replace(file.path, &written).map_err(|error| hinted(error, file))?;
    Ok((file.path.to_owned(), Some(backup)))
}
