//! Estimates the height of the smallest text in a picture, to tell whether a model can read it.
//!
//! Lines of text are bands of rows with many upright strokes between rows with few, at the same
//! height in neighboring strips. No letter is recognized. In doubt no text is reported: a false
//! warning costs the reader a zoom.

use crate::fit::FittedSize;
use crate::geometry::Rect;
use crate::{Layout, Raster};

/// The x-height in view pixels below which models misread text.
///
/// Reports put the limit between 5.6 and 7 (10 pt is read in a 1280 px screenshot, 20 pt in a 512
/// px one), call 8x13 glyphs readable, and a 14 px font scaled to 4.3 px (an x-height of 2.3) lost.
/// No model was measured here. Tesseract, given Pillow's Lanczos reductions enlarged threefold,
/// misreads nothing at 6 px, 0.13 % of the characters at 5, 0.5 % at 4 and 6.4 % at 3
/// (`bench/readability.py --curve`).
pub const MIN_READABLE_X_HEIGHT: f64 = 6.0;

/// Width of the strips that are examined separately: a few letters of small text.
const STRIP: usize = 64;
/// Smallest difference between neighbors that counts as the edge of a stroke, of 255. Gray on white
/// has 80 and more.
/// A stroke's edge: this much between neighbors, of 255. Gray on white has 80 and more.
const CONTRAST: u8 = 28;

/// The x-height from which a strip holds only a few letters.
const FEW_LETTERS: f64 = 10.0;

/// The x-heights that are searched for. Smaller letters cannot be formed from pixels; larger ones
/// stay readable in every view that a provider takes.
const X_HEIGHTS: std::ops::RangeInclusive<u32> = 3..=48;

/// Smallest number of confirmed pieces of lines that counts as text.
const MIN_PIECES: usize = 6;

/// One piece of this many may match the next strip by chance. Leaves and gravel reach one in sixty,
/// pages of text one in two.
const PIECES_PER_CHANCE_MATCH: usize = 20;

/// The smallest text in a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmallestText {
    /// Height of a lower-case letter without ascender, in pixels of the raster.
    pub x_height: f64,
    /// A piece of a line in this size.
    pub at: Rect,
}

impl SmallestText {
    /// Converts the measurement to a picture of another size.
    #[must_use]
    pub fn scaled(&self, by: f64) -> Self {
        let part = |side: u32| (f64::from(side) * by).round() as u32;
        let at = Rect::new(
            part(self.at.x),
            part(self.at.y),
            part(self.at.width).max(1),
            part(self.at.height).max(1),
        );
        Self { x_height: self.x_height * by, at }
    }

    /// A region around this text that a view of size `target` shows readably, and no larger than
    /// native resolution needs. `source` is the size of the picture.
    pub fn readable_region(&self, source: (u32, u32), target: &FittedSize) -> Rect {
        // Text that is too small at native resolution does not improve with more zoom.
        let scale = (MIN_READABLE_X_HEIGHT / self.x_height).min(1.0);
        let length = |content: u32, source: u32| {
            ((f64::from(content) / scale).floor() as u32).clamp(1, source.max(1))
        };
        let (width, height) =
            (length(target.content.0, source.0), length(target.content.1, source.1));
        let start = |at: u32, of: u32, length: u32, source: u32| {
            (at + of / 2).saturating_sub(length / 2).min(source - length)
        };
        Rect::new(
            start(self.at.x, self.at.width, width, source.0),
            start(self.at.y, self.at.height, height, source.1),
            width,
            height,
        )
    }
}

/// The smallest text that occurs more than a few times; `None` if no lines of text are found.
pub fn smallest_text(raster: &Raster) -> Option<SmallestText> {
    let strips = strips(raster);
    let text = measured(&strips, 1)?;
    if text.x_height < FEW_LETTERS {
        return Some(text);
    }
    // A strip has too few letters to trust the height: examine three strips at a time.
    let wide: Vec<Strip> = strips.chunks_exact(3).map(summed).collect();
    measured(&wide, 3).or(Some(text))
}

/// The number of upright strokes in each row of a vertical strip of the picture.
struct Strip {
    left: u32,
    profile: Vec<u8>,
}

/// Adds up the strokes of several strips.
fn summed(strips: &[Strip]) -> Strip {
    let mut sum = vec![0_u8; strips.first().map_or(0, |strip| strip.profile.len())];
    for strip in strips {
        sum.iter_mut().zip(&strip.profile).for_each(|(sum, strokes)| *sum += strokes);
    }
    Strip { left: strips.first().map_or(0, |strip| strip.left), profile: sum }
}

/// The smallest text of strips that are each `wide` times [`STRIP`] wide.
fn measured(strips: &[Strip], wide: u8) -> Option<SmallestText> {
    let mut found = Vec::new();
    let mut former: Vec<TextLine> = Vec::new();
    let mut candidates = 0;
    for strip in strips {
        let lines = lines(&strip.profile, wide);
        candidates += lines.len();
        confirm(&former, &lines, strip.left, &mut found);
        former = lines;
    }
    if found.len() < MIN_PIECES.max(candidates / PIECES_PER_CHANCE_MATCH) {
        return None;
    }
    found.sort_unstable_by_key(|&(line, left)| (line.height(), line.top, left));
    let (line, left) = *found.get((found.len() / 40).max(2))?;
    let at = Rect::new(left, line.top, STRIP as u32 * u32::from(wide), line.height());
    Some(SmallestText { x_height: f64::from(line.height()), at })
}

/// The rows between the baseline and the top of an `x`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct TextLine {
    top: u32,
    bottom: u32,
}

impl TextLine {
    const fn height(self) -> u32 {
        self.bottom - self.top
    }
}

/// Counts the upright edges in each row of each strip.
///
/// Each sample is compared with the same sample of the next pixel, byte by byte, which vectorizes.
/// An edge counts once for three channels. Of a large picture every second group of six strips is
/// examined: text that matters is longer.
fn strips(raster: &Raster) -> Vec<Strip> {
    let samples = raster.layout.samples();
    let channels = if raster.layout == Layout::Gray { 1 } else { 3 };
    let pixels = u64::from(raster.width) * u64::from(raster.height);
    let every = if pixels > 3_000_000 { 2 } else { 1 };
    let mut strips: Vec<Strip> = (0..raster.width as usize / STRIP)
        .filter(|strip| (strip / 6) % every == 0)
        .map(|strip| Strip {
            left: (strip * STRIP) as u32,
            profile: Vec::with_capacity(raster.height as usize),
        })
        .collect();
    for row in raster.data.chunks_exact((raster.width as usize * samples).max(1)) {
        for strip in &mut strips {
            let start = strip.left as usize * samples;
            let part = &row[start..start + STRIP * samples];
            let edges = edges(&part[..part.len() - samples], &part[samples..]);
            strip.profile.push(edges.div_ceil(channels));
        }
    }
    strips
}

/// Counts the samples that differ, in lanes so that the compiler vectorizes the loop.
fn edges(these: &[u8], next: &[u8]) -> u8 {
    let mut lanes = [0_u8; 16];
    let (these, these_rest) = these.as_chunks::<16>();
    let (next, next_rest) = next.as_chunks::<16>();
    for (a, b) in these.iter().zip(next) {
        for lane in 0..16 {
            lanes[lane] += u8::from(a[lane].abs_diff(b[lane]) >= CONTRAST);
        }
    }
    let rest = these_rest.iter().zip(next_rest);
    let rest: u8 = rest.map(|(a, b)| u8::from(a.abs_diff(*b) >= CONTRAST)).sum();
    lanes.iter().sum::<u8>() + rest
}

/// The lines of text in a strip: rows with at least half the strokes of the fullest row nearby.
///
/// Rows of ascenders and descenders have fewer strokes than that, which distinguishes the x-height
/// from the height of a line and separates lines that touch. Large letters have sparse rows inside,
/// which are bridged, and dense slices outside, which are dropped.
fn lines(profile: &[u8], strips: u8) -> Vec<TextLine> {
    let mut lines = Vec::new();
    // One or two borders may run through everything; three letters or more make a line.
    let (sparse, crowded) = (1 + strips, 3 + 3 * strips);
    let height = profile.len() as u32;
    for band in bands(profile, 0, |strokes| strokes > sparse) {
        let rows = &profile[band.top as usize..band.bottom as usize];
        let most = rows.iter().copied().max().unwrap_or(0);
        // A line that is cut by the picture's edge has no known height.
        if most < crowded || band.top == 0 || band.bottom == height {
            continue;
        }
        let mut full: Vec<TextLine> = Vec::new();
        for part in bands(rows, band.top, |strokes| strokes >= most.div_ceil(2)) {
            match full.last_mut() {
                Some(last) if bridged(*last, part) => last.bottom = part.bottom,
                _ => full.push(part),
            }
        }
        let tallest = full.iter().map(|line| line.height()).max().unwrap_or(0);
        let is_line = |line: &TextLine| {
            X_HEIGHTS.contains(&line.height()) && line.height() * 5 >= tallest * 3
        };
        lines.extend(full.into_iter().filter(is_line));
    }
    lines
}

/// Returns `true` if the rows between two bands are the waist of letters, not the space between
/// lines.
fn bridged(above: TextLine, below: TextLine) -> bool {
    let gap = below.top - above.bottom;
    gap <= 3 || gap * 5 <= below.bottom - above.top
}

/// The maximal runs of rows that pass; `first` is the number of the first row.
fn bands(rows: &[u8], first: u32, passes: impl Fn(u8) -> bool) -> Vec<TextLine> {
    let mut bands: Vec<TextLine> = Vec::new();
    for (row, _) in (first..).zip(rows).filter(|&(_, &strokes)| passes(strokes)) {
        match bands.last_mut() {
            Some(last) if last.bottom == row => last.bottom += 1,
            _ => bands.push(TextLine { top: row, bottom: row + 1 }),
        }
    }
    bands
}

/// Keeps the lines that continue in the next strip at the same height.
fn confirm(before: &[TextLine], lines: &[TextLine], left: u32, found: &mut Vec<(TextLine, u32)>) {
    let mut rest = before.iter().peekable();
    for line in lines {
        while rest.next_if(|other| other.top + 1 < line.top).is_some() {}
        let same = rest.peek().is_some_and(|other| {
            other.top.abs_diff(line.top) <= 1 && other.bottom.abs_diff(line.bottom) <= 1
        });
        if same {
            found.push((*line, left));
        }
    }
}
