//! All approved pictures side by side, as `docs/rendering.md` shows them.
//!
//! `contact_sheet docs/rendering.png` writes the sheet; with `--check` before the path it is
//! compared with what lies there. The names under the pictures are drawn by the crate itself.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_pixels::{DecodeLimits, Layout, Raster, decode, header, resize};
use photic_render::{Fit, Kind, Request, draw};

type Failed = Box<dyn Error>;

const COLUMNS: usize = 9;
/// A cell of the sheet, and the room for a picture in it.
const CELL: (usize, usize) = (200, 184);
const ROOM: (usize, usize) = (188, 152);
const MARGIN: usize = 6;
/// Longer names are cut.
const MOST_LETTERS: usize = 30;
const PAPER: u8 = 255;
const EDGE: [u8; 3] = [205; 3];
/// Behind what is clear.
const CHECKS: [u8; 2] = [250, 226];
/// Samples are rounded to a multiple of this: invisible, and the file is smaller by a third.
const STEP: u8 = 8;

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (check, path) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--check", path] => (true, path),
        [path] => (false, path),
        _ => return Err("usage: contact_sheet [--check] PATH".into()),
    };
    let sheet = sheet(&approved()?)?;
    let lossless =
        EncodeOptions { accepts: &["image/png"], prefer: Prefer::Lossless, ..Default::default() };
    let bytes = encode(&sheet, &lossless).map_err(|no_fit| no_fit.refusal.says)?.bytes;
    if !check {
        return Ok(std::fs::write(path, bytes)?);
    }
    if std::fs::read(path)? == bytes {
        return Ok(());
    }
    Err(format!(
        "{path} is not of these pictures; to make it anew: \
         cargo run --release -p photic-render --example contact_sheet {path}"
    )
    .into())
}

/// The approved pictures, by name.
fn approved() -> Result<Vec<PathBuf>, Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/approved");
    let entries = std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files = entries.collect::<Result<Vec<_>, _>>()?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "png"));
    files.sort();
    Ok(files)
}

fn sheet(files: &[PathBuf]) -> Result<Raster, Failed> {
    let size = (COLUMNS * CELL.0, files.len().div_ceil(COLUMNS) * CELL.1 + MARGIN);
    let mut sheet = labels(files, size)?;
    for (index, file) in files.iter().enumerate() {
        let thumbnail = thumbnail(file)?;
        let (wide, high) = (thumbnail.width as usize, thumbnail.height as usize);
        let left = index % COLUMNS * CELL.0 + (CELL.0 - wide) / 2;
        let top = index / COLUMNS * CELL.1 + MARGIN + (ROOM.1 - high) / 2;
        put(&mut sheet, &thumbnail, left, top);
    }
    for sample in &mut sheet.data {
        *sample = sample.saturating_add(STEP / 2) / STEP * STEP;
        // White stays white.
        if *sample > PAPER - STEP {
            *sample = PAPER;
        }
    }
    Ok(sheet)
}

/// White paper with the names on it.
fn labels(files: &[PathBuf], (width, height): (usize, usize)) -> Result<Raster, Failed> {
    let mut svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' \
         font-family='sans-serif' font-size='12' text-anchor='middle' fill='#303030'>\
         <rect width='100%' height='100%' fill='white'/>"
    );
    for (index, file) in files.iter().enumerate() {
        let x = index % COLUMNS * CELL.0 + CELL.0 / 2;
        let y = index / COLUMNS * CELL.1 + MARGIN + ROOM.1 + 17;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().replace('_', " ");
        let name: String = name.chars().filter(|c| !"<&".contains(*c)).take(MOST_LETTERS).collect();
        let _ = write!(svg, "<text x='{x}' y='{y}'>{name}</text>");
    }
    svg.push_str("</svg>");
    let mut request = Request::new(svg.as_bytes(), Kind::Svg);
    request.wanted.fit = Fit::Scale(1.0);
    let drawn = draw(&request).map_err(|refusal| refusal.says)?.raster;
    if (drawn.width as usize, drawn.height as usize, drawn.layout) != (width, height, Layout::Rgb) {
        return Err("the sheet has become too large: use more columns".into());
    }
    Ok(drawn)
}

/// A picture as it fits, never enlarged.
fn thumbnail(file: &Path) -> Result<Raster, Failed> {
    let bytes = std::fs::read(file)?;
    let says = |refusal: photic_pixels::Refusal| format!("{}: {}", file.display(), refusal.says);
    let header = header::probe(&bytes).map_err(says)?;
    let wanted = decode::DecodeOptions::default();
    let raster =
        decode::decode(&bytes, &header, &DecodeLimits::default(), wanted).map_err(says)?.raster;
    let (wide, high) = (f64::from(raster.width), f64::from(raster.height));
    let scale = (ROOM.0 as f64 / wide).min(ROOM.1 as f64 / high).min(1.0);
    let edge = |length: f64| (length * scale).round().max(1.0) as u32;
    Ok(resize::resize(&raster, (edge(wide), edge(high))).map_err(says)?)
}

/// Lays a picture on the sheet, with an edge around it.
fn put(sheet: &mut Raster, picture: &Raster, left: usize, top: usize) {
    let (wide, high) = (picture.width as usize, picture.height as usize);
    let across = sheet.width as usize;
    let mut set = |x: usize, y: usize, color: [u8; 3]| {
        let at = (y * across + x) * 3;
        sheet.data[at..at + 3].copy_from_slice(&color);
    };
    for x in left - 1..=left + wide {
        set(x, top - 1, EDGE);
        set(x, top + high, EDGE);
    }
    for y in top..top + high {
        set(left - 1, y, EDGE);
        set(left + wide, y, EDGE);
        for x in left..left + wide {
            set(x, y, over_checks(picture, x - left, y - top));
        }
    }
}

fn over_checks(picture: &Raster, x: usize, y: usize) -> [u8; 3] {
    let color = picture.rgb(x as u32, y as u32);
    if picture.layout != Layout::Rgba {
        return color;
    }
    let alpha = u32::from(picture.data[(y * picture.width as usize + x) * 4 + 3]);
    let below = u32::from(CHECKS[(x / 8 + y / 8) % 2]);
    color.map(|sample| ((u32::from(sample) * alpha + below * (255 - alpha)) / 255) as u8)
}
