//! `photic doctor`: repairs sessions that an image broke, and checks the installation.
//!
//! Handles output, progress, exit codes and file names. `photic-doctor` diagnoses and repairs.

#[cfg(feature = "fleet")]
mod bucket;
#[cfg(not(feature = "fleet"))]
#[path = "bucket_absent.rs"]
mod bucket;
mod folders;
mod health;
mod progress;
mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use photic_doctor::{Diagnosis, DiagnosisTarget, Error};
use photic_store::{FileBlobs, LocalStore};

use crate::arguments::DoctorOptions;
use crate::style::{GREEN, Hint, YELLOW, grouped};
use progress::Progress;

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
    if file.is_dir() {
        if options.fix || options.externalize || options.restore {
            let hint = Hint("pass one session; `photic doctor DIR` lists the broken ones");
            bail!(anyhow::anyhow!("`{}` is a folder", file.display()).context(hint));
        }
        return list(options, std::slice::from_ref(file), &file.display().to_string());
    }
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
    let found = diagnose(options, file).map_err(hinted)?;
    report::one(file, &found, options)?;
    Ok(verdict(found.is_broken()))
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
fn hinted(error: Error) -> anyhow::Error {
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
fn fix(options: &DoctorOptions, file: &Path) -> anyhow::Result<ExitCode> {
    let to = target(options, file, "repaired");
    let mut progress = Progress::of(file);
    let done = photic_doctor::repair(file, &to, &question(options), &mut |at| progress.at(at));
    progress.end();
    let Some(done) = done.map_err(hinted)? else {
        if options.json {
            anstream::println!("{}", serde_json::json!({"sick": 0, "written": null}));
        } else {
            anstream::println!("{GREEN}healthy{GREEN:#}: {}; nothing to repair", file.display());
        }
        return Ok(ExitCode::SUCCESS);
    };
    let (written, backup) = finish(options, file, to)?;
    if options.json {
        let report = serde_json::json!({
            "remade": done.remade, "relabeled": done.relabeled, "noticed": done.noticed,
            "written": written, "backup": backup, "bytes": done.bytes, "diagnosis": done.diagnosis,
        });
        anstream::println!("{report:#}");
        return Ok(ExitCode::SUCCESS);
    }
    anstream::println!("{GREEN}repaired{GREEN:#}: {}", report::repaired(&done));
    print_paths(&written, backup.as_deref(), done.diagnosis.bytes, done.bytes);
    Ok(ExitCode::SUCCESS)
}

/// Moves media out of a session, or back.
fn move_media(options: &DoctorOptions, file: &Path) -> anyhow::Result<ExitCode> {
    let blobs = blobs(options)?;
    let (name, moved) =
        if options.restore { ("restored", "put back") } else { ("small", "moved out") };
    let to = target(options, file, name);
    let done = if options.restore {
        photic_doctor::restore(file, &to, &blobs)
    } else {
        photic_doctor::externalize(file, &to, &blobs)
    };
    let done = done.map_err(hinted)?;
    let (written, backup) = finish(options, file, to)?;
    if options.json {
        let report = serde_json::json!({
            "media": done.media, "before": done.before, "bytes": done.after,
            "written": written, "backup": backup,
        });
        anstream::println!("{report:#}");
        return Ok(ExitCode::SUCCESS);
    }
    anstream::println!("{GREEN}{moved}{GREEN:#}: {} media", grouped(done.media as u64));
    print_paths(&written, backup.as_deref(), done.before, done.after);
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
fn target(options: &DoctorOptions, file: &Path, what: &str) -> PathBuf {
    if let Some(output) = &options.output {
        return output.clone();
    }
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
    file: &Path,
    written: PathBuf,
) -> anyhow::Result<(PathBuf, Option<PathBuf>)> {
    if !options.in_place {
        return Ok((written, None));
    }
    let backup = photic_doctor::replace(file, &written).map_err(hinted)?;
    Ok((file.to_owned(), Some(backup)))
}
