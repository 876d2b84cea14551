//! The arguments of `photic session`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{PolicyOptions, wire};

/// Look at recorded sessions, and decide about single images of them
///
/// A session is what a client sent, turn by turn, with its images kept once each. Whatever a model
/// was shown can be written out again, byte for byte. ID is a session as `ls` names it, or `last`;
/// IMAGE is a handle or a number as `images` lists them.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic session import request.json         a captured request becomes a session
  photic session ls                          all sessions, the latest first
  photic session images last                 what every image costs, and what becomes of it
  photic session drop last 3                 leave the third image out from now on
  photic session export last --as model      what the model was sent, byte for byte
")]
pub(crate) struct SessionOptions {
    /// Where sessions are kept; without it, `photic` where this system keeps state
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) store: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: SessionCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// List sessions, the latest first
    Ls,
    /// Print a conversation, with images as references
    Show {
        #[command(flatten)]
        turn: TurnOptions,
    },
    /// Write the body of a turn to standard output, byte for byte
    Export {
        #[command(flatten)]
        turn: TurnOptions,
        /// What the client sent, or what the model was sent
        #[arg(long = "as", value_enum, default_value_t)]
        side: Side,
    },
    /// List the images of the last turn: size, tokens, money, what becomes of each now, and why
    Images {
        /// The session
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Leave an image out from the next request on
    Drop(ImageOptions),
    /// Keep an image in sight for as long as the endpoint takes it
    Pin(ImageOptions),
    /// Show an image smaller from the next request on
    Shrink {
        #[command(flatten)]
        image: ImageOptions,
        /// The longest side it may have, in pixels
        #[arg(long, value_name = "N", default_value_t = 768, value_parser = clap::value_parser!(u32).range(1..))]
        edge: u32,
    },
    /// Forget a whole session; its images go with the next `gc`
    Forget {
        /// The session
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Remove images that no session and no pinned handle refers to, and old answers
    Gc {
        /// Leave alone what was stored in the last so many minutes: somebody may be writing
        #[arg(long, value_name = "MINUTES", default_value_t = 60)]
        grace: u64,
        /// Keep what a handle was given out for in the last so many days
        #[arg(long, value_name = "DAYS", default_value_t = 30)]
        handles: u64,
        /// Keep what `inspect --batch` was told in the last so many days
        #[arg(long, value_name = "DAYS", default_value_t = 90)]
        answers: u64,
    },
    /// Make the body of a captured request a turn of a session
    Import(ImportOptions),
}

/// A turn.
#[derive(Debug, Args)]
pub(crate) struct TurnOptions {
    /// The session
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Which turn, from 1; without it, the last
    #[arg(long, value_name = "N")]
    pub(crate) turn: Option<u64>,
}

/// An image.
#[derive(Debug, Args)]
pub(crate) struct ImageOptions {
    /// The session
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The image: a handle, or a number
    #[arg(value_name = "IMAGE")]
    pub(crate) image: String,
    /// Take the choice back
    #[arg(long)]
    pub(crate) undo: bool,
}

/// A request to take over.
#[derive(Debug, Args)]
pub(crate) struct ImportOptions {
    /// The body of one request; `-` or nothing for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The session it belongs to; without it, the one that it goes on with, or a new one
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The wire of the body; without it, what the body looks like
    #[arg(long, value_name = "WIRE", value_parser = wire())]
    pub(crate) from: Option<photic::Wire>,
    /// The model it is for; without it, the one that it names
    #[arg(long = "for", value_name = "MODEL")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
}

/// Whose body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Side {
    /// As it came
    #[default]
    Client,
    /// As it was sent on
    Model,
}
