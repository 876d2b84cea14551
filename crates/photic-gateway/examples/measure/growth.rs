//! Counts the instructions of the 10th and of the 500th turn of a session with equal new content.
//!
//! The body of the later turn is fifty times as long, so a proxy that only forwards takes more, too.

use crate::bodies::{self, Api, Repeated};
use crate::gateway::{Kind, Setting};
use crate::instructions::of_one;
use crate::{Outcome, upstream};

const EARLY: usize = 10;
const LATE: usize = 500;

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
            let mut counts = [0.0; 2];
            for (count, (turn, times)) in
                counts.iter_mut().zip([(EARLY, (30, 120)), (LATE, (6, 24))])
            {
                let messages = 2 * turn - 1;
                let mut request = Repeated::of(api, &bodies::session(api, messages, messages - 1));
                *count = of_one(&kind.command(&upstream)?, &mut request, times)? / 1e3;
            }
            let [early, late] = counts;
            println!(
                "| {api_name} | {name} | {early:.1} | {late:.1} | {:.2}× | {claim} |",
                late / early
            );
        }
    }
    Ok(())
}
