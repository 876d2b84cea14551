//! Reads a chart back from the bytes of a picture.
//!
//! Every grid that a chart may have is tried: it fits if each cell is of one color, and a line
//! stands between any two neighbors or no two are of the same color. Only one grid can fit, so in a
//! chart without equal neighbors no line has to have survived. Must never decode without limits.

use crate::decode::{Wanted, decode, into_opaque};
use crate::header::probe;
use crate::limits::Limits;
use crate::raster::Raster;
use crate::refusal::Refusal;

use super::{Chart, Code, LINE, PALETTE, SIDES, code};

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
    /// A code.
    Code(Code),
    /// A picture of something else.
    Other,
}

/// Decodes a picture and looks whether it is a chart.
pub fn look(bytes: &[u8]) -> Result<Sight, Refusal> {
    let header = probe(bytes)?;
    let wanted = Wanted { at_most: Some((ENOUGH, ENOUGH)), ..Wanted::default() };
    let decoded = decode(bytes, &header, &Limits::default(), wanted)?;
    let raster = into_opaque(decoded.raster);
    let chart = recognize(&raster).map(Sight::Chart);
    let sight = chart.or_else(|| code::recognize(&raster).map(Sight::Code));
    Ok(sight.unwrap_or(Sight::Other))
}

fn recognize(raster: &Raster) -> Option<Chart> {
    let grids = SIDES.flat_map(|rows| SIDES.map(move |columns| (columns, rows)));
    let mut charts = grids.filter_map(|grid| cells(raster, grid));
    charts.find(|chart| distinct(chart) || lined(raster, chart))
}

/// Whether lines stand between all cells: whoever is on one is nearer to its color than to those of
/// both cells.
fn lined(raster: &Raster, chart: &Chart) -> bool {
    let (rows, columns) = chart.sides();
    let middle = |cell: usize, cells: usize, length: u32| {
        (((cell as f64 + 0.5) / cells as f64 * f64::from(length)) as u32).min(length - 1)
    };
    let edge = |cell: usize, cells: usize, length: u32| cell as u32 * length / cells as u32;
    let on_line = |(x, y): (u32, u32), cells: [usize; 2]| {
        let pixel = raster.rgb(x, y);
        let line = distance(pixel, LINE);
        cells.into_iter().all(|cell| line < distance(pixel, PALETTE[cell].1))
    };
    let across = (0..rows).all(|row| {
        let y = middle(row, rows, raster.height);
        (1..columns).all(|column| {
            let cells = [chart.rows[row][column - 1], chart.rows[row][column]];
            on_line((edge(column, columns, raster.width), y), cells)
        })
    });
    let down = (1..rows).all(|row| {
        let y = edge(row, rows, raster.height);
        (0..columns).all(|column| {
            let cells = [chart.rows[row - 1][column], chart.rows[row][column]];
            on_line((middle(column, columns, raster.width), y), cells)
        })
    });
    across && down
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
    let near = |index: &usize| distance(pixel, PALETTE[*index].1);
    (0..PALETTE.len()).min_by_key(near).filter(|index| near(index) < NEAR * NEAR)
}

/// Of two colors, squared.
fn distance(one: [u8; 3], other: [u8; 3]) -> i32 {
    let part = |(a, b): (u8, u8)| (i32::from(a) - i32::from(b)).pow(2);
    one.into_iter().zip(other).map(part).sum()
}

fn distinct(chart: &Chart) -> bool {
    let across = |row: &Vec<usize>| row.windows(2).all(|pair| pair[0] != pair[1]);
    let down = |rows: &[Vec<usize>]| rows[0].iter().zip(&rows[1]).all(|(a, b)| a != b);
    chart.rows.iter().all(across) && chart.rows.windows(2).all(down)
}
