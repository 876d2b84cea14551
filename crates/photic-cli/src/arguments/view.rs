//! The arguments of `photic view`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use photic_pixels::fit::{Fidelity, Preset};
use photic_pixels::geometry::Rect;

use crate::preview::Preview;

/// Show a picture or a document as a model would get it: exit 0 shown, 1 refused, 2 error
///
/// Drawings, PDF documents, code, Markdown, tables and notebooks are drawn page by page, in a child
/// process that can reach nothing; HTML and office documents if Chromium and an office suite are
/// installed. `docs/rendering.md` says how.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic view page.png                                 size, scale, tokens, warnings
  photic view page.png --region 0,1200,800,400         zoom: read again from the original
  photic view page.png --for gpt-5.4 -o seen.png       what that model would be sent
  photic view page.png --tile 1 --json                 one tile of a large page, as data
  photic view spinner.gif --sheet                      frames of an animation, side by side
  photic view paper.pdf --page 3 --region 0,0,300,200  a part of a page, drawn anew, in its points
  photic view src/main.rs --at 420,310                 which line and column stand there?
")]
pub(crate) struct ViewOptions {
    /// The picture or document; `-` for standard input
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,
    /// The part to show, in pixels of the original or units of the page
    #[arg(long, value_name = "X,Y,W,H", value_parser = region, allow_hyphen_values = true)]
    pub(crate) region: Option<Rect>,
    /// One of the tiles that cover it at full resolution, from 1; 0 for the overview
    #[arg(long, value_name = "N")]
    pub(crate) tile: Option<u32>,
    /// Which frame or page, from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) frame: u32,
    /// Which page or frame, from 1
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..),
        conflicts_with = "frame",
    )]
    pub(crate) page: Option<u32>,
    /// Say what stands at a pixel of the view: a point of the original, line and column of text
    #[arg(long, value_name = "X,Y", value_parser = point)]
    pub(crate) at: Option<(u32, u32)>,
    /// Frames or pages side by side, at most N of them, evenly spaced
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        default_missing_value = "12",
        value_parser = clap::value_parser!(u32).range(1..=64),
        conflicts_with_all = ["frame", "page", "region", "tile"],
    )]
    pub(crate) sheet: Option<u32>,
    /// How closely to look
    #[arg(long, default_value = "read", value_parser = fidelity())]
    pub(crate) fidelity: Fidelity,
    /// The model it is for; without it, what every endpoint takes
    #[arg(long = "for", value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Caps by name: `seed003` is 1568 px and 500 KiB
    #[arg(long, value_parser = preset())]
    pub(crate) preset: Option<Preset>,
    /// Write what the model would get to a file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How to draw it in the terminal
    #[arg(long, value_enum, value_name = "WAY", default_value_t)]
    pub(crate) preview: Preview,
    /// Print JSON, and draw nothing
    #[arg(long)]
    pub(crate) json: bool,
}

fn fidelity() -> impl clap::builder::TypedValueParser<Value = Fidelity> {
    PossibleValuesParser::new(Fidelity::ALL.map(Fidelity::name))
        .map(|name| Fidelity::from_name(&name).unwrap_or_default())
}

fn preset() -> impl clap::builder::TypedValueParser<Value = Preset> {
    PossibleValuesParser::new(Preset::ALL.map(Preset::name))
        .map(|name| Preset::from_name(&name).unwrap_or(Preset::Seed003))
}

fn region(text: &str) -> Result<Rect, String> {
    let numbers: Result<Vec<u32>, _> =
        text.split(',').map(|number| number.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[x, y, width, height]) => Ok(Rect::new(x, y, width, height)),
        _ => Err("four whole numbers from 0 are wanted, like `0,1200,800,400`".to_owned()),
    }
}

fn point(text: &str) -> Result<(u32, u32), String> {
    let numbers = text.split_once(',').map(|(x, y)| (x.trim().parse(), y.trim().parse()));
    match numbers {
        Some((Ok(x), Ok(y))) => Ok((x, y)),
        _ => Err("two whole numbers from 0 are wanted, like `420,310`".to_owned()),
    }
}
