//! Makes what an agent's tools produce as pixels reach the model as pixels, on every provider wire.
//!
//! ```
//! use photic::{Policy, Profile, Wire};
//!
//! let body = br#"{"messages":[{"role":"user","content":"Look!"},
//!   {"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"shot","arguments":"{}"}}]},
//!   {"role":"tool","tool_call_id":"c","content":""}]}"#;
//! let (transcript, findings) = photic::lift(Wire::OpenAiChat, body);
//! assert_eq!(findings[0].code.name(), "empty_tool_content");
//! let profile = Profile::generic(Wire::OpenAiChat);
//! let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
//! let lowered = photic::lower(&transcript, &plan);
//! assert!(String::from_utf8(lowered.body.to_vec()).unwrap().contains("[the tool returned no output]"));
//! ```
//!
//! Five functions, in this order: [`lift`] reads a body into a [`Transcript`] that borrows from it,
//! [`survey`] lists every sighting, [`plan`] gives each a fate with its reason, [`lower`] writes
//! the body for a wire, and [`rejection::classify`] says what a provider's refusal means.
//! [`check`] turns the first three into findings for people.
//!
//! # What it does not do
//!
//! It does no I/O, reads no clock, draws no random numbers and cannot fail: what it cannot read
//! travels as it is. It decodes no pixels (it cannot shrink or convert an image, only say honestly
//! that it is not shown), and fetches nothing: a host that does puts in what it got ([`fetchable`],
//! [`Transcript::put_fetched`]).

mod check;
mod dump;
mod fetched;
pub mod finding;
pub mod json;
mod lift;
mod lower;
pub mod media;
mod name;
mod notice;
mod plan;
pub mod profile;
pub mod rejection;
mod repair;
pub mod reply;
mod rescue;
pub mod settings;
pub mod simulate;
mod split_media;
mod stream;
mod structure;
mod survey;
pub mod tokens;
pub mod transcript;
pub mod wire;

pub use check::check;
pub use dump::{Dump, detect_dump, lift_dump};
pub use fetched::{FetchResult, Wanted, fetchable, references};
pub use finding::{Code, Cost, Finding, Position};
pub use json::Base64Runs;
pub use lift::{lift, lift_with_hints};
pub use lower::{Because, Decision, Did, Field, Lowered, lower, lower_prepared, renamed_tools};
pub use media::{Digest, MediaId, REFERENCE};
pub use name::UnknownName;
pub use plan::{
    Change, Choice, Fate, Fit, Former, Gone, Ledger, Made, Plan, Policy, Prepared, Purpose, Reason,
    Recipe, plan, retention,
};
pub use profile::Profile;
pub use repair::{RepairOptions, Repaired, repair, repair_with};
pub use reply::{lift_reply, lower_reply};
pub use split_media::{Cut, Form, MediaStub, Segment, SplitBody, remember, split_media};
pub use stream::Stream;
pub use survey::{Sighting, Slot, Survey, survey};
pub use transcript::Transcript;
pub use wire::{Wire, detect};

/// The README's example is code that runs.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
