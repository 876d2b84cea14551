//! The arguments of `photic doctor`.

use std::path::PathBuf;

use clap::Args;
use photic::Wire;

use super::values::wire;

/// Find the image or the cut line that breaks an agent's session, and repair the session
///
/// Reads sessions of Claude Code, Codex, pi, Gemini CLI, qwen-code, opencode and goose, and request
/// bodies; the format is detected from the content. Without a file, the folders of these agents are
/// searched. Nothing is written unless requested. It says how the agent resumes the session. Exit code: 0 healthy, 1 broken, 2 error.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic doctor                                     list the broken sessions on this machine
  photic doctor session.jsonl --for claude-sonnet-5 show which image breaks it, where and why
  photic doctor session.jsonl --fix                 write a repaired copy beside it
  photic doctor session.jsonl --fix --in-place      repair the session itself; a backup is kept
  photic doctor session.jsonl --externalize         move its media to the blob store
  photic doctor - --fix < session.jsonl > new.jsonl repair a session in a pipe
  photic doctor --endpoint http://127.0.0.1:8080 --for gpt-5.6     check the installation
  photic doctor --store 's3://photic?endpoint=http://127.0.0.1:3900'  test whether this bucket is suitable
")]
#[expect(clippy::struct_excessive_bools, reason = "flags, each named at its use")]
pub(crate) struct DoctorOptions {
    /// Session, request, or folder of them; `-` for a session on standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Model that the session will continue with; the one it names if omitted
    #[arg(long = "for", visible_alias = "model", value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Wire of the endpoint; that of the agent if omitted
    #[arg(long, value_name = "WIRE", value_parser = wire())]
    pub(crate) wire: Option<Wire>,
    /// Write a repaired copy beside the original
    #[arg(long, requires = "file", conflicts_with_all = ["externalize", "restore", "endpoint"])]
    pub(crate) fix: bool,
    /// Replace the original, which is kept as a backup
    #[arg(long, requires = "file")]
    pub(crate) in_place: bool,
    /// Write a copy whose media are in the blob store
    #[arg(long, requires = "file", conflicts_with_all = ["restore", "endpoint"])]
    pub(crate) externalize: bool,
    /// Write a copy with its media put back
    #[arg(long, requires = "file", conflicts_with = "endpoint")]
    pub(crate) restore: bool,
    /// Write to this file instead; `-` for standard output
    #[arg(short, long, value_name = "FILE", requires = "file", conflicts_with = "in_place")]
    pub(crate) output: Option<PathBuf>,
    /// Directory for media; `photic` in the state directory of this system if omitted. A bucket,
    /// `s3://NAME?endpoint=URL`, is tested for what photic needs
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Check the installation instead: this endpoint, keys, profiles, settings, store, renderers,
    /// terminal
    #[arg(long, value_name = "URL", conflicts_with_all = ["file", "in_place", "output"])]
    pub(crate) endpoint: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
