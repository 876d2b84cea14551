//! What was drawn: pixels, where they stand on the page, and what is missing from them.

use photic_pixels::geometry::Affine;
pub use photic_pixels::geometry::TextRow;
use photic_pixels::{Layout, Raster};
use serde::{Deserialize, Serialize};

/// One page of a source, or a part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The pixels.
    pub raster: Raster,
    /// From those pixels to the units of the page.
    pub to_page: Affine,
    /// What is known about it.
    pub facts: Facts,
}

/// What is known about a page besides its pixels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Which page it is, from 1.
    pub page: u32,
    /// How many there are.
    pub pages: u32,
    /// Width and height of the whole page, in its units.
    pub size: (f64, f64),
    /// What is not in the picture although the source asks for it.
    pub left_out: Vec<LeftOut>,
    /// How many more things were left out than are listed.
    pub unlisted: u32,
    /// For text: its rows, from top to bottom.
    pub rows: Vec<TextRow>,
}

impl Facts {
    /// The only page of a source, with nothing left out.
    pub(crate) fn single(size: (f64, f64)) -> Self {
        Self { page: 1, pages: 1, size, left_out: Vec::new(), unlisted: 0, rows: Vec::new() }
    }

    /// The same, if it comes from where hostile bytes were read: its lists and words are bounded.
    pub(crate) fn distrusted(mut self) -> Self {
        let listed = std::mem::take(&mut self.left_out);
        for LeftOut { what, detail } in listed {
            self.leave_out(LeftOut::new(what, &detail));
        }
        self
    }

    /// Adds what was left out, once, up to a bound.
    pub(crate) fn leave_out(&mut self, what: LeftOut) {
        if self.left_out.contains(&what) {
            return;
        }
        if self.left_out.len() < MOST_LISTED {
            self.left_out.push(what);
        } else {
            self.unlisted = self.unlisted.saturating_add(1);
        }
    }
}

/// The text layer of a page.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    /// Which page it is, from 1.
    pub page: u32,
    /// How many there are.
    pub pages: u32,
    /// Its lines. Data of unknown origin; empty where a page is a picture.
    pub text: String,
}

impl std::fmt::Debug for Words {
    /// Never the text: it must not reach a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{} bytes of page {} of {}>", self.text.len(), self.page, self.pages)
    }
}

/// Longest list of what was left out, and the longest text of one.
const MOST_LISTED: usize = 40;
const MOST_CHARACTERS: usize = 160;

/// Something that the source asks for and the picture does not show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// What it is.
    pub what: Missing,
    /// The source's own words: data of unknown origin, shortened, without control characters.
    pub detail: String,
}

impl LeftOut {
    /// With the source's words made fit to be shown.
    pub(crate) fn new(what: Missing, detail: &str) -> Self {
        Self { what, detail: clean(detail) }
    }
}

/// Words of unknown origin, shortened, without control characters.
pub(crate) fn clean(words: &str) -> String {
    let mut characters = words.chars().filter(|c| !c.is_control());
    let mut clean: String = characters.by_ref().take(MOST_CHARACTERS).collect();
    if characters.next().is_some() {
        clean.push('…');
    }
    clean
}

/// What can be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Something outside the source: a file, an address. It was not opened.
    External,
    /// A picture inside the source that could not be decoded within the bounds.
    Picture,
    /// A program. It was not run.
    Script,
    /// Motion: one moment is shown.
    Animation,
    /// HTML inside a drawing.
    Foreign,
    /// A font that could not be used; text may look different or be missing.
    Font,
    /// Characters that no font at hand has.
    Glyphs,
    /// A note on a page that does not say how it looks.
    Annotation,
    /// Colors of code, because the text is too long for them.
    Colors,
    /// The rest of something that is longer or wider than is laid out.
    Rest,
    /// The source's own spaces and line ends: it is laid out anew.
    Layout,
}

impl Page {
    /// The line and column of the text under a pixel, both from 1; beside a row, its nearest
    /// character. None where there is no text.
    pub fn line_and_column(&self, x: f64, y: f64) -> Option<(u32, u32)> {
        let (x, y) = self.to_page.map_point(x, y);
        TextRow::find(&self.facts.rows, x, y)
    }
}

/// Pixels with premultiplied alpha become a raster: without alpha where all of it is opaque.
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

/// Pixels that all are opaque become a raster without alpha, where they lie.
pub(crate) fn opaque(width: u32, height: u32, mut data: Vec<u8>) -> Raster {
    let pixels = data.len() / 4;
    for pixel in 0..pixels {
        // Four bytes at once, the last of which the next pixel overwrites: half the time of three.
        data.copy_within(pixel * 4..pixel * 4 + 4, pixel * 3);
    }
    data.truncate(pixels * 3);
    Raster { width, height, layout: Layout::Rgb, data }
}
