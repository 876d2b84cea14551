//! Extracts the text layer of a page, line by line, in the order in which the page draws it.
//!
//! Columns stay columns this way. Text that is drawn as pictures or outlines is not found.

use hayro::hayro_interpret::font::GlyphRun;
use hayro::hayro_interpret::hayro_cmap::BfString;
use hayro::hayro_interpret::util::TransformExt;
use hayro::hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps,
    InterpreterCache, SoftMask, interpret_page,
};
use hayro::hayro_syntax::Pdf;
use hayro::hayro_syntax::page::Page;
use hayro::kurbo::{Affine, BezPath, Point, Rect, Vec2};

use super::{fonts, not_shown};
use crate::request::Request;

/// Largest number of bytes of a page; the rest is left out.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// Gap between letters that counts as a space, relative to the font size.
const SPACE_GAP: f64 = 0.2;
/// Vertical distance that counts as a new line, relative to the font size.
const LINE_GAP: f64 = 0.5;
/// Font units per font size.
const UNITS_PER_EM: f64 = 1000.0;

/// The text of a page.
pub(super) fn of(document: &Pdf, page: &Page<'_>, request: &Request<'_>) -> String {
    let warnings = not_shown::WarningCollector::default();
    let settings = warnings.settings(fonts::Fonts::new(request.fonts));
    let (width, height) = page.render_dimensions();
    let area = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
    let upright = page.initial_transform(true).to_kurbo();
    let cache = InterpreterCache::new();
    let mut context = Context::new(upright, area, &cache, document.xref(), settings);
    let mut writer = TextCollector::default();
    interpret_page(page, &mut context, &mut writer);
    writer.text
}

/// Collects the glyphs that are drawn.
#[derive(Default)]
struct TextCollector {
    text: String,
    /// End, direction and size of the last glyph.
    last: Option<(Point, Vec2, f64)>,
}

impl TextCollector {
    /// Adds the text of a glyph.
    fn put(&mut self, words: &str, place: Affine, advance: Option<f32>) {
        let begin = place * Point::ORIGIN;
        let em = place * Point::new(UNITS_PER_EM, 0.0) - begin;
        let high = em.hypot();
        if self.text.len() >= MAX_TEXT_BYTES || !high.is_finite() || high <= 0.0 {
            return;
        }
        self.part(begin, high);
        self.text.push_str(words);
        let along = em * (f64::from(advance.unwrap_or(500.0)) / UNITS_PER_EM);
        self.last = Some((begin + along, em / high, high));
    }

    /// Adds a space or a line end if the next glyph does not follow the last.
    fn part(&mut self, begin: Point, high: f64) {
        let Some((end, way, before)) = self.last else { return };
        let gap = begin - end;
        let (along, across) = (gap.dot(way), gap.cross(way).abs());
        let high = high.max(before);
        if across > LINE_GAP * high || along < -2.0 * high {
            while self.text.ends_with(' ') {
                self.text.pop();
            }
            self.text.push('\n');
            // A gap wider than between lines separates paragraphs.
            if across > 2.0 * high {
                self.text.push('\n');
            }
        } else if along > SPACE_GAP * high && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
    }
}

impl<'a> Device<'a> for TextCollector {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, _: &DrawMode) {
        for glyph in run.glyphs() {
            let words = match glyph.as_unicode() {
                Some(BfString::Char(character)) => character.to_string(),
                Some(BfString::String(words)) => words,
                None => '\u{fffd}'.to_string(),
            };
            let words: String = words.chars().filter(|c| !c.is_control()).collect();
            let advance = match &**glyph {
                hayro::hayro_interpret::font::Glyph::Outline(glyph) => glyph.advance_width(),
                hayro::hayro_interpret::font::Glyph::Type3(glyph) => glyph.advance_width(),
            };
            self.put(&words, props.transform * glyph.transform(), advance);
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'a, '_>, _: ImageDrawProps<'a>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}
