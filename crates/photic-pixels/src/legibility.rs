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
/// lost (pains R11, peers §4). No model was measured here; tesseract, given Pillow's Lanczos
/// reductions enlarged threefold, misreads nothing at 6 px, 0.13 % of the characters at 5, 0.5 % at
/// 4 and 6.4 % at 3 (`bench/readability.py --curve`).
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

/// Of so many pieces one finds its like in the next strip by mere chance, and then some: leaves
/// and gravel come to one in sixty, pages of text to one in two.
const BY_CHANCE: usize = 20;

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
    let strips = strips(raster);
    let text = measured(&strips, 1)?;
    if text.x_height < FEW_LETTERS {
        return Some(text);
    }
    // Too few letters to a strip to trust the height: look at three strips at a time.
    let wide: Vec<Strip> = strips.chunks_exact(3).map(summed).collect();
    measured(&wide, 3).or(Some(text))
}

/// Upright strokes in each row of a part of the picture.
struct Strip {
    left: u32,
    profile: Vec<u8>,
}

fn summed(strips: &[Strip]) -> Strip {
    let mut sum = vec![0_u8; strips.first().map_or(0, |strip| strip.profile.len())];
    for strip in strips {
        sum.iter_mut().zip(&strip.profile).for_each(|(sum, strokes)| *sum += strokes);
    }
    Strip { left: strips.first().map_or(0, |strip| strip.left), profile: sum }
}

/// The smallest text of strips that are each so many [`STRIP`] wide.
fn measured(strips: &[Strip], wide: u8) -> Option<Text> {
    let mut found = Vec::new();
    let mut former: Vec<Line> = Vec::new();
    let mut candidates = 0;
    for strip in strips {
        let lines = lines(&strip.profile, wide);
        candidates += lines.len();
        confirm(&former, &lines, strip.left, &mut found);
        former = lines;
    }
    if found.len() < FEWEST.max(candidates / BY_CHANCE) {
        return None;
    }
    found.sort_unstable_by_key(|&(line, left)| (line.height(), line.top, left));
    let (line, left) = *found.get((found.len() / 40).max(2))?;
    let at = Rect::new(left, line.top, STRIP as u32 * u32::from(wide), line.height());
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

/// Counts the upright edges in each row of each strip.
///
/// Samples are compared with the same sample of the next pixel, bytes with bytes, which is done
/// many at a time; an edge counts once for each of three channels. A large picture is
/// looked at in every second stretch of six strips: text that matters is longer.
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

/// How many samples differ; in lanes, or the compiler counts one by one.
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
fn confirm(before: &[Line], lines: &[Line], left: u32, found: &mut Vec<(Line, u32)>) {
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
