//! Tests whether a model sees the pictures it is sent, for each position in a request.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! use photic::{Profile, Wire};
//! use photic_probe::{AskOutcome, PicturePosition, ProbeSettings, ProbeTarget, Verdict};
//!
//! let profile = Profile::generic(Wire::OpenAiChat);
//! let target = ProbeTarget { wire: Wire::OpenAiChat, model: "m".to_owned(), profile };
//! let settings = ProbeSettings { places: vec![PicturePosition::User], ..ProbeSettings::default() };
//! // A model that gives the same answer to every picture:
//! let ask = async |_body: Vec<u8>| AskOutcome::Answer {
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
//! Every trial has a new picture of random colors or characters and a control: the same text
//! without the picture. [`estimate`] predicts the cost of a probe, [`run`] sends the requests, and
//! the [`ProbeReport`] holds a [`Verdict`] with its evidence for every [`PicturePosition`].
//! [`Endpoint::ask`] sends requests to a real model.
//!
//! | module | what it does |
//! |---|---|
//! | `position`, `picture`, `file` | where a picture is put, what it shows, and its file |
//! | `conversation`, `request`, `write` | the conversations, and their bodies on each wire |
//! | `ask` | sends a request to an endpoint |
//! | `run`, `trial_results` | the trials, and the results of each position |
//! | `verdict`, `billing` | what answers and bills prove |
//! | `report` | the results as data |
//!
//! # What it does not do
//!
//! It prints nothing, opens no files, reads the clock only to time answers, and draws no random
//! numbers: the caller provides the seed. It does not change profiles.

mod ask;
mod billing;
mod conversation;
mod file;
mod picture;
mod position;
mod report;
mod request;
mod run;
mod trial_results;
mod verdict;
mod write;

pub use ask::{AskOutcome, Endpoint};
pub use billing::Billed;
pub use file::{PictureFile, PictureFormat};
pub use picture::{Picture, Task};
pub use position::{Notice, PicturePosition};
pub use report::{Honesty, ProbeFinding, ProbeReport};
pub use request::ProbeTarget;
pub use run::{
    Estimate, MIN_SIDE, ProbeProgress, ProbeSettings, Publish, Unreachable, estimate, run,
};
pub use verdict::{PROOF, Score, Verdict, judge, leaks};
