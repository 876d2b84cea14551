//! A `PostgreSQL` server that a test starts, stops and restarts.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A server with its own files, deleted when dropped.
pub(crate) struct Cluster {
    binaries: PathBuf,
    directory: PathBuf,
    port: u16,
}

impl Cluster {
    /// Creates a server that is not running; `None` if no servers are wanted.
    pub(crate) fn new(name: &str) -> Option<Self> {
        std::env::var_os("PHOTIC_FLEET_POSTGRES")?;
        let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
        let binaries = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).max()?;
        let directory = format!("photic-fleet-{name}-{}", std::process::id());
        let directory = std::env::temp_dir().join(directory);
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir(&directory).unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let cluster = Self { binaries, directory, port };
        if is_root() {
            let mut command = Command::new("chown");
            assert!(command.arg("postgres").arg(&cluster.directory).status().unwrap().success());
        }
        cluster.run("initdb", &["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale"]);
        Some(cluster)
    }

    pub(crate) fn address(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    pub(crate) fn start(&self) {
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=100",
            self.port
        );
        let log = self.directory.join("log");
        self.run(
            "pg_ctl",
            &["-s", "-w", "-l", &log.display().to_string(), "-o", &options, "start"],
        );
    }

    /// Stops it like a crash.
    pub(crate) fn stop(&self) {
        self.run("pg_ctl", &["-s", "-w", "-m", "immediate", "stop"]);
    }

    /// `PostgreSQL` refuses to run as root; its files belong to another user then.
    fn run(&self, program: &str, arguments: &[&str]) {
        let program = self.binaries.join(program);
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.arg("-D").arg(self.directory.join("data")).args(arguments);
        let done = command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).status();
        assert!(done.unwrap().success(), "{command:?}");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.directory.join("data/postmaster.pid").exists() {
            self.stop();
        }
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(Path::new("/proc/self")).is_ok_and(|facts| facts.uid() == 0)
}
