//! `photic read`: the tool `read` on the command line.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use photic_tools::{Builder, HardLinks, ReadArguments, Refusal, Tools};

use crate::arguments::{ReadOptions, RootOptions};
use crate::input::read_bytes;
use crate::output::print;
use crate::render;
use crate::report::{FailureReport, print_report};
use crate::style::{CYAN, RED, YELLOW};

/// Runs the command. Exit code: 0 read, 1 refused, 2 error.
pub(crate) fn run(options: &ReadOptions) -> anyhow::Result<ExitCode> {
    let tools =
        with_renderer(tools_builder(&options.roots)?).build().context("cannot open the roots")?;
    let ReadOptions { lines, page, .. } = *options;
    let arguments = ReadArguments { lines, page, ..ReadArguments::of(&options.source) };
    let runtime = runtime()?;
    let read = if options.source == "-" {
        let input = read_bytes(None, "pipe a text in: `git diff | photic read -`")?;
        let arguments = ReadArguments { lines, page, ..ReadArguments::of(&input.name) };
        runtime.block_on(tools.read_bytes(input.body, &arguments))
    } else {
        runtime.block_on(tools.read(&arguments))
    };
    let reading = match read {
        Ok(reading) => reading,
        Err(refusal) => return refused(&refusal, options.json),
    };
    if options.json {
        return print(format!("{}\n", serde_json::to_string_pretty(&reading)?).as_bytes());
    }
    let code = print(reading.text.as_bytes())?;
    if let Some(words) = &reading.truncated {
        anstream::eprintln!("{YELLOW}note:{YELLOW:#} {words}");
    }
    Ok(code)
}

/// A builder for tools that may read every file the user can, or only the given roots.
pub(crate) fn tools_builder(options: &RootOptions) -> anyhow::Result<Builder> {
    let cwd = std::env::current_dir().context("cannot find the current folder")?;
    let top = cwd.ancestors().last().map_or_else(|| PathBuf::from("/"), PathBuf::from);
    if options.roots.is_empty() {
        return Ok(Tools::builder().root(top).cwd(cwd).hard_links(HardLinks::Allow));
    }
    Ok(options.roots.iter().fold(Tools::builder(), Builder::root))
}

/// Adds the renderer, if there is one.
pub(crate) fn with_renderer(builder: Builder) -> Builder {
    match render::capability() {
        Some(renderer) => builder.renderer(renderer),
        None => builder,
    }
}

/// A runtime on the current thread.
pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().context("cannot start the runtime")
}

/// Prints a refusal. Exit code: 1.
pub(crate) fn refused(refusal: &Refusal, json: bool) -> anyhow::Result<ExitCode> {
    if json {
        print_report(&FailureReport::of_refusal(refusal))?;
    } else {
        anstream::eprintln!("{RED}refused:{RED:#} {}", refusal.says);
        for candidate in &refusal.candidates {
            anstream::eprintln!("  {candidate}");
        }
        anstream::eprintln!("\n{CYAN}hint:{CYAN:#} {}", refusal.hint);
    }
    Ok(ExitCode::from(1))
}
