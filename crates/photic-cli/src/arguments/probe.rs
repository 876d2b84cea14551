//! The arguments of `photic probe`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use photic::Wire;
use photic_probe::{Notice, PictureFormat, PicturePosition};

use super::values::wire;

/// Test whether a model sees images, for each position in a request. Exit code: 0 it sees, 1 it
/// does not, 2 error
///
/// Sends new pictures of random colors and characters in every position of a request, each with the
/// same question without a picture as a control, and compares the answers with chance. Gateways and
/// `photic profiles` learn the result. The key comes from the environment, never from an option.
/// `docs/probe.md` explains the verdicts.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic probe --model claude-sonnet-5
  photic probe --base-url http://127.0.0.1:8080/v1 --model qwen3-vl
  photic probe --base-url https://api.example.org/v1 --model m --wire openai-responses --json
  photic probe --model gpt-5.4 --paths user,tool --formats webp,gif --dry-run   estimate the cost
  photic probe --model gpt-5.4 -o gpt-5.4.json                                  write a table to share
  photic probe --offline                                                        test a small local model
")]
pub(crate) struct ProbeOptions {
    /// Base URL of the endpoint, as SDKs take it; `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` or the
    /// provider's own if omitted
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Model to test
    #[arg(long, value_name = "MODEL", required_unless_present = "offline")]
    pub(crate) model: Option<String>,
    /// Wire; chosen by the model if omitted
    #[arg(long, value_name = "WIRE", value_parser = wire())]
    pub(crate) wire: Option<Wire>,
    /// Environment variable with the key; `OPENAI_API_KEY` or `ANTHROPIC_API_KEY` if omitted
    #[arg(long, value_name = "NAME")]
    pub(crate) key_env: Option<String>,
    /// Positions to test; `elided` and `refused` test notices in place of a picture
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = path())]
    pub(crate) paths: Vec<ProbePath>,
    /// Formats to test in the user's message
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = format())]
    pub(crate) formats: Vec<PictureFormat>,
    /// Picture sizes to test in the user's message, besides 512 px
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(256..=8192))]
    pub(crate) sizes: Vec<u32>,
    /// Number of questions for each position
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) trials: u32,
    /// Seed for the pictures, to repeat a run
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) spend: SpendOptions,
    /// Folder served by a web server, for the position `url`
    #[arg(long, value_name = "DIR", requires = "published_at")]
    pub(crate) publish: Option<PathBuf>,
    /// URL under which that folder is served
    #[arg(long, value_name = "URL", requires = "publish")]
    pub(crate) published_at: Option<String>,
    /// Write the results to this file, for `photic profiles --import`
    #[arg(short, long, alias = "export", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Test a small model on this machine, in a real llama.cpp server. Needs Python
    /// (`PHOTIC_PYTHON`, or `python3`) with the package `xllamacpp`
    #[arg(long, conflicts_with_all = ["base_url", "model", "wire", "key_env", "dry_run"])]
    pub(crate) offline: bool,
    /// Do not teach the result to gateways
    #[arg(long)]
    pub(crate) no_learn: bool,
    /// File with learned facts; from the settings, or the default location, if omitted
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Limits on spending.
#[derive(Debug, Args)]
pub(crate) struct SpendOptions {
    /// Largest amount of US dollars to spend, if the price is known
    #[arg(long, value_name = "DOLLARS", default_value_t = 1.0)]
    pub(crate) cap: f64,
    /// Spend more than the cap
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print an estimate, and send no request
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// A position to test: a picture in a request, or a notice in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbePath {
    PicturePosition(PicturePosition),
    Notice(Notice),
}

impl ProbePath {
    fn from_name(name: &str) -> Option<Self> {
        let place = PicturePosition::from_name(name).map(Self::PicturePosition);
        place.or_else(|| Notice::from_name(name).map(Self::Notice))
    }
}

fn path() -> impl clap::builder::TypedValueParser<Value = ProbePath> {
    let names = PicturePosition::ALL
        .map(PicturePosition::name)
        .into_iter()
        .chain(Notice::ALL.map(Notice::name));
    PossibleValuesParser::new(names.collect::<Vec<_>>()).map(|name| {
        ProbePath::from_name(&name).unwrap_or(ProbePath::PicturePosition(PicturePosition::User))
    })
}

fn format() -> impl clap::builder::TypedValueParser<Value = PictureFormat> {
    PossibleValuesParser::new(PictureFormat::ALL.map(PictureFormat::name))
        .map(|name| PictureFormat::from_name(&name).unwrap_or(PictureFormat::Png))
}
