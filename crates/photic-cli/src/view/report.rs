//! The facts about a view, as JSON and for people.

use photic::profile::{Basis, Profile};
use photic_pixels::View;
use photic_pixels::geometry::{Affine, Rect};
use serde::Serialize;

use crate::style::{DIM, GREEN, YELLOW, grouped};

/// The original's point at a pixel of a view.
#[derive(Serialize)]
pub(super) struct PixelLocation {
    /// Column of the original.
    x: f64,
    /// Row of the original.
    y: f64,
    /// Line of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// Column of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    #[serde(skip)]
    unit: &'static str,
}

impl PixelLocation {
    pub(super) fn of(view: &View, (x, y): (u32, u32)) -> Self {
        // A click means the center of a pixel.
        let (x, y) = (f64::from(x) + 0.5, f64::from(y) + 0.5);
        let (line, column) = view.line_and_column(x, y).unzip();
        let (x, y) = view.map.map_point(x, y);
        Self { x, y, line, column, unit: view.unit }
    }
}

impl std::fmt::Display for PixelLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1},{:.1} {}", self.x, self.y, self.unit)?;
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, ", line {line}, column {column}"),
            _ => Ok(()),
        }
    }
}

/// The output of `--json`. The names are those of all commands.
#[derive(Serialize)]
struct ViewReport<'f> {
    /// Media type of the view.
    media_type: &'f str,
    /// Width and height of the view.
    size: (u32, u32),
    /// Length of the view in bytes.
    bytes: usize,
    /// Width and height of the original.
    source_size: (u32, u32),
    /// Unit of the original: `px`, or `pt` for pages.
    unit: &'f str,
    /// The part of the original that is shown.
    region: Rect,
    /// View pixels for each pixel of the original.
    scale: f64,
    /// Map from view pixels to the original.
    map: Affine,
    /// Id of the profile that was used.
    profile: &'f str,
    /// Tokens of the view.
    tokens: u64,
    /// The certainty of the tokens.
    basis: Basis,
    /// The `detail` to send.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'f str>,
    /// Smallest possible number of pages or frames.
    pages: u32,
    /// Facts that a reader would not expect.
    warnings: Vec<WarningReport<'f>>,
    /// The point of the original that `--at` asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<PixelLocation>,
}

/// A fact that a reader would not expect.
#[derive(Serialize)]
struct WarningReport<'f> {
    /// Its code and its details.
    #[serde(flatten)]
    warning: &'f photic_pixels::Warning,
    /// The warning in words.
    message: String,
}

impl<'f> WarningReport<'f> {
    fn of(warning: &'f photic_pixels::Warning) -> Self {
        Self { warning, message: warning.to_string() }
    }
}

/// Prints the facts as JSON.
pub(super) fn as_json(
    mut out: impl std::io::Write,
    view: &View,
    profile: &Profile,
    at: Option<(u32, u32)>,
) -> anyhow::Result<()> {
    let facts = ViewReport {
        media_type: view.media_type,
        size: (view.width, view.height),
        bytes: view.bytes.len(),
        source_size: view.source,
        unit: view.unit,
        region: view.region,
        scale: view.scale,
        map: view.map,
        profile: &profile.id,
        tokens: view.tokens,
        basis: profile.basis(),
        detail: view.detail.map(photic::tokens::Detail::name),
        pages: view.frames.least(),
        warnings: view.warnings.iter().map(WarningReport::of).collect(),
        at: at.map(|at| PixelLocation::of(view, at)),
    };
    serde_json::to_writer_pretty(&mut out, &facts)?;
    writeln!(out)?;
    Ok(())
}

/// Prints the facts for people.
pub(super) fn as_text(
    mut out: impl std::io::Write,
    name: &str,
    view: &View,
    profile: &Profile,
) -> anyhow::Result<()> {
    let (source_width, source_height) = view.source;
    writeln!(out, "{GREEN}{name}{GREEN:#} {source_width}x{source_height} {}", view.unit)?;
    let Rect { x, y, width, height } = view.region;
    if (width, height) != view.source {
        writeln!(out, "  region {x},{y},{width},{height}")?;
    }
    let bytes = grouped(view.bytes.len() as u64);
    writeln!(out, "  view   {}x{} {}, {bytes} bytes", view.width, view.height, view.media_type)?;
    let (origin_x, origin_y) = view.map.map_point(0.0, 0.0);
    let Affine { a, d, .. } = view.map;
    let original = if (origin_x, origin_y) == (0.0, 0.0) {
        format!("({a:.3}·x, {d:.3}·y)")
    } else {
        format!("({origin_x:.1} + {a:.3}·x, {origin_y:.1} + {d:.3}·y)")
    };
    writeln!(out, "  scale  {:.3}{DIM}: original pixel = {original}{DIM:#}", view.scale)?;
    let tokens = match profile.basis() {
        Basis::Published => grouped(view.tokens),
        Basis::Assumed => format!("about {}", grouped(view.tokens)),
        Basis::Unknown => {
            let most = profile.most_image_tokens(
                view.width,
                view.height,
                view.detail.or(profile.quirks.detail),
            );
            format!("about {} (model unknown; at most {})", grouped(view.tokens), grouped(most))
        }
    };
    writeln!(out, "  tokens {tokens} {DIM}for `{}`{DIM:#}", profile.id)?;
    for warning in &view.warnings {
        writeln!(out, "{YELLOW}warning:{YELLOW:#} {warning}")?;
    }
    Ok(())
}
