//! Requests: what to draw, and the limits on its size.

use serde::{Deserialize, Serialize};

/// A source, and the part of it to draw.
#[derive(Clone)]
pub struct Request<'a> {
    /// The whole source. Nothing else is ever read.
    pub bytes: &'a [u8],
    /// Everything else about the request.
    pub wanted: DrawOptions,
    /// Fonts that the host hands over, for scripts that the built-in fonts lack.
    pub fonts: &'a [Vec<u8>],
    /// Files that the source refers to and the host hands over.
    pub files: &'a [SourceFile],
}

/// A file that a source refers to.
#[derive(Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The reference as the source writes it, and as it was listed as left out.
    pub reference: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for SourceFile {
    /// Omits the bytes, which must not reach a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{}, {} bytes>", self.reference, self.bytes.len())
    }
}

impl<'a> Request<'a> {
    /// The first page of a source at its default size.
    pub fn new(bytes: &'a [u8], kind: Kind) -> Self {
        Self { bytes, wanted: DrawOptions::new(kind), fonts: &[], files: &[] }
    }
}

impl std::fmt::Debug for Request<'_> {
    /// Omits the source, which must not reach a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{} bytes, {:?}, {} fonts>", self.bytes.len(), self.wanted, self.fonts.len())
    }
}

/// Everything about a request but the bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawOptions {
    /// Kind of the source.
    pub kind: Kind,
    /// Number of the page, from 1.
    pub page: u32,
    /// The region in page units; everything if `None`.
    pub region: Option<Area>,
    /// Size of the drawing.
    pub fit: Fit,
    /// The colors of text.
    pub theme: Theme,
    /// Name or extension of the file, by which text is colored.
    pub name: Option<String>,
    /// Limits.
    pub bounds: DrawLimits,
}

impl DrawOptions {
    /// The first page at its default size.
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            page: 1,
            region: None,
            fit: Fit::Usual,
            theme: Theme::Light,
            name: None,
            bounds: DrawLimits::default(),
        }
    }
}

/// The kind of a source. The host has detected it; nothing is guessed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A drawing in SVG. Its unit is the CSS pixel.
    Svg,
    /// A PDF document. Its unit is the point, from the upper left corner of the upright page.
    Pdf,
    /// Code and other text. Its unit is the pixel at the default size.
    Text,
    /// Prose in Markdown. Its unit, and that of the next three kinds, is the pixel at the default
    /// size.
    Markdown,
    /// A table with cells separated by commas, semicolons or tabs.
    Csv,
    /// A value in JSON.
    Json,
    /// A Jupyter notebook.
    Notebook,
    /// An HTML page, for a browser. Its unit is the CSS pixel.
    Html,
    /// A document for an office suite. Its unit is the point.
    Office,
}

impl Kind {
    /// The name of the kind for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Svg => "SVG drawing",
            Self::Pdf => "PDF document",
            Self::Text => "text",
            Self::Markdown => "Markdown text",
            Self::Csv => "table",
            Self::Json => "JSON value",
            Self::Notebook => "notebook",
            Self::Html => "HTML page",
            Self::Office => "office document",
        }
    }
}

/// A rectangle in page units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Area {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// The size of a drawing. The limits apply to every choice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// The size at which a model sees this kind best.
    Usual,
    /// The longer side has this many pixels.
    Longest(u32),
    /// Pixels per unit.
    Scale(f64),
}

/// The colors of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// Dark on white.
    #[default]
    Light,
    /// Light on dark.
    Dark,
}

/// Limits of a drawing. Time and memory are limited by the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawLimits {
    /// Largest size of the source in bytes.
    pub bytes: usize,
    /// Longest side, in pixels.
    pub edge: u32,
    /// Largest number of pixels.
    pub pixels: u64,
}

impl Default for DrawLimits {
    /// No provider takes more than 8,000 pixels a side.
    fn default() -> Self {
        Self { bytes: 64 << 20, edge: 8_000, pixels: 32_000_000 }
    }
}
