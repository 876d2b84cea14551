//! The renderer: a capability the host injects for sources that are no bitmaps.
//!
//! None ships here. A renderer gets bytes and gives back a page of pixels; it must open no file and
//! no connection of its own accord.

use std::fmt;
use std::path::Path;

use percent_encoding::percent_decode_str;
use photic_pixels::geometry::Rect;
use photic_pixels::{DrawnPage, View, ViewRequest};

use crate::content::Content;
use crate::load::{Loaded, head, renderer};
use crate::refusal::{Refusal, RefusalCode};
use crate::tools::{Inner, Tools};

/// What is to be made visible.
#[derive(Clone, Copy)]
pub struct RenderRequest<'a> {
    /// The source.
    pub bytes: &'a [u8],
    /// What it was sniffed as.
    pub content: Content,
    /// Its name, which says how a text is meant, and nothing else.
    pub name: &'a str,
    /// Which page, from 1.
    pub page: u32,
    /// The part to show, in units of the page; all of it when `None`.
    pub region: Option<Rect>,
    /// Longest side of the picture, in pixels; as it is best seen when `None`.
    pub longest: Option<u32>,
    /// What is in a file beside the source that it refers to, if it may be opened.
    pub beside: &'a dyn Fn(&str) -> Option<Vec<u8>>,
}

impl fmt::Debug for RenderRequest<'_> {
    /// Never the bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { content, page, region, longest, .. } = self;
        write!(f, "<{content:?}, page {page}, region {region:?}, longest side {longest:?}>")
    }
}

/// Turns a source of some kind into pixels. Calls may block; they are made on a worker.
pub trait Render: Send + Sync + fmt::Debug {
    /// Its name, for people.
    fn name(&self) -> &str;

    /// Whether it renders this kind of source, of which these are the first bytes and the name.
    fn renders(&self, content: Content, head: &[u8], name: &str) -> bool;

    /// A page of it, or a region.
    fn render(&self, request: &RenderRequest<'_>) -> Result<DrawnPage, Refusal>;

    /// The words of a page, of a document that holds them apart from its bytes.
    fn words(&self, request: &RenderRequest<'_>) -> Result<Words, Refusal> {
        let says = format!("`{}` takes no text out of `{}`", self.name(), request.name);
        Err(Refusal::new(RefusalCode::NotText, says, "call `view` to see it"))
    }
}

/// The text layer of a page.
#[derive(Clone, PartialEq, Eq)]
pub struct Words {
    /// Its lines: data of unknown origin.
    pub text: String,
    /// Which page it is, from 1.
    pub page: u32,
    /// How many there are.
    pub pages: u32,
}

impl fmt::Debug for Words {
    /// Never the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} bytes of page {} of {}>", self.text.len(), self.page, self.pages)
    }
}

/// The refusal of what only pictures have.
pub fn one_page_at_a_time() -> Refusal {
    Refusal::new(
        RefusalCode::BadArguments,
        "`tile` and `sheet` are about pictures; this source is drawn page by page",
        "ask for a page, and for a region of it, which is drawn anew as large as it can be",
    )
}

/// A view of what a renderer makes of an original; none where the original is a picture itself.
pub(crate) fn rendered(
    inner: &Inner,
    loaded: &Loaded,
    (page, region): (u32, Option<Rect>),
    request: &ViewRequest<'_>,
) -> Result<Option<View>, Refusal> {
    let first = head(&loaded.bytes, inner);
    let Some(renderer) = renderer(loaded.content, first, &loaded.name, inner) else {
        return Ok(None);
    };
    let beside = |reference: &str| beside(inner, loaded.path.as_deref()?, reference);
    let view = photic_pixels::view_page(request, &mut |longest| {
        renderer.render(&RenderRequest {
            bytes: &loaded.bytes,
            content: loaded.content,
            name: &loaded.name,
            page,
            region,
            longest,
            beside: &beside,
        })
    });
    view.map(Some)
}

impl Tools {
    /// What is in a file that a source refers to: a relative path from the source's own folder, below
    /// the roots.
    pub fn beside(&self, source: &str, reference: &str) -> Option<Vec<u8>> {
        beside(&self.inner, source, reference)
    }
}

fn beside(inner: &Inner, source: &str, reference: &str) -> Option<Vec<u8>> {
    let folder = Path::new(source).parent()?;
    let path = reference.split(['?', '#']).next()?;
    let relative = !path.is_empty() && !path.starts_with('/') && !path.contains(':');
    let path = relative.then(|| percent_decode_str(path).decode_utf8().ok())??;
    let mut opened = inner.roots.file(folder.join(&*path).to_str()?).ok()?;
    opened.bytes(inner.bounds.picture_bytes).ok()
}
