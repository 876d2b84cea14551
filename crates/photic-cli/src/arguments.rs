//! Every argument, defined once: help, man page and completions are made from it.

mod batch;
mod doctor;
#[cfg(feature = "fleet")]
mod fleet;
mod inspect;
mod mcp;
mod probe;
mod profiles;
mod read;
mod run;
mod serve;
mod session;
mod view;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Parser, Subcommand};
use photic::retention::Retention;
use photic::{Policy, Purpose, Wire};
#[cfg(feature = "mock")]
use photic_mock::Misbehavior;

pub(crate) use doctor::DoctorOptions;
#[cfg(feature = "fleet")]
pub(crate) use fleet::{
    AuditCommand, FleetCommand, FleetOptions, KeysCommand, LessonOptions, LimitOptions,
};
pub(crate) use inspect::InspectOptions;
pub(crate) use mcp::McpOptions;
pub(crate) use probe::{Path, ProbeOptions};
pub(crate) use profiles::{ProfilesCommand, ProfilesOptions, ShowOptions};
pub(crate) use read::{ReadOptions, RootOptions};
pub(crate) use run::RunOptions;
pub(crate) use serve::ServeOptions;
pub(crate) use session::{
    ImageOptions, ImportOptions, SessionCommand, SessionOptions, Side, TurnOptions,
};
pub(crate) use view::ViewOptions;

use crate::input::Shape;

const EXAMPLES: &str = "\
Examples:
  photic check request.json                    what blinds the model in this request?
  photic check request.json --for gpt-4o       … and what does it cost on that model?
  photic lower request.json --to anthropic     the same conversation, repaired, for another wire
  photic explain request.json --for gpt-5.6    what becomes of every image, and what it costs
  photic view page.png --for claude-sonnet-5   what would that model see of this picture?
  photic read notes.md --lines 10-20           the text of a file, as an agent gets it
  photic inspect page.png 'what is wrong?'     ask a model that sees
  photic probe --model claude-sonnet-5         does it see, and where?
  photic simulate --for claude-sonnet-5        what does a session cost, and what could it?
  photic mock                                  a provider that is strict, and not blind
  photic serve                                 a gateway that repairs every request
  photic mcp --root .                          eyes for an agent, over MCP
  photic profiles --for gpt-5.6                what is known about a model, and what was learned
  photic run -- claude                         a command, with that gateway in front of it
  photic session images last                   what every image of a session costs, and its fate
  photic doctor session.jsonl --fix            a session that an image bricked, repaired
  photic fleet keys issue acme                 a key for a tenant of many gateways
  curl … | photic check -                      from standard input
";

/// The commands that this build lacks because a feature is off.
const ABSENT: &[&str] = &[
    #[cfg(not(feature = "fleet"))]
    "photic fleet",
    #[cfg(not(feature = "mock"))]
    "photic mock",
];

/// The examples of the commands that this build has.
fn examples() -> String {
    let present =
        |line: &&str| !ABSENT.iter().any(|command| line.trim_start().starts_with(command));
    EXAMPLES.split_inclusive('\n').filter(present).collect()
}

/// Makes pixels arrive as pixels: finds and repairs what blinds the model in a request
#[derive(Debug, Parser)]
#[command(name = "photic", version, before_help = examples(), disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(CheckOptions),
    Lower(LowerOptions),
    Explain(ExplainOptions),
    View(ViewOptions),
    Read(ReadOptions),
    Inspect(InspectOptions),
    Probe(ProbeOptions),
    Simulate(SimulateOptions),
    #[cfg(feature = "mock")]
    Mock(MockOptions),
    Serve(ServeOptions),
    Mcp(McpOptions),
    Profiles(ProfilesOptions),
    Run(RunOptions),
    Session(SessionOptions),
    Doctor(DoctorOptions),
    #[cfg(feature = "fleet")]
    Fleet(FleetOptions),
    /// Print the JSON Schema of `photic.toml`, or the file itself with every default
    #[command(before_help = "\
Examples:
  photic schema > photic.schema.json
  photic schema --example > photic.toml
")]
    Schema {
        /// Print a file with every setting and its default instead
        #[arg(long)]
        example: bool,
    },
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
    /// Draw one page for the process that started this one
    #[cfg(feature = "render")]
    #[command(hide = true)]
    RenderWorker {
        /// What it may use
        limits: Vec<std::ffi::OsString>,
    },
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
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
}

/// Write a request (or a reply) for a wire, repaired
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic lower request.json                                repair it on its own wire
  photic lower request.json --to anthropic --explain       what was done, on standard error
  photic lower request.json --to openai-responses --json   body, decisions and bill as one JSON
  photic lower messages.json --to gemini                   what LangChain, pydantic-ai or the AI SDK stored
")]
pub(crate) struct LowerOptions {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    /// The wire to write; without it, its own
    #[arg(long, value_name = "WIRE", value_parser = wire())]
    pub(crate) to: Option<Wire>,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
    /// Say on standard error what was done and why
    #[arg(long)]
    pub(crate) explain: bool,
}

/// Say what becomes of every image of a request, why, and what that costs
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic explain request.json --for claude-sonnet-5
  photic explain request.json --for gpt-5.6 --policy 'newest(4)'
  photic explain request.json --for claude-sonnet-5 --json
")]
pub(crate) struct ExplainOptions {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    /// The wire it is sent on; without it, its own
    #[arg(long, value_name = "WIRE", value_parser = wire())]
    pub(crate) to: Option<Wire>,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
}

/// How a request is planned.
#[derive(Debug, Args)]
pub(crate) struct PolicyOptions {
    /// How long images stay in sight: all, priced, turns(K) or newest(N)
    #[arg(long, value_name = "POLICY", default_value_t = Policy::default().retention, value_parser = retention)]
    policy: Retention,
    /// The newest tool images that `priced` always keeps
    #[arg(long, value_name = "N", default_value_t = Policy::default().floor)]
    keep: usize,
    /// Mark where the provider's cache should keep a prefix
    #[arg(long)]
    marks: bool,
    /// Plan for a summary: descriptors, no pixels
    #[arg(long)]
    summary: bool,
}

impl PolicyOptions {
    /// With pixels: this program can make pictures.
    pub(crate) fn policy(&self) -> Policy {
        let mut policy = Policy::default();
        policy.retention = self.policy;
        policy.floor = self.keep;
        policy.marks = self.marks;
        policy.pixels = true;
        if self.summary {
            policy.purpose = Purpose::Summarize;
        }
        policy
    }
}

/// Say what a session costs under each way of keeping its images
///
/// Input only, in thousand tokens at the base price; what the model writes costs the same either
/// way. `docs/retention.md` says what the policies do.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic simulate --for claude-sonnet-5                             100 steps, a screenshot each
  photic simulate --steps 300 --image 1920x1080 --for gpt-5.6 --json
  photic simulate --for gpt-5.4 --svg session.svg                   cost by step, as a picture
  photic simulate --check                                           how far from the optimum?
")]
pub(crate) struct SimulateOptions {
    /// Requests
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=2000))]
    pub(crate) steps: u32,
    /// The size of an image, priced by the model's token rule
    #[arg(long, value_name = "WxH", default_value = "1280x800", value_parser = size)]
    pub(crate) image: (u32, u32),
    /// The model; without it, the generic profile of the Messages wire holds
    #[arg(long = "for", value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Tokens of words a step
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    pub(crate) text: u64,
    /// Tokens before the first step: tools and system prompt
    #[arg(long, value_name = "N", default_value_t = 3000, value_parser = clap::value_parser!(u64).range(0..=10_000_000))]
    pub(crate) system: u64,
    /// One step in so many has an image
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=2000))]
    pub(crate) every: u32,
    /// The newest images that no price retires
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) floor: u32,
    /// Write a plot of the cost by step to a file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Hold `priced` against the optimum instead, over lengths, image sizes and kinds of cache:
    /// exit 1 if it is further away than promised
    #[arg(long, conflicts_with_all = ["steps", "image", "model", "text", "system", "every", "floor", "svg", "json"])]
    pub(crate) check: bool,
}

/// Be a provider on loopback that keeps every rule, and answers only from pixels it decoded
///
/// It speaks Chat Completions, Responses and Messages, takes any key, and describes the charts it
/// sees; asked to look, it calls a tool whose name holds `screenshot`, `view` or `look`; told to
/// `call NAME with {…}`, it does. The first line it prints is its address. `GET /__mock/requests` says what it was sent.
#[cfg(feature = "mock")]
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic mock --port 8080                           any model, by the rules of its profile
  photic mock --for gpt-4o --misbehave drop-images  one model, and it is blind
  photic mock --chart 7 -o chart.png                a chart, and what it shows
  photic mock --screen 7 -o screen.png              a screenshot with a number too small to read
")]
pub(crate) struct MockOptions {
    /// The port of loopback; 0 for any that is free
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,
    /// A model it has; without one, it has them all
    #[arg(long = "for", value_name = "MODEL")]
    pub(crate) models: Vec<String>,
    /// A wire it speaks; without one, it speaks them all
    #[arg(long = "wire", value_name = "WIRE", value_parser = wire())]
    pub(crate) wires: Vec<Wire>,
    /// Misbehave on every request; the header `x-mock-misbehave` does it for one
    #[arg(long, value_name = "KIND", value_parser = misbehavior())]
    pub(crate) misbehave: Vec<Misbehavior>,
    /// Make the chart of a number instead, and print the right answer
    #[arg(long, value_name = "SEED", conflicts_with_all = ["port", "models", "wires", "misbehave"])]
    pub(crate) chart: Option<u64>,
    /// Make the screenshot of a number instead, and print the number in it
    #[arg(long, value_name = "SEED", conflicts_with_all = ["port", "models", "wires", "misbehave", "chart"])]
    pub(crate) screen: Option<u64>,
    /// Write the chart or screenshot to a file, as PNG
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["port", "models", "wires", "misbehave"])]
    pub(crate) output: Option<PathBuf>,
}

/// What to read, and for whom.
#[derive(Debug, Args)]
pub(crate) struct SourceOptions {
    /// The body of one request; `-` or nothing for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The wire of the body, or the framework that stored it; without it, what the body looks like
    #[arg(long, value_name = "WIRE", value_parser = shape())]
    pub(crate) from: Option<Shape>,
    /// The model the request is for; without it, the one that the body names
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

fn shape() -> impl clap::builder::TypedValueParser<Value = Shape> {
    PossibleValuesParser::new(Shape::names())
        .map(|name| Shape::from_name(&name).unwrap_or(Shape::Wire(Wire::OpenAiChat)))
}

#[cfg(feature = "mock")]
fn misbehavior() -> impl clap::builder::TypedValueParser<Value = Misbehavior> {
    PossibleValuesParser::new(Misbehavior::ALL.map(Misbehavior::name))
        .try_map(|name| name.parse::<Misbehavior>())
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once(['x', 'X', '×']);
    match sides.map(|(width, height)| (width.trim().parse(), height.trim().parse())) {
        Some((Ok(width @ 1..), Ok(height @ 1..))) => Ok((width, height)),
        _ => Err("a width and a height are wanted, like `1280x800`".to_owned()),
    }
}

fn retention(text: &str) -> Result<Retention, String> {
    let names = || format!("one of {} is wanted", Retention::NAMES.join(", "));
    Retention::from_name(text).ok_or_else(names)
}
