//! The arguments of `photic view`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use photic_pixels::fit::{Fidelity, Preset};
use photic_pixels::geometry::Rect;

use crate::preview::Preview;

/// Show a picture or document as a model would get it. Exit code: 0 shown, 1 refused, 2 error
///
/// Drawings, PDF documents, code, Markdown, tables and notebooks are drawn page by page in a
/// sandboxed child process; HTML and office documents need Chromium and an office suite. See
/// `docs/rendering.md`.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic view page.png                                 size, scale, tokens, warnings
  photic view page.png --region 0,1200,800,400         zoom in: read again from the original
  photic view page.png --for gpt-5.4 -o seen.png       write the file that model would be sent
  photic view page.png --tile 1 --json                 one tile of a large page, as JSON
  photic view request.json --image 3                   the third image of a request body
  photic view spinner.gif --sheet                      frames of an animation, side by side
  photic view paper.pdf --page 3 --region 0,0,300,200  a part of a page, in its points
  photic view src/main.rs --at 420,310                 the line and column at a pixel
")]
pub(crate) struct ViewOptions {
    /// Picture or document; `-` for standard input
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,
    /// Region to show, in pixels of the original or units of the page
    #[arg(long, value_name = "X,Y,W,H", value_parser = region, allow_hyphen_values = true)]
    pub(crate) region: Option<Rect>,
    /// Tile that shows a part at full resolution, from 1; 0 for the overview
    #[arg(long, value_name = "N")]
    pub(crate) tile: Option<u32>,
    /// Page or frame, from 1
    #[arg(
        long,
        visible_alias = "frame",
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..),
    )]
    pub(crate) page: u32,
    /// Show an image of a request body instead, from 1, in the order of `photic check`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) image: Option<u32>,
    /// Print the point of the original at a pixel of the view, with line and column of text
    #[arg(long, value_name = "X,Y", value_parser = point)]
    pub(crate) at: Option<(u32, u32)>,
    /// Show at most N evenly spaced frames or pages side by side
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        default_missing_value = "12",
        value_parser = clap::value_parser!(u32).range(1..=64),
        conflicts_with_all = ["page", "region", "tile"],
    )]
    pub(crate) sheet: Option<u32>,
    /// Level of detail
    #[arg(long, default_value = "read", value_parser = fidelity())]
    pub(crate) fidelity: Fidelity,
    /// Model that it is for; sizes that every endpoint accepts if omitted
    #[arg(long = "for", value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Named limits: `seed003` is 1568 px and 500 KiB
    #[arg(long, value_parser = preset())]
    pub(crate) preset: Option<Preset>,
    /// Largest picture that is decoded whole, in millions of pixels. A region of a larger PNG, JPEG,
    /// TIFF or BMP can be shown without raising it.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(1..=100_000),
    )]
    pub(crate) max_megapixels: u32,
    /// Write the file that the model would get, as PNG, JPEG or WebP by its extension; `-` for
    /// standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Drawing in the terminal
    #[arg(long, value_enum, value_name = "WAY", default_value_t)]
    pub(crate) preview: Preview,
    /// Print JSON, and draw nothing
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses the option `--fidelity`.
fn fidelity() -> impl clap::builder::TypedValueParser<Value = Fidelity> {
    PossibleValuesParser::new(Fidelity::ALL.map(Fidelity::name))
        .map(|name| Fidelity::from_name(&name).unwrap_or_default())
}

/// Parses the option `--preset`.
fn preset() -> impl clap::builder::TypedValueParser<Value = Preset> {
    PossibleValuesParser::new(Preset::ALL.map(Preset::name))
        .map(|name| Preset::from_name(&name).unwrap_or(Preset::Seed003))
}

/// Parses the option `--region`.
fn region(text: &str) -> Result<Rect, String> {
    let numbers: Result<Vec<u32>, _> =
        text.split(',').map(|number| number.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[x, y, width, height]) => Ok(Rect::new(x, y, width, height)),
        _ => Err("expected four whole numbers from 0, such as `0,1200,800,400`".to_owned()),
    }
}

/// Parses the option `--at`.
fn point(text: &str) -> Result<(u32, u32), String> {
    let numbers = text.split_once(',').map(|(x, y)| (x.trim().parse(), y.trim().parse()));
    match numbers {
        Some((Ok(x), Ok(y))) => Ok((x, y)),
        _ => Err("expected two whole numbers from 0, such as `420,310`".to_owned()),
    }
}
