//! What endpoints taught the gateway by refusing requests, or when they were probed.
//!
//! A lesson is a fact about a host and a model, with its evidence and with the caller that was taught
//! it. It holds for that caller, and for others once enough of them were taught the same. Lessons are
//! laid over the shipped profile before a request is planned, so the planner knows nothing of them,
//! and the same file gives the same bytes after a restart. They expire, so that an endpoint that
//! became more generous gets another chance.

mod agreed;
mod commands;
mod entry;
mod evidence;
mod file;

#[expect(clippy::module_inception, reason = "the type is what the folder is named after")]
mod learned;
mod lesson;
mod lessons;
mod quarantine;
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
pub use lesson::Lesson;
pub(crate) use lesson::MANY;
pub(crate) use lessons::Lessons;
pub(crate) use quarantine::refused;

pub use crate::tenant::{Identity, NoIdentity};
