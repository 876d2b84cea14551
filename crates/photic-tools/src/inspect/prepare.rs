//! Prepares the picture to send: downscaled, or unchanged except for its metadata.

use photic::tokens::Detail;
use photic_pixels::fit::{Fidelity, Preset};
use photic_pixels::header::{self, Format};
use photic_pixels::strip::strip;
use photic_pixels::{ViewRequest, view};

use super::model::Model;
use crate::content::Content;
use crate::load::Loaded;
use crate::refusal::{Refusal, RefusalCode};
use crate::render::rendered;
use crate::tools::Inner;

/// Message of the tool that `inspect` replaces, for sources that are not pictures.
const WRONG_TYPE: &str =
    "inspect_image only supports PNG, JPEG, GIF, and WEBP files detected by file content.";

/// A picture to send.
pub(super) struct Picture {
    pub(super) bytes: Vec<u8>,
    pub(super) media_type: &'static str,
    pub(super) detail: Option<Detail>,
}

/// Prepares the picture for a model. A failure is refused: the original is not sent instead,
/// because its content and size would be unchecked.
pub(super) fn prepare(
    inner: &Inner,
    loaded: &Loaded,
    model: &Model,
    auto_resize: bool,
) -> Result<Picture, Refusal> {
    let mut request = ViewRequest::new(&model.profile);
    request.limits = inner.bounds.pixels;
    if auto_resize {
        request.caps = Preset::Seed003.caps();
    } else {
        request.fidelity = Fidelity::Pixel;
    }
    let drawn = rendered(inner, loaded, (1, None), &request)?;
    if drawn.is_none() {
        supported(loaded)?;
        if !auto_resize && let Some(picture) = original(&loaded.bytes)? {
            return Ok(picture);
        }
    }
    let made = drawn.map_or_else(|| view(&loaded.bytes, &request), Ok)?;
    Ok(Picture { bytes: made.bytes, media_type: made.media_type, detail: made.detail })
}

/// Returns the file without its metadata, if it stays upright and complete.
fn original(bytes: &[u8]) -> Result<Option<Picture>, Refusal> {
    let header = header::probe(bytes)?;
    let stripped = strip(bytes, header.format).filter(|_| header.orientation == 1);
    let media_type = header.format.media_type();
    Ok(stripped.map(|bytes| Picture { bytes, media_type, detail: None }))
}

/// Accepts the four supported picture types.
fn supported(loaded: &Loaded) -> Result<(), Refusal> {
    match loaded.content {
        Content::Bitmap(Format::Png | Format::Jpeg | Format::Gif | Format::Webp)
        | Content::Torn => Ok(()),
        other => Err(Refusal::new(
            RefusalCode::UnsupportedFormat,
            format!(
                "`{}` is {}; `inspect` sends PNG, JPEG, GIF and WebP",
                loaded.name,
                other.name()
            ),
            "call `view`, which converts it, or save it as PNG",
        )
        .known_as(WRONG_TYPE)),
    }
}

/// Adds the message of the replaced tool to refusals of a source.
pub(super) fn in_words_of_seed_003(refusal: Refusal) -> Refusal {
    match refusal.code {
        RefusalCode::NotAnImage
        | RefusalCode::NeedsRender
        | RefusalCode::UnsupportedFormat
        | RefusalCode::Empty => refusal.known_as(WRONG_TYPE),
        _ => refusal,
    }
}
