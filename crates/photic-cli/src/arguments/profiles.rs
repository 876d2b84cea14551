//! The arguments of `photic profiles`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use photic::Wire;

use super::wire;

/// Say what is known about a model, who says so, and what its endpoint taught the gateway
///
/// Shipped facts have a date, a source and a confidence. What the gateway learned from rejections
/// has the day, the status and what the provider said; it is laid over the shipped facts, only
/// ever tightens them, and expires. So does what `photic probe` proved, which may loosen them, too. A gateway that runs forgets with its next lesson, or when it
/// is started again.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic profiles                                        everything that was learned
  photic profiles --for claude-sonnet-5                  what is known about a model
  photic profiles --for qwen3-vl --host 127.0.0.1:8080   … and about who serves it
  photic profiles --forget 127.0.0.1:8080/qwen3-vl       give it another chance
  photic profiles --import qwen3-vl.json                 what a probe elsewhere proved
  photic profiles show qwen3-vl --base-url http://127.0.0.1:8080/v1   … and what the server says now
")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ProfilesOptions {
    #[command(subcommand)]
    pub(crate) show: Option<ProfilesCommand>,
    /// The model
    #[arg(long = "for", value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The host that serves it, with its port if it has one
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// The wire; without it, the one the model is best known on
    #[arg(long, value_name = "WIRE", value_parser = wire(), requires = "model")]
    pub(crate) wire: Option<Wire>,
    /// Forget what was learned about a host, or about one model of it
    #[arg(long, value_name = "HOST[/MODEL]", conflicts_with_all = ["model", "host"])]
    pub(crate) forget: Option<String>,
    /// Learn from a table that `photic probe --export` wrote
    #[arg(long, value_name = "TABLE", conflicts_with_all = ["model", "host", "forget"])]
    pub(crate) import: Option<PathBuf>,
    /// Where it is kept; without it, where your settings say, or the usual place
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProfilesCommand {
    Show(ShowOptions),
}

/// Say what is known about one model: every fact with its source and date, and what its endpoint
/// says about it now
///
/// What the endpoint says beats what was shipped, and not what requests and probes taught: that was
/// seen. A model without a word about it stays unknown, and is tried.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic profiles show claude-sonnet-5
  photic profiles show gemma3 --base-url http://127.0.0.1:11434 --wire ollama
  photic profiles show google/gemini-2.5-pro --base-url https://openrouter.ai/api/v1 --key-env OPENROUTER_API_KEY
")]
pub(crate) struct ShowOptions {
    /// The model
    #[arg(value_name = "MODEL")]
    pub(crate) model: String,
    /// Ask this endpoint: the base address that SDKs take
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The environment variable that holds the key; without it, none is sent
    #[arg(long, value_name = "NAME", requires = "base_url")]
    pub(crate) key_env: Option<String>,
    /// Have gateways learn the limits that the endpoint states
    #[arg(long, requires = "base_url")]
    pub(crate) learn: bool,
    /// The wire; without it, the one the model is best known on
    #[arg(long, value_name = "WIRE", value_parser = wire())]
    pub(crate) wire: Option<Wire>,
    /// Where lessons are kept; without it, where your settings say, or the usual place
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
