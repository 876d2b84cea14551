//! The options of planning, shared by several commands.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use photic::retention::Retention;
use photic::{Policy, Purpose};

use super::values::retention;
use crate::settings;
use crate::style::Hint;

/// Options of planning.
#[derive(Debug, Args)]
pub(crate) struct PolicyOptions {
    #[command(flatten)]
    retention: RetentionOptions,
    /// Plan for a summary: descriptors instead of pixels
    #[arg(long)]
    summary: bool,
}

/// Options of retention.
#[derive(Debug, Args)]
pub(crate) struct RetentionOptions {
    /// Retention policy for images: all, priced, turns(K) or newest(N); that of the settings, or
    /// `all`, if omitted
    #[arg(long, value_name = "POLICY", value_parser = retention)]
    policy: Option<Retention>,
    /// Number of newest tool images that `priced` always keeps; that of the settings, or 3, if
    /// omitted
    #[arg(long, alias = "floor", value_name = "N", value_parser = number())]
    keep: Option<u16>,
    /// Set prompt cache breakpoints where they pay; `--marks=false` overrides the settings
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    marks: Option<bool>,
    /// Settings file; the one named by `PHOTIC_CONFIG`, or `~/.config/photic/photic.toml`, if
    /// omitted
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Parses a number of images.
fn number() -> clap::builder::RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(1..=1000)
}

impl PolicyOptions {
    /// The policy of these options and the settings, with pixels: this program can make pictures.
    pub(crate) fn policy(&self) -> anyhow::Result<Policy> {
        let mut policy = self.retention.policy()?;
        policy.pixels = true;
        if self.summary {
            policy.purpose = Purpose::Summarize;
        }
        Ok(policy)
    }
}

impl RetentionOptions {
    /// The policy of these options, which override those of the settings.
    pub(crate) fn policy(&self) -> anyhow::Result<Policy> {
        let settings = settings::load(self.config.as_deref())?.config.policy;
        let mut policy = Policy::default();
        policy.retention = match self.policy {
            Some(retention) => retention,
            None => Retention::from_name(&settings.retention)
                .with_context(|| {
                    format!("unknown retention policy `{}` in the settings", settings.retention)
                })
                .context(Hint("set `policy.retention` to all, priced, turns(K) or newest(N)"))?,
        };
        policy.floor = self.keep.map_or(settings.keep, usize::from);
        policy.marks = self.marks.unwrap_or(settings.marks);
        Ok(policy)
    }
}
