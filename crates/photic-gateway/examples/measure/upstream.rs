//! The upstream: reads whole requests and answers at once, or streams as a header asks for. It has a
//! thread for each connection, and its cost is not counted.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Barrier, OnceLock};
use std::time::{Duration, Instant};

use crate::Outcome;

pub(crate) const ANSWER: &[u8] = br#"{"id":"r","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"a sentence that is about as long as short answers are"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":12,"total_tokens":112}}"#;

/// Asks for a stream of one event.
pub(crate) const ONE: &str = "x-events: one\r\n";
/// Asks for a stream of many: 100 that are 5 ms apart, then ten bursts of ten.
pub(crate) const MANY: &str = "x-events: many\r\n";

/// Starts an upstream that answers when so many requests have arrived.
pub(crate) fn start(together: usize) -> Outcome<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let all = Arc::new(Barrier::new(together));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let all = Arc::clone(&all);
            std::thread::spawn(move || serve(stream, &all));
        }
    });
    Ok(address)
}

/// Returns the URL of an upstream.
pub(crate) fn url(address: SocketAddr) -> String {
    format!("http://{address}")
}

/// Returns the nanoseconds since the first call.
pub(crate) fn now() -> u64 {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    u64::try_from(BEGUN.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the number of bytes of a message that are still missing, once its head has arrived.
pub(crate) fn remaining(bytes: &[u8]) -> Option<usize> {
    let head = head(bytes)?;
    let lower = head.to_ascii_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    (head.len() + length.unwrap_or(0)).checked_sub(bytes.len())
}

fn head(bytes: &[u8]) -> Option<&str> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    std::str::from_utf8(&bytes[..end]).ok()
}

/// Returns `None` if the client has disconnected.
fn serve(mut stream: TcpStream, all: &Barrier) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let reply = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        ANSWER.len()
    );
    let reply = [reply.as_bytes(), ANSWER].concat();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let (mut had, mut left) = (0, None);
        while left != Some(0) {
            let read = stream.read(&mut buffer[if left.is_none() { had } else { 0 }..]).ok()?;
            if read == 0 {
                return None;
            }
            if let Some(rest) = &mut left {
                *rest -= read;
            } else {
                had += read;
                left = remaining(&buffer[..had]);
            }
        }
        all.wait();
        // Bodies that are larger than the buffer overwrite their head. They ask for no stream.
        match head(&buffer[..had]) {
            Some(head) if head.contains(ONE.trim()) => events(&mut stream, head, false)?,
            Some(head) if head.contains(MANY.trim()) => events(&mut stream, head, true)?,
            _ => stream.write_all(&reply).ok()?,
        }
    }
}

fn events(stream: &mut TcpStream, head: &str, many: bool) -> Option<()> {
    let messages = head.starts_with("POST /v1/messages ");
    let (before, after) = if messages { MESSAGES } else { CHAT };
    let start = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                 transfer-encoding: chunked\r\n\r\n";
    stream.write_all(start.as_bytes()).ok()?;
    for event in before {
        chunk(stream, event)?;
    }
    for count in 0..if many { 200 } else { 1 } {
        let text = format!("t={};", now());
        chunk(stream, &if messages { messages_event(&text) } else { chat_event(&text) })?;
        match count {
            _ if !many => {}
            0..100 => std::thread::sleep(Duration::from_millis(5)),
            _ if count % 10 == 9 => std::thread::sleep(Duration::from_millis(20)),
            _ => {}
        }
    }
    for event in after {
        chunk(stream, event)?;
    }
    stream.write_all(b"0\r\n\r\n").ok()
}

fn chunk(stream: &mut TcpStream, event: &str) -> Option<()> {
    stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).ok()
}

fn chat_event(text: &str) -> String {
    format!(
        "data: {{\"id\":\"r\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\
         \"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\
         \"finish_reason\":null}}]}}\n\n"
    )
}

fn messages_event(text: &str) -> String {
    format!(
        "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\
         \"delta\":{{\"type\":\"text_delta\",\"text\":\"{text}\"}}}}\n\n"
    )
}

/// The text before and after the time in an event.
type Around = (&'static [&'static str], &'static [&'static str]);

const CHAT: Around = (
    &[],
    &[
        "data: {\"id\":\"r\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
        "data: [DONE]\n\n",
    ],
);

const MESSAGES: Around = (
    &[
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"r\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    ],
    &[
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":5}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    ],
);
