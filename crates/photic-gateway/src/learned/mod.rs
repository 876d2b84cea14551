//! Lessons: facts about endpoints that rejections or probes taught the gateway.
//!
//! A lesson is a fact about a host and a model, with its evidence and its teacher, the caller whose
//! request was rejected. It applies to that caller, and to all others once enough teachers agree.
//! Lessons are applied to the shipped profile before a request is planned, so the planner does not
//! know about them. With one file of lessons, a request gives identical bytes after a restart.
//! Lessons expire, so that an endpoint that now accepts more is tried again.

mod agreed;
mod commands;
mod entry;
mod evidence;
mod file;

#[expect(clippy::module_inception, reason = "the type is what the folder is named after")]
mod learned;
mod lessons;
#[cfg(test)]
mod teachers;
#[cfg(test)]
mod tests;

pub use commands::{forget, read, teach, usual_file};
pub use entry::{Entry, tighten};
pub use evidence::Evidence;
#[cfg(feature = "fleet")]
pub(crate) use file::{parse as parse_entries, text as write_entries};
pub(crate) use learned::Learned;
#[cfg(feature = "fleet")]
pub(crate) use learned::SharedLessons;
pub(crate) use lessons::Lessons;

pub use crate::tenant::{Identity, NoIdentity};
pub use photic::lesson::Lesson;
