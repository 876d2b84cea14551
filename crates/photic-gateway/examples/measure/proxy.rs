//! A proxy as a separate process, with its CPU time and its memory.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::{Outcome, tls};

/// A process that serves until it is dropped.
pub(crate) struct Proxy {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Proxy {
    /// Starts a proxy that prints its port, and trusts the upstreams of [`crate::tls`].
    pub(crate) fn start(command: &mut Command) -> Outcome<Self> {
        let trusted = tls::authority()?;
        let mut child = command.env("SSL_CERT_FILE", trusted).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let address = SocketAddr::from(([127, 0, 0, 1], line.trim().parse()?));
        Ok(Self { child, address })
    }

    /// Creates a proxy whose port is known.
    pub(crate) const fn known(child: Child, address: SocketAddr) -> Self {
        Self { child, address }
    }

    /// Asks the process to end, and waits for it.
    pub(crate) fn end(mut self) -> Outcome<()> {
        Command::new("kill").args(["-INT", &self.child.id().to_string()]).status()?;
        self.child.wait()?;
        Ok(())
    }

    /// Returns `true` if the process is running.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Returns the CPU time of its threads and of its child processes.
    pub(crate) fn cpu(&self) -> Outcome<Duration> {
        let mut total = 0;
        for process in family(self.child.id())? {
            for task in std::fs::read_dir(format!("/proc/{process}/task"))? {
                let stat = std::fs::read_to_string(task?.path().join("schedstat"))?;
                total += stat.split(' ').next().ok_or("no time")?.parse::<u64>()?;
            }
        }
        Ok(Duration::from_nanos(total))
    }

    /// Returns its maximum memory so far, in MB.
    pub(crate) fn peak(&self) -> Outcome<f64> {
        self.status("VmHWM:")
    }

    /// Returns its memory, in MB.
    pub(crate) fn resident(&self) -> Outcome<f64> {
        self.status("VmRSS:")
    }

    fn status(&self, name: &str) -> Outcome<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name)).ok_or("no such line")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? * 1024.0 / 1e6)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a process and its descendants.
fn family(ancestor: u32) -> Outcome<Vec<u32>> {
    let mut all = vec![ancestor];
    let mut seen = 0;
    while let Some(process) = all.get(seen).copied() {
        seen += 1;
        for task in std::fs::read_dir(format!("/proc/{process}/task"))? {
            let children = std::fs::read_to_string(task?.path().join("children"))?;
            all.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
    }
    Ok(all)
}
