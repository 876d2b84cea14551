//! Settings of models: their other names, the upstreams that serve them, and their lists.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A model that clients ask for, and the upstreams that serve it. Its requests are sent again to the
/// next upstream if one fails (`[failover]`).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// Name that clients ask for, or a glob of names.
    #[schemars(example = &"fast")]
    pub name: String,
    /// Upstreams that serve it, the preferred one first: `NAME`, or `NAME/MODEL` if the model has
    /// another name there.
    #[schemars(example = ["openai/gpt-5-mini", "local/qwen3-vl"])]
    pub upstreams: Vec<String>,
    /// Weight of each upstream, in the same order. If empty, the first one that is available is asked.
    /// Otherwise requests are spread by weight. A weight of 0 is for failover only.
    #[serde(default)]
    pub weights: Vec<u32>,
    /// If true, it is left out of lists of models.
    #[serde(default)]
    pub hidden: bool,
}

/// Lists of models, and requests that no setting names a model or path for.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelsConfig {
    /// If true, a request is refused unless its model is named by a `[[model]]` or by `models` of an
    /// upstream, or its path by `paths` of an upstream.
    pub deny_unmatched: bool,
    /// If true, `/v1/models` is answered with the models of all upstreams and the names of `[[model]]`.
    /// If false, it is passed on to one upstream.
    pub merge: bool,
    /// Globs of the models that a merged list may show. If empty, it shows all.
    pub show: Vec<String>,
}

/// Sending requests for a `[[model]]` again, to its other upstreams or to the same one. It is done only
/// before the first byte of a reply was passed on.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct FailoverConfig {
    /// Maximum number of times that one request is sent.
    pub attempts: u32,
    /// Maximum number of times that requests are sent again, in percent of all requests. It bounds the
    /// load on upstreams that recover. Fifty more are always possible after a quiet time.
    pub budget_percent: u32,
    /// Failures in a row after which an upstream is asked last for a while.
    pub failures: u32,
    /// Seconds for which it is asked last. They double with every further failure, up to sixteen times.
    pub rest_s: u32,
    /// Maximum seconds to wait for an upstream that asked for it (`Retry-After`), if all others failed.
    pub wait_s: u32,
    /// Seed of the choice by weight. 0 takes one from the system.
    pub seed: u64,
}

impl Default for FailoverConfig {
    fn default() -> Self {
        Self { attempts: 3, budget_percent: 50, failures: 5, rest_s: 10, wait_s: 5, seed: 0 }
    }
}
