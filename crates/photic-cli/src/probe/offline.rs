//! The chart reader in the real llama.cpp server: a model that sees, without a network.
//!
//! Owns the child: it ends when its standard input does, so it cannot outlive us, however we end.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::Context as _;
use photic_probe::Task;

use crate::style::Hint;

static SERVE: &[u8] = include_bytes!("../../data/chart-reader/serve.py");
static WEIGHTS: &[u8] = include_bytes!("../../data/chart-reader/chart-reader.gguf");
static EYES: &[u8] = include_bytes!("../../data/chart-reader/chart-reader-mmproj.gguf");
/// For weights to be read and a port to be opened.
const PATIENCE: Duration = Duration::from_mins(1);
/// Tokens of a conversation; a picture is 64.
const CONTEXT: &str = "8192";

/// What it is called in reports.
pub(super) const MODEL: &str = "chart-reader";
/// What it is asked: it is small.
pub(super) const TASKS: [Task; 2] = [Task::Grid { rows: 2, columns: 2 }, Task::Code { length: 4 }];

/// A server that runs until it is dropped.
pub(super) struct Reader {
    child: Child,
    _folder: Unpacked,
    /// Where it listens.
    pub(super) address: String,
}

impl Reader {
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
            .context(Hint("name a Python with `PHOTIC_PYTHON`"))?;
        if !has.success() {
            let hint =
                Hint("`pip install xllamacpp`, or name a Python that has it: `PHOTIC_PYTHON`");
            let missing = format!("`{name}` has no package `xllamacpp`, the llama.cpp server");
            return Err(anyhow::anyhow!(missing).context(hint));
        }
        let folder = Unpacked::new().context("cannot unpack the model")?;
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
        reader.address = address.context("the model did not come up")?;
        Ok(reader)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What it prints when it listens: `listening http://127.0.0.1:4242`. Everything else it says is
/// read, too, and thrown away: a full pipe would stop it.
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
    told.recv_timeout(PATIENCE).ok()
}

/// The files of the model in a folder of their own, gone with it.
struct Unpacked(PathBuf);

impl Unpacked {
    fn new() -> anyhow::Result<Self> {
        let name = format!("photic-reader-{:016x}", getrandom::u64()?);
        let folder = Self(std::env::temp_dir().join(name));
        std::fs::create_dir(&folder.0)?;
        for (name, bytes) in [
            ("serve.py", SERVE),
            ("chart-reader.gguf", WEIGHTS),
            ("chart-reader-mmproj.gguf", EYES),
        ] {
            std::fs::File::create_new(folder.0.join(name))?.write_all(bytes)?;
        }
        Ok(folder)
    }
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
