//! The arguments of `photic doctor`.

use std::path::PathBuf;

use clap::Args;
use photic::Wire;

use super::wire;

/// Say which image bricks a session of an agent, and repair the session
///
/// It knows the sessions of Claude Code, Codex, pi, Gemini CLI, qwen-code, opencode and goose, and
/// the body of a request, by what is in the file. Without a file it looks where these agents keep
/// their sessions. It only reads, unless told to write: exit 0 well, 1 sick, 2 error.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic doctor                                     which sessions on this machine are sick?
  photic doctor session.jsonl --for claude-sonnet-5 which image, where, and why?
  photic doctor session.jsonl --fix                 a repaired copy, beside it
  photic doctor session.jsonl --fix --in-place      the session itself; a backup is kept
  photic doctor session.jsonl --externalize         its media in the blob store, the rest in a file
  photic doctor --endpoint http://127.0.0.1:8080 --model gpt-5.6   is everything set up?
  photic doctor --store 's3://photic?endpoint=http://127.0.0.1:3900'  is this bucket good enough?
")]
#[expect(clippy::struct_excessive_bools, reason = "flags, each named at its use")]
pub(crate) struct DoctorOptions {
    /// A session, a request, or a folder of them
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The model that the session is to go on with; without it, the one it names
    #[arg(long = "for", visible_alias = "model", value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The wire of the endpoint; without it, that of the agent
    #[arg(long, value_name = "WIRE", value_parser = wire())]
    pub(crate) wire: Option<Wire>,
    /// Write a repaired copy beside the original
    #[arg(long, requires = "file", conflicts_with_all = ["externalize", "restore", "endpoint"])]
    pub(crate) fix: bool,
    /// Put what is written in the place of the original, which is kept as a backup
    #[arg(long, requires = "file")]
    pub(crate) in_place: bool,
    /// Write a copy whose media are in the blob store
    #[arg(long, requires = "file", conflicts_with_all = ["restore", "endpoint"])]
    pub(crate) externalize: bool,
    /// Write a copy whose media stand in it again
    #[arg(long, requires = "file", conflicts_with = "endpoint")]
    pub(crate) restore: bool,
    /// Write to this file instead
    #[arg(short, long, value_name = "FILE", requires = "file", conflicts_with = "in_place")]
    pub(crate) output: Option<PathBuf>,
    /// Where media are kept; without it, `photic` where this system keeps state. A bucket,
    /// `s3://NAME?endpoint=URL`, is examined: what can it be trusted with?
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Look at the set-up instead: this endpoint, keys, facts, config, store, renderers, terminal
    #[arg(long, value_name = "URL", conflicts_with_all = ["file", "in_place", "output"])]
    pub(crate) endpoint: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
