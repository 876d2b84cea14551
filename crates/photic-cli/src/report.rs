//! The data that `--json` prints: one vocabulary for all commands, and its schema.
//!
//! A name means the same thing in every output; [`Vocabulary`] says what. Numbers of images,
//! messages and pages begin with 1. What a command does not know is left out, never `null`.

mod failure;
mod request;
mod schema;
mod simulation;

use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use failure::{FailureReport, UnknownFormat};
pub(crate) use request::{
    CheckReport, DecisionReport, ExplainReport, FindingReport, ImageReport, LedgerReport,
    LowerReport, NoteReport, RecipeReport, RestReport, by_reason,
};
pub(crate) use schema::schema;
pub(crate) use simulation::{PolicyReport, SimulateReport};

/// Prints a report as indented JSON, with a line break at its end.
pub(crate) fn print_report(report: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(report)?;
    crate::output::print(format!("{text}\n").as_bytes()).map(|_| ())
}

/// The names that occur in the outputs of several commands. Wherever one of them occurs, at any
/// depth, it means this.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct Vocabulary {
    /// Number of an image or document, from 1, in the order of the request.
    index: u64,
    /// Width and height in pixels, as the model gets it.
    size: (u32, u32),
    /// Width and height of the original, in pixels or units of the page.
    source_size: (u32, u32),
    /// Media type, such as `image/png`.
    media_type: String,
    /// Length in bytes.
    bytes: u64,
    /// Tokens of input.
    tokens: u64,
    /// Certainty of the tokens: `published`, `assumed` or `unknown`.
    basis: String,
    /// Price in US dollars, with what the prompt cache saves.
    usd: f64,
    /// Price in US dollars without a prompt cache.
    uncached_usd: f64,
    /// Number of pages or frames.
    pages: u64,
    /// Number of images.
    images: u64,
    /// Fate of an image: `keep`, `shrink`, `sheet`, `hoist`, `elide` or `refuse`.
    fate: String,
    /// Stable code of the reason.
    reason: String,
    /// The reason in words.
    why: String,
    /// A sentence for people.
    message: String,
    /// The next step.
    hint: String,
    /// Id of the profile that was used.
    profile: String,
    /// Tool that returned the image.
    tool: String,
    /// Public name of a stored image.
    handle: String,
}
