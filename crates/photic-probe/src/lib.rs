//! Proves whether a model sees the pictures it is sent, place by place.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! use photic::{Profile, Wire};
//! use photic_probe::{Heard, Place, Settings, Target, Verdict};
//!
//! let profile = Profile::generic(Wire::OpenAiChat);
//! let target = Target { wire: Wire::OpenAiChat, model: "m".to_owned(), profile };
//! let settings = Settings { places: vec![Place::User], ..Settings::default() };
//! // Somebody who says the same whatever is shown:
//! let ask = async |_body: Vec<u8>| Heard::Answer {
//!     text: "red, red, red".to_owned(),
//!     usage: None,
//!     took: std::time::Duration::ZERO,
//! };
//! let report = photic_probe::run(&target, &settings, None, ask, |_| {}).await?;
//! assert_eq!(report.findings[0].verdict, Verdict::Blind);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Every trial has a fresh picture of random colors or characters and a control: the same words
//! without the picture. [`estimate`] says what a probe will take, [`run`] asks, and the [`Report`]
//! holds a [`Verdict`] for every [`Place`], with the evidence. [`Endpoint::ask`] is the way to a
//! real model.
//!
//! # What it does not do
//!
//! It prints nothing, opens no file, reads no clock but to time answers, and draws no random
//! number: the seed is the caller's. It decides nothing about profiles.

mod ask;
mod billing;
mod conversation;
mod file;
mod picture;
mod place;
mod report;
mod request;
mod run;
mod tally;
mod verdict;
mod write;

pub use ask::{Endpoint, Heard};
pub use billing::Billed;
pub use file::{File, Format};
pub use picture::{Picture, Task};
pub use place::{Notice, Place};
pub use report::{Finding, Honesty, Report};
pub use request::Target;
pub use run::{Estimate, Progress, Publish, SMALLEST, Settings, Unreachable, estimate, run};
pub use verdict::{PROOF, Score, Verdict, judge, leaks};
