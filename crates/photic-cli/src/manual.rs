//! `photic man`: man pages, generated from the arguments.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Command, CommandFactory as _};

use crate::arguments::Arguments;
use crate::output::print;
use crate::style::Hint;

/// Prints the page of a command, or writes those of all commands to a folder.
pub(crate) fn run(names: &[String], folder: Option<&Path>) -> anyhow::Result<ExitCode> {
    let mut photic = with_examples_last(Arguments::command()).disable_help_subcommand(true);
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(photic, folder))
            .with_context(|| format!("cannot write to `{}`", folder.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    photic.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(command(photic, names)?).render(&mut page)?;
    print(&page)
}

/// Finds a command by its names, such as `session images`.
fn command(photic: Command, names: &[String]) -> anyhow::Result<Command> {
    let mut found = photic;
    for name in names {
        let inner = found.find_subcommand(name).filter(|inner| !inner.is_hide_set()).cloned();
        found = inner
            .with_context(|| format!("`photic {}` is no command", names.join(" ")))
            .context(Hint("run `photic help` to list the commands"))?;
    }
    Ok(found)
}

/// Moves the examples behind the options: a man page has no text before its name.
fn with_examples_last(command: Command) -> Command {
    let examples = command.get_before_help().cloned();
    let command = match examples {
        Some(examples) => command.after_help(examples),
        None => command,
    };
    command.mut_subcommands(with_examples_last)
}
