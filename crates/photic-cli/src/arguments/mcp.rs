//! The arguments of `photic mcp`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use photic_mcp::Structured;

/// Serve `list`, `view`, `read`, `inspect` and `probe` to an agent over MCP
///
/// Serves on standard input and output, as hosts start it, or over HTTP on loopback. Only files
/// below the roots are read. `--print` writes the configuration of a host.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic mcp --root .                              on standard input and output
  photic mcp --print claude-code                   print the configuration of a host
  photic mcp --print cursor --model gpt-5.4        … in which `inspect` has a model
  photic mcp --root . --for claude-sonnet-5        views as large as that model sees
  photic mcp --root . --model gpt-5.4              `inspect` asks this model (OPENAI_API_KEY)
  photic mcp --root . --http 127.0.0.1:4142        for hosts that connect over HTTP
")]
pub(crate) struct McpOptions {
    /// Folder whose files may be read, may be repeated; relative paths start in the first
    #[arg(long, value_name = "DIR", required_unless_present = "print")]
    pub(crate) root: Vec<PathBuf>,
    /// Print the configuration with which a host starts this server, with absolute paths, and exit
    #[arg(long, value_name = "HOST", conflicts_with = "http")]
    pub(crate) print: Option<String>,
    /// Keep originals and answers in this directory, so that views have handles for a second look
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Listen on this loopback address instead of standard input
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<String>,
    /// Model that `inspect` asks, at the provider that the environment names
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Model that gets the views; sizes that every endpoint accepts if omitted
    #[arg(long = "for", value_name = "MODEL")]
    pub(crate) viewer: Option<String>,
    /// Show pictures only: draw no documents, drawings or text
    #[arg(long)]
    pub(crate) no_render: bool,
    /// Hosts that get structured content; `auto` leaves out those that would lose the picture
    #[arg(long, value_name = "WHO", default_value = "auto", value_parser = structured())]
    pub(crate) structured: Structured,
}

/// Parses the option `--structured`.
fn structured() -> impl clap::builder::TypedValueParser<Value = Structured> {
    PossibleValuesParser::new(Structured::NAMES)
        .map(|name| Structured::from_name(&name).unwrap_or_default())
}
