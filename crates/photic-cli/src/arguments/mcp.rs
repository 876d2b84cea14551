//! The arguments of `photic mcp`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use photic_mcp::Structured;

/// Serve `view`, `read`, `inspect` and `probe` to an agent over MCP
///
/// On standard input and output, as hosts start it, or over HTTP on loopback. Files are read below
/// the roots only. `docs/mcp.md` has the lines that common hosts want in their settings.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic mcp --root .                              as a host starts it
  claude mcp add photic -- photic mcp --root .     … in Claude Code
  photic mcp --root . --for claude-sonnet-5        views as large as that model sees
  photic mcp --root . --model gpt-5.4              `inspect` asks this model (OPENAI_API_KEY)
  photic mcp --root . --http 127.0.0.1:4142        for hosts that connect by themselves
")]
pub(crate) struct McpOptions {
    /// A folder whose files may be read; may be repeated; relative paths begin in the first
    #[arg(long, value_name = "DIR", required = true)]
    pub(crate) root: Vec<PathBuf>,
    /// Keep originals and answers here, so that views carry handles to look again with
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Listen here, on loopback, instead of on standard input
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<String>,
    /// The model that `inspect` asks, at the provider that the environment names
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The model that looks at views; without it, what every endpoint takes
    #[arg(long = "for", value_name = "MODEL")]
    pub(crate) viewer: Option<String>,
    /// Show pictures only: draw no documents, drawings or text
    #[arg(long)]
    pub(crate) no_render: bool,
    /// Who gets structured content: `auto` leaves out hosts that lose the picture over it
    #[arg(long, value_name = "WHO", default_value = "auto", value_parser = structured())]
    pub(crate) structured: Structured,
}

fn structured() -> impl clap::builder::TypedValueParser<Value = Structured> {
    PossibleValuesParser::new(Structured::NAMES)
        .map(|name| Structured::from_name(&name).unwrap_or_default())
}
