//! Draws SVG.
//!
//! Files are never opened: references that a drawing does not contain are left out and listed. Time
//! and memory are limited by the worker; a few hundred bytes of filters can take minutes.

mod glyphs;
mod limit;
mod pictures;
mod references;

use std::sync::{Arc, Mutex, PoisonError};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, ImageHrefResolver, Options, Tree, fontdb, roxmltree};

use crate::encoding;
use crate::fonts;
use crate::frame::{DefaultSize, Frame};
use crate::page::{LeftOut, Missing, Page, PageFacts, clean, raster};
use crate::refusal::{Refusal, RefusalCode};
use crate::request::Request;

/// An icon of 16 pixels is drawn large enough to be seen, a poster small enough to be sent.
const DEFAULT_SIZE: DefaultSize = DefaultSize { least: 512.0, most: 1568.0 };

/// Largest number of XML nodes; maps and plots have less than a tenth of it.
const MAX_NODES: u32 = 1_000_000;

/// Draws an SVG.
pub(crate) fn draw(request: &Request<'_>) -> Result<Page, Refusal> {
    if request.wanted.page != 1 {
        return Err(Refusal::new(
            RefusalCode::NoSuchPage,
            format!("there is no page {}: a drawing has one", request.wanted.page),
            "ask for page 1",
        ));
    }
    let text = encoding::text(request.bytes).ok_or_else(not_text)?;
    let document = parsed(&text).map_err(unreadable)?;
    let missing = Mutex::new(Vec::new());
    let tree = match limit::limited(&text, &document) {
        None => parse(&document, request, &missing)?,
        Some(limited) => {
            let limited = parsed(&limited).map_err(unreadable)?;
            parse(&limited, request, &missing)?
        }
    };
    let size = (f64::from(tree.size().width()), f64::from(tree.size().height()));
    let frame = Frame::new(size, &request.wanted, DEFAULT_SIZE)?;
    let mut facts = PageFacts::single(size);
    for what in references::left_out(&document, request.files) {
        facts.leave_out(what);
    }
    for what in missing.into_inner().unwrap_or_else(PoisonError::into_inner) {
        facts.leave_out(what);
    }
    let unknown = glyphs::missing(&tree);
    if !unknown.is_empty() {
        facts.leave_out(LeftOut::new(Missing::Glyphs, &unknown));
    }
    let mut canvas = Pixmap::new(frame.width, frame.height).ok_or_else(too_large)?;
    let [xx, yx, xy, yy, x, y] = frame.place().map(|number| number as f32);
    let transform = Transform::from_row(xx, yx, xy, yy, x, y);
    resvg::render(&tree, transform, &mut canvas.as_mut());
    let raster = raster(frame.width, frame.height, canvas.take());
    Ok(Page { raster, to_page: frame.to_page(), facts })
}

/// Parses XML. Entities are allowed, since drawing programs write them; the parser stops loops.
fn parsed(text: &str) -> Result<roxmltree::Document<'_>, roxmltree::Error> {
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        nodes_limit: MAX_NODES,
        ..roxmltree::ParsingOptions::default()
    };
    roxmltree::Document::parse_with_options(text, options)
}

/// Attributes that browsers support, but the library only in style sheets.
const STYLE: &str = "[image-rendering=pixelated]{image-rendering:pixelated}\
    [image-rendering=crisp-edges]{image-rendering:crisp-edges}";

/// Builds the tree, with only the files that were handed over.
fn parse(
    document: &roxmltree::Document<'_>,
    request: &Request<'_>,
    missing: &Mutex<Vec<LeftOut>>,
) -> Result<Tree, Refusal> {
    let budget = pictures::PixelBudget::default();
    let leave_out = |what: LeftOut| {
        missing.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    };
    let picture = |bytes: &[u8], options: &Options<'_>| {
        pictures::prepared(bytes, options, &budget, &leave_out)
            .map_err(|says| leave_out(LeftOut::new(Missing::Picture, &says)))
            .ok()
    };
    let options = Options {
        fontdb: Arc::new(database(request.fonts)),
        font_family: fonts::SERIF.to_owned(),
        font_resolver: glyphs::resolver(&leave_out),
        style_sheet: Some(STYLE.to_owned()),
        image_href_resolver: ImageHrefResolver {
            resolve_data: Box::new(|_, data, options| picture(&data, options)),
            // A path or URL is listed by `references` unless its file was handed over. It is never
            // opened.
            resolve_string: Box::new(|reference, options| {
                let file = references::file(reference, request.files)?;
                picture(&file.bytes, options)
            }),
        },
        ..Options::default()
    };
    Tree::from_xmltree(document, &options).map_err(|error| match error {
        usvg::Error::ElementsLimitReached => too_large(),
        usvg::Error::ParsingFailed(error) => unreadable(error),
        usvg::Error::InvalidSize => Refusal::new(
            RefusalCode::Corrupt,
            "the drawing has no size: its width, height or view box is zero or negative",
            "give the `svg` element a `viewBox`",
        ),
        error => broken(&error),
    })
}

/// The font database.
fn database(handed: &[Vec<u8>]) -> fontdb::Database {
    let mut database = fontdb::Database::new();
    for file in fonts::FILES {
        database.load_font_source(fontdb::Source::Binary(Arc::new(file)));
    }
    for file in handed {
        database.load_font_data(file.clone());
    }
    database.set_serif_family(fonts::SERIF);
    database.set_sans_serif_family(fonts::SANS);
    database.set_cursive_family(fonts::SANS);
    database.set_fantasy_family(fonts::SANS);
    database.set_monospace_family(fonts::MONO);
    database
}

/// Translates an error of the XML parser.
fn unreadable(error: roxmltree::Error) -> Refusal {
    match error {
        roxmltree::Error::NodesLimitReached => too_large(),
        error => broken(&error),
    }
}

/// The refusal of a broken drawing.
fn broken(error: &dyn std::fmt::Display) -> Refusal {
    let says = clean(&format!("the drawing cannot be read: {error}"));
    Refusal::new(RefusalCode::Corrupt, says, "read its source, and repair it there")
}

/// The refusal of an oversized drawing.
fn too_large() -> Refusal {
    Refusal::new(
        RefusalCode::TooLarge,
        "the drawing has more elements, or nests them deeper, than is drawn",
        "render a part of it with the program that made it",
    )
}

/// The refusal of a source that is not text.
fn not_text() -> Refusal {
    Refusal::new(
        RefusalCode::Corrupt,
        "the drawing is neither UTF-8 nor UTF-16 text; it may be compressed",
        "decompress it, or save it as UTF-8, and view that",
    )
}
