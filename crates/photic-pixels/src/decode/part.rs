//! The request that each decoder gets, and the result that it returns.

use crate::geometry::Rect;
use crate::header::Header;
use crate::raster::Raster;
use crate::refusal::{Refusal, RefusalCode};
use crate::resize::Window;

/// A problem that did not prevent decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// Part of the data is damaged; some pixels may be wrong.
    Damaged,
    /// The color profile could not be used; colors may be slightly off.
    ProfileIgnored,
}

/// A decoder's result before it is turned upright.
pub(super) struct DecodedPart {
    pub(super) raster: Raster,
    pub(super) window: Window,
    /// Raster pixels a stored pixel.
    pub(super) scale: f64,
    pub(super) notes: Vec<Note>,
}

impl DecodedPart {
    /// The whole raster, unscaled.
    pub(super) fn whole(raster: Raster) -> Self {
        let window = Window {
            x: 0.0,
            y: 0.0,
            width: f64::from(raster.width),
            height: f64::from(raster.height),
        };
        Self { raster, window, scale: 1.0, notes: Vec::new() }
    }
}

/// Request to a decoder: the wanted part in stored pixels.
#[derive(Clone, Copy)]
pub(super) struct PartRequest {
    /// The region in stored pixels.
    pub(super) region: Rect,
    /// The size that the caller will scale down to.
    pub(super) at_most: Option<(u32, u32)>,
    /// The frame or page, from 0.
    pub(super) frame: u32,
}

/// The refusal of a frame that the file does not have.
pub(super) fn no_frame(header: &Header, frame: u32) -> Refusal {
    Refusal::new(
        RefusalCode::BadRegion,
        format!(
            "there is no page or frame {} in this {} file",
            frame.saturating_add(1),
            header.format.name()
        ),
        format!("they count from 1; it has {} or so", header.frames.least()),
    )
}
