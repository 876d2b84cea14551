//! Codes: a few large letters and digits, dark on light.
//!
//! Makes a code from a seed, draws it, and reads it back from pixels.

use std::sync::LazyLock;

use super::glyphs::{ALPHABET, BOX, PEN, distance};
use super::splitmix::SplitMix64;
use crate::raster::{Layout, Raster};

const INK: [u8; 3] = [20, 20, 24];
const PAPER: [u8; 3] = [246, 246, 244];
/// Lengths that are recognized in a picture.
const LENGTHS: std::ops::RangeInclusive<usize> = 4..=6;
/// Share of the width that the characters take.
const SHARE: f64 = 0.85;
/// Space between two characters, in units of the glyphs.
const GAP: f64 = 1.2;
/// Columns of samples at which a glyph is compared.
const ACROSS: usize = 10;
/// Rows of samples at which a glyph is compared.
const DOWN: usize = 14;
/// Largest average difference at which a character still counts as a glyph.
const ALIKE: f64 = 0.13;

/// A few characters of [`ALPHABET`], each drawn independently of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    text: String,
}

impl Code {
    /// Makes the code of a seed. The same seed always gives the same code, of at least one
    /// character.
    pub fn of(seed: u64, length: usize) -> Self {
        let mut random = SplitMix64(seed);
        let letters = ALPHABET.as_bytes();
        let letter = |_| char::from(letters[random.below(letters.len())]);
        Self { text: (0..length.max(1)).map(letter).collect() }
    }

    /// The characters of the code.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The probability of guessing one character.
    pub fn chance() -> f64 {
        1.0 / ALPHABET.len() as f64
    }

    /// Draws the code at a size.
    pub fn draw(&self, width: u32, height: u32) -> Raster {
        let ink = self.ink(width, height);
        let mix = |(ink, paper): (u8, u8), share: f64| {
            (f64::from(paper) + share * (f64::from(ink) - f64::from(paper))).round() as u8
        };
        let mut data = Vec::with_capacity(ink.len() * 3);
        for share in ink {
            data.extend(INK.into_iter().zip(PAPER).map(|pair| mix(pair, share)));
        }
        Raster { width, height, layout: Layout::Rgb, data }
    }

    /// Draws the ink alone. The paper is transparent, with black below, so a decoder that drops
    /// alpha without compositing on white loses the code.
    pub fn draw_transparent(&self, width: u32, height: u32) -> Raster {
        let pixel = |share: f64| {
            let color = if share > 0.0 { INK } else { [0; 3] };
            [color[0], color[1], color[2], (share * 255.0).round() as u8]
        };
        let data = self.ink(width, height).into_iter().flat_map(pixel).collect();
        Raster { width, height, layout: Layout::Rgba, data }
    }

    /// The share of each pixel that ink covers.
    fn ink(&self, width: u32, height: u32) -> Vec<f64> {
        let place = CodeLayout::new(self.text.len(), width, height);
        let mut ink = vec![0.0; width as usize * height as usize];
        for (index, letter) in self.text.chars().enumerate() {
            let Some(glyph) = ALPHABET.find(letter) else { continue };
            let (left, top) = place.corner(index);
            let (right, bottom) = (left + BOX.0 * place.scale, top + BOX.1 * place.scale);
            for y in top as u32..(bottom.ceil() as u32).min(height) {
                for x in left as u32..(right.ceil() as u32).min(width) {
                    let at = (
                        (f64::from(x) + 0.5 - left) / place.scale,
                        (f64::from(y) + 0.5 - top) / place.scale,
                    );
                    let inside = (PEN - distance(glyph, at)) * place.scale + 0.5;
                    ink[y as usize * width as usize + x as usize] = inside.clamp(0.0, 1.0);
                }
            }
        }
        ink
    }
}

/// Scale and position of the characters of a code.
struct CodeLayout {
    scale: f64,
    left: f64,
    top: f64,
}

impl CodeLayout {
    /// Centers `length` characters in a picture.
    fn new(length: usize, width: u32, height: u32) -> Self {
        let (width, height) = (f64::from(width), f64::from(height));
        let units = length as f64 * (BOX.0 + GAP) - GAP;
        let scale = (width * SHARE / units).min(height * SHARE / BOX.1);
        let (left, top) = ((width - units * scale) / 2.0, (height - BOX.1 * scale) / 2.0);
        Self { scale, left, top }
    }

    /// The upper left corner of a character.
    fn corner(&self, index: usize) -> (f64, f64) {
        (self.left + index as f64 * (BOX.0 + GAP) * self.scale, self.top)
    }
}

/// Finds the code in a picture, if there is one.
pub(super) fn recognize(raster: &Raster) -> Option<Code> {
    // A code has paper on all sides; other pictures are ruled out here.
    let (right, bottom) = (raster.width - 1, raster.height - 1);
    let edge =
        [(0, 0), (right, 0), (0, bottom), (right, bottom), (right / 2, 0), (right / 2, bottom)];
    if edge.iter().any(|&(x, y)| darkness(raster.rgb(x, y)) > 0.1) {
        return None;
    }
    LENGTHS
        .filter_map(|length| read(raster, length))
        .min_by(|(_, one), (_, other)| one.total_cmp(other))
        .map(|(code, _)| code)
}

/// Reads a code of `length` characters. Returns it with the difference of its worst character.
fn read(raster: &Raster, length: usize) -> Option<(Code, f64)> {
    let place = CodeLayout::new(length, raster.width, raster.height);
    let mut text = String::new();
    let mut worst: f64 = 0.0;
    for index in 0..length {
        let seen = sampled(|x, y| {
            let (left, top) = place.corner(index);
            let at = |from: f64, units: f64, most: u32| {
                ((from + units * place.scale) as u32).min(most - 1)
            };
            darkness(raster.rgb(at(left, x, raster.width), at(top, y, raster.height)))
        });
        let apart = |glyph: &[f64; ACROSS * DOWN]| {
            glyph.iter().zip(&seen).map(|(one, other)| (one - other).abs()).sum::<f64>()
                / seen.len() as f64
        };
        let all = GLYPHS.iter().map(apart).enumerate();
        let (glyph, apart) = all.min_by(|(_, one), (_, other)| one.total_cmp(other))?;
        worst = worst.max(apart);
        if apart > ALIKE {
            return None;
        }
        text.extend(ALPHABET.chars().nth(glyph));
    }
    Some((Code { text }, worst))
}

/// The ink of every glyph at the samples where it is compared.
static GLYPHS: LazyLock<Vec<[f64; ACROSS * DOWN]>> = LazyLock::new(|| {
    let glyph = |glyph| sampled(|x, y| if distance(glyph, (x, y)) < PEN { 1.0 } else { 0.0 });
    (0..ALPHABET.len()).map(glyph).collect()
});

/// Averages `ink` over each field of a glyph's box.
fn sampled(ink: impl Fn(f64, f64) -> f64) -> [f64; ACROSS * DOWN] {
    const EACH: usize = 3;
    std::array::from_fn(|field| {
        let (column, row) = (field % ACROSS, field / ACROSS);
        let part = |at: usize, sample: usize, of: usize| {
            (at as f64 + (sample as f64 + 0.5) / EACH as f64) / of as f64
        };
        let sample = |sample: usize| {
            let (x, y) = (part(column, sample % EACH, ACROSS), part(row, sample / EACH, DOWN));
            ink(x * BOX.0, y * BOX.1)
        };
        (0..EACH * EACH).map(sample).sum::<f64>() / (EACH * EACH) as f64
    })
}

/// Darkness of a pixel: 0 for paper, 1 for ink.
fn darkness(pixel: [u8; 3]) -> f64 {
    let light = |color: [u8; 3]| color.into_iter().map(f64::from).sum::<f64>();
    ((light(PAPER) - light(pixel)) / (light(PAPER) - light(INK))).clamp(0.0, 1.0)
}
