//! Frames of an animation, composed on their canvas one after the other.

use std::ops::ControlFlow;

use super::budget::DecodeBudget;
use super::canvas::OnFrame;
use super::part::{DecodedPart, PartRequest, no_frame};
use super::row_sink::crop;
use super::{apng, gif, webp};
use crate::header::{Format, Frames, Header, gif_count};
use crate::raster::Raster;
use crate::refusal::Refusal;

/// Decodes the frames in order and hands each one to `on_frame`.
pub(super) fn frames(
    bytes: &[u8],
    header: &Header,
    budget: &DecodeBudget<'_>,
    on_frame: &mut OnFrame<'_>,
) -> Result<(), Refusal> {
    match header.format {
        Format::Gif => gif::frames(bytes, header, budget, on_frame),
        Format::Png => apng::frames(bytes, header, budget, on_frame),
        Format::Webp => webp::frames(bytes, header, budget, on_frame),
        _ => Err(no_frame(header, 0)),
    }
}

/// Decodes one frame.
pub(super) fn still(
    bytes: &[u8],
    header: &Header,
    budget: &DecodeBudget<'_>,
    ask: PartRequest,
) -> Result<DecodedPart, Refusal> {
    let mut found = None;
    frames(bytes, header, budget, &mut |number, canvas| {
        if number < ask.frame {
            return Ok(ControlFlow::Continue(()));
        }
        found = Some(copied(canvas, ask));
        Ok(ControlFlow::Break(()))
    })?;
    // A file without any frame is broken; one with fewer frames than requested is not.
    let none = || if ask.frame == 0 { budget.cut() } else { no_frame(header, ask.frame) };
    found.map(DecodedPart::whole).ok_or_else(none)
}

/// Copies the requested region; the canvas itself stays with the decoder.
fn copied(canvas: &Raster, ask: PartRequest) -> Raster {
    let region = ask.region;
    if region.size() == (canvas.width, canvas.height) {
        return canvas.clone();
    }
    let samples = canvas.layout.samples();
    let (stride, length) = (canvas.width as usize * samples, region.width as usize * samples);
    let mut data = Vec::with_capacity(length * region.height as usize);
    let rows = canvas.data.chunks_exact(stride.max(1)).skip(region.y as usize);
    for row in rows.take(region.height as usize) {
        data.extend_from_slice(&row[region.x as usize * samples..][..length]);
    }
    crop(
        Raster { width: region.width, height: region.height, layout: canvas.layout, data },
        crate::geometry::Rect::whole(region.size()),
    )
}

/// The number of frames, counted over the whole file if the header does not give it.
pub(super) fn count(bytes: &[u8], header: &Header) -> Frames {
    match (header.format, header.frames) {
        (Format::Gif, Frames::AtLeast(least)) => Frames::Known(gif_count(bytes).max(least)),
        (_, frames) => frames,
    }
}
