//! The options of planning, shared by several commands.

use clap::Args;
use photic::retention::Retention;
use photic::{Policy, Purpose};

use super::values::retention;

/// Options of planning.
#[derive(Debug, Args)]
pub(crate) struct PolicyOptions {
    /// Retention policy for images: all, priced, turns(K) or newest(N)
    #[arg(long, value_name = "POLICY", default_value_t = Policy::default().retention, value_parser = retention)]
    policy: Retention,
    /// Number of newest tool images that `priced` always keeps
    #[arg(long, value_name = "N", default_value_t = Policy::default().floor)]
    keep: usize,
    /// Set prompt cache breakpoints where they pay
    #[arg(long)]
    marks: bool,
    /// Plan for a summary: descriptors instead of pixels
    #[arg(long)]
    summary: bool,
}

impl PolicyOptions {
    /// The policy, with pixels: this program can make pictures.
    pub(crate) fn policy(&self) -> Policy {
        let mut policy = Policy::default();
        policy.retention = self.policy;
        policy.floor = self.keep;
        policy.marks = self.marks;
        policy.pixels = true;
        if self.summary {
            policy.purpose = Purpose::Summarize;
        }
        policy
    }
}
