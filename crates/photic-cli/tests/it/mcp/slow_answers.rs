//! Slow answers: progress notifications, and cancellation.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use photic_testkit::image;
use serde_json::json;

use super::client::{Folder, Pipe};
use crate::photic;

/// A provider that takes requests and never answers.
struct SilentServer(Child, String);

impl SilentServer {
    fn start() -> Self {
        let mut mock = photic();
        mock.args(["mock", "--misbehave", "hang"]).stdout(Stdio::piped());
        let mut mock = mock.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(mock.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self(mock, line.trim().to_owned())
    }
}

impl Drop for SilentServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_call_that_is_taken_back_ends_and_tells_nothing_more() {
    let folder = Folder::new("cancel");
    folder.write("a.png", image::png(64, 48, [200, 30, 60]));
    folder.write("a.txt", "words\n");
    let silent = SilentServer::start();
    let mut command = photic();
    command.arg("mcp").arg("--root").arg(&folder.0).args(["--model", "gpt-5.4"]);
    command.env("OPENAI_BASE_URL", format!("{}/v1", silent.1)).env("OPENAI_API_KEY", "any");
    let mut pipe = Pipe::of(command);
    pipe.initialize("2025-11-25");
    pipe.tell("notifications/initialized", &json!({}));

    let inspect = json!({
        "name": "inspect",
        "arguments": {"source": "a.png", "question": "What is it?"},
        "_meta": {"progressToken": "t"},
    });
    let asked = pipe.begin("tools/call", &inspect);
    let sign = pipe.message(Duration::from_mins(1)).expect("a sign of life");
    assert_eq!(sign["method"], "notifications/progress", "{sign}");
    assert_eq!(sign["params"]["progressToken"], "t");
    let says = sign["params"]["message"].as_str().unwrap();
    assert!(says.contains("asking") && says.contains("gpt-5.4"), "{says}");
    let next = pipe.message(Duration::from_mins(1)).expect("another");
    assert!(next["params"]["progress"].as_f64() > sign["params"]["progress"].as_f64());

    pipe.tell("notifications/cancelled", &json!({"requestId": asked, "reason": "enough"}));
    // Others are served, and after that nothing comes: no answer, no sign of life.
    let read = pipe.call("read", &json!({"source": "a.txt"}));
    assert_eq!(read["isError"], false);
    pipe.others.clear();
    assert_eq!(pipe.message(Duration::from_millis(2500)), None);
    assert_eq!(pipe.leave(), Some(0), "nothing is left that could be waited for");
}

#[test]
fn quick_work_gives_no_signs() {
    let folder = Folder::new("quick");
    folder.write("a.txt", "words\n");
    let mut pipe = Pipe::begun(&folder.0, "test", &[]);
    let read =
        json!({"name": "read", "arguments": {"source": "a.txt"}, "_meta": {"progressToken": 1}});
    pipe.ask("tools/call", &read);
    assert!(pipe.others.is_empty(), "{:?}", pipe.others);
}
