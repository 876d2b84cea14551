//! The result of drawing: pixels, their position on the page, and what is missing.

use photic_pixels::geometry::Affine;
pub use photic_pixels::geometry::TextRow;
use photic_pixels::{Layout, Raster};
use serde::{Deserialize, Serialize};

/// A page of a source, or a part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The pixels.
    pub raster: Raster,
    /// Map from those pixels to page units.
    pub to_page: Affine,
    /// Facts about the page.
    pub facts: PageFacts,
}

/// Facts about a page besides its pixels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageFacts {
    /// Number of the page, from 1.
    pub page: u32,
    /// Number of pages.
    pub pages: u32,
    /// Width and height of the whole page in its units.
    pub size: (f64, f64),
    /// Content that the source asks for and the picture does not show.
    pub left_out: Vec<LeftOut>,
    /// Number of things left out that are not listed.
    pub unlisted: u32,
    /// Rows of text, from top to bottom, if the page is text.
    pub rows: Vec<TextRow>,
}

impl PageFacts {
    /// The only page of a source, with nothing left out.
    pub(crate) fn single(size: (f64, f64)) -> Self {
        Self { page: 1, pages: 1, size, left_out: Vec::new(), unlisted: 0, rows: Vec::new() }
    }

    /// Limits lists and texts that come from a process which read hostile bytes.
    pub(crate) fn limited(mut self) -> Self {
        let listed = std::mem::take(&mut self.left_out);
        for LeftOut { what, detail } in listed {
            self.leave_out(LeftOut::new(what, &detail));
        }
        self
    }

    /// Adds something left out, once, up to a limit.
    pub(crate) fn leave_out(&mut self, what: LeftOut) {
        if self.left_out.contains(&what) {
            return;
        }
        if self.left_out.len() < MAX_LISTED {
            self.left_out.push(what);
        } else {
            self.unlisted = self.unlisted.saturating_add(1);
        }
    }
}

/// The text layer of a page.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageText {
    /// Number of the page, from 1.
    pub page: u32,
    /// Number of pages.
    pub pages: u32,
    /// Its lines. Untrusted; empty if the page is a picture.
    pub text: String,
}

impl std::fmt::Debug for PageText {
    /// Omits the text, which must not reach a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{} bytes of page {} of {}>", self.text.len(), self.page, self.pages)
    }
}

/// Largest number of things left out that are listed.
const MAX_LISTED: usize = 40;
/// Longest text of one of them.
const MAX_CHARACTERS: usize = 160;

/// Something that the source asks for and the picture does not show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its kind.
    pub what: Missing,
    /// Words of the source: untrusted, shortened, without control characters.
    pub detail: String,
}

impl LeftOut {
    /// Creates it, with the source's words cleaned.
    pub(crate) fn new(what: Missing, detail: &str) -> Self {
        Self { what, detail: clean(detail) }
    }
}

/// Shortens untrusted text and removes control characters.
pub(crate) fn clean(words: &str) -> String {
    let mut characters = words.chars().filter(|c| !c.is_control());
    let mut clean: String = characters.by_ref().take(MAX_CHARACTERS).collect();
    if characters.next().is_some() {
        clean.push('…');
    }
    clean
}

/// The kinds of missing content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Something outside the source: a file or URL. It was not opened.
    External,
    /// A picture inside the source that could not be decoded within the limits.
    Picture,
    /// A script. It was not run.
    Script,
    /// An animation; one moment is shown.
    Animation,
    /// HTML inside a drawing.
    Foreign,
    /// A font that could not be used; text may look different or be missing.
    Font,
    /// Characters that no available font has.
    Glyphs,
    /// An annotation without an appearance of its own.
    Annotation,
    /// Colors of code, because the text is too long.
    Colors,
    /// The rest of something that is longer or wider than is laid out.
    Rest,
    /// The source's own spaces and line ends, since it is laid out again.
    Layout,
}

impl Page {
    /// The line and column of the text at a pixel, both from 1. Beside a row, it is the nearest
    /// character; elsewhere without text, it is `None`.
    pub fn line_and_column(&self, x: f64, y: f64) -> Option<(u32, u32)> {
        let (x, y) = self.to_page.map_point(x, y);
        TextRow::find(&self.facts.rows, x, y)
    }
}

/// Turns pixels with premultiplied alpha into a raster, without alpha if all are opaque.
pub(crate) fn raster(width: u32, height: u32, mut data: Vec<u8>) -> Raster {
    if data.chunks_exact(4).all(|pixel| pixel[3] == 255) {
        return opaque(width, height, data);
    }
    for pixel in data.chunks_exact_mut(4) {
        let alpha = u32::from(pixel[3]);
        if alpha == 0 {
            pixel.fill(0);
        } else if alpha < 255 {
            for sample in &mut pixel[..3] {
                *sample = ((u32::from(*sample) * 255 + alpha / 2) / alpha).min(255) as u8;
            }
        }
    }
    Raster { width, height, layout: Layout::Rgba, data }
}

/// Turns opaque pixels into a raster without alpha, in place.
pub(crate) fn opaque(width: u32, height: u32, mut data: Vec<u8>) -> Raster {
    let pixels = data.len() / 4;
    for pixel in 0..pixels {
        // Four bytes at once, the last of which the next pixel overwrites: twice as fast as three.
        data.copy_within(pixel * 4..pixel * 4 + 4, pixel * 3);
    }
    data.truncate(pixels * 3);
    Raster { width, height, layout: Layout::Rgb, data }
}
