//! `inspect --batch` against the strict provider, which knows charts from their pixels and nothing
//! else: who was asked how often is in its journal.

mod caps;
mod failures;
mod lists;
mod many;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use photic_mock::{Chart, Mock, Options};
use serde_json::Value;

use crate::photic;

const QUESTION: &str = "which colors?";

/// A folder with charts, a list of them and the record of a batch. Dropping it deletes the folder.
struct BatchTest {
    folder: PathBuf,
    charts: Vec<Chart>,
    mock: Mock,
    /// Arguments of the command that name the record of the batch.
    record: Vec<String>,
}

impl BatchTest {
    /// So many charts, with the work in a directory.
    fn new(charts: u64, options: Options) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        // In memory where that can be: nothing here is about disks.
        let memory = Path::new("/dev/shm");
        let root = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let folder = root.join(format!("photic-batch-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let charts: Vec<Chart> = (0..charts).map(Chart::of).collect();
        for (number, chart) in charts.iter().enumerate() {
            std::fs::write(folder.join(format!("{number}.png")), chart.png().unwrap()).unwrap();
        }
        let list: Vec<String> = (0..charts.len()).map(|number| format!("{number}.png")).collect();
        std::fs::write(folder.join("list.txt"), list.join("\n")).unwrap();
        let record = ["--record", folder.join("record").to_str().unwrap()].map(str::to_owned);
        let mock = Mock::start(options).unwrap();
        Self { folder, charts, mock, record: record.to_vec() }
    }

    /// The command, for a list in the folder.
    fn command(&self, list: &str, more: &[&str]) -> Command {
        let base = format!("{}/v1", self.mock.url());
        let mut command = photic();
        command
            .current_dir(&self.folder)
            .args(["inspect", "--batch", list, "--question", QUESTION])
            .args(["--model", "gpt-4o", "--base-url", &base])
            .args(&self.record)
            .args(more)
            .env("OPENAI_API_KEY", "sk-secret")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, more: &[&str]) -> Output {
        self.command("list.txt", more).output().unwrap()
    }

    fn start(&self, more: &[&str]) -> Child {
        self.command("list.txt", more).spawn().unwrap()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.folder.join(name), content).unwrap();
    }

    /// Number of requests that the provider received.
    fn asked(&self) -> usize {
        self.mock.journal().len()
    }

    /// Number of requests for each picture, by the digest of the message that held it.
    fn asked_each(&self) -> BTreeMap<String, usize> {
        let mut each = BTreeMap::new();
        for entry in self.mock.journal() {
            *each.entry(entry.units.last().unwrap().clone()).or_default() += 1;
        }
        each
    }

    /// Waits until so many questions were asked.
    fn until_asked(&self, questions: usize) {
        let since = Instant::now();
        while self.asked() < questions {
            assert!(since.elapsed() < Duration::from_mins(2), "only {} were asked", self.asked());
            std::thread::sleep(Duration::from_millis(25));
        }
    }

    /// Every line names the chart of its place.
    fn all_named_right(&self, lines: &str) {
        assert_eq!(lines.lines().count(), self.charts.len());
        for (number, (line, chart)) in lines.lines().zip(&self.charts).enumerate() {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["image"], format!("{number}.png"));
            let answer = line["answer"].as_str().unwrap();
            assert!(answer.contains(&chart.words()), "{number}: {answer} for {}", chart.words());
        }
    }
}

impl Drop for BatchTest {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
