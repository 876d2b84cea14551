//! The parent's side of the child process: starts it, feeds it, times it, and validates its answer.
//!
//! Each request has its own child. A crash, hang, flood or false answer becomes a refusal. A page
//! is returned only if its size matches its pixels.

mod child;
mod confine;
mod protocol;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

pub use child::serve;
pub use confine::confine;
use protocol::WorkerResult;

use crate::page::{Page, PageText};
use crate::refusal::{Refusal, RefusalCode};
use crate::request::Request;

/// The program of a child, and its limits.
#[derive(Clone, Debug)]
pub struct Worker {
    /// The program.
    pub program: PathBuf,
    /// Its first arguments; it must call [`serve`] with those that follow.
    pub arguments: Vec<OsString>,
    /// Limits of each child.
    pub limits: WorkerLimits,
}

/// Limits of one child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerLimits {
    /// Longest time from start to answer. Then it is killed, which may take another second on an
    /// overloaded machine.
    pub time: Duration,
    /// Largest processor time, in whole seconds.
    pub processor_seconds: u64,
    /// Largest address space, in bytes.
    pub memory: u64,
}

impl Default for WorkerLimits {
    /// Enough for 32 megapixels with several layers, and an end within ten seconds.
    fn default() -> Self {
        Self { time: Duration::from_secs(10), processor_seconds: 8, memory: 1 << 30 }
    }
}

impl Worker {
    /// A worker with the default limits.
    pub fn new(program: impl Into<PathBuf>, arguments: Vec<OsString>) -> Self {
        Self { program: program.into(), arguments, limits: WorkerLimits::default() }
    }

    /// Draws in a child of its own. Blocks until it is drawn or the time is up.
    pub fn draw(&self, request: &Request<'_>) -> Result<Page, Refusal> {
        match self.ask(request, false)? {
            WorkerResult::Page(page) => Ok(page),
            WorkerResult::Text(_) => Err(unavailable()),
        }
    }

    /// Extracts the text layer of a page, in a child of its own.
    pub fn words(&self, request: &Request<'_>) -> Result<PageText, Refusal> {
        match self.ask(request, true)? {
            WorkerResult::Text(words) => Ok(words),
            WorkerResult::Page(_) => Err(unavailable()),
        }
    }

    /// Sends a request to a child and reads its answer.
    fn ask(&self, request: &Request<'_>, words: bool) -> Result<WorkerResult, Refusal> {
        crate::draw::check_size(request)?;
        let question = protocol::question(request, words).map_err(|_| unavailable())?;
        let mut child = self.start()?;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            end(&mut child);
            return Err(unavailable());
        };
        let most = protocol::longest_answer(&request.wanted.bounds);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // A child that died early closes the pipe; its answer or exit status tells why.
                let fed = question.iter().try_for_each(|piece| stdin.write_all(piece));
                drop((stdin, fed));
            });
            let (done, answer) = mpsc::channel();
            scope.spawn(move || {
                let mut bytes = Vec::new();
                let read = stdout.take(most).read_to_end(&mut bytes);
                let _ = done.send(read.map(|_| bytes));
            });
            let answer = answer.recv_timeout(self.limits.time);
            if answer.is_err() {
                // This also ends both threads, since their pipes close.
                end(&mut child);
            }
            let answer = match answer {
                Ok(Ok(bytes)) => bytes,
                Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => Vec::new(),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(too_slow(self.limits.time.as_secs(), ""));
                }
            };
            match protocol::answer(answer, &request.wanted.bounds) {
                Some(answer) => {
                    end(&mut child);
                    answer
                }
                None => Err(self.failure(&mut child)),
            }
        })
    }

    /// Starts a child.
    fn start(&self) -> Result<Child, Refusal> {
        let mut command = Command::new(&self.program);
        // A process group of its own, so that it can be ended with its descendants.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
            .args(&self.arguments)
            .arg(self.limits.processor_seconds.to_string())
            .arg(self.limits.memory.to_string())
            // The child gets no environment, which may hold keys, and no working directory.
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|_| unavailable())
    }

    /// The refusal for a child without a usable answer.
    fn failure(&self, child: &mut Child) -> Refusal {
        let died = died_by_itself(child);
        kill(child);
        let status = child.wait().ok().filter(|_| died);
        match status.and_then(killed_by) {
            Some(ExceededLimit::Processor) => {
                too_slow(self.limits.processor_seconds, " of the processor")
            }
            Some(ExceededLimit::Memory) => Refusal::new(
                RefusalCode::TooMuchMemory,
                format!(
                    "drawing it takes more than {} MiB of memory, or nests too deep",
                    self.limits.memory >> 20
                ),
                "ask for a smaller size or a region, or simplify the source",
            ),
            None => Refusal::new(
                RefusalCode::Crashed,
                "the renderer broke on it",
                "render it to PNG with another program, and view that",
            ),
        }
    }
}

/// The refusal of a drawing that takes too long.
fn too_slow(seconds: u64, of_what: &str) -> Refusal {
    Refusal::new(
        RefusalCode::TooSlow,
        format!("drawing it takes more than {seconds} seconds{of_what}"),
        "ask for a smaller size or a region, or simplify the source",
    )
}

/// The limit that ended a child.
enum ExceededLimit {
    Processor,
    Memory,
}

/// The limit behind an exit status.
#[cfg(unix)]
fn killed_by(status: ExitStatus) -> Option<ExceededLimit> {
    use std::os::unix::process::ExitStatusExt;
    let signal = status.signal()?;
    let is = |other: rustix::process::Signal| signal == other.as_raw();
    if is(rustix::process::Signal::XCPU) {
        Some(ExceededLimit::Processor)
    } else if is(rustix::process::Signal::ABORT) || is(rustix::process::Signal::KILL) {
        // A failed allocation and an exhausted stack abort; a panic does not. A kill from outside
        // means that the system is out of memory.
        Some(ExceededLimit::Memory)
    } else {
        None
    }
}

#[cfg(not(unix))]
fn killed_by(_: ExitStatus) -> Option<ExceededLimit> {
    None
}

/// Returns `true` if the child died by itself. It closes its output a moment before it is dead, so
/// it gets half a second.
fn died_by_itself(child: &mut Child) -> bool {
    let moment = Duration::from_millis(10);
    (0..50).any(|_| {
        let dead = is_dead(child);
        if !dead {
            std::thread::sleep(moment);
        }
        dead
    })
}

/// Returns `true` if the child is dead, without consuming its status: its process ID and group stay
/// its own.
#[cfg(unix)]
fn is_dead(child: &mut Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let number = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    number.is_none_or(|number| !matches!(waitid(WaitId::Pid(number), look), Ok(None)))
}

#[cfg(not(unix))]
fn is_dead(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

/// Kills the child if it still runs, and waits for it.
fn end(child: &mut Child) {
    kill(child);
    let _ = child.wait();
}

/// Kills the process group. The ID cannot have been reused, since the child was not waited for.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
}

/// The refusal if the renderer cannot be started.
fn unavailable() -> Refusal {
    Refusal::new(
        RefusalCode::Unavailable,
        "the renderer could not be started",
        "render it to PNG with another program, and view that",
    )
}
