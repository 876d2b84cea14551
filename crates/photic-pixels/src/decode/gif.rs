//! GIF, decoded by the `gif` crate and composed on our own canvas.

use std::num::NonZeroU64;

use gif::{ColorOutput, DecodeOptions, DecodingError, DisposalMethod, MemoryLimit};

use super::budget::{DecodeBudget, too_large};
use super::canvas::{CanvasRect, OnFrame, clear};
use crate::header::Header;
use crate::raster::Raster;
use crate::refusal::Refusal;

/// Bytes that the decoder holds besides frames: its dictionary and palettes.
const DECODER_BYTES: u64 = 1 << 20;

/// Decodes the frames in order and hands each one to `on_frame`.
pub(super) fn frames(
    bytes: &[u8],
    header: &Header,
    budget: &DecodeBudget<'_>,
    on_frame: &mut OnFrame<'_>,
) -> Result<(), Refusal> {
    // The canvas, and the copy that is returned.
    let canvases = header.pixels() * 8 + DECODER_BYTES;
    budget.room(canvases)?;
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::Indexed);
    options.allow_unknown_blocks(true);
    options.check_frame_consistency(false);
    if let Some(most) = NonZeroU64::new(budget.pixels) {
        options.set_memory_limit(MemoryLimit::Bytes(most));
    }
    let mut decoder = options.read_info(bytes).map_err(|error| refuse(&error, budget))?;
    let mut canvas = clear(header.stored_width, header.stored_height);
    for number in 0..budget.frames {
        budget.on_time()?;
        let next = match decoder.next_frame_info() {
            Ok(next) => next,
            // The frames before the cut have been shown.
            Err(_) if number > 0 => break,
            Err(error) => return Err(refuse(&error, budget)),
        };
        let Some(frame) = next else { break };
        let whole = CanvasRect {
            left: frame.left.into(),
            top: frame.top.into(),
            width: frame.width.into(),
            height: frame.height.into(),
        };
        let (clear, dispose) = (frame.transparent, frame.dispose);
        if whole.width as u64 * whole.height as u64 > budget.pixels {
            return Err(too_large("a frame of this GIF file has too many pixels".to_owned()));
        }
        // A frame may be larger than the canvas, and what it covers may have to be restored.
        let kept = if dispose == DisposalMethod::Previous { header.pixels() * 4 } else { 0 };
        budget.room(canvases + whole.width as u64 * whole.height as u64 + kept)?;
        // Zeroed memory costs nothing until it is written, so a frame may lie about its size.
        let mut indices = vec![0; whole.width * whole.height];
        decoder.read_into_buffer(&mut indices).map_err(|error| refuse(&error, budget))?;
        let place = whole.on(&canvas);
        let saved = (dispose == DisposalMethod::Previous).then(|| place.save(&canvas));
        let palette = decoder.palette().map_err(|error| refuse(&error, budget))?;
        paint(&mut canvas, place, &indices, whole.width, palette, clear);
        if on_frame(number, &canvas)?.is_break() {
            return Ok(());
        }
        match (dispose, saved) {
            (DisposalMethod::Previous, Some(saved)) => place.restore(&mut canvas, &saved),
            (DisposalMethod::Background, _) => place.wipe(&mut canvas),
            _ => {}
        }
    }
    Ok(())
}

/// Paints a frame onto the canvas.
fn paint(
    canvas: &mut Raster,
    place: CanvasRect,
    indices: &[u8],
    stride: usize,
    palette: &[u8],
    clear: Option<u8>,
) {
    for (row, line) in place.rows(canvas).zip(indices.chunks_exact(stride.max(1))) {
        for (pixel, &index) in canvas.data[row].chunks_exact_mut(4).zip(line) {
            if Some(index) == clear {
                continue;
            }
            let at = usize::from(index) * 3;
            // An index past the palette is black, as in browsers.
            let color = palette.get(at..at + 3).unwrap_or(&[0; 3]);
            pixel[..3].copy_from_slice(color);
            pixel[3] = 255;
        }
    }
}

/// Turns a decoder's error into a refusal.
fn refuse(error: &DecodingError, budget: &DecodeBudget<'_>) -> Refusal {
    match error {
        DecodingError::Io(_) => budget.cut(),
        DecodingError::OutOfMemory | DecodingError::MemoryLimit => {
            too_large("decoding this GIF file needs more memory than allowed".to_owned())
        }
        error => budget.corrupt(error),
    }
}
