//! How tall the smallest text is, and whether a model can still read it in a view.
//!
//! Owns a cheap estimate from the pixels: lines of text are bands of rows crowded with upright
//! strokes between rows with few, at the same height in neighboring strips. No letter is
//! recognized. Must never claim text in a picture without such lines: a false warning costs a
//! zoom, so it stays silent in doubt.

use crate::fit::Target;
use crate::geometry::Rect;
use crate::{Layout, Raster};

/// The x-height in view pixels below which models misread.
///
/// Reports put the limit between 5.6 and 7 (10 pt is read in a 1280 px screenshot, 20 pt in a
/// 512 px one) and call 8x13 glyphs readable and a 14 px font scaled to 4.3 px, an x-height of 2.3,
/// lost (pains R11, peers §4). Tesseract on our own views, which it gets enlarged, misreads 0.04 %
/// of the characters at 6 px, 0.2 % at 5, 0.6 % at 4 and 8.5 % at 3 (bench/readability.py).
pub const READABLE: f64 = 6.0;

/// Width of the strips that are looked at on their own: some letters of small text.
const STRIP: usize = 64;

/// A stroke's edge: this much between neighbors, of 255. Gray on white has 80 and more.
const CONTRAST: u8 = 28;

/// From this x-height on a strip holds only a few letters.
const FEW_LETTERS: f64 = 10.0;

/// The x-heights looked for. Below, the picture's own pixels hold no letters; above, no view that
/// a provider takes makes them unreadable.
const HEIGHTS: std::ops::RangeInclusive<u32> = 3..=48;

/// Fewest confirmed pieces of lines that count as text.
const FEWEST: usize = 6;

/// The smallest text of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Text {
    /// Height of a lower-case letter without ascender, in pixels of the raster.
    pub x_height: f64,
    /// A piece of a line set in it.
    pub at: Rect,
}

impl Text {
    /// The same text in a picture of another size.
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

    /// A region around this text that shows it readably in a view as large as `target`, and no
    /// larger than native resolution needs; `source` is the size of the picture.
    pub fn readable_region(&self, source: (u32, u32), target: &Target) -> Rect {
        // Text too small at native resolution is as good as it gets there.
        let scale = (READABLE / self.x_height).min(1.0);
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

/// The smallest text that occurs more than in passing; none where no lines of text are found.
pub fn smallest_text(raster: &Raster) -> Option<Text> {
    let strips = raster.width as usize / STRIP;
    let profiles: Vec<Vec<u8>> =
        (0..strips).map(|strip| stroke_profile(raster, strip * STRIP)).collect();
    let text = measured(&profiles, STRIP)?;
    if text.x_height < FEW_LETTERS {
        return Some(text);
    }
    // Too few letters to a strip to trust the height: look at three strips at a time.
    let wide: Vec<Vec<u8>> = profiles.chunks_exact(3).map(summed).collect();
    measured(&wide, 3 * STRIP).or(Some(text))
}

fn summed(profiles: &[Vec<u8>]) -> Vec<u8> {
    let mut sum = vec![0_u8; profiles.first().map_or(0, Vec::len)];
    for profile in profiles {
        sum.iter_mut().zip(profile).for_each(|(sum, strokes)| *sum += strokes);
    }
    sum
}

/// The smallest text of strips of this width.
fn measured(profiles: &[Vec<u8>], width: usize) -> Option<Text> {
    let mut found = Vec::new();
    let mut former: Vec<Line> = Vec::new();
    for (strip, profile) in profiles.iter().enumerate() {
        let lines = lines(profile, (width / STRIP) as u8);
        confirm(&former, &lines, strip, &mut found);
        former = lines;
    }
    if found.len() < FEWEST {
        return None;
    }
    found.sort_unstable_by_key(|&(line, strip)| (line.height(), line.top, strip));
    let (line, strip) = *found.get((found.len() / 40).max(2))?;
    let at = Rect::new((strip * width) as u32, line.top, width as u32, line.height());
    Some(Text { x_height: f64::from(line.height()), at })
}

/// The rows between the baseline and the top of an `x`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Line {
    top: u32,
    bottom: u32,
}

impl Line {
    const fn height(self) -> u32 {
        self.bottom - self.top
    }
}

/// Upright edges in each row of a strip.
fn stroke_profile(raster: &Raster, left: usize) -> Vec<u8> {
    let samples = raster.layout.samples();
    let row_len = raster.width as usize * samples;
    let range = left * samples..(left + STRIP) * samples;
    let mut luma = [0_u8; STRIP];
    raster
        .data
        .chunks_exact(row_len)
        .map(|row| {
            let row = &row[range.clone()];
            match raster.layout {
                Layout::Gray => luma.copy_from_slice(row),
                Layout::Rgb | Layout::Rgba => {
                    for (to, pixel) in luma.iter_mut().zip(row.chunks_exact(samples)) {
                        let sum =
                            u16::from(pixel[0]) + 2 * u16::from(pixel[1]) + u16::from(pixel[2]);
                        *to = (sum / 4) as u8;
                    }
                }
            }
            let pairs = luma[..STRIP - 1].iter().zip(&luma[1..]);
            pairs.map(|(a, b)| u8::from(a.abs_diff(*b) >= CONTRAST)).sum()
        })
        .collect()
}

/// The lines of text in a strip: rows with at least half the strokes of the fullest row nearby.
///
/// Rows of ascenders and descenders have fewer strokes than that, which is what tells the x-height
/// from the height of a line, and lets lines that touch be told apart. Large letters have sparse
/// rows within, which are bridged, and dense slices outside, which are dropped.
fn lines(profile: &[u8], strips: u8) -> Vec<Line> {
    let mut lines = Vec::new();
    // A border or two run through everything; three letters and more make a line.
    let (sparse, crowded) = (1 + strips, 3 + 3 * strips);
    let height = profile.len() as u32;
    for band in bands(profile, 0, |strokes| strokes > sparse) {
        let rows = &profile[band.top as usize..band.bottom as usize];
        let most = rows.iter().copied().max().unwrap_or(0);
        // What the picture's edge cuts has no known height.
        if most < crowded || band.top == 0 || band.bottom == height {
            continue;
        }
        let mut full: Vec<Line> = Vec::new();
        for part in bands(rows, band.top, |strokes| strokes >= most.div_ceil(2)) {
            match full.last_mut() {
                Some(last) if bridged(*last, part) => last.bottom = part.bottom,
                _ => full.push(part),
            }
        }
        let tallest = full.iter().map(|line| line.height()).max().unwrap_or(0);
        let is_line =
            |line: &Line| HEIGHTS.contains(&line.height()) && line.height() * 5 >= tallest * 3;
        lines.extend(full.into_iter().filter(is_line));
    }
    lines
}

/// Whether the rows between are the waist of letters, not the space between lines.
fn bridged(above: Line, below: Line) -> bool {
    let gap = below.top - above.bottom;
    gap <= 3 || gap * 5 <= below.bottom - above.top
}

/// Maximal runs of rows that pass; `first` is the number of the first row.
fn bands(rows: &[u8], first: u32, passes: impl Fn(u8) -> bool) -> Vec<Line> {
    let mut bands: Vec<Line> = Vec::new();
    for (row, _) in (first..).zip(rows).filter(|&(_, &strokes)| passes(strokes)) {
        match bands.last_mut() {
            Some(last) if last.bottom == row => last.bottom += 1,
            _ => bands.push(Line { top: row, bottom: row + 1 }),
        }
    }
    bands
}

/// Keeps the lines that go on in the next strip at the same height.
fn confirm(left: &[Line], right: &[Line], strip: usize, found: &mut Vec<(Line, usize)>) {
    let mut rest = left.iter().peekable();
    for line in right {
        while rest.next_if(|other| other.top + 1 < line.top).is_some() {}
        let same = rest.peek().is_some_and(|other| {
            other.top.abs_diff(line.top) <= 1 && other.bottom.abs_diff(line.bottom) <= 1
        });
        if same {
            found.push((*line, strip));
        }
    }
}
