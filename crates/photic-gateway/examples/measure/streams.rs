//! Measures the delay of the first event of a stream, and of the others.
//!
//! Every event contains the time at which it was written, by the clock of this process, which is also
//! the upstream.

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;

use crate::Outcome;
use crate::bodies;
use crate::load::{connect, median};
use crate::upstream::{self, MANY, ONE};

/// A client of one wire. Its model decides the wire of the upstream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) path: &'static str,
    pub(crate) model: &'static str,
}

/// Not translated.
pub(crate) const CHAT: Caller = Caller { path: "/v1/chat/completions", model: "gpt-4o" };
/// Translated.
pub(crate) const CHAT_TO_MESSAGES: Caller =
    Caller { path: "/v1/chat/completions", model: "messages-m" };
/// Translated.
pub(crate) const MESSAGES_TO_CHAT: Caller = Caller { path: "/v1/messages", model: "chat-m" };

/// Returns the median time from the request to the first event, in µs.
pub(crate) fn first_byte(to: SocketAddr, times: usize) -> Outcome<f64> {
    let mut stream = connect(to)?;
    let mut waits = Vec::new();
    for _ in 0..times {
        let begun = upstream::now();
        let seen = events(&mut stream, CHAT, ONE)?;
        let first = seen.first().ok_or("no event")?;
        waits.push((first.seen - begun) as f64 / 1e3);
    }
    Ok(median(waits))
}

/// Returns the 99th percentile and the maximum delay of events, in ms. The best of three streams
/// counts: load on the machine delays one of them, while delayed small writes delay every one.
pub(crate) fn lateness(to: SocketAddr, caller: Caller) -> Outcome<(f64, f64)> {
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..3 {
        let seen = events(&mut connect(to)?, caller, MANY)?;
        if seen.len() != 200 {
            return Err(format!("{} events of 200 came", seen.len()).into());
        }
        let late = |event: &Event| (event.seen - event.written) as f64 / 1e6;
        let mut late: Vec<f64> = seen.iter().map(late).collect();
        late.sort_by(f64::total_cmp);
        let (most, latest) = (late[late.len() * 99 / 100], late[late.len() - 1]);
        if most < best.0 {
            best = (most, latest);
        }
    }
    Ok(best)
}

struct Event {
    written: u64,
    seen: u64,
}

fn events(stream: &mut std::net::TcpStream, caller: Caller, which: &str) -> Outcome<Vec<Event>> {
    let body = bodies::words(caller.model, true);
    stream.write_all(&bodies::request(caller.path, which, &body))?;
    let (mut events, mut had, mut read_to) = (Vec::new(), Vec::new(), 0);
    let mut buffer = vec![0; 64 << 10];
    // The last chunk has no bytes.
    while !had.ends_with(b"\r\n0\r\n\r\n") {
        let read = stream.read(&mut buffer)?;
        let seen = upstream::now();
        if read == 0 {
            return Err("the stream broke off".into());
        }
        had.extend_from_slice(&buffer[..read]);
        while let Some((written, end)) = time(&had[read_to..]) {
            read_to += end;
            events.push(Event { written, seen });
        }
    }
    Ok(events)
}

/// Parses the first time in a text, as in `t=17;`. Returns it with its end.
fn time(text: &[u8]) -> Option<(u64, usize)> {
    let mut from = 0;
    loop {
        let start = from + text[from..].windows(2).position(|two| two == b"t=")? + 2;
        let digits = text[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let end = start + digits;
        match text.get(end)? {
            b';' if digits > 0 => {
                let written = std::str::from_utf8(&text[start..end]).ok()?.parse().ok()?;
                return Some((written, end));
            }
            _ => from = end,
        }
    }
}
