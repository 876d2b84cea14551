//! Streams: how soon the first event is there, and how late the others are.
//!
//! Every event says when it was written, by the clock of this process, which is the upstream's.

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;

use crate::Outcome;
use crate::bodies;
use crate::load::{connect, median};
use crate::upstream::{self, MANY, ONE};

/// A caller of one wire, and the model it asks for, which decides whom it gets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) path: &'static str,
    pub(crate) model: &'static str,
}

/// A wire that the upstream speaks, too.
pub(crate) const CHAT: Caller = Caller { path: "/v1/chat/completions", model: "gpt-4o" };
/// Translated.
pub(crate) const CHAT_TO_MESSAGES: Caller =
    Caller { path: "/v1/chat/completions", model: "messages-m" };
/// Translated.
pub(crate) const MESSAGES_TO_CHAT: Caller = Caller { path: "/v1/messages", model: "chat-m" };

/// From the request to the first event, in µs: the median of so many.
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

/// How late events are, in ms: the one that only one of a hundred is later than, and the latest. Of
/// three streams the best: others on this machine hold one up, small writes hold up every one.
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

/// The first time in a text, as in `t=17;`, and where it ends.
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
