//! Reads a chart back from the bytes of a picture.
//!
//! Every grid that a chart may have is tried: it fits if each cell is of one color and no two
//! neighbors are of the same. Only one grid can fit, so no line has to be found, and none has to
//! have survived. Must never decode without limits.

use crate::decode::{Wanted, decode, into_opaque};
use crate::header::probe;
use crate::limits::Limits;
use crate::raster::Raster;
use crate::refusal::Refusal;

use super::{Chart, PALETTE, SIDES};

/// A color this far from a name (as a distance in RGB) has no name.
const NEAR: i32 = 46;
/// Samples across and down a cell.
const SAMPLES: u32 = 5;
/// Decoders may stop at this size: a chart needs no more.
const ENOUGH: u32 = 512;

/// What is in a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sight {
    /// A chart.
    Chart(Chart),
    /// A picture of something else.
    Other,
}

/// Decodes a picture and looks whether it is a chart.
pub fn look(bytes: &[u8]) -> Result<Sight, Refusal> {
    let header = probe(bytes)?;
    let wanted = Wanted { at_most: Some((ENOUGH, ENOUGH)), ..Wanted::default() };
    let decoded = decode(bytes, &header, &Limits::default(), wanted)?;
    let raster = into_opaque(decoded.raster);
    Ok(recognize(&raster).map_or(Sight::Other, Sight::Chart))
}

fn recognize(raster: &Raster) -> Option<Chart> {
    let grids = SIDES.flat_map(|rows| SIDES.map(move |columns| (columns, rows)));
    grids.filter_map(|grid| cells(raster, grid)).find(distinct)
}

/// The chart that this grid would be.
fn cells(raster: &Raster, (columns, rows): (usize, usize)) -> Option<Chart> {
    let row = |y| (0..columns).map(|x| color(raster, (x, y), (columns, rows))).collect();
    let rows: Option<Vec<Vec<usize>>> = (0..rows).map(row).collect();
    Some(Chart { rows: rows? })
}

/// The color of a cell, if its inner part has only one.
fn color(
    raster: &Raster,
    (x, y): (usize, usize),
    (columns, rows): (usize, usize),
) -> Option<usize> {
    // Sample i of a cell stands at 25 % to 75 % of its length: far from lines and from blur.
    let place = |cell: usize, cells: usize, sample: u32, length: u32| {
        let part =
            (cell as f64 + 0.25 + 0.5 * f64::from(sample) / f64::from(SAMPLES - 1)) / cells as f64;
        ((part * f64::from(length)) as u32).min(length - 1)
    };
    let mut found = None;
    for sample in 0..SAMPLES * SAMPLES {
        let at_x = place(x, columns, sample % SAMPLES, raster.width);
        let at_y = place(y, rows, sample / SAMPLES, raster.height);
        let color = nearest(raster.rgb(at_x, at_y))?;
        if *found.get_or_insert(color) != color {
            return None;
        }
    }
    found
}

fn nearest(pixel: [u8; 3]) -> Option<usize> {
    let distance = |color: [u8; 3]| -> i32 {
        let part = |(a, b): (u8, u8)| (i32::from(a) - i32::from(b)).pow(2);
        pixel.into_iter().zip(color).map(part).sum()
    };
    let near = |index: &usize| distance(PALETTE[*index].1);
    (0..PALETTE.len()).min_by_key(near).filter(|index| near(index) < NEAR * NEAR)
}

fn distinct(chart: &Chart) -> bool {
    let across = |row: &Vec<usize>| row.windows(2).all(|pair| pair[0] != pair[1]);
    let down = |rows: &[Vec<usize>]| rows[0].iter().zip(&rows[1]).all(|(a, b)| a != b);
    chart.rows.iter().all(across) && chart.rows.windows(2).all(down)
}
