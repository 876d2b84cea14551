//! The running command: passes signals on to it, and waits for its end.

use std::io;
use std::process::ExitStatus;

use tokio::process::Child;

/// Waits until the command ends.
pub(crate) async fn wait(child: &mut Child, signals: &mut Signals) -> io::Result<ExitStatus> {
    loop {
        let id = child.id();
        tokio::select! {
            status = child.wait() => return status,
            signal = signals.next() => signal.pass_on(id),
        }
    }
}

/// The exit code that a shell would report.
#[cfg(unix)]
pub(crate) fn code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt as _;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// The exit code of the command, as far as it fits.
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

    /// The signals that ask a program to end.
    #[derive(Debug)]
    pub(crate) struct Signals {
        interrupt: Arrivals,
        terminate: Arrivals,
        hang_up: Arrivals,
        quit: Arrivals,
    }

    /// A received signal.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct ReceivedSignal(Signal);

    impl Signals {
        /// Takes over the signals: they no longer end this process.
        pub(crate) fn new() -> io::Result<Self> {
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
                hang_up: signal(SignalKind::hangup())?,
                quit: signal(SignalKind::quit())?,
            })
        }

        pub(crate) async fn next(&mut self) -> ReceivedSignal {
            tokio::select! {
                _ = self.interrupt.recv() => ReceivedSignal(Signal::INT),
                _ = self.terminate.recv() => ReceivedSignal(Signal::TERM),
                _ = self.hang_up.recv() => ReceivedSignal(Signal::HUP),
                _ = self.quit.recv() => ReceivedSignal(Signal::QUIT),
            }
        }
    }

    impl ReceivedSignal {
        /// Sends the signal to the command, unless the terminal has already done so: agents treat a
        /// second Ctrl-C differently from the first.
        pub(crate) fn pass_on(self, id: Option<u32>) {
            let Some(pid) = id.and_then(|id| Pid::from_raw(id.cast_signed())) else {
                return;
            };
            if self.0 != Signal::TERM && is_in_front() {
                return;
            }
            // This fails only if the command has just ended.
            let _ = kill_process(pid, self.0);
        }
    }

    /// Returns `true` if the terminal sends Ctrl-C to this process and the command itself.
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

    /// Signals; the console sends them to the command itself, so this process only has to outlive
    /// it.
    #[derive(Debug)]
    pub(crate) struct Signals;

    /// A received signal.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct ReceivedSignal;

    impl Signals {
        #[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
        pub(crate) fn new() -> io::Result<Self> {
            Ok(Self)
        }

        pub(crate) async fn next(&mut self) -> ReceivedSignal {
            let _ = tokio::signal::ctrl_c().await;
            ReceivedSignal
        }
    }

    impl ReceivedSignal {
        pub(crate) fn pass_on(self, _id: Option<u32>) {}
    }
}
