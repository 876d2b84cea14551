//! Counts the instructions of requests with and without what operators add: keys of callers, budgets, a
//! usage log, and a second upstream for failover.

use crate::bodies::{self, Repeated};
use crate::gateway::{Kind, Setting};
use crate::instructions::of_one;
use crate::{Outcome, upstream};

/// The highest ratio that is claimed.
const CLAIM: f64 = 1.1;

/// Prints the instructions of one request of each size, in thousands.
pub(crate) fn table() -> Outcome<()> {
    let upstream = upstream::url(upstream::start(1)?);
    println!("\n| thousand instructions | alone | operated | measured | claimed |");
    println!("|---|--:|--:|--:|--:|");
    for (name, body, times) in [
        ("2 KB", bodies::words("gpt-4o", false), (200, 1000)),
        ("12 MB, ten pictures", bodies::screenshots(9_000_000), (2, 6)),
    ] {
        let mut request = Repeated::chat(&body);
        let [alone, operated] = [Setting::Plain, Setting::Operated].map(|setting| {
            of_one(&Kind::Gateway(setting).command(&upstream)?, &mut request, times)
        });
        let (alone, operated) = (alone? / 1e3, operated? / 1e3);
        println!(
            "| {name} | {alone:.1} | {operated:.1} | {:.2}× | at most {CLAIM}× |",
            operated / alone
        );
    }
    Ok(())
}
