//! Recognizes a chart or a code in the bytes of a picture.
//!
//! Every possible grid is tried. A grid fits if each cell has one color and either no two neighbors
//! are equal or lines separate all cells. At most one grid fits, so a chart without equal neighbors
//! is found even if its lines did not survive. Pictures are decoded under the default limits.

use crate::decode::{DecodeOptions, decode, into_opaque};
use crate::header::probe;
use crate::limits::DecodeLimits;
use crate::raster::Raster;
use crate::refusal::Refusal;

use super::{Chart, Code, LINE, PALETTE, SIDES, code};

/// Largest RGB distance at which a color still has a name.
const NEAR: i32 = 46;
/// Samples across and down a cell.
const SAMPLES: u32 = 5;
/// Size to which decoders may reduce a picture; a chart needs no more.
const ENOUGH: u32 = 512;

/// The content of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChartReading {
    /// A chart.
    Chart(Chart),
    /// A code.
    Code(Code),
    /// A picture of something else.
    Other,
}

/// Decodes a picture and recognizes a chart or code in it.
pub fn read_chart(bytes: &[u8]) -> Result<ChartReading, Refusal> {
    let header = probe(bytes)?;
    let wanted = DecodeOptions { at_most: Some((ENOUGH, ENOUGH)), ..DecodeOptions::default() };
    let decoded = decode(bytes, &header, &DecodeLimits::default(), wanted)?;
    let raster = into_opaque(decoded.raster);
    let chart = recognize(&raster).map(ChartReading::Chart);
    let sight = chart.or_else(|| code::recognize(&raster).map(ChartReading::Code));
    Ok(sight.unwrap_or(ChartReading::Other))
}

/// Finds the chart in a picture, if there is one.
fn recognize(raster: &Raster) -> Option<Chart> {
    let grids = SIDES.flat_map(|rows| SIDES.map(move |columns| (columns, rows)));
    let mut charts = grids.filter_map(|grid| cells(raster, grid));
    charts.find(|chart| distinct(chart) || lined(raster, chart))
}

/// Returns `true` if lines separate all cells: a pixel on a line is nearer to its color than to the
/// colors of both cells.
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

/// Reads a picture as this grid, if each cell has one color.
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
    // Samples lie between 25 % and 75 % of a cell: far from lines and from blur.
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

/// The palette's color nearest to a pixel, if one is near enough.
fn nearest(pixel: [u8; 3]) -> Option<usize> {
    let near = |index: &usize| distance(pixel, PALETTE[*index].1);
    (0..PALETTE.len()).min_by_key(near).filter(|index| near(index) < NEAR * NEAR)
}

/// The squared distance of two colors.
fn distance(one: [u8; 3], other: [u8; 3]) -> i32 {
    let part = |(a, b): (u8, u8)| (i32::from(a) - i32::from(b)).pow(2);
    one.into_iter().zip(other).map(part).sum()
}

/// Returns `true` if no two neighbors have the same color.
fn distinct(chart: &Chart) -> bool {
    let across = |row: &Vec<usize>| row.windows(2).all(|pair| pair[0] != pair[1]);
    let down = |rows: &[Vec<usize>]| rows[0].iter().zip(&rows[1]).all(|(a, b)| a != b);
    chart.rows.iter().all(across) && chart.rows.windows(2).all(down)
}
