//! Letters on paper: shaping, fonts, and the grid they are held to.
//!
//! Every cluster is put where its cell begins, whatever its font says about widths: columns stay
//! columns, with Han beside Latin and Arabic between both.

use std::collections::BTreeSet;
use std::sync::Arc;

use parley::fontique::{Blob, Collection, CollectionOptions, SourceCache};
use parley::{
    FontContext, FontFamily, FontFamilyName, FontWeight, LayoutContext, RangedBuilder,
    StyleProperty,
};
use photic_pixels::Raster;
use vello_cpu::color::{AlphaColor, Srgb};
use vello_cpu::kurbo::Affine;
use vello_cpu::{
    Glyph, Level, Pixmap, RasterizerSettings, RenderContext, RenderSettings, Resources, TargetInit,
};

use super::cells::{self, Cells};
use super::colors::{Ink, Palette, Rgb};
use super::{CELL, ROW};
use crate::fonts;
use crate::frame::Frame;
use crate::page::raster;

/// Height of letters, and where in a row they stand.
const LETTER: f32 = 17.0;
const BASELINE: f64 = ROW - 6.0;

/// Most characters that are named as unknown.
const MOST_UNKNOWN: usize = 40;

/// A sheet being written.
pub(super) struct Painter {
    context: RenderContext,
    resources: Resources,
    fonts: FontContext,
    layouts: LayoutContext<Rgb>,
    families: Vec<FontFamilyName<'static>>,
    palette: Palette,
    unknown: BTreeSet<char>,
}

impl Painter {
    /// An empty sheet.
    pub(super) fn new(frame: &Frame, palette: Palette, handed: &[Vec<u8>]) -> Self {
        // The same instructions on every machine, and so the same bytes.
        let settings = RenderSettings { level: Level::baseline(), num_threads: 0 };
        let mut context =
            RenderContext::new_with(frame.width as u16, frame.height as u16, settings);
        let shift = (-frame.area.x * frame.scale, -frame.area.y * frame.scale);
        context.set_transform(Affine::translate(shift) * Affine::scale(frame.scale));
        let (fonts, families) = collect(handed);
        Self {
            context,
            resources: Resources::new(),
            fonts,
            layouts: LayoutContext::new(),
            families,
            palette,
            unknown: BTreeSet::new(),
        }
    }

    /// Writes a line number.
    pub(super) fn label(&mut self, text: &str, left: f64, top: f64) {
        let ink = Ink { color: self.palette.faint, bold: false };
        let cells = cells::of(text, 1);
        self.row(&cells, &vec![ink; cells.characters.len()], 1, left, top);
    }

    /// Writes a row whose first column is `first`; says for each of its cells which column it shows.
    pub(super) fn row(
        &mut self,
        cells: &Cells,
        inks: &[Ink],
        first: u32,
        left: f64,
        top: f64,
    ) -> Vec<u32> {
        let Self { context, resources, fonts, layouts, families, palette, unknown } = self;
        let mut builder = layouts.ranged_builder(fonts, &cells.text, 1.0, false);
        builder.push_default(StyleProperty::FontSize(LETTER));
        builder.push_default(StyleProperty::FontFamily(FontFamily::from(families.as_slice())));
        builder.push_default(StyleProperty::Brush(palette.text));
        ink(&mut builder, cells, inks, first);
        let mut layout = builder.build(&cells.text);
        layout.break_all_lines(None);

        let mut columns = Vec::new();
        for run in layout.lines().flat_map(|line| line.runs()) {
            let variation: Vec<i16> =
                run.normalized_coords().iter().map(|coordinate| coordinate.to_bits()).collect();
            for cluster in run.visual_clusters() {
                let range = cluster.text_range();
                let begin = cells.characters.partition_point(|(at, ..)| *at < range.start);
                let end = cells.characters.partition_point(|(at, ..)| *at < range.end);
                let characters = &cells.characters[begin..end];
                let mut pen = left + columns.len() as f64 * CELL;
                let mut known = true;
                let glyphs: Vec<Glyph> = cluster
                    .glyphs()
                    .map(|glyph| {
                        known &= glyph.id != 0;
                        let x = pen as f32 + glyph.x;
                        pen += f64::from(glyph.advance);
                        Glyph { id: glyph.id, x, y: (top + BASELINE) as f32 + glyph.y }
                    })
                    .collect();
                if !known && unknown.len() < MOST_UNKNOWN {
                    unknown.extend(cells.text[range].chars());
                }
                let [r, g, b] = cluster.style().brush;
                context.set_paint(AlphaColor::<Srgb>::from_rgb8(r, g, b));
                // What a font cannot draw stays blank, and is no reason for having no page.
                let _ = context
                    .glyph_run(resources, run.font())
                    .font_size(run.font_size())
                    .hint(true)
                    .normalized_coords(&variation)
                    .fill_glyphs(glyphs.into_iter());
                for (_, width, column) in characters {
                    columns.extend(std::iter::repeat_n(*column, *width));
                }
            }
        }
        columns
    }

    /// The pixels, and the characters that no font has.
    pub(super) fn finish(mut self) -> (Raster, BTreeSet<char>) {
        let (width, height) = (self.context.width(), self.context.height());
        self.context.flush();
        let mut canvas = Pixmap::new(width, height);
        let [r, g, b] = self.palette.paper;
        let paper = AlphaColor::<Srgb>::from_rgb8(r, g, b);
        let settings =
            RasterizerSettings { target_init: TargetInit::Clear(paper), ..Default::default() };
        self.context.render_with(&mut canvas, &mut self.resources, settings);
        let data = canvas.data_as_u8_slice().to_vec();
        (raster(u32::from(width), u32::from(height), data), self.unknown)
    }
}

/// Gives every character its ink; neighbors with the same share a span.
fn ink(builder: &mut RangedBuilder<'_, Rgb>, cells: &Cells, inks: &[Ink], first: u32) {
    let of = |column: u32| inks.get((column - first) as usize).copied();
    let spans = cells.characters.chunk_by(|one, next| of(one.2) == of(next.2));
    let mut spans = spans.peekable();
    while let Some(span) = spans.next() {
        let (Some((start, _, column)), next) = (span.first(), spans.peek()) else { continue };
        let Some(ink) = of(*column) else { continue };
        let end = next.and_then(|next| next.first()).map_or(cells.text.len(), |(at, ..)| *at);
        builder.push(StyleProperty::Brush(ink.color), *start..end);
        if ink.bold {
            builder.push(StyleProperty::FontWeight(FontWeight::BOLD), *start..end);
        }
    }
}

/// The built-in fonts and those handed over, with the order in which they are asked.
fn collect(handed: &[Vec<u8>]) -> (FontContext, Vec<FontFamilyName<'static>>) {
    let options = CollectionOptions { shared: false, system_fonts: false };
    let mut collection = Collection::new(options);
    let mut names = vec![fonts::MONO.to_owned()];
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
    let families = names.into_iter().map(|name| FontFamilyName::Named(name.into())).collect();
    let source_cache = SourceCache::default();
    (FontContext { collection, source_cache }, families)
}
