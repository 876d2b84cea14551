//! The gateway as a separate process, with its open files and its memory.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use crate::Outcome;

/// A gateway that runs until it is dropped.
pub(crate) struct Gateway {
    child: Child,
    pub(crate) address: SocketAddr,
}

/// Serves until the process is killed. The time limits for the provider are short.
pub(crate) fn run(upstream: &str) -> Outcome<()> {
    let settings = format!(
        "listen = '127.0.0.1:0'\nlog = 'off'\n[timeouts]\nanswer_s = 20\nidle_s = 10\n\
         [[upstream]]\nurl = 'http://{upstream}'\n\
         [[upstream]]\nurl = 'http://{upstream}'\nwire = 'openai-chat'\nmodels = ['chat-*']\n\
         [[upstream]]\nurl = 'http://{upstream}'\nwire = 'anthropic'\nmodels = ['messages-*']\n"
    );
    let config = photic_gateway::Config::parse(&settings)?;
    photic_gateway::runtime()?.block_on(async {
        let gateway = photic_gateway::Gateway::bind(config).await?;
        println!("{}", gateway.address().port());
        gateway.serve(std::future::pending()).await;
        Ok(())
    })
}

impl Gateway {
    pub(crate) fn start(upstream: SocketAddr) -> Outcome<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["gateway", &upstream.to_string()])
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let address = SocketAddr::from(([127, 0, 0, 1], line.trim().parse()?));
        Ok(Self { child, address })
    }

    /// Returns the number of open files, sockets included.
    pub(crate) fn files(&self) -> Outcome<usize> {
        Ok(std::fs::read_dir(format!("/proc/{}/fd", self.child.id()))?.count())
    }

    /// Returns its memory, in MB.
    pub(crate) fn memory(&self) -> Outcome<u64> {
        self.status("VmRSS:")
    }

    pub(crate) fn peak(&self) -> Outcome<u64> {
        self.status("VmHWM:")
    }

    fn status(&self, name: &str) -> Outcome<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name)).ok_or("no such line")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? / 1024)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
