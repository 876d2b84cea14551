//! JSON as spans. A body is scanned once into a flat list of nodes that point into it. It is
//! written back as a list of segments that mostly borrow from it.
//!
//! Nothing here copies a long string, recurses on untrusted depth, or knows what a message is.

mod base64_run;
mod base64_runs;
mod out;
mod scan;
mod text;
mod value;

pub(crate) use base64_run::{base64_run, is_base64};
pub use base64_runs::Base64Runs;
pub use out::Segments;
pub(crate) use out::{Fragment, Out};
pub(crate) use scan::{PROBE, most_values};
pub use text::Str;
pub(crate) use text::escape_into;
pub(crate) use value::NodeId;
pub use value::{Doc, Kind, Value};
