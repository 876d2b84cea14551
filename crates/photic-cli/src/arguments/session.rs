//! The arguments of `photic session`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use photic_inspector::{ExportedPictures, ExportedText};

use super::policy::PolicyOptions;
use super::values::wire;

/// Show recorded sessions, and choose what happens to single images
///
/// A session holds the requests of a client turn by turn, with each image stored once. Every body
/// that a model was sent can be exported again, byte for byte. ID is a session as `ls` lists it, or
/// `last`; IMAGE is a handle or a number as `images` lists them.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic session import request.json         record a captured request
  photic session ls                          list all sessions, the latest first
  photic session images last                 list the images, with price and fate
  photic session drop last 3                 leave the third image out from now on
  photic session export last --as model      print what the model was sent, byte for byte
")]
pub(crate) struct SessionOptions {
    /// Directory with the sessions; `photic` in the state directory of this system if omitted
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) store: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: SessionCommand,
}

/// The subcommands of `photic session`.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// List sessions, the latest first
    #[command(before_help = "Examples:\n  photic session ls --json\n")]
    Ls,
    /// Print a conversation, with images as references
    #[command(before_help = "Examples:\n  photic session show last --turn 3\n")]
    Show {
        #[command(flatten)]
        turn: TurnOptions,
    },
    /// Write the body of a turn to standard output, byte for byte; or the session as a page
    #[command(before_help = "\
Examples:
  photic session export last --as model > request.json
  photic session export last --html > session.html             the session as one page
  photic session export last --html --turns 6-7 --text none    two turns of it, without texts
")]
    Export {
        #[command(flatten)]
        turn: TurnOptions,
        /// The body that the client sent, or the one that the model was sent
        #[arg(long = "as", value_enum, default_value_t)]
        side: Side,
        #[command(flatten)]
        html: HtmlOptions,
    },
    /// List the images of the last turn: size, tokens, price, fate and reason
    #[command(before_help = "Examples:\n  photic session images last\n")]
    Images {
        /// The session
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Leave an image out from the next request on
    #[command(before_help = "Examples:\n  photic session drop last 3\n")]
    Drop(ImageOptions),
    /// Always show an image, as long as the endpoint accepts it
    #[command(before_help = "Examples:\n  photic session pin last 3 --undo\n")]
    Pin(ImageOptions),
    /// Show an image smaller from the next request on
    #[command(before_help = "Examples:\n  photic session shrink last 3 --edge 512\n")]
    Shrink {
        #[command(flatten)]
        image: ImageOptions,
        /// Longest side in pixels
        #[arg(long, value_name = "N", default_value_t = 768, value_parser = clap::value_parser!(u32).range(1..))]
        edge: u32,
    },
    /// Delete a session; `gc` removes its images
    #[command(before_help = "Examples:\n  photic session forget last\n")]
    Forget {
        /// The session
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Remove images without a session or pinned handle, and old answers
    #[command(before_help = "Examples:\n  photic session gc --grace 0\n")]
    Gc {
        /// Keep data stored in the last minutes: it may still be in use
        #[arg(long, value_name = "MINUTES", default_value_t = 60)]
        grace: u64,
        /// Keep data whose handle was issued in the last days
        #[arg(long, value_name = "DAYS", default_value_t = 30)]
        handles: u64,
        /// Keep answers of `inspect --batch` from the last days
        #[arg(long, value_name = "DAYS", default_value_t = 90)]
        answers: u64,
    },
    /// Record the body of a captured request as a turn
    #[command(before_help = "Examples:\n  photic session import request.json --session last\n")]
    Import(ImportOptions),
}

/// Options that select a turn.
#[derive(Debug, Args)]
pub(crate) struct TurnOptions {
    /// The session
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Number of the turn, from 1; the last if omitted
    #[arg(long, value_name = "N")]
    pub(crate) turn: Option<u64>,
}

/// Options of a page.
#[derive(Debug, Args)]
pub(crate) struct HtmlOptions {
    /// Write the session as one page for a browser, which opens without a server
    #[arg(long, conflicts_with_all = ["turn", "side"])]
    pub(crate) html: bool,
    /// Turns of the page, such as `6-7`; all if omitted
    #[arg(long, value_name = "N[-M]", requires = "html")]
    pub(crate) turns: Option<String>,
    /// Pictures of the page: as the model got them, also the originals, small ones, or none
    #[arg(long, value_name = "WHICH", default_value = "sent", requires = "html", value_parser = pictures())]
    pub(crate) pictures: ExportedPictures,
    /// Texts of the page: as they are, without keys, addresses and numbers, or none. Pictures are not
    /// redacted
    #[arg(long, value_name = "WHICH", default_value = "redacted", requires = "html", value_parser = texts())]
    pub(crate) text: ExportedText,
    /// Write the page even if it is larger than 20 MB
    #[arg(long, requires = "html")]
    pub(crate) large: bool,
}

/// Parses the option `--pictures`.
fn pictures() -> impl TypedValueParser<Value = ExportedPictures> {
    let find = |name: String| ExportedPictures::ALL.into_iter().find(|(one, _)| *one == name);
    PossibleValuesParser::new(ExportedPictures::ALL.map(|(name, _)| name))
        .map(move |name| find(name).map_or_else(ExportedPictures::default, |(_, value)| value))
}

/// Parses the option `--text`.
fn texts() -> impl TypedValueParser<Value = ExportedText> {
    let find = |name: String| ExportedText::ALL.into_iter().find(|(one, _)| *one == name);
    PossibleValuesParser::new(ExportedText::ALL.map(|(name, _)| name))
        .map(move |name| find(name).map_or_else(ExportedText::default, |(_, value)| value))
}

/// Options that select an image.
#[derive(Debug, Args)]
pub(crate) struct ImageOptions {
    /// The session
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Image: a handle, or a number
    #[arg(value_name = "IMAGE")]
    pub(crate) image: String,
    /// Undo the choice
    #[arg(long)]
    pub(crate) undo: bool,
}

/// Options of an import.
#[derive(Debug, Args)]
pub(crate) struct ImportOptions {
    /// Body of one request; `-` or nothing for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Session to add it to; the one that it continues, or a new one, if omitted
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Wire of the body. Detected automatically if omitted.
    #[arg(long, value_name = "WIRE", value_parser = wire())]
    pub(crate) from: Option<photic::Wire>,
    /// Model that it is for; the one it names if omitted
    #[arg(long = "for", value_name = "MODEL")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
}

/// One of the two bodies of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Side {
    /// The body that the client sent
    #[default]
    Client,
    /// The body that the model was sent
    Model,
}
