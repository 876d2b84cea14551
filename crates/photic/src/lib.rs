//! Makes the images that an agent's tools return visible to the model, on every provider API.
//!
//! Most provider APIs ("wires") have no place for an image in a tool result, and each has rules of
//! its own for order, types and sizes. This crate reads a request of any wire, decides what
//! becomes of every image in it, and writes the request again so that the model sees what it
//! should.
//!
//! One call repairs a body:
//!
//! ```
//! use photic::RepairOptions;
//!
//! let body = br#"{"messages":[{"role":"user","content":"Look!"},
//!   {"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"shot","arguments":"{}"}}]},
//!   {"role":"tool","tool_call_id":"c","content":""}]}"#;
//! let repaired = photic::repair(body, &RepairOptions::default());
//! assert_eq!(repaired.findings[0].code.name(), "empty_tool_content");
//! assert!(String::from_utf8_lossy(&repaired.body).contains("[the tool returned no output]"));
//! ```
//!
//! # The stages
//!
//! There are five stages, and [`repair`] calls the first four. A host that fetches addresses, keeps
//! a record or retries after a rejection calls them itself:
//!
//! 1. [`lift`] reads a body into a [`Transcript`] that borrows from it.
//! 2. [`survey`] lists every image, document and sound: its place and the facts in its header.
//! 3. [`plan`] chooses a fate for each, with its reason, for a [`Profile`] and a [`Policy`].
//! 4. [`lower`] writes the body for a wire. On the wire it came from, everything that the plan does
//!    not touch is sent as the bytes that came in.
//! 5. [`rejection::classify`] explains the error of a provider, so that the host can plan again.
//!
//! ```
//! use photic::{Policy, Profile, Wire};
//!
//! let body = br#"{"messages":[{"role":"user","content":"Hello"}]}"#;
//! let (transcript, findings) = photic::lift(Wire::OpenAiChat, body);
//! assert!(findings.is_empty());
//! let profile = Profile::generic(Wire::OpenAiChat);
//! let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
//! assert!(photic::lower(&transcript, &plan).body.is(body));
//! ```
//!
//! [`check`] reports the problems of a request. [`lift_reply`], [`lower_reply`] and [`Stream`]
//! carry the answer back to a client of another wire.
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | [`transcript`] | the conversation that every wire is read into |
//! | [`settings`] | everything else that a request says: model, tools, limits |
//! | [`media`] | one image, document or sound: its bytes, its header, its address |
//! | [`json`] | the JSON index that everything borrows from, and the writer |
//! | [`wire`] | the provider APIs, and their paths, headers and errors over HTTP |
//! | [`profile`] | dated facts about endpoints and models |
//! | [`tokens`] | the tokens that an image or a document costs |
//! | [`retention`] | how long images stay in sight |
//! | [`finding`] | the problems of a request, with stable codes |
//! | [`reply`] | replies, their token counts and their errors |
//! | [`rejection`] | the errors of providers, classified |
//! | [`lesson`] | the changes to a profile that a rejection teaches |
//! | [`simulate`] | the cost of a session under a policy |
//!
//! # What it does not do
//!
//! It does no I/O, reads no clock, draws no random numbers and cannot fail: a body that it cannot
//! read is returned unchanged. It decodes no pixels (`photic-pixels` does, with a `repair` of its
//! own), and it fetches nothing. A host that does puts in what it fetched ([`fetchable`],
//! [`Transcript::put_fetched`]).

mod check;
mod dump;
mod fetched;
pub mod finding;
pub mod json;
mod known;
pub mod lesson;
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
mod server_side;
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
pub use known::{KnownPrefix, LeftOut, LeftOutTurns, ReadRequest, ShortenedBody, SurveyedMessages};
pub use lift::{lift, lift_with_hints};
pub use lower::{
    Because, Decision, Did, Field, Lowered, RenamedTool, SentParts, lower, lower_prepared,
    renamed_tools,
};
pub use media::{Digest, MediaId, REFERENCE};
pub use name::UnknownName;
pub use plan::{
    Change, Choice, Fate, Fit, Former, Gone, Ledger, Made, Plan, Policy, Prepared, Purpose, Reason,
    Recipe, plan, retention,
};
pub use profile::Profile;
pub use repair::{RepairOptions, Repaired, repair, repair_with};
pub use reply::{lift_reply, lower_reply};
pub use server_side::{ClearToolResults, Clearing, Effect, Note, notes};
pub use split_media::{Cut, Form, MediaStub, Segment, SplitBody, remember, split_media};
pub use stream::Stream;
pub use survey::{Sighting, Slot, Survey, survey};
pub use transcript::Transcript;
pub use wire::{Wire, detect};

/// Runs the README's example as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
