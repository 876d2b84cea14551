//! Measures text by the widths of its characters.
//!
//! Shaping a book to find where page 700 starts would take seconds; adding up widths takes
//! milliseconds. Lines are broken by these sums and shaped only when drawn. Kerning and ligatures
//! make a shaped line slightly narrower, so it always fits.

use std::collections::HashMap;

use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::GlyphMetrics;
use skrifa::{FontRef, MetadataProvider};
use unicode_width::UnicodeWidthChar;

use crate::fonts;
use crate::text::canvas::{Face, TextStyle, is_emoji};

/// Indices into `fonts::FILES`, in the order of search.
const SANS: [usize; 5] = [0, 2, 3, 5, 6];
const SANS_BOLD: [usize; 5] = [1, 2, 4, 5, 6];
const MONO: [usize; 5] = [3, 0, 2, 5, 6];
const MONO_BOLD: [usize; 5] = [4, 1, 2, 5, 6];
const EMOJI: usize = 6;

/// Width of the box for an unknown character, relative to the font size.
const UNKNOWN_WIDTH: f32 = 0.6;

/// Cached widths of characters.
pub(super) struct Measure<'a> {
    fonts: Vec<Option<(FontRef<'a>, f32)>>,
    ascii: [[f32; 128]; 4],
    others: HashMap<(char, Face, bool), f32>,
}

impl<'a> Measure<'a> {
    /// For the built-in fonts and those handed over.
    pub(super) fn new(handed: &'a [Vec<u8>]) -> Self {
        let built_in = fonts::FILES.iter().copied();
        let fonts = built_in.chain(handed.iter().map(Vec::as_slice)).map(|file| {
            let font = FontRef::new(file).ok()?;
            let units =
                f32::from(font.metrics(Size::unscaled(), LocationRef::default()).units_per_em);
            Some((font, units.max(1.0)))
        });
        let mut new =
            Self { fonts: fonts.collect(), ascii: [[0.0; 128]; 4], others: HashMap::new() };
        for (index, (face, bold)) in FACES.into_iter().enumerate() {
            for code in 0x20..0x7f_u8 {
                new.ascii[index][usize::from(code)] = new.look_up(char::from(code), face, bold);
            }
        }
        new
    }

    /// The width of a character.
    pub(super) fn character(&mut self, character: char, letters: &TextStyle) -> f64 {
        let TextStyle { face, bold, size, .. } = *letters;
        let known = self.ascii[usize::from(bold) + 2 * face as usize].get(character as usize);
        let known = known.or_else(|| self.others.get(&(character, face, bold))).copied();
        let ems = known.unwrap_or_else(|| {
            let ems = self.look_up(character, face, bold);
            self.others.insert((character, face, bold), ems);
            ems
        });
        f64::from(ems * size)
    }

    /// The width of a text in one line.
    pub(super) fn text(&mut self, text: &str, letters: &TextStyle) -> f64 {
        text.chars().map(|character| self.character(character, letters)).sum()
    }

    /// The width of a character, without the cache.
    fn look_up(&self, character: char, face: Face, bold: bool) -> f32 {
        if character.width().unwrap_or(0) == 0 {
            return 0.0;
        }
        let order = match (face, bold) {
            (Face::Sans, false) => SANS,
            (Face::Sans, true) => SANS_BOLD,
            (Face::Mono, false) => MONO,
            (Face::Mono, true) => MONO_BOLD,
        };
        let first = is_emoji(character).then_some(EMOJI);
        let handed = fonts::FILES.len()..self.fonts.len();
        let mut order = first.into_iter().chain(order).chain(handed);
        order.find_map(|index| self.advance(index, character)).unwrap_or(UNKNOWN_WIDTH)
    }

    /// The width of a character in one font.
    fn advance(&self, index: usize, character: char) -> Option<f32> {
        let (font, units) = self.fonts.get(index)?.as_ref()?;
        let glyph = font.charmap().map(character).filter(|glyph| glyph.to_u32() != 0)?;
        let metrics = GlyphMetrics::new(font, Size::unscaled(), LocationRef::default());
        metrics.advance_width(glyph).map(|advance| advance / units)
    }
}

/// The faces in the order of `Measure::ascii`.
const FACES: [(Face, bool); 4] =
    [(Face::Sans, false), (Face::Sans, true), (Face::Mono, false), (Face::Mono, true)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_fonts() {
        let mut measure = Measure::new(&[]);
        let letters = TextStyle { size: 100.0, face: Face::Mono, ..TextStyle::default() };
        for character in ['i', 'W', 'é', '─'] {
            let width = measure.character(character, &letters);
            assert!((width - 60.2).abs() < 0.1, "{character} {width}");
        }
        for character in ['漢', 'か', '한'] {
            let width = measure.character(character, &letters);
            assert!((90.0..=110.0).contains(&width), "{character} {width}");
        }
        let sans = TextStyle { face: Face::Sans, ..letters };
        assert!(measure.text("iii", &sans) < measure.text("WWW", &sans) / 2.0);
        let bold = TextStyle { bold: true, ..sans };
        assert!(measure.text("bold", &bold) > measure.text("bold", &sans));
        assert!(measure.character('\u{301}', &sans).abs() < f64::EPSILON);
        assert!(measure.character('😀', &sans) > 90.0);
    }
}
