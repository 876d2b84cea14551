//! One grammar for every command: the model, the options, the data, the failures and the help.

#[cfg(unix)]
mod commands_page;
mod config;
mod failures;
mod findings;
mod help;
mod models;
mod prices;
mod schema;
mod writing;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::photic;

/// A folder of a test, which is removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("photic-grammar-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file and returns its path.
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.0.join(name), content).unwrap();
        self.path(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A request on Chat Completions for a model, with screenshots in tool results.
fn chat(model: &str, images: usize) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Look."})];
    for index in 0..images {
        let id = format!("c{index}");
        let png = photic_testkit::image::png_with_text(
            640,
            400,
            [40, 90, 200],
            &[("index", &index.to_string())],
        );
        let url = photic_testkit::image::data_url("image/png", &png);
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "screenshot", "arguments": "{}"}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": [
            {"type": "image_url", "image_url": {"url": url}}]}));
    }
    json!({"model": model, "messages": messages})
}

/// Runs a command with this standard input.
fn piped(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = photic()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that fails early does not read all of it.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// The output as JSON.
fn data(output: &Output) -> Value {
    let data = serde_json::from_slice(&output.stdout);
    assert!(data.is_ok(), "{}{}", crate::stdout(output), crate::stderr(output));
    data.unwrap()
}
