//! Tests of the guarded fetch against servers on loopback, which its rules have to allow, and of
//! WebSockets.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod answers;
mod corpus;
mod namespace;
mod redirects;
mod resolving;
mod server;
mod websocket;

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use photic_net::fetch::{Fetch, Resolve, Resolving, Rules};

/// Resolver that returns scripted answers in order and repeats the last one.
#[derive(Debug, Default)]
struct Script(Mutex<ScriptState>);

#[derive(Debug, Default)]
struct ScriptState {
    answers: VecDeque<Option<Vec<IpAddr>>>,
    asked: Vec<String>,
}

impl Script {
    /// `None` is a failing DNS server.
    fn new(answers: &[Option<&[&str]>]) -> Arc<Self> {
        let answer =
            |addresses: &[&str]| addresses.iter().map(|one| one.parse().unwrap()).collect();
        let answers = answers.iter().map(|one| one.map(answer)).collect();
        Arc::new(Self(Mutex::new(ScriptState { answers, asked: Vec::new() })))
    }

    /// Returns the names that were resolved.
    fn asked(&self) -> Vec<String> {
        self.0.lock().unwrap().asked.clone()
    }
}

impl Resolve for Script {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        let mut lines = self.0.lock().unwrap();
        lines.asked.push(host.to_owned());
        let answers = &mut lines.answers;
        let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        let answer = answer.flatten().ok_or_else(|| io::Error::other("SERVFAIL"));
        Box::pin(async move { answer })
    }
}

fn is_picture(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x89PNG\r\n\x1a\n")
}

/// Creates a picture of this many bytes.
fn picture(bytes: usize) -> Vec<u8> {
    let mut picture = b"\x89PNG\r\n\x1a\n".to_vec();
    picture.resize(bytes, 7);
    picture
}

/// Creates rules that allow one local server and otherwise only public addresses.
fn rules(server: SocketAddr) -> Rules {
    Rules {
        private: vec![server],
        max_bytes: 100_000,
        total: Duration::from_secs(3),
        connect: Duration::from_secs(1),
        ..Rules::new(is_picture)
    }
}

/// Creates a fetch that may reach one local server, by number.
fn fetch(server: SocketAddr) -> Fetch {
    Fetch::new(rules(server), Script::new(&[None]))
}
