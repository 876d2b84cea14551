//! The arguments of `photic probe`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use photic::Wire;
use photic_probe::{Format, Notice, Place};

use super::wire;

/// Prove whether a model sees pictures, place by place: exit 0 it sees, 1 it does not, 2 error
///
/// Fresh pictures of random colors and characters are shown in every place of a request, each with
/// the same question without a picture as a control, and the answers are held against chance,
/// exactly. What is found is learned: gateways and `photic profiles` know it from then on. The key
/// comes from the environment, never from a flag. `docs/probe.md` says what the verdicts mean.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic probe --model claude-sonnet-5
  photic probe --base-url http://127.0.0.1:8080/v1 --model qwen3-vl
  photic probe --base-url https://api.example.org/v1 --model m --wire openai-responses --json
  photic probe --model gpt-5.4 --paths user,tool --formats webp,gif --dry-run   what would it cost?
  photic probe --model gpt-5.4 --export gpt-5.4.json                            a table to share
  photic probe --offline                                                        a model of our own
")]
pub(crate) struct ProbeOptions {
    /// Where the model is served, as its SDK takes it; without it, `OPENAI_BASE_URL` or
    /// `ANTHROPIC_BASE_URL`, or its maker's own
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The model
    #[arg(long, value_name = "MODEL", required_unless_present = "offline")]
    pub(crate) model: Option<String>,
    /// The wire; without it, the one the model is best known on
    #[arg(long, value_name = "WIRE", value_parser = wire())]
    pub(crate) wire: Option<Wire>,
    /// The variable that holds the key; without it, `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`
    #[arg(long, value_name = "NAME")]
    pub(crate) key_env: Option<String>,
    /// Where pictures stand; `elided` and `refused` are sentences that say that none is shown
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = path())]
    pub(crate) paths: Vec<Path>,
    /// Formats to try in the user's message
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = format())]
    pub(crate) formats: Vec<Format>,
    /// Sides of pictures to try in the user's message, beside 512 px
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(256..=8192))]
    pub(crate) sizes: Vec<u32>,
    /// Questions for each place
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) trials: u32,
    /// Make the same pictures again
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) spend: SpendOptions,
    /// A folder that somebody serves, for the path `url`
    #[arg(long, value_name = "DIR", requires = "published_at")]
    pub(crate) publish: Option<PathBuf>,
    /// The address under which it is served
    #[arg(long, value_name = "URL", requires = "publish")]
    pub(crate) published_at: Option<String>,
    /// Write the dated table to a file, for `photic profiles --import`
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,
    /// Probe a small model of our own in a real llama.cpp server, on this machine: needs Python
    /// (`PHOTIC_PYTHON`, or `python3`) with the package `xllamacpp`
    #[arg(long, conflicts_with_all = ["base_url", "model", "wire", "key_env", "dry_run"])]
    pub(crate) offline: bool,
    /// Learn nothing
    #[arg(long)]
    pub(crate) no_learn: bool,
    /// Where what is learned is kept; without it, where your settings say, or the
    /// usual place
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What may be spent.
#[derive(Debug, Args)]
pub(crate) struct SpendOptions {
    /// Most US dollars to spend, where the price is known
    #[arg(long, value_name = "DOLLARS", default_value_t = 1.0)]
    pub(crate) cap: f64,
    /// Spend more than the cap
    #[arg(long)]
    pub(crate) yes: bool,
    /// Say what it would take, and ask nobody
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// What is tried: a picture at a place, or words instead of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    Place(Place),
    Notice(Notice),
}

impl Path {
    fn from_name(name: &str) -> Option<Self> {
        let place = Place::from_name(name).map(Self::Place);
        place.or_else(|| Notice::from_name(name).map(Self::Notice))
    }
}

fn path() -> impl clap::builder::TypedValueParser<Value = Path> {
    let names = Place::ALL.map(Place::name).into_iter().chain(Notice::ALL.map(Notice::name));
    PossibleValuesParser::new(names.collect::<Vec<_>>())
        .map(|name| Path::from_name(&name).unwrap_or(Path::Place(Place::User)))
}

fn format() -> impl clap::builder::TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name))
        .map(|name| Format::from_name(&name).unwrap_or(Format::Png))
}
