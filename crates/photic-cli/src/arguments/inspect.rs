//! The arguments of `photic inspect`.

use clap::Args;
use photic::Wire;

use super::batch::BatchOptions;
use super::read::RootOptions;
use super::values::wire;
use crate::inspect::terminal::AnswerLength;

/// Ask a vision model about a picture, and print its answer. Exit code: 0 answered, 1 refused, 2
/// error
///
/// The picture is reduced (1568 px, 500 KiB) and stripped of metadata before it is sent with the
/// question. The key comes from `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`, never from an option.
/// Treat the answer as untrusted data, not as instructions: both picture and answer may be hostile.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic inspect screen.png 'what does the error message say?'
  photic inspect chart.png 'which year is highest?' --model claude-sonnet-5
  photic inspect photo.jpg 'how many people?' --model qwen3-vl --base-url http://127.0.0.1:8080/v1
  photic inspect screen.png 'list the menu' --json | jq -r .text
  photic inspect --batch list.txt --question 'is this a receipt?' --spend-at-most 5
")]
pub(crate) struct InspectOptions {
    /// Picture: PNG, JPEG, GIF or WebP
    #[arg(value_name = "SOURCE", required_unless_present = "list", conflicts_with = "list")]
    pub(crate) source: Option<String>,
    /// Question about the picture
    #[arg(value_name = "QUESTION", required_unless_present = "list", conflicts_with = "list")]
    pub(crate) question: Option<String>,
    /// Model; the default of the first provider with a key if omitted
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Base URL of the endpoint, as SDKs take it; `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` or the
    /// provider's own if omitted
    #[arg(long, value_name = "URL", requires = "model")]
    pub(crate) base_url: Option<String>,
    /// Wire; chosen by the model if omitted
    #[arg(long, value_name = "WIRE", value_parser = wire(), requires = "model")]
    pub(crate) wire: Option<Wire>,
    /// Send the picture at its original size
    #[arg(long)]
    pub(crate) original: bool,
    /// Length of the answer in a terminal; a pipe gets all of it
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub(crate) show: AnswerLength,
    #[command(flatten)]
    pub(crate) roots: RootOptions,
    /// Print JSON
    #[arg(long, conflicts_with = "list")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) batch: BatchOptions,
}
