//! Animated PNG, composed frame by frame on our own canvas.

use png::{BlendOp, DisposeOp};

use super::budget::DecodeBudget;
use super::canvas::{CanvasRect, OnFrame, clear};
use super::png::{open, refuse, widened};
use crate::header::Header;
use crate::raster::Raster;
use crate::refusal::Refusal;

/// Decodes the frames in order and hands each one to `on_frame`.
pub(super) fn frames(
    bytes: &[u8],
    header: &Header,
    budget: &DecodeBudget<'_>,
    on_frame: &mut OnFrame<'_>,
) -> Result<(), Refusal> {
    // The canvas, the part of it that is saved, the copy that is returned, and one frame.
    budget.room(header.pixels() * 16 + (2 << 20))?;
    let mut reader = open(bytes, budget)?;
    let (color, _) = reader.output_color_type();
    let samples = color.samples();
    let mut canvas = clear(header.stored_width, header.stored_height);
    let mut buffer = vec![0; reader.output_buffer_size().ok_or_else(|| budget.cut())?];
    let mut number = 0;
    while number < budget.frames.min(header.frames.least()) {
        budget.on_time()?;
        let read = reader.next_frame(&mut buffer);
        let info = match read {
            Ok(info) => info,
            Err(_) if number > 0 => break,
            Err(error) => return Err(refuse(&error, budget)),
        };
        // An image without frame control data is the still picture for other readers, not a frame.
        let Some(control) = reader.info().frame_control().copied() else { continue };
        let place = CanvasRect {
            left: control.x_offset as usize,
            top: control.y_offset as usize,
            width: info.width as usize,
            height: info.height as usize,
        }
        .on(&canvas);
        let saved = (control.dispose_op == DisposeOp::Previous).then(|| place.save(&canvas));
        let mut wide = Vec::new();
        let data = widened(&buffer[..info.buffer_size()], color, &mut wide);
        let samples = if samples == 2 { 4 } else { samples };
        paint(&mut canvas, place, data, info.width as usize * samples, samples, control.blend_op);
        if on_frame(number, &canvas)?.is_break() {
            return Ok(());
        }
        match (control.dispose_op, saved) {
            (DisposeOp::Previous, Some(saved)) => place.restore(&mut canvas, &saved),
            (DisposeOp::Background, _) => place.wipe(&mut canvas),
            _ => {}
        }
        number += 1;
    }
    Ok(())
}

/// Paints a frame onto the canvas.
fn paint(
    canvas: &mut Raster,
    place: CanvasRect,
    data: &[u8],
    stride: usize,
    samples: usize,
    blend: BlendOp,
) {
    for (row, line) in place.rows(canvas).zip(data.chunks_exact(stride.max(1))) {
        for (under, over) in canvas.data[row].chunks_exact_mut(4).zip(line.chunks_exact(samples)) {
            let over = match over {
                [gray] => [*gray, *gray, *gray, 255],
                [red, green, blue] => [*red, *green, *blue, 255],
                [red, green, blue, alpha] => [*red, *green, *blue, *alpha],
                _ => continue,
            };
            let pixel = if blend == BlendOp::Over {
                blended([under[0], under[1], under[2], under[3]], over)
            } else {
                over
            };
            under.copy_from_slice(&pixel);
        }
    }
}

/// Blends one pixel over another; neither is premultiplied.
fn blended(under: [u8; 4], over: [u8; 4]) -> [u8; 4] {
    let (top, bottom) = (u32::from(over[3]), u32::from(under[3]));
    if top == 255 || bottom == 0 {
        return over;
    }
    let rest = bottom * (255 - top) / 255;
    let alpha = top + rest;
    if alpha == 0 {
        return [0; 4];
    }
    let mix = |n: usize| {
        ((u32::from(over[n]) * top + u32::from(under[n]) * rest + alpha / 2) / alpha) as u8
    };
    [mix(0), mix(1), mix(2), alpha as u8]
}
