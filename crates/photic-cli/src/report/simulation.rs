//! The output of `simulate`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::NamedBy;

/// The output of `photic simulate --json`.
#[derive(JsonSchema, Serialize)]
pub(crate) struct SimulateReport {
    /// Model whose prices and rules are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// Origin of the model's name.
    pub(crate) model_from: NamedBy,
    /// Id of the profile that was used.
    pub(crate) profile: String,
    /// Number of requests.
    pub(crate) steps: u64,
    /// Tokens of tools and system prompt.
    pub(crate) system_tokens: u64,
    /// Tokens of text in each step.
    pub(crate) text_tokens: u64,
    /// Width and height of an image in pixels.
    pub(crate) size: (u32, u32),
    /// Tokens of an image.
    pub(crate) image_tokens: u64,
    /// One step of this many has an image.
    pub(crate) image_every: u64,
    /// Number of newest images that are never removed to save cost.
    pub(crate) keep: u64,
    /// Tokens that a request of this model may hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) context_tokens: Option<u64>,
    /// The session under each policy.
    pub(crate) policies: Vec<PolicyReport>,
}

/// A session under one policy.
#[derive(JsonSchema, Serialize)]
pub(crate) struct PolicyReport {
    /// Name of the policy.
    pub(crate) name: String,
    /// Group of the policy: `photic_without_marks`, `photic`, `others` or `optimum`; `in_force` if the
    /// policy of the settings and options is none of them.
    pub(crate) whose: String,
    /// True for the policy of the settings and options.
    pub(crate) in_force: bool,
    /// Tokens at the base input price.
    pub(crate) cost: f64,
    /// The cost as a ratio of that of keeping everything.
    pub(crate) of_all: f64,
    /// Price in US dollars, with what the prompt cache saves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usd: Option<f64>,
    /// Tokens read from the prompt cache.
    pub(crate) read_tokens: u64,
    /// Tokens written to the prompt cache.
    pub(crate) written_tokens: u64,
    /// Tokens at the base price.
    pub(crate) plain_tokens: u64,
    /// Tokens of the longest request.
    pub(crate) longest_tokens: u64,
    /// Numbers of the steps at which images were removed, from 1.
    pub(crate) edits: Vec<u64>,
}
