//! The arguments of `photic read`.

use std::path::PathBuf;

use clap::Args;
use photic_tools::Lines;

/// Print the text of a file, in lines, as the tool `read` gives it to an agent: exit 0 read, 1 refused, 2 error
///
/// It returns text and nothing else: a picture is refused by its bytes, whatever its name says, and
/// `photic view` is named. What is longer than an agent should take in at once is cut, and
/// standard error says which lines come next.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic read notes.md                       the text of a file
  photic read build.log --lines 120-180      some lines of it, from 1, both ends included
  photic read build.log --lines 120-         … to the end
  photic read paper.pdf --page 3             the text layer of a page
  photic read src/main.rs --root . --json    confined to a folder; with the token for an edit
")]
pub(crate) struct ReadOptions {
    /// The file
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,
    /// Which lines, from 1: `10-20`, `10-` or `10`
    #[arg(long, value_name = "A-B")]
    pub(crate) lines: Option<Lines>,
    /// Which page of a document, from 1; the first otherwise
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) page: Option<u32>,
    #[command(flatten)]
    pub(crate) roots: RootOptions,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What may be opened.
#[derive(Debug, Args)]
pub(crate) struct RootOptions {
    /// A folder that may be read, and nothing else then; without one, every file you can read
    #[arg(long = "root", value_name = "DIR")]
    pub(crate) roots: Vec<PathBuf>,
}
