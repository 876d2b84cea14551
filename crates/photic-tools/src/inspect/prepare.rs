//! The picture that is sent: made small as seed 003 does, or as it is but for its metadata.

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

/// What seed 003 says of everything that it does not take for a picture.
const WRONG_TYPE: &str =
    "inspect_image only supports PNG, JPEG, GIF, and WEBP files detected by file content.";

/// A picture as it is sent.
pub(super) struct Picture {
    pub(super) bytes: Vec<u8>,
    pub(super) media_type: &'static str,
    pub(super) detail: Option<Detail>,
}

/// Makes the picture for a model. What fails is a refusal: to send the original instead would send
/// what nothing here could read, at a size that nobody asked for.
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

/// The file without its metadata, if that leaves it upright and whole.
fn original(bytes: &[u8]) -> Result<Option<Picture>, Refusal> {
    let header = header::probe(bytes)?;
    let stripped = strip(bytes, header.format).filter(|_| header.orientation == 1);
    let media_type = header.format.media_type();
    Ok(stripped.map(|bytes| Picture { bytes, media_type, detail: None }))
}

/// The four types of seed 003.
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

/// Refusals of a source, with what the old tool says.
pub(super) fn in_words_of_seed_003(refusal: Refusal) -> Refusal {
    match refusal.code {
        RefusalCode::NotAnImage
        | RefusalCode::NeedsRender
        | RefusalCode::UnsupportedFormat
        | RefusalCode::Empty => refusal.known_as(WRONG_TYPE),
        _ => refusal,
    }
}
