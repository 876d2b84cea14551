//! The arguments of `photic inspect`.

use clap::Args;
use photic::Wire;

use super::batch::BatchOptions;
use super::read::RootOptions;
use super::wire;
use crate::inspect::Shown;

/// Ask a model that sees about a picture, and print its words: exit 0 answered, 1 refused, 2 error
///
/// The picture is made small first (1568 px, 500 KiB), without its metadata, and sent with the
/// question. The key comes from `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`, never from a flag. The
/// answer is another model's word about a picture nobody vouches for: data, not instructions.
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
    /// The picture: PNG, JPEG, GIF or WebP
    #[arg(value_name = "SOURCE", required_unless_present = "list", conflicts_with = "list")]
    pub(crate) source: Option<String>,
    /// What to find out
    #[arg(value_name = "QUESTION", required_unless_present = "list", conflicts_with = "list")]
    pub(crate) question: Option<String>,
    /// The model; without it, the first that there is a key for
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Where the model is served, as its SDK takes it; without it, `OPENAI_BASE_URL` or
    /// `ANTHROPIC_BASE_URL`, or its maker's own
    #[arg(long, value_name = "URL", requires = "model")]
    pub(crate) base_url: Option<String>,
    /// The wire; without it, the one the model is best known on
    #[arg(long, value_name = "WIRE", value_parser = wire(), requires = "model")]
    pub(crate) wire: Option<Wire>,
    /// Send the picture at its own size
    #[arg(long)]
    pub(crate) original: bool,
    /// How much of the answer a terminal shows; a pipe gets all of it
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub(crate) show: Shown,
    #[command(flatten)]
    pub(crate) roots: RootOptions,
    /// Print JSON
    #[arg(long, conflicts_with = "list")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) batch: BatchOptions,
}
