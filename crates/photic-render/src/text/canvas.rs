//! A canvas and the fonts for it.
//!
//! Decides which font has a character, and draws glyphs with hinting, slant and color. System fonts
//! are never used.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use parley::fontique::{Blob, Collection, CollectionOptions, SourceCache};
use parley::{
    FontContext, FontFamily, FontFamilyName, FontStyle, FontWeight, Layout, LayoutContext, Run,
    StyleProperty,
};
use photic_pixels::Raster;
use vello_cpu::color::{AlphaColor, Srgb};
use vello_cpu::kurbo::{Affine, Rect};
use vello_cpu::peniko::ImageAlphaType;
use vello_cpu::{
    Glyph, Level, Pixmap, RasterizerSettings, RenderContext, RenderSettings, Resources, TargetInit,
};

use super::colors::Rgb;
use crate::fonts;
use crate::frame::Frame;
use crate::page::raster;

/// Largest number of unknown characters that are reported.
const MAX_UNKNOWN: usize = 40;

/// Color and decoration of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pen {
    pub(crate) color: Rgb,
    /// Background.
    pub(crate) shade: Option<Rgb>,
    pub(crate) underline: bool,
    pub(crate) strike: bool,
}

/// The typeface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Face {
    #[default]
    Sans,
    Mono,
}

/// The style of text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TextStyle {
    pub(crate) face: Face,
    pub(crate) size: f32,
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) pen: Pen,
}

/// A canvas in progress.
pub(crate) struct Canvas {
    context: RenderContext,
    resources: Resources,
    fonts: FontContext,
    layouts: LayoutContext<Pen>,
    families: [Vec<FontFamilyName<'static>>; 3],
    paper: Rgb,
    unknown: BTreeSet<char>,
}

impl Canvas {
    /// An empty canvas.
    pub(crate) fn new(frame: &Frame, paper: Rgb, handed: &[Vec<u8>]) -> Self {
        // The same instructions on every machine, and so the same bytes.
        let settings = RenderSettings { level: Level::baseline(), num_threads: 0 };
        let mut context =
            RenderContext::new_with(frame.width as u16, frame.height as u16, settings);
        context.set_transform(Affine::new(frame.place()));
        let (fonts, families) = collect(handed);
        Self {
            context,
            resources: Resources::new(),
            fonts,
            layouts: LayoutContext::new(),
            families,
            paper,
            unknown: BTreeSet::new(),
        }
    }

    /// Shapes one line of text; each range of bytes has a style.
    pub(crate) fn shape(&mut self, text: &str, spans: &[(Range<usize>, TextStyle)]) -> Layout<Pen> {
        let [sans, mono, emoji] = &self.families;
        let mut builder = self.layouts.ranged_builder(&mut self.fonts, text, 1.0, false);
        builder.push_default(StyleProperty::FontFamily(FontFamily::from(mono.as_slice())));
        for (range, letters) in spans {
            let family = if letters.face == Face::Mono { mono } else { sans };
            let family = FontFamily::from(family.as_slice());
            builder.push(StyleProperty::FontFamily(family), range.clone());
            builder.push(StyleProperty::FontSize(letters.size), range.clone());
            builder.push(StyleProperty::Brush(letters.pen), range.clone());
            if letters.bold {
                builder.push(StyleProperty::FontWeight(FontWeight::BOLD), range.clone());
            }
            if letters.italic {
                builder.push(StyleProperty::FontStyle(FontStyle::Italic), range.clone());
            }
        }
        for range in emoji_ranges(text) {
            let family = FontFamily::from(emoji.as_slice());
            builder.push(StyleProperty::FontFamily(family), range);
        }
        let mut layout = builder.build(text);
        layout.break_all_lines(None);
        layout
    }

    /// Draws glyphs. A font without a bold cut is drawn twice, slightly shifted.
    pub(crate) fn write(&mut self, run: &Run<'_, Pen>, color: Rgb, glyphs: Vec<Glyph>) {
        self.color(color);
        if run.synthesis().embolden() {
            let aside = run.font_size() / 26.0;
            let beside = |glyph: &Glyph| Glyph { x: glyph.x + aside, ..*glyph };
            self.write_once(run, glyphs.iter().map(beside).collect());
        }
        self.write_once(run, glyphs);
    }

    /// Draws glyphs once.
    fn write_once(&mut self, run: &Run<'_, Pen>, glyphs: Vec<Glyph>) {
        let variation: Vec<i16> =
            run.normalized_coords().iter().map(|coordinate| coordinate.to_bits()).collect();
        let mut writer = self
            .context
            .glyph_run(&mut self.resources, run.font())
            .font_size(run.font_size())
            .hint(true)
            .normalized_coords(&variation);
        if let Some(degrees) = run.synthesis().skew() {
            let slant = f64::from(degrees).to_radians().tan();
            writer = writer.glyph_transform(Affine::new([1.0, 0.0, -slant, 1.0, 0.0, 0.0]));
        }
        // Glyphs that a font cannot draw stay blank.
        let _ = writer.fill_glyphs(glyphs.into_iter());
    }

    /// Fills a rectangle, given by its upper left and lower right corners.
    pub(crate) fn fill(
        &mut self,
        (left, top): (f64, f64),
        (right, bottom): (f64, f64),
        color: Rgb,
    ) {
        self.color(color);
        self.context.fill_rect(&Rect::new(left, top, right, bottom));
    }

    /// The context, for other drawing operations.
    pub(crate) fn context(&mut self) -> &mut RenderContext {
        &mut self.context
    }

    /// Records characters that no font has.
    pub(crate) fn miss(&mut self, text: &str) {
        for character in text.chars().filter(|character| !character.is_whitespace()) {
            if self.unknown.len() < MAX_UNKNOWN {
                self.unknown.insert(character);
            }
        }
    }

    /// The pixels, and the characters that no font has.
    pub(crate) fn finish(mut self) -> (Raster, BTreeSet<char>) {
        let (width, height) = (self.context.width(), self.context.height());
        self.context.flush();
        let mut canvas = Pixmap::new(width, height);
        let [r, g, b] = self.paper;
        let paper = AlphaColor::<Srgb>::from_rgb8(r, g, b);
        let settings =
            RasterizerSettings { target_init: TargetInit::Clear(paper), ..Default::default() };
        self.context.render_with(&mut canvas, &mut self.resources, settings);
        let data = canvas.take_rgba8(ImageAlphaType::AlphaPremultiplied);
        (raster(u32::from(width), u32::from(height), data), self.unknown)
    }

    /// Sets the color.
    fn color(&mut self, [r, g, b]: Rgb) {
        self.context.set_paint(AlphaColor::<Srgb>::from_rgb8(r, g, b));
    }
}

/// Returns `true` for emoji.
pub(crate) fn is_emoji(character: char) -> bool {
    matches!(character, '\u{1f000}'..='\u{1faff}' | '\u{231a}' | '\u{231b}' | '\u{23e9}'..='\u{23f3}')
}

/// Runs of emoji, including joiners and variation selectors.
fn emoji_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    if text.is_ascii() {
        return ranges;
    }
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        // Joiners and variation selectors belong to the emoji before them.
        let joins = matches!(character, '\u{200d}' | '\u{fe0f}');
        let follows = ranges.last().is_some_and(|range| range.end == at);
        let after_joiner = follows && text[..at].ends_with('\u{200d}');
        if !(is_emoji(character) || follows && joins || after_joiner) {
            continue;
        }
        match ranges.last_mut() {
            Some(range) if follows => range.end = end,
            _ => ranges.push(at..end),
        }
    }
    ranges
}

/// The built-in fonts and those handed over, with the orders of families for prose, code and emoji.
fn collect(handed: &[Vec<u8>]) -> (FontContext, [Vec<FontFamilyName<'static>>; 3]) {
    let options = CollectionOptions { shared: false, system_fonts: false };
    let mut collection = Collection::new(options);
    let mut names: Vec<String> = Vec::new();
    let built_in = fonts::FILES.iter().map(|file| Blob::new(Arc::new(*file)));
    let handed = handed.iter().map(|file| Blob::new(Arc::new(file.clone())));
    for file in built_in.chain(handed) {
        for (family, _) in collection.register_fonts(file, None) {
            let name = collection.family_name(family).unwrap_or_default().to_owned();
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let beginning_with = |first: &str| {
        let rest = names.iter().map(String::as_str).filter(|name| *name != first);
        let names = std::iter::once(first).chain(rest);
        names.map(|name| FontFamilyName::Named(name.to_owned().into())).collect()
    };
    let families = [fonts::SANS, fonts::MONO, fonts::EMOJI].map(beginning_with);
    let source_cache = SourceCache::default();
    (FontContext { collection, source_cache }, families)
}
