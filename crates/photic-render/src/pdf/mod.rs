//! Draws pages of PDF documents.
//!
//! A page is drawn as it is read: rotated as the document says, cut at its crop box, with its
//! annotations. Actions of a document (links, launches, scripts, form submission) are never
//! performed.

mod fonts;
mod not_shown;
mod text_layer;

use hayro::hayro_interpret::util::TransformExt;
use hayro::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro::kurbo::Affine;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::vello_cpu::peniko::ImageAlphaType;
use hayro::vello_cpu::{
    Level, Pixmap, RasterizerSettings, RenderContext, RenderSettings as CanvasSettings, Resources,
    TargetInit,
};
use hayro::{RenderCache, RenderSettings};

use crate::frame::{DefaultSize, Frame};
use crate::page::{Page, PageFacts, PageText, opaque};
use crate::refusal::{Refusal, RefusalCode};
use crate::request::Request;

/// About two pixels per point on an A4 page, so that ordinary text is 20 pixels high.
const DEFAULT_SIZE: DefaultSize = DefaultSize { least: 1568.0, most: 1568.0 };

/// Extracts the text of a page.
pub(crate) fn words(request: &Request<'_>) -> Result<PageText, Refusal> {
    let document = Pdf::new(request.bytes.to_vec()).map_err(unreadable)?;
    let (page, pages) = chosen(&document, request.wanted.page)?;
    let text = text_layer::of(&document, page, request);
    Ok(PageText { page: request.wanted.page, pages, text })
}

/// The page of a number, and the number of pages.
fn chosen(
    document: &Pdf,
    number: u32,
) -> Result<(&hayro::hayro_syntax::page::Page<'_>, u32), Refusal> {
    let pages = document.pages();
    let count = u32::try_from(pages.len()).unwrap_or(u32::MAX);
    if count == 0 {
        return Err(unreadable(LoadPdfError::Invalid));
    }
    let page = (number as usize).checked_sub(1).and_then(|index| pages.get(index));
    page.map(|page| (page, count)).ok_or_else(|| no_such_page(number, count))
}

/// Draws a page.
pub(crate) fn draw(request: &Request<'_>) -> Result<Page, Refusal> {
    let document = Pdf::new(request.bytes.to_vec()).map_err(unreadable)?;
    let number = request.wanted.page;
    let (page, count) = chosen(&document, number)?;

    let (width, height) = page.render_dimensions();
    let size = (f64::from(width), f64::from(height));
    let frame = Frame::new(size, &request.wanted, DEFAULT_SIZE)?.unstretched();

    let warnings = not_shown::WarningCollector::default();
    let settings = warnings.settings(fonts::Fonts::new(request.fonts));
    let place = Affine::new(frame.place()) * page.initial_transform(true).to_kurbo();
    let (across, down) = (frame.width as u16, frame.height as u16);
    // The same instructions on every machine, and so the same bytes.
    let canvas = CanvasSettings { level: Level::baseline(), num_threads: 0 };
    let mut context = RenderContext::new_with(across, down, canvas);
    let cache = RenderCache::new();
    hayro::render_into(page, &cache, &settings, &RenderSettings::default(), &mut context, place);
    context.flush();
    let mut canvas = Pixmap::new(across, down);
    let paper = RasterizerSettings { target_init: TargetInit::Clear(WHITE), ..Default::default() };
    context.render_with(&mut canvas, &mut Resources::default(), paper);

    let mut facts = PageFacts { page: number, pages: count, ..PageFacts::single(size) };
    let missing = not_shown::of_document(&document).into_iter().chain(not_shown::of_page(page));
    for what in missing.chain(warnings.collected()) {
        facts.leave_out(what);
    }
    let mut pixels = canvas.take_rgba8(ImageAlphaType::AlphaPremultiplied);
    on_paper(&mut pixels);
    let raster = opaque(frame.width, frame.height, pixels);
    Ok(Page { raster, to_page: frame.to_page(), facts })
}

/// Restores the white paper where rounding of transparency took a step or two off.
fn on_paper(pixels: &mut [u8]) {
    for pixel in pixels.chunks_exact_mut(4) {
        let lost = 255 - pixel[3];
        if lost > 0 {
            for sample in pixel.iter_mut() {
                *sample = sample.saturating_add(lost);
            }
        }
    }
}

/// Translates an error of the parser.
fn unreadable(error: LoadPdfError) -> Refusal {
    match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => Refusal::new(
            RefusalCode::Encrypted,
            "the document is protected by a password",
            "ask for a copy without one",
        ),
        LoadPdfError::Decryption(_) => Refusal::new(
            RefusalCode::Encrypted,
            "the document is encrypted in a way that is not read here",
            "ask for a copy that is not encrypted",
        ),
        LoadPdfError::Invalid => Refusal::new(
            RefusalCode::Corrupt,
            "the document is damaged, or no PDF",
            "open it in the program that made it, and save it again",
        ),
    }
}

/// The refusal of a page number.
fn no_such_page(number: u32, count: u32) -> Refusal {
    let hint = match count {
        1 => "ask for page 1".to_owned(),
        _ => format!("ask for a page from 1 to {count}"),
    };
    let says = format!("there is no page {number}: the document has {count}");
    Refusal::new(RefusalCode::NoSuchPage, says, hint)
}
