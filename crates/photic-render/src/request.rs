//! What is to be drawn, and how large it may become.

use serde::{Deserialize, Serialize};

/// A source, and which part of it is wanted how large.
#[derive(Clone)]
pub struct Request<'a> {
    /// The source, whole. Nothing else is ever read.
    pub bytes: &'a [u8],
    /// What and how.
    pub wanted: Wanted,
    /// Font files the host hands over, for scripts that the built-in fonts lack.
    pub fonts: &'a [Vec<u8>],
    /// Files that the source refers to and the host hands over.
    pub files: &'a [File],
}

/// A file that a source refers to.
#[derive(Clone, PartialEq, Eq)]
pub struct File {
    /// The reference as the source writes it, and as it stood in what was left out.
    pub reference: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for File {
    /// Never its bytes: they must not reach a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{}, {} bytes>", self.reference, self.bytes.len())
    }
}

impl<'a> Request<'a> {
    /// The first page of a source, whole, at its usual size.
    pub fn new(bytes: &'a [u8], kind: Kind) -> Self {
        Self { bytes, wanted: Wanted::new(kind), fonts: &[], files: &[] }
    }
}

impl std::fmt::Debug for Request<'_> {
    /// Never the source: it must not reach a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{} bytes, {:?}, {} fonts>", self.bytes.len(), self.wanted, self.fonts.len())
    }
}

/// Everything about a request but the bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    /// What the source is.
    pub kind: Kind,
    /// Which page, from 1.
    pub page: u32,
    /// The part of the page, in its own units; all of it when `None`.
    pub region: Option<Area>,
    /// How large it is drawn.
    pub fit: Fit,
    /// The colors of text.
    pub theme: Theme,
    /// The name or ending of the file, by which text is colored.
    pub name: Option<String>,
    /// What may not be exceeded.
    pub bounds: Bounds,
}

impl Wanted {
    /// The first page, whole, at its usual size.
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            page: 1,
            region: None,
            fit: Fit::Usual,
            theme: Theme::Light,
            name: None,
            bounds: Bounds::default(),
        }
    }
}

/// What a source is. The host has looked; nothing is guessed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A drawing in SVG. Its unit is the CSS pixel.
    Svg,
    /// A PDF document. Its unit is the point, from the upper left corner of the page as it is read.
    Pdf,
    /// Code and other text. Its unit is the pixel at the usual size.
    Text,
    /// Prose in Markdown. Its unit, and that of the kinds below, is the pixel at the usual size.
    Markdown,
    /// A table, its cells parted by commas, semicolons or tabs.
    Csv,
    /// A value in JSON.
    Json,
    /// A Jupyter notebook.
    Notebook,
    /// A page in HTML, for a browser. Its unit is the CSS pixel.
    Html,
    /// A document for an office suite. Its unit is the point.
    Office,
}

impl Kind {
    /// Its name in a sentence.
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

/// A rectangle in the units of a page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Area {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// How wide.
    pub width: f64,
    /// How high.
    pub height: f64,
}

/// How large a page or region is drawn. Whatever is asked for, the bounds hold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// As its kind is best seen by a model.
    Usual,
    /// So that the longer side has this many pixels.
    Longest(u32),
    /// So many pixels a unit.
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

/// What a drawing may not exceed. Time and memory are the worker's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Most bytes of the source.
    pub bytes: usize,
    /// Longest side, in pixels.
    pub edge: u32,
    /// Most pixels.
    pub pixels: u64,
}

impl Default for Bounds {
    /// No provider takes more than 8,000 pixels a side.
    fn default() -> Self {
        Self { bytes: 64 << 20, edge: 8_000, pixels: 32_000_000 }
    }
}
