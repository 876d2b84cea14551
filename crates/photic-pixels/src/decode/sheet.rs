//! Contact sheets: evenly spaced frames of an animation, or pages, in one picture.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::animation;
use super::budget::DecodeBudget;
use super::{DecodeOptions, decode, guarded, into_opaque, regions};
use crate::header::{Format, Header};
use crate::limits::DecodeLimits;
use crate::raster::{Layout, Raster};
use crate::refusal::Refusal;
use crate::resize::resize;

/// Longest side of a sheet.
const MAX_SHEET_EDGE: u32 = 2048;

/// Pixels between two frames.
const GAP: u32 = 4;

/// Gray level of the gaps, which differs from both preferred backgrounds of [`super::composite`].
const GAP_LEVEL: u8 = 160;

/// Makes a sheet of at most `most_frames` evenly spaced frames, row by row, starting with the first
/// frame.
pub fn contact_sheet(
    bytes: &[u8],
    header: &Header,
    limits: &DecodeLimits<'_>,
    most_frames: u32,
) -> Result<Raster, Refusal> {
    regions::check(bytes, header, limits, None)?;
    let budget = DecodeBudget::check(bytes, header, limits)?;
    let total = animation::count(bytes, header).least().clamp(1, limits.frames);
    let shown = total.min(most_frames.clamp(1, 64));
    let wanted: Vec<u32> =
        (0..shown).map(|n| (u64::from(n) * u64::from(total) / u64::from(shown)) as u32).collect();
    let grid = SheetGrid::new((header.width, header.height), shown);
    let mut cells = BTreeMap::new();
    if matches!(header.format, Format::Gif | Format::Webp | Format::Png) && total > 1 {
        guarded(header.format, || {
            animation::frames(bytes, header, &budget, &mut |number, canvas| {
                if wanted.contains(&number) {
                    cells.insert(number, grid.cell(canvas.clone())?);
                }
                Ok(if cells.len() == wanted.len() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            })
        })?;
    } else {
        for frame in wanted {
            let at_most = Some((grid.width, grid.height));
            let raster =
                decode(bytes, header, limits, DecodeOptions { frame, at_most, region: None })?;
            budget.on_time()?;
            cells.insert(frame, grid.cell(raster.raster)?);
        }
    }
    Ok(grid.sheet(cells.into_values()))
}

/// Cells of equal size in rows.
pub(crate) struct SheetGrid {
    columns: u32,
    rows: u32,
    width: u32,
    height: u32,
}

impl SheetGrid {
    /// The grid of `shown` cells that is closest to a square. Frames are never enlarged.
    pub(crate) fn new((width, height): (u32, u32), shown: u32) -> Self {
        let columns = (1..=shown)
            .min_by_key(|&columns| {
                let rows = shown.div_ceil(columns);
                let (wide, high) =
                    (u64::from(columns) * u64::from(width), u64::from(rows) * u64::from(height));
                wide.max(high)
            })
            .unwrap_or(1);
        let rows = shown.div_ceil(columns);
        let room = |count: u32| (MAX_SHEET_EDGE - GAP * (count - 1)) / count;
        let scale = (f64::from(room(columns)) / f64::from(width))
            .min(f64::from(room(rows)) / f64::from(height))
            .min(1.0);
        let side = |length: u32| ((f64::from(length) * scale) as u32).max(1);
        Self { columns, rows, width: side(width), height: side(height) }
    }

    /// The size of a cell.
    pub(crate) const fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// Prepares a frame for the sheet: opaque, three samples, no larger than a cell.
    pub(crate) fn cell(&self, raster: Raster) -> Result<Raster, Refusal> {
        let scale = (f64::from(self.width) / f64::from(raster.width))
            .min(f64::from(self.height) / f64::from(raster.height));
        let raster = if scale < 1.0 {
            let side = |length: u32| ((f64::from(length) * scale).round() as u32).max(1);
            resize(&raster, (side(raster.width), side(raster.height)))?
        } else {
            raster
        };
        Ok(colored(into_opaque(raster)))
    }

    /// Assembles the sheet.
    pub(crate) fn sheet(&self, cells: impl Iterator<Item = Raster>) -> Raster {
        let width = self.columns * (self.width + GAP) - GAP;
        let height = self.rows * (self.height + GAP) - GAP;
        let mut data = vec![GAP_LEVEL; width as usize * height as usize * 3];
        for (number, cell) in (0_u32..).zip(cells) {
            let left = (number % self.columns * (self.width + GAP)) as usize;
            let top = (number / self.columns * (self.height + GAP)) as usize;
            let length = (cell.width.min(self.width) as usize) * 3;
            for (y, row) in cell
                .data
                .chunks_exact(cell.width as usize * 3)
                .take(self.height as usize)
                .enumerate()
            {
                let start = ((top + y) * width as usize + left) * 3;
                data[start..start + length].copy_from_slice(&row[..length]);
            }
        }
        Raster { width, height, layout: Layout::Rgb, data }
    }
}

/// Turns gray into three samples.
fn colored(raster: Raster) -> Raster {
    if raster.layout != Layout::Gray {
        return raster;
    }
    let data = raster.data.iter().flat_map(|&level| [level; 3]).collect();
    Raster { layout: Layout::Rgb, data, ..raster }
}
