//! The command while it runs: signals are passed on to it, and its end is ours.

use std::io;
use std::process::ExitStatus;

use tokio::process::Child;

/// Waits for the command to end.
pub(crate) async fn wait(child: &mut Child, signals: &mut Signals) -> io::Result<ExitStatus> {
    loop {
        let id = child.id();
        tokio::select! {
            status = child.wait() => return status,
            signal = signals.next() => signal.pass_on(id),
        }
    }
}

/// What a shell would answer for it.
#[cfg(unix)]
pub(crate) fn code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt as _;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// What it ended with, as far as it fits.
#[cfg(not(unix))]
pub(crate) fn code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or(1);
    u8::try_from(code).unwrap_or(u8::MAX)
}

#[cfg(unix)]
pub(crate) use unix::Signals;

#[cfg(unix)]
mod unix {
    use std::io;

    use rustix::process::{Pid, Signal, getpgrp, kill_process};
    use rustix::termios::tcgetpgrp;
    use tokio::signal::unix::{Signal as Arrivals, SignalKind, signal};

    /// Those that ask a program to end.
    #[derive(Debug)]
    pub(crate) struct Signals {
        interrupt: Arrivals,
        terminate: Arrivals,
        hang_up: Arrivals,
        quit: Arrivals,
    }

    /// One that arrived.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Arrived(Signal);

    impl Signals {
        /// From now on they no longer end this process.
        pub(crate) fn new() -> io::Result<Self> {
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
                hang_up: signal(SignalKind::hangup())?,
                quit: signal(SignalKind::quit())?,
            })
        }

        pub(crate) async fn next(&mut self) -> Arrived {
            tokio::select! {
                _ = self.interrupt.recv() => Arrived(Signal::INT),
                _ = self.terminate.recv() => Arrived(Signal::TERM),
                _ = self.hang_up.recv() => Arrived(Signal::HUP),
                _ = self.quit.recv() => Arrived(Signal::QUIT),
            }
        }
    }

    impl Arrived {
        /// Sends it to the command, unless it has it already: a terminal tells everybody in front
        /// of it, and to agents a second Ctrl-C means more than one.
        pub(crate) fn pass_on(self, id: Option<u32>) {
            let Some(pid) = id.and_then(|id| Pid::from_raw(id.cast_signed())) else {
                return;
            };
            if self.0 != Signal::TERM && is_in_front() {
                return;
            }
            // It can only have ended in between.
            let _ = kill_process(pid, self.0);
        }
    }

    /// Whether a terminal tells this process and the command about Ctrl-C itself.
    fn is_in_front() -> bool {
        let tty = std::fs::File::open("/dev/tty");
        tty.is_ok_and(|tty| tcgetpgrp(tty).is_ok_and(|group| group == getpgrp()))
    }
}

#[cfg(not(unix))]
pub(crate) use other::Signals;

#[cfg(not(unix))]
mod other {
    use std::io;

    /// A console tells the command itself; this process only has to outlive it.
    #[derive(Debug)]
    pub(crate) struct Signals;

    /// One that arrived.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Arrived;

    impl Signals {
        #[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
        pub(crate) fn new() -> io::Result<Self> {
            Ok(Self)
        }

        pub(crate) async fn next(&mut self) -> Arrived {
            let _ = tokio::signal::ctrl_c().await;
            Arrived
        }
    }

    impl Arrived {
        pub(crate) fn pass_on(self, _id: Option<u32>) {}
    }
}
