//! Makes a view of a file: decodes, fits, scales, encodes, and gathers the facts about the result.
//!
//! A region is always read again from the file, never enlarged from an earlier view. If a step
//! fails, the result is a refusal, never the file's own bytes.

mod page;
mod passthrough;
mod sheet;
mod warning;

use photic::Profile;
use photic::profile::MediaKind;
use photic::tokens::Detail;

pub use page::{DrawnPage, view_page};
pub use sheet::sheet;
pub use warning::Warning;

use crate::decode::{self, DecodeOptions, Decoded, Note};
use crate::encode::{self, EncodeOptions, Encoded, Prefer};
use crate::fit::{Caps, Fidelity, FittedSize, fit_within, tiles_within};
use crate::geometry::{Affine, Rect, TextRow};
use crate::header::{self, Format, Frames, Header};
use crate::legibility::{MIN_READABLE_X_HEIGHT, SmallestText, smallest_text};
use crate::limits::DecodeLimits;
use crate::raster::Raster;
use crate::refusal::{Refusal, RefusalCode};
use crate::resize::{self, Kernel};

/// The x-height below which the softer kernel gives better results.
const TINY_TEXT: f64 = 4.0;

/// A request for a view.
#[derive(Clone, Copy, Debug)]
pub struct ViewRequest<'a> {
    /// The region to show, in pixels of the upright source; everything if `None`.
    pub region: Option<Rect>,
    /// A tile of that region, from 1; 0 is the overview.
    pub tile: Option<u32>,
    /// The frame or page, from 0.
    pub frame: u32,
    /// The level of detail.
    pub fidelity: Fidelity,
    /// Limits of decoding.
    pub limits: DecodeLimits<'a>,
    /// Profile of the endpoint and model that will get the view.
    pub profile: &'a Profile,
    /// The caller's own limits.
    pub caps: Caps,
}

impl<'a> ViewRequest<'a> {
    /// A request for the whole source at [`Fidelity::Read`].
    pub fn new(profile: &'a Profile) -> Self {
        Self {
            region: None,
            tile: None,
            frame: 0,
            fidelity: Fidelity::Read,
            limits: DecodeLimits::default(),
            profile,
            caps: Caps::default(),
        }
    }
}

/// A picture for a model, and the facts about it.
#[derive(Clone, PartialEq)]
pub struct View {
    /// The encoded file.
    pub bytes: Vec<u8>,
    /// Its media type.
    pub media_type: &'static str,
    /// Its width.
    pub width: u32,
    /// Its height.
    pub height: u32,
    /// Size of the upright source.
    pub source: (u32, u32),
    /// The region of the source that is shown.
    pub region: Rect,
    /// Map from view pixels to pixels of the upright source.
    pub map: Affine,
    /// View pixels for each source pixel, in the direction in which the view is reduced more.
    pub scale: f64,
    /// Price of the view in tokens.
    pub tokens: u64,
    /// The `detail` to state in the request, so that the provider does not scale the view.
    pub detail: Option<Detail>,
    /// Number of frames or pages in the file.
    pub frames: Frames,
    /// Facts that a reader should know.
    pub warnings: Vec<Warning>,
    /// Unit of the source: `px`, or `pt` for pages.
    pub unit: &'static str,
    /// Rows of drawn text, from top to bottom, in that unit.
    pub rows: Vec<TextRow>,
}

impl std::fmt::Debug for View {
    /// Omits the bytes, which must not reach a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { media_type, width, height, region, tokens, .. } = self;
        let bytes = self.bytes.len();
        write!(f, "<{media_type} {width}x{height}, {bytes} bytes, {tokens} tokens, of {region:?}>")
    }
}

impl View {
    /// Maps a rectangle of this view to a region of its source, which can be requested to zoom in.
    pub fn region_of(&self, part: &Rect) -> Result<Rect, Refusal> {
        let part = part.within((self.width, self.height))?;
        self.map.map_rect(&part).within(self.source)
    }

    /// The line and column of drawn text at a point of this view, both from 1. Beside a row, it is
    /// the nearest character; elsewhere without text, it is `None`.
    pub fn line_and_column(&self, x: f64, y: f64) -> Option<(u32, u32)> {
        let (x, y) = self.map.map_point(x, y);
        TextRow::find(&self.rows, x, y)
    }
}

/// Makes a view of a file.
///
/// # Errors
///
/// Refuses files that are not images, are broken, or exceed a limit, and requests that cannot be
/// met.
pub fn view(bytes: &[u8], request: &ViewRequest<'_>) -> Result<View, Refusal> {
    let header = probe(bytes, request)?;
    let source = (header.width, header.height);
    let mut warnings = Vec::new();
    let region = part(source, request, &mut warnings)?;
    let mut target = fit_within(region.size(), request.profile, request.fidelity, &request.caps);

    let at_most = hint(&header, region.size(), target.content);
    let wanted =
        DecodeOptions { region: Some(region), at_most: Some(at_most), frame: request.frame };
    let mut decoded = decode::decode(bytes, &header, &request.limits, wanted)?;
    request.limits.wanted()?;
    request.limits.hold(after_decoding(&decoded.raster, &target))?;
    let cap = cap(request);
    let own = passthrough::passthrough(
        bytes,
        &header,
        (&decoded, region.size()),
        &target,
        (request, cap),
    );
    decoded.raster = decode::into_opaque(decoded.raster);
    request.limits.wanted()?;
    let text = readable(&decoded, request);
    let (encoded, shrunk) = match own {
        Some(own) => (own, None),
        None => encoded(&decoded, request, (cap, text.as_ref()), &mut target)?,
    };
    let map = Affine::resize(region.size(), target.content).then(&Affine::crop(&region));
    let scale = 1.0 / map.reduction();
    warnings.extend(shrunk);
    warnings.extend(text.and_then(|text| small(&text, scale, &region, &target, request)));
    if target.upscale > 1 {
        warnings.push(Warning::Enlarged { by: target.upscale });
    }
    warnings.extend(decoded.notes.iter().map(|note| match note {
        Note::Damaged => Warning::Damaged,
        Note::ProfileIgnored => Warning::ProfileIgnored,
    }));
    let frames = decoded.frames.least();
    if frames > 1 {
        warnings.push(Warning::MoreFrames { frames });
    }
    Ok(View {
        bytes: encoded.bytes,
        media_type: encoded.media_type,
        width: target.width,
        height: target.height,
        source,
        region,
        map,
        scale,
        tokens: target.tokens,
        detail: target.detail,
        frames: decoded.frames,
        warnings,
        unit: "px",
        rows: Vec::new(),
    })
}

/// The header of the requested frame; pages of a TIFF have their own sizes.
fn probe(bytes: &[u8], request: &ViewRequest<'_>) -> Result<Header, Refusal> {
    let header = header::probe(bytes)?;
    let page = (header.format == Format::Tiff && request.frame > 0)
        .then(|| header::tiff_page(bytes, request.frame))
        .flatten();
    Ok(page.unwrap_or(header))
}

/// The requested region or tile in source pixels.
fn part(
    source: (u32, u32),
    request: &ViewRequest<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Rect, Refusal> {
    let region = match request.region {
        None => Rect::whole(source),
        Some(asked) => {
            let shown = asked.within(source)?;
            if shown != asked {
                warnings.push(Warning::RegionCut { shown });
            }
            shown
        }
    };
    let Some(number) = request.tile else { return Ok(region) };
    let tiling = tiles_within(region.size(), request.profile, &request.caps);
    let moved = |rect: &Rect| Rect { x: rect.x + region.x, y: rect.y + region.y, ..*rect };
    if !tiling.not_covered.is_empty() {
        let rects = tiling.not_covered.iter().map(moved).collect();
        warnings.push(Warning::NotCovered { rects });
    }
    let Some(index) = number.checked_sub(1) else { return Ok(region) };
    tiling.tiles.get(index as usize).map(moved).ok_or_else(|| {
        let count = tiling.tiles.len();
        Refusal::new(
            RefusalCode::BadRegion,
            format!("there is no tile {number}"),
            match count {
                1 => "it is shown whole in one view, without tiles".to_owned(),
                _ => format!("ask for tile 1 to {count}, or 0 for the overview"),
            },
        )
    })
}

/// The largest number of bytes that scaling and encoding hold, with the decoded picture.
///
/// Scaling handles one direction after the other and holds an intermediate picture as wide as the
/// result and as high as the source. Encoders hold several copies in their own layout, the palette
/// search makes one, and the file grows by doubling: six times the result is an upper bound. The
/// test `no_more_memory_is_used_than_was_asked_for` compares it with real use.
fn after_decoding(raster: &Raster, target: &FittedSize) -> u64 {
    let (width, height) = (u64::from(target.width), u64::from(target.height));
    let samples = raster.layout.samples() as u64;
    let between = width.max(u64::from(target.content.0)) * u64::from(raster.height) * samples;
    // A copy if the picture is turned or loses its alpha, and the profiles of the text search.
    let source = raster.data.len() as u64 + u64::from(raster.width) * u64::from(raster.height) / 16;
    source + between + width * height * samples * 6 + (2 << 20)
}

/// The size to which a decoder may reduce the picture on its own.
///
/// Averaging rows as they arrive may halve the size at most, because small text has to survive
/// until its height is measured. A JPEG may be scaled to the final size by its transform, which is
/// most of its speed; only pages, which are not photographs, are kept larger.
fn hint(header: &Header, region: (u32, u32), content: (u32, u32)) -> (u32, u32) {
    let page = region.0.max(region.1) / 2 > region.0.min(region.1);
    match (header.format, page) {
        (Format::Jpeg, false) => content,
        (Format::Jpeg, true) => {
            (region.0.min(content.0.saturating_mul(2)), region.1.min(content.1.saturating_mul(2)))
        }
        _ => (content.0.max(region.0 / 4), content.1.max(region.1 / 4)),
    }
}

/// The smallest text, in source pixels relative to the region; not searched for at a glance.
fn readable(decoded: &Decoded, request: &ViewRequest<'_>) -> Option<SmallestText> {
    if request.fidelity == Fidelity::Glance {
        return None;
    }
    smallest_text(&decoded.raster).map(|text| text.scaled(1.0 / decoded.scale.1))
}

/// A warning if text is not readable here but would be after zooming in.
fn small(
    text: &SmallestText,
    scale: f64,
    region: &Rect,
    target: &FittedSize,
    request: &ViewRequest<'_>,
) -> Option<Warning> {
    let x_height = text.x_height * scale;
    if scale >= 1.0 || x_height >= MIN_READABLE_X_HEIGHT {
        return None;
    }
    let zoom = text.readable_region(region.size(), target);
    let tiling = tiles_within(region.size(), request.profile, &request.caps);
    Some(Warning::SmallText {
        x_height,
        readable: MIN_READABLE_X_HEIGHT,
        region: Rect { x: zoom.x + region.x, y: zoom.y + region.y, ..zoom },
        tiles: tiling.tiles.len() as u32,
    })
}

/// Scales and encodes, at smaller sizes until the byte limit is met.
fn encoded(
    decoded: &Decoded,
    request: &ViewRequest<'_>,
    (cap, text): (Option<usize>, Option<&SmallestText>),
    target: &mut FittedSize,
) -> Result<(Encoded, Option<Warning>), Refusal> {
    let wished = (target.width, target.height);
    let types: Vec<&str> =
        request.profile.types(MediaKind::Image).iter().map(String::as_str).collect();
    let mut options = EncodeOptions { cap, prefer: Prefer::Auto, ..EncodeOptions::default() };
    if !types.is_empty() {
        options.accepts = &types;
    }
    loop {
        request.limits.wanted()?;
        let refused = match encode::encode(&scaled(decoded, text, target)?, &options) {
            Ok(encoded) => {
                let (width, height) = wished;
                let shrunk = ((target.width, target.height) != wished)
                    .then_some(Warning::ShrunkForBytes { width, height });
                return Ok((encoded, shrunk));
            }
            Err(refused) => refused,
        };
        let smaller = refused.scale.and_then(|by| smaller(target, by, request));
        *target = smaller.ok_or(refused.refusal)?;
    }
}

/// The next size to try; `None` below the floor.
fn smaller(target: &FittedSize, by: f64, request: &ViewRequest<'_>) -> Option<FittedSize> {
    let (w, h) = target.content;
    let edge = ((f64::from(w.max(h)) * by).floor() as u32).min(w.max(h) - 1);
    let caps = Caps { edge: Some(edge), ..request.caps };
    let next = fit_within((w, h), request.profile, request.fidelity, &caps);
    (next.content.0.min(next.content.1) >= request.caps.floor).then_some(next)
}

/// Scales the decoded pixels to the target.
fn scaled(
    decoded: &Decoded,
    text: Option<&SmallestText>,
    target: &FittedSize,
) -> Result<Raster, Refusal> {
    let raster = if target.upscale > 1 {
        resize::enlarge(&decoded.raster, target.upscale)
    } else {
        let by = f64::from(target.content.1) / decoded.window.height * decoded.scale.1;
        let tiny = text.is_some_and(|text| text.x_height * by < TINY_TEXT);
        let kernel = if tiny { Kernel::Cubic } else { Kernel::Lanczos };
        resize::resize_with(&decoded.raster, &decoded.window, target.content, kernel)?
    };
    Ok(resize::pad(raster, (target.width, target.height)))
}

/// Largest number of bytes of the file before base64.
fn cap(request: &ViewRequest<'_>) -> Option<usize> {
    let limits = &request.profile.limits;
    let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let base64 = limits.image_base64_bytes.map(|bytes| encode::raw_cap(size(bytes)));
    let stated = [request.caps.bytes.map(size), limits.image_raw_bytes.map(size), base64];
    stated.into_iter().flatten().min()
}
