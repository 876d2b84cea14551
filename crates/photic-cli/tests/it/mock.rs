//! `photic mock`: the address first, an answer from pixels, and an end when it is told.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use photic_testkit::image;

use crate::{photic, run, stderr, stdout};

#[test]
fn it_names_the_chart_it_made_and_stops_on_a_signal() {
    let folder = std::env::temp_dir().join(format!("photic-mock-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let chart = folder.join("chart.png");
    let made = run(&["mock", "--chart", "7", "-o", chart.to_str().unwrap()]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    let right = stdout(&made).trim().to_owned();

    let mut mock = photic().arg("mock").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(mock.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap();
    let url = image::data_url("image/png", &std::fs::read(&chart).unwrap());
    std::fs::remove_dir_all(&folder).unwrap();
    let part = serde_json::json!({"type": "image_url", "image_url": {"url": url}});
    let message = serde_json::json!({"role": "user", "content": [part]});
    let body = serde_json::json!({"model": "gpt-4o", "messages": [message]}).to_string();
    let mut socket = TcpStream::connect(address).unwrap();
    let length = body.len();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer k\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).unwrap();
    socket.write_all(body.as_bytes()).unwrap();
    let mut reply = String::new();
    socket.read_to_string(&mut reply).unwrap();
    assert!(reply.contains(&format!("image 1: {right}")), "{reply}");

    let pid = rustix::process::Pid::from_child(&mock);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(mock.wait().unwrap().code(), Some(0));
}

#[test]
fn misuse_is_named() {
    let output = run(&["mock", "--misbehave", "nap"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("possible values: ignore-tool-images"), "{}", stderr(&output));
    assert_eq!(run(&["mock", "-o", "chart.png"]).status.code(), Some(2));
}
