//! The canvas on which frames of an animation are composed.

use std::ops::{ControlFlow, Range};

use crate::raster::{Layout, Raster};
use crate::refusal::Refusal;

/// Called with each frame's number and the canvas after it; says whether to continue.
pub(super) type OnFrame<'a> = dyn FnMut(u32, &Raster) -> Result<ControlFlow<()>, Refusal> + 'a;

/// A transparent canvas.
pub(super) fn clear(width: u32, height: u32) -> Raster {
    let length = width as usize * height as usize * 4;
    Raster { width, height, layout: Layout::Rgba, data: vec![0; length] }
}

/// A rectangle of a canvas.
#[derive(Clone, Copy)]
pub(super) struct CanvasRect {
    pub(super) left: usize,
    pub(super) top: usize,
    pub(super) width: usize,
    pub(super) height: usize,
}

impl CanvasRect {
    /// The part of it that lies on the canvas.
    pub(super) fn on(self, canvas: &Raster) -> Self {
        let (wide, high) = (canvas.width as usize, canvas.height as usize);
        let (left, top) = (self.left.min(wide), self.top.min(high));
        Self { left, top, width: self.width.min(wide - left), height: self.height.min(high - top) }
    }

    /// Byte ranges of its rows in the canvas' data.
    pub(super) fn rows(self, canvas: &Raster) -> impl Iterator<Item = Range<usize>> + use<> {
        let stride = canvas.width as usize * 4;
        (self.top..self.top + self.height).map(move |y| {
            let start = y * stride + self.left * 4;
            start..start + self.width * 4
        })
    }

    /// Copies its pixels.
    pub(super) fn save(self, canvas: &Raster) -> Vec<u8> {
        let mut saved = Vec::with_capacity(self.width * self.height * 4);
        self.rows(canvas).for_each(|row| saved.extend_from_slice(&canvas.data[row]));
        saved
    }

    /// Writes copied pixels back.
    pub(super) fn restore(self, canvas: &mut Raster, saved: &[u8]) {
        let length = (self.width * 4).max(1);
        for (row, part) in self.rows(canvas).zip(saved.chunks_exact(length)) {
            canvas.data[row].copy_from_slice(part);
        }
    }

    /// Makes it transparent.
    pub(super) fn wipe(self, canvas: &mut Raster) {
        for row in self.rows(canvas) {
            canvas.data[row].fill(0);
        }
    }
}
