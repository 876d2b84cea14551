//! A running program in its sandbox: feeds it, watches it, and ends it with all its children.

use std::borrow::Cow;
use std::io::Write;
use std::process::{Child, ChildStdout};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{ProgramLimits, process_tree};

/// Time between two checks of clock and memory. Allocations in between are bounded by the limit of
/// a single process.
const CHECK_INTERVAL: Duration = Duration::from_millis(40);

/// The way in which a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgramEnd {
    /// It was ended because its time was up.
    TooSlow,
    /// It was ended because it used too much memory.
    TooMuchMemory,
    /// It ended by itself, with this peak of memory in bytes.
    Itself(u64),
}

/// A running program, which is ended on drop.
pub(crate) struct SandboxedProgram {
    child: Option<Child>,
    input: Option<Sender<Vec<u8>>>,
    output: Option<ChildStdout>,
    watch: Option<(Sender<()>, JoinHandle<()>)>,
    seen: Arc<Mutex<ProgramEnd>>,
}

impl SandboxedProgram {
    /// Takes over a child with both pipes, and sends these bytes first.
    pub(super) fn new(
        mut child: Child,
        first: Vec<Cow<'static, [u8]>>,
        limits: ProgramLimits,
    ) -> Option<Self> {
        let pipes = child.stdin.take().zip(child.stdout.take());
        let seen = Arc::new(Mutex::new(ProgramEnd::Itself(0)));
        let root = child.id();
        let mut running = Self { child: Some(child), input: None, output: None, watch: None, seen };
        let (mut stdin, stdout) = pipes?;
        let (input, fed) = mpsc::channel::<Vec<u8>>();
        std::thread::spawn(move || {
            // A program that died early closes the pipe; how it ended tells why.
            let first = first.iter().try_for_each(|piece| stdin.write_all(piece));
            if first.is_ok() {
                let _ = fed.iter().try_for_each(|piece| stdin.write_all(&piece));
            }
        });
        let (enough, done) = mpsc::channel::<()>();
        let seen = Arc::clone(&running.seen);
        let watch = std::thread::spawn(move || {
            let deadline = Instant::now() + limits.time;
            while done.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let ending = look(root, deadline, limits.memory, &seen);
                if !matches!(ending, ProgramEnd::Itself(_)) {
                    end(root);
                    return;
                }
            }
        });
        running.input = Some(input);
        running.output = Some(stdout);
        running.watch = Some((enough, watch));
        Some(running)
    }

    /// Its output, which can be taken once.
    pub(crate) fn output(&mut self) -> Option<ChildStdout> {
        self.output.take()
    }

    /// Sends more input. A failure shows in the output.
    pub(crate) fn feed(&self, bytes: Vec<u8>) {
        if let Some(input) = &self.input {
            let _ = input.send(bytes);
        }
    }

    /// Ends it, and returns what had ended it before.
    pub(crate) fn end(&mut self) -> ProgramEnd {
        self.input = None;
        // The watcher stops first: it must not signal a process ID that has been reused.
        if let Some((enough, watch)) = self.watch.take() {
            drop(enough);
            let _ = watch.join();
        }
        if let Some(mut child) = self.child.take() {
            end(child.id());
            let _ = child.wait();
        }
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SandboxedProgram {
    fn drop(&mut self) {
        self.end();
    }
}

/// Checks time and memory.
fn look(root: u32, deadline: Instant, most: u64, seen: &Mutex<ProgramEnd>) -> ProgramEnd {
    let memory = process_tree::memory(&process_tree::below(root));
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    *seen = match *seen {
        _ if memory > most => ProgramEnd::TooMuchMemory,
        _ if Instant::now() >= deadline => ProgramEnd::TooSlow,
        ProgramEnd::Itself(peak) => ProgramEnd::Itself(peak.max(memory)),
        ended => ended,
    };
    *seen
}

/// Ends all processes. The first process inside is killed first: bubblewrap sees its end only when
/// everything started inside is gone, and then ends itself.
fn end(root: u32) {
    #[cfg(unix)]
    {
        use rustix::process::{
            Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
        };
        let number = |process: u32| i32::try_from(process).ok().and_then(Pid::from_raw);
        let Some(group) = number(root) else { return };
        let inside = process_tree::below(root).into_iter().next();
        if let Some(first) = inside.and_then(number) {
            let _ = kill_process(first, Signal::KILL);
            for _ in 0..1_000 {
                // The exit status is not consumed, so the process ID stays ours until it is waited
                // for.
                let looked = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
                match waitid(WaitId::Pid(group), looked) {
                    Ok(None) => std::thread::sleep(Duration::from_millis(2)),
                    _ => break,
                }
            }
        }
        let _ = kill_process_group(group, Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = root;
}
