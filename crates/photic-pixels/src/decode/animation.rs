//! Frames of an animation, put together on their canvas one after the other.

use std::ops::Range;

use super::bounds::Bounds;
use super::sink::crop;
use super::{Ask, Part, apng, gif, no_frame, webp};
use crate::header::{Format, Frames, Header, gif_count};
use crate::raster::{Layout, Raster};
use crate::refusal::Refusal;

/// Whether the next frame is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Go {
    /// It is.
    On,
    /// No more.
    Stop,
}

/// Is shown the canvas after each frame, with the frame's number.
pub(super) type Visit<'a> = dyn FnMut(u32, &Raster) -> Result<Go, Refusal> + 'a;

/// Shows every frame in turn.
pub(super) fn frames(
    bytes: &[u8],
    header: &Header,
    bounds: &Bounds<'_>,
    visit: &mut Visit<'_>,
) -> Result<(), Refusal> {
    match header.format {
        Format::Gif => gif::frames(bytes, header, bounds, visit),
        Format::Png => apng::frames(bytes, header, bounds, visit),
        Format::Webp => webp::frames(bytes, header, bounds, visit),
        _ => Err(no_frame(header, 0)),
    }
}

/// One frame of it.
pub(super) fn still(
    bytes: &[u8],
    header: &Header,
    bounds: &Bounds<'_>,
    ask: Ask,
) -> Result<Part, Refusal> {
    let mut found = None;
    frames(bytes, header, bounds, &mut |number, canvas| {
        if number < ask.frame {
            return Ok(Go::On);
        }
        found = Some(copied(canvas, ask));
        Ok(Go::Stop)
    })?;
    // A file with no frame at all is broken; one with fewer than asked is not.
    let none = || if ask.frame == 0 { bounds.cut() } else { no_frame(header, ask.frame) };
    found.map(Part::whole).ok_or_else(none)
}

/// Only the region is copied: the canvas itself stays with the decoder.
fn copied(canvas: &Raster, ask: Ask) -> Raster {
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

/// The number of frames, counted over the whole file where the header could not tell.
pub(super) fn count(bytes: &[u8], header: &Header) -> Frames {
    match (header.format, header.frames) {
        (Format::Gif, Frames::AtLeast(least)) => Frames::Known(gif_count(bytes).max(least)),
        (_, frames) => frames,
    }
}

/// A clear canvas.
pub(super) fn clear(width: u32, height: u32) -> Raster {
    let length = width as usize * height as usize * 4;
    Raster { width, height, layout: Layout::Rgba, data: vec![0; length] }
}

/// A rectangle of a canvas, cut to it.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) left: usize,
    pub(super) top: usize,
    pub(super) width: usize,
    pub(super) height: usize,
}

impl Place {
    /// What of it lies on the canvas.
    pub(super) fn on(self, canvas: &Raster) -> Self {
        let (wide, high) = (canvas.width as usize, canvas.height as usize);
        let (left, top) = (self.left.min(wide), self.top.min(high));
        Self { left, top, width: self.width.min(wide - left), height: self.height.min(high - top) }
    }

    /// Where its rows lie in the canvas' data.
    pub(super) fn rows(self, canvas: &Raster) -> impl Iterator<Item = Range<usize>> + use<> {
        let stride = canvas.width as usize * 4;
        (self.top..self.top + self.height).map(move |y| {
            let start = y * stride + self.left * 4;
            start..start + self.width * 4
        })
    }

    /// A copy of its pixels.
    pub(super) fn save(self, canvas: &Raster) -> Vec<u8> {
        let mut saved = Vec::with_capacity(self.width * self.height * 4);
        self.rows(canvas).for_each(|row| saved.extend_from_slice(&canvas.data[row]));
        saved
    }

    /// Puts a copy back.
    pub(super) fn restore(self, canvas: &mut Raster, saved: &[u8]) {
        let length = (self.width * 4).max(1);
        for (row, part) in self.rows(canvas).zip(saved.chunks_exact(length)) {
            canvas.data[row].copy_from_slice(part);
        }
    }

    /// Makes it clear.
    pub(super) fn wipe(self, canvas: &mut Raster) {
        for row in self.rows(canvas) {
            canvas.data[row].fill(0);
        }
    }
}
