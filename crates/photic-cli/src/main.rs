//! The `photic` command: parses arguments, reads files and prints results of the libraries.
//!
//! | module | what it does |
//! |---|---|
//! | `arguments` | all options and their help |
//! | `input`, `body_format` | reads request bodies and detects their format |
//! | `settings` | finds and reads the settings file |
//! | `model` | the model that a request is for, and its profile |
//! | `output`, `style` | standard output, colors, errors and hints |
//! | `check`, `lower`, `explain` | problems, repair, and price of a request |
//! | `view`, `preview`, `render` | pictures and documents, as a model gets them |
//! | `read`, `inspect` | the tools `read` and `inspect` on the command line |
//! | `probe`, `profiles` | tests of endpoints, and what is known about them |
//! | `serve`, `run` | the gateway, alone or around a command |
//! | `mcp` | the tools over MCP |
//! | `session`, `doctor` | recorded sessions, and session files of other agents |
//! | `fleet` | administration of many gateways |
//! | `simulate`, `mock` | cost of a session, and a test provider |

mod arguments;
mod body_format;
mod check;
mod doctor;
mod explain;
#[cfg(feature = "fleet")]
mod fleet;
mod input;
mod inspect;
mod lower;
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
mod run;
mod serve;
mod session;
mod settings;
mod simulate;
mod style;
mod view;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use arguments::{Arguments, Command};
use output::print;

/// The system's allocator keeps freed memory with each thread, so a gateway that handled large
/// bodies would never shrink.
#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            style::error(&error);
            ExitCode::from(2)
        }
    }
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
        #[cfg(feature = "mcp")]
        Command::Mcp(options) => mcp::run(options),
        Command::Profiles(options) => profiles::run(options),
        Command::Run(options) => run::run(options),
        Command::Session(options) => session::run(options),
        Command::Doctor(options) => doctor::run(options),
        #[cfg(feature = "fleet")]
        Command::Fleet(options) => fleet::run(options),
        Command::Schema { example: true } => print(photic_gateway::Config::example().as_bytes()),
        Command::Schema { example: false } => {
            let schema = serde_json::to_string_pretty(&photic_gateway::Config::schema())?;
            print(format!("{schema}\n").as_bytes())
        }
        #[cfg(feature = "render")]
        Command::RenderWorker { limits } => Ok(photic_render::serve(limits.iter().cloned())),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "photic", &mut script);
            print(&script)
        }
        Command::Man => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Arguments::command()).render(&mut page)?;
            for command in
                Arguments::command().get_subcommands().filter(|command| !command.is_hide_set())
            {
                let mut part = Vec::new();
                let man = clap_mangen::Man::new(command.clone());
                man.render_name_section(&mut part)?;
                man.render_synopsis_section(&mut part)?;
                man.render_options_section(&mut part)?;
                page.extend_from_slice(&part);
            }
            print(&page)
        }
    }
}

/// Returns `true` if the reader of standard output has gone away.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}
