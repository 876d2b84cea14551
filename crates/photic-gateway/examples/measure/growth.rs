//! Counts the instructions of the 10th and of the 500th turn of sessions with equal new content.
//!
//! The body of the later turn is fifty times as long, so a proxy that only forwards takes more, too.

use std::ffi::OsString;
use std::ops::RangeInclusive;

use crate::bodies::{self, Api};
use crate::gateway::{Kind, Setting};
use crate::instructions::counted;
use crate::load::send_all;
use crate::{Outcome, upstream};

const EARLY: usize = 10;
const LATE: usize = 500;
/// Turns before and after, of which the mean is taken.
const AROUND: usize = 2;

/// Prints a table: for each API the pipe, the gateway, and the gateway with a record.
pub(crate) fn table() -> Outcome<()> {
    let upstream = upstream::url(upstream::start(1)?);
    println!(
        "\n| thousand instructions | proxy | turn {EARLY} | turn {LATE} | measured | claimed |"
    );
    println!("|---|---|--:|--:|--:|--:|");
    for (api, api_name) in
        [(Api::Chat, "Chat"), (Api::Responses, "Responses"), (Api::Messages, "Messages")]
    {
        for (kind, name, claim) in [
            (Kind::Pipe, "pipe", ""),
            (Kind::Gateway(Setting::Plain), "gateway", "at most 1.3×"),
            (Kind::Gateway(Setting::Recorded), "gateway with a record", "at most 1.3×"),
        ] {
            let command = kind.command(&upstream)?;
            let early = of_turn(&command, api, EARLY, 30)? / 1e3;
            let late = of_turn(&command, api, LATE, 5)? / 1e3;
            println!(
                "| {api_name} | {name} | {early:.1} | {late:.1} | {:.2}× | {claim} |",
                late / early
            );
        }
    }
    Ok(())
}

/// Returns the instructions of a process for one turn: the mean of the turns around it, in so many
/// sessions that go on.
fn of_turn(command: &[OsString], api: Api, turn: usize, sessions: usize) -> Outcome<f64> {
    let first = turn - AROUND - 1;
    let begun = of_sessions(command, api, first..=first, sessions)?;
    let gone_on = of_sessions(command, api, first..=turn + AROUND, sessions)?;
    Ok(gone_on.saturating_sub(begun) as f64 / ((2 * AROUND + 1) * sessions) as f64)
}

/// Returns the instructions of a process that serves these turns of sessions.
fn of_sessions(
    command: &[OsString],
    api: Api,
    turns: RangeInclusive<usize>,
    sessions: usize,
) -> Outcome<u64> {
    counted(command, |proxy| {
        for session in 0..sessions {
            let requests = turns.clone().map(|turn| bodies::turn(api, session, turn));
            send_all(proxy, requests)?;
        }
        Ok(())
    })
}
