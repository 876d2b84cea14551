//! Many requests at once: no answers are mixed up, and no files are leaked.

use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::caller::{exchange, post};
use crate::gateway;
use crate::scripted::{Act, Seen, Upstream};

/// Answers with the body of the request, and closes the connection.
fn echo(seen: &Seen) -> Vec<Act> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        seen.body.len()
    );
    vec![Act::Send([head.as_bytes(), &seen.body].concat()), Act::Close]
}

fn body(number: usize) -> String {
    let padding = "x".repeat(number * 997 % 70_000);
    format!("{{\"messages\":[{{\"role\":\"user\",\"content\":\"{number} {padding}\"}}]}}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_at_once_get_their_own_answers() {
    let (address, _) = Upstream::start(echo).await;
    let gateway = gateway(address, "").await;
    let asked: Vec<_> = (0..100)
        .map(|number| {
            tokio::spawn(async move {
                let body = body(number);
                let reply = exchange(gateway, &post("/v1/messages", "", body.as_bytes())).await;
                assert!(reply.body == body.as_bytes(), "the answer to {number} is another's");
            })
        })
        .collect();
    for one in asked {
        one.await.unwrap();
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn no_open_file_is_left_behind() {
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let (address, _) = Upstream::start(echo).await;
    let gateway = gateway(address, "").await;
    exchange(gateway, &post("/v1/messages", "", body(0).as_bytes())).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let before = open();
    let asked: Vec<_> = (0..200)
        .map(|number| {
            tokio::spawn(async move {
                let request = post("/v1/messages", "", body(number).as_bytes());
                if number % 3 > 0 {
                    exchange(gateway, &request).await;
                    return;
                }
                // Disconnects in the middle of the request or of the reply.
                let mut stream = TcpStream::connect(gateway).await.unwrap();
                let part = if number % 2 == 0 { request.len() / 2 } else { request.len() };
                stream.write_all(&request[..part]).await.unwrap();
            })
        })
        .collect();
    for one in asked {
        one.await.unwrap();
    }
    // Two minutes.
    for _ in 0..2400 {
        if open() <= before {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{before} files were open, now {}", open());
}
