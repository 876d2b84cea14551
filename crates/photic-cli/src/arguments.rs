//! All command line arguments. Help, man page and completions are generated from them.

mod batch;
mod config;
mod doctor;
#[cfg(feature = "extproc")]
mod extproc;
#[cfg(feature = "fleet")]
mod fleet;
mod inspect;
mod key;
#[cfg(feature = "mcp")]
mod mcp;
mod policy;
mod probe;
mod profiles;
mod read;
mod run;
mod serve;
mod session;
mod ui;
mod values;
mod view;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use photic::Wire;
#[cfg(feature = "mock")]
use photic_mock::Misbehavior;

pub(crate) use config::ConfigOptions;
pub(crate) use doctor::DoctorOptions;
#[cfg(feature = "extproc")]
pub(crate) use extproc::ExtprocOptions;
#[cfg(feature = "fleet")]
pub(crate) use fleet::{
    AuditCommand, FleetCommand, FleetOptions, KeysCommand, LessonOptions, LimitOptions,
};
pub(crate) use inspect::InspectOptions;
pub(crate) use key::{KeyCommand, KeyOptions};
#[cfg(feature = "mcp")]
pub(crate) use mcp::McpOptions;
pub(crate) use policy::{PolicyOptions, RetentionOptions};
pub(crate) use probe::{ProbeOptions, ProbePath};
pub(crate) use profiles::{ProfilesCommand, ProfilesOptions, ShowOptions};
pub(crate) use read::{ReadOptions, RootOptions};
pub(crate) use run::{PrintFormat, RunOptions};
pub(crate) use serve::{RecordOptions, ServeOptions};
pub(crate) use session::{
    HtmlOptions, ImageOptions, ImportOptions, SessionCommand, SessionOptions, Side, TurnOptions,
};
pub(crate) use ui::UiOptions;
pub(crate) use view::ViewOptions;

use crate::body_format::BodyFormat;
#[cfg(feature = "mock")]
use values::misbehavior;
use values::{body_format, size, wire};

const EXAMPLES: &str = "\
Examples:
  photic check request.json                    find problems with images in a request
  photic check request.json --for gpt-4o       … for a given model, with token counts
  photic lower request.json --to anthropic     repair a request and translate it to another wire
  photic explain request.json --for gpt-5.6    show the fate and price of every image
  photic view page.png --for claude-sonnet-5   show what the model would get of a picture
  photic read notes.md --lines 10-20           print the text of a file, as an agent gets it
  photic inspect page.png 'what is wrong?'     ask a vision model about a picture
  photic probe --model claude-sonnet-5         test whether a model sees images, and where
  photic simulate --for claude-sonnet-5        compare what a session costs under each policy
  photic mock                                  run a strict test provider
  photic serve                                 run the gateway that repairs every request
  photic extproc                               repair the requests that an Envoy forwards
  photic mcp --root .                          serve the tools to an agent over MCP
  photic profiles --for gpt-5.6                show what is known about a model
  photic run -- claude                         run a command behind a gateway of its own
  photic session images last                   list the images of a session, with price and fate
  photic ui                                    show recorded sessions in a browser
  photic doctor session.jsonl --fix            repair an agent's session that an image broke
  photic fleet keys issue acme                 issue a key for a tenant of many gateways
  photic key new ci                            make a key for a caller of one gateway
  photic config                                show which settings hold, and where they come from
  photic help view                             show the options of a command
  curl … | photic check -                      read from standard input
";

/// The commands that this build lacks because a feature is off.
const ABSENT: &[&str] = &[
    #[cfg(not(feature = "extproc"))]
    "photic extproc",
    #[cfg(not(feature = "fleet"))]
    "photic fleet",
    #[cfg(not(feature = "mcp"))]
    "photic mcp",
    #[cfg(not(feature = "mock"))]
    "photic mock",
];

/// The examples of the commands that this build has.
fn examples() -> String {
    let present =
        |line: &&str| !ABSENT.iter().any(|command| line.trim_start().starts_with(command));
    EXAMPLES.split_inclusive('\n').filter(present).collect()
}

/// Makes sure that models see the images in a request: finds what hides them, and repairs it
#[derive(Debug, Parser)]
#[command(name = "photic", version, before_help = examples())]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The subcommands.
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
    #[cfg(feature = "extproc")]
    Extproc(ExtprocOptions),
    #[cfg(feature = "mcp")]
    Mcp(McpOptions),
    Profiles(ProfilesOptions),
    Run(RunOptions),
    Session(SessionOptions),
    Ui(UiOptions),
    Doctor(DoctorOptions),
    #[cfg(feature = "fleet")]
    Fleet(FleetOptions),
    Key(KeyOptions),
    Config(ConfigOptions),
    /// Print the JSON Schema of `photic.toml`, an example file, or the schema of `--json`
    #[command(before_help = "\
Examples:
  photic schema > photic.schema.json
  photic schema --example > photic.toml
  photic schema --cli > cli.schema.json        what commands print with `--json`
")]
    Schema {
        /// Print a file with every setting and its default instead
        #[arg(long)]
        example: bool,
        /// Print the schema of what commands print with `--json` instead
        #[arg(long, conflicts_with = "example")]
        cli: bool,
    },
    /// Print a completion script for a shell
    #[command(
        before_help = "Examples:\n  photic completions bash > /etc/bash_completion.d/photic\n"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the man page of a command, or write those of all commands
    #[command(before_help = "\
Examples:
  photic man | man -l -
  photic man session images | man -l -
  photic man -o /usr/local/share/man/man1      write the pages of all commands
")]
    Man {
        /// Command; `photic` itself if omitted
        #[arg(value_name = "COMMAND")]
        command: Vec<String>,
        /// Write the pages of all commands to this folder
        #[arg(short, long, value_name = "DIR", conflicts_with = "command")]
        output: Option<PathBuf>,
    },
    /// Draw one page for the parent process
    #[cfg(feature = "render")]
    #[command(hide = true)]
    RenderWorker {
        /// Limits of the worker
        limits: Vec<std::ffi::OsString>,
    },
}

/// Find problems in a request. Exit code: 0 clean, 1 findings, 2 error
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

/// Repair a request or a reply, and write it for a wire
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic lower request.json -o repaired.json               repair it on its own wire
  photic lower request.json --to anthropic --for claude-sonnet-5   write it for another model
  photic lower request.json --to anthropic --explain       list the changes on standard error
  photic lower request.json --to openai-responses --json   body, decisions and ledger as JSON
  photic lower messages.json --to gemini                   messages stored by LangChain, pydantic-ai or the AI SDK
")]
pub(crate) struct LowerOptions {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    /// Wire to write; its own if omitted
    #[arg(long, value_name = "WIRE", value_parser = wire())]
    pub(crate) to: Option<Wire>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
    /// List the changes and their reasons on standard error
    #[arg(long)]
    pub(crate) explain: bool,
}

/// Show the fate, the reason and the price of every image in a request
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
    /// Wire to send it on; its own if omitted
    #[arg(long, value_name = "WIRE", value_parser = wire())]
    pub(crate) to: Option<Wire>,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
}

/// Compare what a session costs under each retention policy
///
/// Counts input in thousands of tokens at the base price; output costs the same under every policy.
/// `docs/retention.md` describes the policies.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic simulate --for claude-sonnet-5                             100 steps, one screenshot each
  photic simulate request.json                                      for the model and pictures of a request
  photic simulate --for claude-sonnet-5 --policy priced --marks     with a row for these settings
  photic simulate --steps 300 --image 1920x1080 --for gpt-5.6 --json
  photic simulate --for gpt-5.4 -o session.svg                      plot the cost by step
  photic simulate --check                                           compare `priced` with the optimum
")]
pub(crate) struct SimulateOptions {
    /// Body of a request; the model, the size of its images and the length of its texts are taken
    /// from it. `-` for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Wire of the body, or framework that stored it. Detected automatically if omitted.
    #[arg(long, value_name = "WIRE", value_parser = body_format(), requires = "file")]
    pub(crate) from: Option<BodyFormat>,
    /// Number of requests
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=2000))]
    pub(crate) steps: u32,
    /// Size of an image, priced by the model's token rule; that of the body, or 1280x800, if omitted
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub(crate) image: Option<(u32, u32)>,
    /// Model; the one named in the body, or the generic profile of the Messages API, if omitted
    #[arg(long = "for", value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Tokens of text in each step; those of the body, or 300, if omitted
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    pub(crate) text: Option<u64>,
    /// Tokens of tools and system prompt before the first step; those of the body, or 3000, if
    /// omitted
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=10_000_000))]
    pub(crate) system: Option<u64>,
    /// One step of this many has an image
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=2000))]
    pub(crate) every: u32,
    #[command(flatten)]
    pub(crate) retention: RetentionOptions,
    /// Write the comparison to this file: a plot of the cost by step for `.svg`, JSON for `.json`,
    /// or else the table
    #[arg(short, long, alias = "svg", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Compare `priced` with the optimum instead, over lengths, image sizes and kinds of cache.
    /// Exit code: 1 if it is further away than documented
    #[arg(long, conflicts_with_all = ["file", "steps", "image", "model", "text", "system", "every", "policy", "keep", "marks", "output", "json"])]
    pub(crate) check: bool,
}

/// Run a strict test provider on loopback that answers only from pixels it decoded
///
/// It serves every wire that photic supports, accepts any key, and describes the charts it sees.
/// Asked to look, it calls a tool whose name contains `screenshot`, `view` or `look`; told to
/// `call NAME with {…}`, it does that. The first line it prints is its address.
/// `GET /__mock/requests` lists the requests it received.
#[cfg(feature = "mock")]
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic mock --port 8080                           serve any model, by the rules of its profile
  photic mock --for gpt-4o --misbehave drop-images  serve one model, which drops images
  photic mock --chart 7 -o chart.png                write a chart, and print what it shows
  photic mock --screen 7 -o screen.png              write a screenshot with a number too small to read
")]
pub(crate) struct MockOptions {
    /// Port on loopback; 0 for any free port
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,
    /// Model to serve, may be repeated; all models if omitted
    #[arg(long = "for", value_name = "MODEL")]
    pub(crate) models: Vec<String>,
    /// Wire to serve, may be repeated; all wires if omitted
    #[arg(long = "wire", value_name = "WIRE", value_parser = wire())]
    pub(crate) wires: Vec<Wire>,
    /// Misbehave on every request; the header `x-mock-misbehave` does it for one request
    #[arg(long, value_name = "KIND", value_parser = misbehavior())]
    pub(crate) misbehave: Vec<Misbehavior>,
    /// Make the chart of this seed instead, and print the correct answer
    #[arg(long, value_name = "SEED", conflicts_with_all = ["port", "models", "wires", "misbehave"])]
    pub(crate) chart: Option<u64>,
    /// Make the screenshot of this seed instead, and print the number in it
    #[arg(long, value_name = "SEED", conflicts_with_all = ["port", "models", "wires", "misbehave", "chart"])]
    pub(crate) screen: Option<u64>,
    /// Write the chart or screenshot to this file, as PNG
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["port", "models", "wires", "misbehave"])]
    pub(crate) output: Option<PathBuf>,
}

/// Options of the input.
#[derive(Debug, Args)]
pub(crate) struct SourceOptions {
    /// Body of one request; `-` or nothing for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Wire of the body, or framework that stored it. Detected automatically if omitted.
    #[arg(long, value_name = "WIRE", value_parser = body_format())]
    pub(crate) from: Option<BodyFormat>,
    /// Model that the request is for; the one named in the body if omitted
    #[arg(long = "for", value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
