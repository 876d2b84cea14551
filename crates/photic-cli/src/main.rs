//! The `photic` command: arguments, files and words. What it does is done by the library.

mod arguments;
mod check;
mod doctor;
mod explain;
#[cfg(feature = "fleet")]
mod fleet;
mod input;
mod inspect;
mod lower;
mod mcp;
#[cfg(feature = "mock")]
mod mock;
mod model;
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

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{CommandFactory as _, Parser as _};

use arguments::{Arguments, Command};

/// The system's keeps what each thread freed for that thread; a gateway that had large bodies in
/// flight would never be small again.
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

/// 0 yes, 1 no (there are findings), 2 error or misuse.
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

/// Writes data to standard output.
fn print(bytes: &[u8]) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).context("cannot write to standard output")?;
    Ok(ExitCode::SUCCESS)
}

/// The reader went away: nobody is left to tell.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}
