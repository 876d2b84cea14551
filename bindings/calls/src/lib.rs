//! The calls that the Python and Node packages make.
//!
//! Options come in as JSON and reports go out as JSON, so that both languages have the same ones.
//! Bodies are bytes: borrowed on the way in, and handed out as segments on the way out, so that the
//! caller copies them once into memory of its language.
//!
//! Nothing here does I/O, and nothing panics on any body.

mod format;
mod heal;
mod options;
mod profiles;
mod report;
mod request;
mod route;
mod session;
mod view;

pub use photic::json::Segments;
pub use photic::wire::is_body_signed;

pub use format::BodyFormat;
pub use heal::Rejected;
pub use options::{Options, PolicyOptions};
pub use profiles::profile;
pub use request::{Lowered, check, explain, lower, repair};
pub use route::route;
pub use session::{Session, SessionFigures};
pub use view::{Pixels, ViewOptions, Viewed, view};

/// The error of a call, with the next step for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// The stable code of the error.
    pub code: String,
    /// A sentence about the problem, without a final period.
    pub message: String,
    /// Advice what to do instead.
    pub hint: String,
}

impl CallError {
    /// Creates an error.
    pub fn new(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), hint: hint.into() }
    }

    /// The error for a value of an option that cannot be used.
    fn option(message: impl Into<String>) -> Self {
        Self::new("bad_option", message, "see the options in photic's documentation")
    }
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.message, self.hint)
    }
}

impl std::error::Error for CallError {}
