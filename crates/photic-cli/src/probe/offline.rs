//! The chart reader in a real llama.cpp server: a model that sees, without a network.
//!
//! The child process ends when its standard input closes, so it cannot outlive this process.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::Context as _;
use photic_probe::Task;

use crate::style::Hint;

/// The program that starts the server.
static SERVER_SCRIPT: &[u8] = include_bytes!("../../data/chart-reader/serve.py");
/// Weights of the language model.
static WEIGHTS: &[u8] = include_bytes!("../../data/chart-reader/chart-reader.gguf");
/// Weights of the vision encoder.
static VISION_WEIGHTS: &[u8] = include_bytes!("../../data/chart-reader/chart-reader-mmproj.gguf");
/// Longest time for loading the weights and opening a port.
const START_TIMEOUT: Duration = Duration::from_mins(1);
/// Context size in tokens; a picture takes 64.
const CONTEXT: &str = "8192";

/// Name of the model in reports.
pub(super) const MODEL: &str = "chart-reader";
/// Tasks for this small model.
pub(super) const TASKS: [Task; 2] = [Task::Grid { rows: 2, columns: 2 }, Task::Code { length: 4 }];

/// A server that runs until it is dropped.
pub(super) struct ChartReaderServer {
    child: Child,
    _folder: ModelFiles,
    /// Base URL of the server.
    pub(super) address: String,
}

impl ChartReaderServer {
    /// Starts the server and waits until it listens.
    pub(super) fn start() -> anyhow::Result<Self> {
        let python = std::env::var_os("PHOTIC_PYTHON").unwrap_or_else(|| "python3".into());
        let name = python.display().to_string();
        let has = Command::new(&python)
            .args(["-c", "import xllamacpp"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .with_context(|| format!("cannot start `{name}`"))
            .context(Hint("set `PHOTIC_PYTHON` to a Python interpreter"))?;
        if !has.success() {
            let hint =
                Hint("run `pip install xllamacpp`, or set `PHOTIC_PYTHON` to a Python that has it");
            let missing = format!("`{name}` has no package `xllamacpp`, the llama.cpp server");
            return Err(anyhow::anyhow!(missing).context(hint));
        }
        let folder = ModelFiles::new().context("cannot unpack the model")?;
        let mut child = Command::new(&python)
            .arg(folder.0.join("serve.py"))
            .arg(folder.0.join(MODEL))
            .args(["0", CONTEXT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start `{name}`"))?;
        let address = address(&mut child);
        let mut reader = Self { child, _folder: folder, address: String::new() };
        reader.address = address.context("the server did not start")?;
        Ok(reader)
    }
}

impl Drop for ChartReaderServer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for the line `listening http://127.0.0.1:4242`. All other output is read and dropped,
/// since a full pipe would block the server.
fn address(child: &mut Child) -> Option<String> {
    let out = BufReader::new(child.stdout.take()?);
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for line in out.lines().map_while(Result::ok) {
            if let Some(address) = line.strip_prefix("listening ") {
                let _ = tell.send(address.trim().to_owned());
            }
        }
    });
    told.recv_timeout(START_TIMEOUT).ok()
}

/// The files of the model in a temporary folder, which is removed on drop.
struct ModelFiles(PathBuf);

impl ModelFiles {
    fn new() -> anyhow::Result<Self> {
        let name = format!("photic-reader-{:016x}", getrandom::u64()?);
        let folder = Self(std::env::temp_dir().join(name));
        std::fs::create_dir(&folder.0)?;
        for (name, bytes) in [
            ("serve.py", SERVER_SCRIPT),
            ("chart-reader.gguf", WEIGHTS),
            ("chart-reader-mmproj.gguf", VISION_WEIGHTS),
        ] {
            std::fs::File::create_new(folder.0.join(name))?.write_all(bytes)?;
        }
        Ok(folder)
    }
}

impl Drop for ModelFiles {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
