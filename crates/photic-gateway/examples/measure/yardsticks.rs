//! Compares the gateway with the baselines, all on one processor: a pipe, which only forwards, and a
//! store, which sends a request once all of it has arrived.
//!
//! Client, proxies and upstream share the processor. That makes times shorter than they are between
//! machines, but they vary less, and the same work takes the same time in each proxy. A time fails
//! nothing.

use std::process::Command;

use crate::bodies::{self, Api, Repeated};
use crate::gateway::Kind;
use crate::load::{Cost, median, rounds};
use crate::proxy::Proxy;
use crate::{Outcome, tls, upstream};

/// The way to the upstream.
#[derive(Clone, Copy, Debug)]
enum Transport {
    Plain,
    Tls(tls::Version),
}

/// The number of rows and rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The rows with claims, in a few rounds.
    Small,
    /// All rows.
    Full,
}

/// A baseline.
#[derive(Clone, Copy, Debug)]
enum Baseline {
    Pipe,
    Store,
}

/// A request that is measured.
struct Case {
    name: String,
    request: Repeated,
    /// Number of requests in a round.
    times: u32,
    /// The highest ratio to a baseline that is claimed.
    claim: Option<(Baseline, f64)>,
}

/// Runs this program again on the last processor that it may use, which measures there.
pub(crate) fn run_pinned(extent: Extent) -> Outcome<()> {
    let this = std::env::current_exe()?;
    let mode = match extent {
        Extent::Small => "pinned",
        Extent::Full => "pinned-full",
    };
    let status = std::fs::read_to_string("/proc/self/status")?;
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let last = allowed.and_then(|list| list.trim().rsplit([',', '-']).next());
    let last = last.ok_or("no list of processors")?;
    let done = Command::new("taskset").args(["-c", last]).arg(this).arg(mode).status()?;
    if done.success() { Ok(()) } else { Err("the comparison on one processor failed".into()) }
}

/// Measures, and prints a table for each way to the upstream.
pub(crate) fn run(extent: Extent) -> Outcome<()> {
    let ways: &[_] = match extent {
        Extent::Small => &[Transport::Plain, Transport::Tls(tls::Version::Http2)],
        Extent::Full => &[
            Transport::Plain,
            Transport::Tls(tls::Version::Http1),
            Transport::Tls(tls::Version::Http2),
        ],
    };
    for way in ways {
        let upstream = way.start()?;
        let proxies = Kind::ALL.map(|kind| kind.start(&upstream));
        let [pipe, store, gateway] = proxies;
        let proxies = [pipe?, store?, gateway?];
        println!("\n| {} | pipe | store | gateway | × pipe | × store | claimed |", way.name());
        println!("|---|--:|--:|--:|--:|--:|--:|");
        for case in cases(extent, *way) {
            measure(case, &proxies, extent)?;
        }
    }
    Ok(())
}

fn measure(mut case: Case, proxies: &[Proxy; 3], extent: Extent) -> Outcome<()> {
    let turns = proxies.each_ref().map(|proxy| (proxy, case.times));
    let times = if extent == Extent::Full { 15 } else { 5 };
    let all = rounds(&turns, &mut case.request, times)?;
    let [pipe, store, gateway] = &all[..] else { return Err("not three proxies".into()) };
    let cpu = |costs: &[Cost]| crate::micros(median(costs.iter().map(|one| one.cpu).collect()));
    // The machine changes its pace between rounds, and hardly within one.
    let ratio = |base: &[Cost]| {
        median(gateway.iter().zip(base).map(|(one, base)| one.cpu / base.cpu).collect())
    };
    let claim = case.claim.map(|(base, most)| match base {
        Baseline::Pipe => format!("at most {most}× pipe"),
        Baseline::Store => format!("at most {most}× store"),
    });
    println!(
        "| {} | {} | {} | {} | {:.2}× | {:.2}× | {} |",
        case.name,
        cpu(pipe),
        cpu(store),
        cpu(gateway),
        ratio(pipe),
        ratio(store),
        claim.unwrap_or_default()
    );
    Ok(())
}

impl Transport {
    const fn name(self) -> &'static str {
        match self {
            Self::Plain => "HTTP/1.1",
            Self::Tls(tls::Version::Http1) => "HTTP/1.1 over TLS",
            Self::Tls(tls::Version::Http2) => "HTTP/2 over TLS",
        }
    }

    /// Starts an upstream and returns its URL.
    fn start(self) -> Outcome<String> {
        Ok(match self {
            Self::Plain => upstream::url(upstream::start(1)?),
            Self::Tls(version) => format!("https://{}", tls::start(version)?),
        })
    }
}

/// Returns the requests of a table.
fn cases(extent: Extent, way: Transport) -> Vec<Case> {
    let is_h2 = matches!(way, Transport::Tls(tls::Version::Http2));
    let is_plain = matches!(way, Transport::Plain);
    let mut all = vec![Case {
        name: "2 KB".to_owned(),
        request: Repeated::chat(&bodies::words("gpt-4o", false)),
        times: 800,
        claim: None,
    }];
    for (size, bytes, times) in [
        ("250 KB", 187_500, 150),
        ("1 MB", 750_000, 50),
        ("4 MB", 3_000_000, 16),
        ("12 MB", 9_000_000, 6),
    ] {
        let large = |hoisted: bool| match (size, hoisted) {
            ("12 MB", _) if is_h2 => Some((Baseline::Pipe, 1.2)),
            ("12 MB", true) if is_plain => Some((Baseline::Store, 1.15)),
            ("12 MB", false) if is_plain => Some((Baseline::Store, 1.1)),
            ("1 MB", _) if is_plain => Some((Baseline::Pipe, 1.3)),
            _ => None,
        };
        for (what, body, claim) in [
            ("nothing to do", bodies::photograph(bytes), large(false)),
            ("ten images hoisted", bodies::screenshots(bytes), large(true)),
        ] {
            let (name, request) = (format!("{size}, {what}"), Repeated::chat(&body));
            all.push(Case { name, request, times, claim });
        }
    }
    for (messages, times) in [(40, 500), (200, 150), (2_000, 30)] {
        let claimed = |most| (messages == 2_000 && is_plain).then_some((Baseline::Pipe, most));
        for (what, varied, claim) in [
            ("another session", 0, claimed(10.0)),
            ("the session goes on", messages - 1, claimed(1.5)),
        ] {
            let (name, request) = (
                format!("{messages} messages, {what}"),
                Repeated::chat(&bodies::session(Api::Chat, messages, varied)),
            );
            all.push(Case { name, request, times, claim });
        }
    }
    if extent == Extent::Small {
        all.retain(|case| case.claim.is_some() || case.name == "2 KB");
    }
    all
}
