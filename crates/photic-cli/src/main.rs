//! The `photic` command: parses arguments, reads files and prints results of the libraries.
//!
//! | module | what it does |
//! |---|---|
//! | `arguments` | all options and their help |
//! | `input`, `body_format` | reads request bodies and detects their format |
//! | `settings`, `config` | finds and reads the settings file; shows what holds |
//! | `model` | the model that a request is for, its profile, and notes about it |
//! | `keys` | environment variables with keys |
//! | `output`, `style` | standard output, colors, errors and hints |
//! | `report` | the data that `--json` prints, and its schema |
//! | `manual` | man pages |
//! | `check`, `lower`, `explain` | problems, repair, and price of a request |
//! | `view`, `preview`, `render` | pictures and documents, as a model gets them |
//! | `read`, `inspect` | the tools `read` and `inspect` on the command line |
//! | `probe`, `profiles` | tests of endpoints, and what is known about them |
//! | `serve`, `run` | the gateway, alone or around a command |
//! | `extproc` | the external processor for Envoy |
//! | `mcp` | the tools over MCP |
//! | `session`, `doctor` | recorded sessions, and session files of other agents |
//! | `ui` | recorded sessions in a browser |
//! | `fleet`, `key` | administration of many gateways; keys for callers of one |
//! | `simulate`, `mock` | cost of a session, and a test provider |

mod arguments;
mod body_format;
mod check;
mod config;
mod doctor;
mod explain;
#[cfg(feature = "extproc")]
mod extproc;
#[cfg(feature = "fleet")]
mod fleet;
mod input;
mod inspect;
mod key;
mod keys;
mod lower;
mod manual;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "mock")]
mod mock;
mod model;
mod notes;
mod output;
mod preview;
mod probe;
mod profiles;
mod read;
#[cfg(feature = "render")]
mod render;
#[cfg(not(feature = "render"))]
#[path = "render_absent.rs"]
mod render;
mod report;
mod run;
mod serve;
mod session;
mod settings;
mod simulate;
mod style;
mod ui;
mod view;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use arguments::{Arguments, Command};
use output::{print, print_json};
use report::FailureReport;

/// The system's allocator keeps freed memory with each thread, so a gateway that handled large
/// bodies would never shrink.
#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let json = wants_json(&words);
    let arguments = match Arguments::try_parse_from(&words) {
        Ok(arguments) => arguments,
        Err(error) if json && error.use_stderr() => {
            return fail(&FailureReport::of_usage(&error), ExitCode::from(2));
        }
        Err(error) => error.exit(),
    };
    match run(&arguments) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if json => fail(&FailureReport::of(&error), ExitCode::from(2)),
        Err(error) => {
            style::error(&error);
            ExitCode::from(2)
        }
    }
}

/// Returns `true` if the arguments ask for JSON. They may be misused, so they are not parsed. The
/// arguments of a command that `photic run` starts do not count.
fn wants_json(words: &[OsString]) -> bool {
    let mut words = words.iter().skip(1).take_while(|word| *word != "--");
    let is_run = words.clone().find(|word| !word.to_string_lossy().starts_with('-'));
    is_run.is_none_or(|command| command != "run") && words.any(|word| word == "--json")
}

/// Prints a failure as JSON.
fn fail(report: &FailureReport, code: ExitCode) -> ExitCode {
    // Without a reader there is nobody to tell.
    let _ = report::print_report(report);
    code
}

/// Runs the command. Exit code: 0 yes, 1 no (such as findings), 2 error.
fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        Command::Check(options) => check::run(options),
        Command::Lower(options) => lower::run(options),
        Command::Explain(options) => explain::run(options),
        Command::View(options) => view::run(options),
        Command::Read(options) => read::run(options),
        Command::Inspect(options) => inspect::run(options),
        Command::Probe(options) => probe::run(options),
        Command::Simulate(options) => simulate::run(options),
        #[cfg(feature = "mock")]
        Command::Mock(options) => mock::run(options),
        Command::Serve(options) => serve::run(options),
        #[cfg(feature = "extproc")]
        Command::Extproc(options) => extproc::run(options),
        #[cfg(feature = "mcp")]
        Command::Mcp(options) => mcp::run(options),
        Command::Profiles(options) => profiles::run(options),
        Command::Run(options) => match options.folder_as_command() {
            Some(folder) => Err(folder_as_command(folder)),
            None => run::run(options),
        },
        Command::Session(options) => session::run(options),
        Command::Ui(options) => ui::run(options),
        Command::Doctor(options) => doctor::run(options),
        #[cfg(feature = "fleet")]
        Command::Fleet(options) => fleet::run(options),
        Command::Key(options) => key::run(options),
        Command::Config(options) => config::run(options),
        Command::Schema { example: true, .. } => {
            print(photic_gateway::Config::example().as_bytes())
        }
        Command::Schema { cli: true, .. } => print_json(&report::schema()),
        Command::Schema { .. } => print_json(&photic_gateway::Config::schema()),
        #[cfg(feature = "render")]
        Command::RenderWorker { limits } => Ok(photic_render::serve(limits.iter().cloned())),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "photic", &mut script);
            print(&script)
        }
        Command::Man { command, output } => manual::run(command, output.as_deref()),
    }
}

/// The error for `photic run --record DIR CMD`, which would run the folder.
fn folder_as_command(folder: &Path) -> anyhow::Error {
    let says = format!("`{}` is a folder and no command", folder.display());
    anyhow::anyhow!(says)
        .context(style::Hint("name a directory for recordings with `--record --store DIR -- CMD`"))
}

/// Returns `true` if the reader of standard output has gone away.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}
