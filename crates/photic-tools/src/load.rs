//! Loads a source into memory: files, handles, URLs.
//!
//! The order is fixed: first the kind, then the size, then all bytes.

use std::sync::Arc;

use crate::content::Content;
use crate::originals::LookupError;
use crate::refusal::{Refusal, RefusalCode};
use crate::render::Render;
use crate::source::{Source, address_shown, shown};
use crate::tools::{Inner, Tools, blocking};

/// An original and facts about it.
pub(crate) struct Loaded {
    pub(crate) bytes: Vec<u8>,
    pub(crate) content: Content,
    /// The file, handle or URL, for display.
    pub(crate) name: String,
    /// The handle it was loaded by.
    pub(crate) handle: Option<String>,
    /// The path it was loaded by.
    pub(crate) path: Option<String>,
}

impl Tools {
    /// Loads all bytes of a source that is a picture, or that a renderer can draw.
    pub(crate) async fn load(&self, source: &str) -> Result<Loaded, Refusal> {
        match Source::of(source)? {
            Source::Address(address) => {
                let bytes = fetched(&self.inner, address).await?;
                let content = Content::of(head(&bytes, &self.inner));
                let name = address_shown(address);
                perceivable(content, &name, &bytes, &self.inner)?;
                Ok(Loaded { bytes, content, name, handle: None, path: None })
            }
            Source::Handle(handle) => {
                let handle = handle.to_owned();
                blocking(&self.inner, move |inner| original(inner, &handle)).await
            }
            Source::Path(path) => {
                let path = path.to_owned();
                blocking(&self.inner, move |inner| file(inner, &path)).await
            }
        }
    }
}

pub(crate) fn head<'a>(bytes: &'a [u8], inner: &Inner) -> &'a [u8] {
    &bytes[..bytes.len().min(inner.bounds.sniff_bytes)]
}

fn file(inner: &Inner, source: &str) -> Result<Loaded, Refusal> {
    let mut opened = inner.roots.file(source)?;
    let head = opened.head(inner.bounds.sniff_bytes)?;
    let content = Content::of(&head);
    perceivable(content, &opened.name, &head, inner)?;
    let most = match content {
        Content::Bitmap(_) | Content::Torn => inner.bounds.picture_bytes,
        _ => inner.bounds.text_bytes,
    };
    let size = opened.size;
    let bytes = opened.bytes(most).map_err(|refusal| match refusal.code {
        RefusalCode::TooLarge => refusal.known_as(too_large_in_seed_003(size, most)),
        _ => refusal,
    })?;
    Ok(Loaded { bytes, content, name: opened.name, handle: None, path: Some(source.to_owned()) })
}

fn original(inner: &Inner, handle: &str) -> Result<Loaded, Refusal> {
    let bytes = inner.originals.get(handle).map_err(|error| match error {
        LookupError::NoStore => Refusal::new(
            RefusalCode::NeedsStore,
            format!("`{handle}` is a handle, and there is no store it could be in"),
            "name the file itself; for handles, start `photic mcp` with `--store DIR`. A file of this \
             name is `./img_…`",
        ),
        LookupError::Absent(why) => Refusal::new(
            RefusalCode::Absent,
            format!("`{handle}` leads to nothing: {}", shown(&why)),
            "view the source itself again",
        ),
        LookupError::Failed(error) => Refusal::new(
            RefusalCode::Unreadable,
            format!("the store could not give `{handle}`: {}", error.kind()),
            "try again, or view the source itself",
        ),
    })?;
    let content = Content::of(head(&bytes, inner));
    perceivable(content, handle, &bytes, inner)?;
    let handle = handle.to_owned();
    Ok(Loaded { bytes, content, name: handle.clone(), handle: Some(handle), path: None })
}

async fn fetched(inner: &Inner, address: &str) -> Result<Vec<u8>, Refusal> {
    let net = inner.net.as_ref().ok_or_else(|| {
        Refusal::new(
            RefusalCode::NeedsNet,
            "the source is an address, and this server fetches none",
            "save the picture below a root, and pass its path",
        )
    })?;
    let fetched = net.get(address).await;
    let refused = |refusal: photic_net::fetch::Refusal| {
        let says = format!("`{}` was not fetched: {refusal}", address_shown(address));
        Refusal::new(RefusalCode::FetchRefused, says, refusal.hint())
    };
    let bytes = fetched.map_err(refused)?;
    let most = inner.bounds.picture_bytes;
    if bytes.len() as u64 > most {
        let says = format!("what is there has {} bytes; {most} are allowed", bytes.len());
        return Err(Refusal::new(RefusalCode::TooLarge, says, "use a smaller picture"));
    }
    Ok(bytes)
}

/// Refuses sources that cannot become pixels, judged by their first bytes.
fn perceivable(content: Content, name: &str, head: &[u8], inner: &Inner) -> Result<(), Refusal> {
    if renderer(content, head, name, inner).is_some() {
        return Ok(());
    }
    let needs = |what: &str, hint: &str| {
        let says = format!(
            "`{name}` is {what}; to see it takes the capability `render`, which was not given"
        );
        Err(Refusal::new(RefusalCode::NeedsRender, says, hint))
    };
    match content {
        Content::Bitmap(_) | Content::Torn => Ok(()),
        Content::Svg => {
            needs("an SVG drawing", "call `read` for its source, or render it to PNG and view that")
        }
        Content::Pdf => needs("a PDF document", "render one of its pages to PNG and view that"),
        Content::Text | Content::Utf16 { .. } | Content::OddText => {
            needs("text", "call `read` for its text")
        }
        // The message of the header parser is the most specific one.
        Content::Empty | Content::Binary(_) => match photic_pixels::header::probe(head) {
            Err(refusal) => Err(refusal.into()),
            Ok(_) => Ok(()),
        },
    }
}

/// Returns the renderer of a source; `None` if it is a picture already.
pub(crate) fn renderer<'i>(
    content: Content,
    head: &[u8],
    name: &str,
    inner: &'i Inner,
) -> Option<&'i Arc<dyn Render>> {
    if matches!(content, Content::Bitmap(_) | Content::Torn | Content::Empty) {
        return None;
    }
    inner.renderers.iter().find(|renderer| renderer.renders(content, head, name))
}

/// The message of `ImageInputTooLargeError`.
fn too_large_in_seed_003(size: u64, most: u64) -> String {
    format!("Image file too large: {} exceeds {} limit.", human(size), human(most))
}

fn human(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes}B"),
        1024..1_048_576 => format!("{:.1}KB", bytes as f64 / 1024.0),
        _ => format!("{:.1}MB", bytes as f64 / 1_048_576.0),
    }
}
