//! Runs programs that are too large to be trusted with a source, in bubblewrap.
//!
//! A program sees the system's programs and libraries, read-only; an empty folder in memory; only
//! its own loopback, processes and variables. Sources and fonts come in through standard input and
//! never touch a disk. Nothing is run without bubblewrap.

mod fonts;
mod process_tree;
mod program;

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

pub(crate) use fonts::files as font_files;
pub(crate) use program::{ProgramEnd, SandboxedProgram};

use crate::program as installed;
use crate::refusal::{Refusal, RefusalCode};

/// Limits of a program for one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramLimits {
    /// Longest time from start to answer.
    pub time: Duration,
    /// Largest memory of all its processes together, in bytes.
    pub memory: u64,
}

impl Default for ProgramLimits {
    /// Enough for a cold start on a slow machine, and a page of 32 megapixels.
    fn default() -> Self {
        Self { time: Duration::from_secs(20), memory: 1 << 30 }
    }
}

/// Starts programs in bubblewrap.
#[derive(Clone, Debug)]
pub(crate) struct Sandbox {
    bubblewrap: PathBuf,
}

/// A program, its files, and its connections.
pub(crate) struct SandboxJob<'a> {
    pub(crate) program: &'a Path,
    pub(crate) arguments: Vec<OsString>,
    /// Names below [`HOME`] that need no quoting, with their contents.
    pub(crate) files: Vec<(String, Cow<'static, [u8]>)>,
    /// Shell command that runs once the files are written; `"$@"` is the program.
    pub(crate) then: &'static str,
    pub(crate) limits: ProgramLimits,
}

/// The only writable folder. It is in memory and disappears with the program.
pub(crate) const HOME: &str = "/tmp";

/// 64 MiB, as a power of two.
const LIMIT_SHIFT: u32 = 26;

impl Sandbox {
    /// Finds bubblewrap. Nothing is drawn without it.
    pub(crate) fn find() -> Result<Self, Refusal> {
        let found = installed::find(&["bwrap"]);
        let absent = || {
            let what = "bubblewrap, the sandbox for other programs,";
            installed::absent(what, "bubblewrap")
        };
        Ok(Self { bubblewrap: found.ok_or_else(absent)? })
    }

    /// Starts a program. The calling thread must outlive it, since the program ends with the
    /// thread.
    pub(crate) fn start(&self, job: SandboxJob<'_>) -> Result<SandboxedProgram, Refusal> {
        let mut command = Command::new(&self.bubblewrap);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command
            .args(sandbox_arguments(&job))
            .args(["--", "/bin/sh", "-c"])
            .arg(script(&job))
            .arg("sh")
            .arg(job.program)
            .args(&job.arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|_| not_started())?;
        let files = job.files.into_iter().map(|(_, bytes)| bytes).collect();
        SandboxedProgram::new(child, files, job.limits).ok_or_else(not_started)
    }
}

/// The refusal if a program cannot be started.
pub(crate) fn not_started() -> Refusal {
    Refusal::new(
        RefusalCode::Unavailable,
        "the sandbox or the program in it could not be started",
        "check that `bwrap --unshare-all --ro-bind / / true` works, or render it to PNG",
    )
}

/// The bubblewrap arguments that define what a program sees.
fn sandbox_arguments(job: &SandboxJob<'_>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    let mut say = |words: &[&str]| arguments.extend(words.iter().map(OsString::from));
    say(&["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
    // Not root, even if the host is: Chromium then keeps its own sandbox on.
    say(&["--unshare-user", "--uid", "1000", "--gid", "1000", "--hostname", "photic"]);
    say(&["--ro-bind", "/usr", "/usr", "--tmpfs", "/usr/local"]);
    for folder in ["/bin", "/lib", "/lib32", "/lib64"] {
        match std::fs::read_link(folder) {
            Ok(target) => say(&["--symlink", &target.to_string_lossy(), folder]),
            Err(_) => say(&["--ro-bind-try", folder, folder]),
        }
    }
    for file in ["/etc/ld.so.cache", "/etc/alternatives", "/etc/libreoffice"] {
        say(&["--ro-bind-try", file, file]);
    }
    if let Some(folder) = job.program.parent().filter(|folder| folder.starts_with("/opt")) {
        let folder = folder.to_string_lossy();
        say(&["--ro-bind", &folder, &folder]);
    }
    let room = (job.limits.memory / 2).to_string();
    say(&["--proc", "/proc", "--dev", "/dev", "--size", &room, "--tmpfs", "/dev/shm"]);
    say(&["--size", &room, "--tmpfs", HOME, "--remount-ro", "/"]);
    say(&["--chdir", HOME, "--clearenv"]);
    for (name, value) in [
        ("HOME", HOME),
        ("PATH", "/usr/bin:/bin"),
        ("LANG", "C.UTF-8"),
        ("TZ", "UTC"),
        ("FONTCONFIG_FILE", fonts::SETTINGS),
    ] {
        say(&["--setenv", name, value]);
    }
    arguments
}

/// The script with limits, files and the program. `head` reads no byte more than requested.
fn script(job: &SandboxJob<'_>) -> String {
    // Memory of one process; the watcher counts all of them. V8 derives lengths from this number,
    // and fails if it is not a round one.
    let data = (job.limits.memory >> LIMIT_SHIFT).max(1) << (LIMIT_SHIFT - 10);
    let blocks = job.limits.memory / 512;
    let mut script = format!(
        "ulimit -c 0; ulimit -d {data}; ulimit -f {blocks}; umask 077; cd {HOME} || exit 1\n"
    );
    for (name, bytes) in &job.files {
        if let Some((folder, _)) = name.rsplit_once('/') {
            let _ = writeln!(script, "mkdir -p {folder}");
        }
        let _ = writeln!(script, "head -c {} > {name} || exit 1", bytes.len());
    }
    script + job.then
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
