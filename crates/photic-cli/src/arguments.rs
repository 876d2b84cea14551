//! Every argument, defined once: help, man page and completions are made from it.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Parser, Subcommand};
use photic::Wire;

const EXAMPLES: &str = "\
Examples:
  photic check request.json                    what blinds the model in this request?
  photic check request.json --for gpt-4o       … and what does it cost on that model?
  photic lower request.json --to anthropic     the same conversation, repaired, for another wire
  curl … | photic check -                      from standard input
";

/// Makes pixels arrive as pixels: finds and repairs what blinds the model in a request
#[derive(Debug, Parser)]
#[command(name = "photic", version, before_help = EXAMPLES, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(CheckOptions),
    Lower(LowerOptions),
    /// Print a completion script for a shell
    #[command(
        before_help = "Examples:\n  photic completions bash > /etc/bash_completion.d/photic\n"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the man page
    #[command(before_help = "Examples:\n  photic man | man -l -\n")]
    Man,
}

/// Say what is wrong with a request: exit 0 clean, 1 findings, 2 error
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic check request.json
  photic check request.json --for claude-sonnet-5 --json
  photic check - --from openai-chat < request.json
")]
pub(crate) struct CheckOptions {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
}

/// Write a request (or a reply) for a wire, repaired
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic lower request.json --to openai-chat               repair it on its own wire
  photic lower request.json --to anthropic --explain       what was done, on standard error
  photic lower request.json --to openai-responses --json   body, decisions and bill as one JSON
")]
pub(crate) struct LowerOptions {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    /// The wire to write
    #[arg(long, value_name = "WIRE", value_parser = wire())]
    pub(crate) to: Wire,
    /// Say on standard error what was done and why
    #[arg(long)]
    pub(crate) explain: bool,
}

/// What to read, and for whom.
#[derive(Debug, Args)]
pub(crate) struct SourceOptions {
    /// The body of one request; `-` or nothing for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The wire of the body; without it, what the body looks like
    #[arg(long, value_name = "WIRE", value_parser = wire())]
    pub(crate) from: Option<Wire>,
    /// The model the request is for; without it, the wire's generic profile holds
    #[arg(long = "for", value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn wire() -> impl clap::builder::TypedValueParser<Value = Wire> {
    PossibleValuesParser::new(Wire::ALL.map(Wire::name))
        .map(|name| Wire::from_name(&name).unwrap_or(Wire::OpenAiChat))
}
