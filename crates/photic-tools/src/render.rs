//! The interface for renderers: a capability that the host provides for sources that are not
//! bitmaps.
//!
//! No renderer is included here. A renderer takes bytes and returns a page of pixels. It must not
//! open files or connections.

use std::fmt;
use std::path::Path;

use percent_encoding::percent_decode_str;
use photic_pixels::geometry::Rect;
use photic_pixels::{DrawnPage, View, ViewRequest};

use crate::content::Content;
use crate::load::{Loaded, head, renderer};
use crate::refusal::{Refusal, RefusalCode};
use crate::tools::{Inner, Tools};

/// A request to a renderer.
#[derive(Clone, Copy)]
pub struct RenderRequest<'a> {
    /// The bytes of the source.
    pub bytes: &'a [u8],
    /// Its detected kind.
    pub content: Content,
    /// Its name, used only as a hint for the language of a text.
    pub name: &'a str,
    /// The page, from 1.
    pub page: u32,
    /// The part to show in units of the page; `None` for all of it.
    pub region: Option<Rect>,
    /// Longest side of the picture in pixels; `None` for the best size.
    pub longest: Option<u32>,
    /// Reads a file that the source refers to, if it may be opened.
    pub beside: &'a dyn Fn(&str) -> Option<Vec<u8>>,
}

impl fmt::Debug for RenderRequest<'_> {
    /// Never shows the bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { content, page, region, longest, .. } = self;
        write!(f, "<{content:?}, page {page}, region {region:?}, longest side {longest:?}>")
    }
}

/// Renders a kind of source to pixels. Calls may block; they run on a worker thread.
pub trait Render: Send + Sync + fmt::Debug {
    /// Returns its display name.
    fn name(&self) -> &str;

    /// Returns whether it renders a source with this kind, beginning and name.
    fn renders(&self, content: Content, head: &[u8], name: &str) -> bool;

    /// Renders a page or a region of it.
    fn render(&self, request: &RenderRequest<'_>) -> Result<DrawnPage, Refusal>;

    /// Extracts the text of a page, for documents with a text layer.
    fn words(&self, request: &RenderRequest<'_>) -> Result<PageText, Refusal> {
        let says = format!("`{}` takes no text out of `{}`", self.name(), request.name);
        Err(Refusal::new(RefusalCode::NotText, says, "call `view` to see it"))
    }
}

/// Text layer of a page.
#[derive(Clone, PartialEq, Eq)]
pub struct PageText {
    /// The lines. They are untrusted data.
    pub text: String,
    /// The page, from 1.
    pub page: u32,
    /// Number of pages.
    pub pages: u32,
}

impl fmt::Debug for PageText {
    /// Never shows the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} bytes of page {} of {}>", self.text.len(), self.page, self.pages)
    }
}

/// Creates the refusal of arguments that apply to bitmaps only.
pub fn one_page_at_a_time() -> Refusal {
    Refusal::new(
        RefusalCode::BadArguments,
        "`tile` and `sheet` are about pictures; this source is drawn page by page",
        "ask for a page, and for a region of it, which is drawn again as large as possible",
    )
}

/// Renders an original to a view. Returns `None` if the original is a bitmap.
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
    /// Reads a file that a source refers to: a relative path from the folder of the source, below
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
