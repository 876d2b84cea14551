//! The arguments of `photic read`.

use std::path::PathBuf;

use clap::Args;
use photic_tools::Lines;

/// Print the text of a file, as the tool `read` gives it to an agent. Exit code: 0 read, 1 refused,
/// 2 error
///
/// Prints text only. A picture is refused by its content, whatever its name; use `photic view` for
/// it. Long files are cut, and standard error names the lines that follow.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic read notes.md                       print a file
  photic read build.log --lines 120-180      print some lines, from 1, both ends included
  photic read build.log --lines 120-         … to the end
  photic read paper.pdf --page 3             print the text layer of a page
  photic read src/main.rs --root . --json    stay inside a folder; with the token for an edit
  git diff | photic read -                   read standard input
")]
pub(crate) struct ReadOptions {
    /// File to read; `-` for standard input
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,
    /// Lines, from 1: `10-20`, `10-` or `10`
    #[arg(long, value_name = "A-B")]
    pub(crate) lines: Option<Lines>,
    /// Page of a document, from 1; the first if omitted
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) page: Option<u32>,
    #[command(flatten)]
    pub(crate) roots: RootOptions,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Folders that may be read.
#[derive(Debug, Args)]
pub(crate) struct RootOptions {
    /// Folder that may be read, may be repeated; every file you can read if omitted
    #[arg(long = "root", value_name = "DIR")]
    pub(crate) roots: Vec<PathBuf>,
}
