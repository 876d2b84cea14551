//! The arguments of `photic profiles`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use photic::Wire;

use super::values::wire;

/// Show what is known about a model, with sources, and what gateways learned from its endpoint
///
/// Built-in facts have a date, a source and a confidence. Facts learned from rejections have the
/// day, the status and the provider's message; they only tighten the built-in facts, and expire.
/// Facts that `photic probe` proved may loosen them as well. A running gateway applies `--forget`
/// with its next lesson or restart.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic profiles                                        list everything that was learned
  photic profiles --for claude-sonnet-5                  show what is known about a model
  photic profiles --for qwen3-vl --host 127.0.0.1:8080   … and about the host that serves it
  photic profiles --forget 127.0.0.1:8080/qwen3-vl       forget what was learned
  photic profiles --import qwen3-vl.json                 import the results of a probe
  photic profiles show qwen3-vl --base-url http://127.0.0.1:8080/v1   … and ask the server as well
")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ProfilesOptions {
    #[command(subcommand)]
    pub(crate) show: Option<ProfilesCommand>,
    /// Model
    #[arg(long = "for", value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Host that serves it, with its port if it has one
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Wire; chosen by the model if omitted
    #[arg(long, value_name = "WIRE", value_parser = wire(), requires = "model")]
    pub(crate) wire: Option<Wire>,
    /// Forget what was learned about a host, or about one of its models
    #[arg(long, value_name = "HOST[/MODEL]", conflicts_with_all = ["model", "host"])]
    pub(crate) forget: Option<String>,
    /// Import a table that `photic probe -o FILE` wrote
    #[arg(long, value_name = "TABLE", conflicts_with_all = ["model", "host", "forget"])]
    pub(crate) import: Option<PathBuf>,
    /// File with learned facts; from the settings, or the default location, if omitted
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The subcommands of `photic profiles`.
#[derive(Debug, Subcommand)]
pub(crate) enum ProfilesCommand {
    Show(ShowOptions),
}

/// Show all facts about one model with source and date, and ask its endpoint
///
/// Statements of the endpoint override built-in facts, but not facts learned from requests and
/// probes, which were observed. A model that the endpoint says nothing about stays unknown, and
/// requests to it are tried.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic profiles show claude-sonnet-5
  photic profiles show gemma3 --base-url http://127.0.0.1:11434 --wire ollama
  photic profiles show google/gemini-2.5-pro --base-url https://openrouter.ai/api/v1 --key-env OPENROUTER_API_KEY
")]
pub(crate) struct ShowOptions {
    /// Model
    #[arg(value_name = "MODEL")]
    pub(crate) model: String,
    /// Ask this endpoint: the base URL that SDKs take
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Environment variable with the key; no key is sent if omitted
    #[arg(long, value_name = "NAME", requires = "base_url")]
    pub(crate) key_env: Option<String>,
    /// Teach gateways the limits that the endpoint states
    #[arg(long, requires = "base_url")]
    pub(crate) learn: bool,
    /// Wire; chosen by the model if omitted
    #[arg(long, value_name = "WIRE", value_parser = wire())]
    pub(crate) wire: Option<Wire>,
    /// File with learned facts; from the settings, or the default location, if omitted
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
