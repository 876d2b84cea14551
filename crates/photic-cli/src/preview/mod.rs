//! The picture in the terminal, where the terminal can show one.
//!
//! What is drawn is decoded from the very bytes that the model would get. Must never ask the
//! terminal a question: an answer that comes late lands in the user's shell.

mod blocks;
mod detect;
mod iterm2;
mod kitty;
mod palette;
mod sixel;

use std::io::{IsTerminal as _, Write};

use anyhow::Context as _;
use clap::ValueEnum;
use photic_pixels::decode::{self, DecodeOptions};
use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_pixels::{DecodeLimits, Layout, Raster, Refusal, View, header, resize};

use blocks::Colors;

/// What the user asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preview {
    /// What the terminal can show; nothing where there is no terminal
    #[default]
    Auto,
    /// kitty's graphics protocol: kitty, Ghostty, Konsole
    Kitty,
    /// iTerm2's inline images: iTerm2, `WezTerm`, Rio
    Iterm2,
    /// Sixel: foot, mlterm, mintty, contour
    Sixel,
    /// Half blocks, two pixels a character: every terminal with colors
    Blocks,
    /// Nothing
    None,
}

/// How it will be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Kitty,
    Iterm2,
    Sixel,
    Blocks(Colors),
}

/// What this terminal can show, by its name; nothing where it can show none.
pub(crate) fn support() -> Option<&'static str> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let way = detect::way(variable).filter(|_| std::io::stdout().is_terminal())?;
    Some(match way {
        Way::Kitty => "kitty's graphics",
        Way::Iterm2 => "iTerm2's inline images",
        Way::Sixel => "sixels",
        Way::Blocks(_) => "blocks of color",
    })
}

/// Draws a view to standard output, if it should be drawn.
pub(crate) fn draw(view: &View, wish: Preview) -> anyhow::Result<()> {
    let stdout = std::io::stdout();
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let way = match wish {
        Preview::Auto if stdout.is_terminal() => detect::way(variable),
        Preview::Auto | Preview::None => None,
        Preview::Kitty => Some(Way::Kitty),
        Preview::Iterm2 => Some(Way::Iterm2),
        Preview::Sixel => Some(Way::Sixel),
        Preview::Blocks => Some(Way::Blocks(detect::colors(variable))),
    };
    let Some(way) = way else { return Ok(()) };
    let mut drawn = Vec::new();
    render(&mut drawn, &view.bytes, way, Room::of_terminal())
        .context("cannot draw the preview; `--preview none` leaves it out")?;
    let mut out = stdout.lock();
    out.write_all(&drawn).and_then(|()| out.flush()).context("cannot write to standard output")
}

fn render(out: &mut Vec<u8>, file: &[u8], way: Way, room: Room) -> anyhow::Result<()> {
    let cell = match way {
        Way::Blocks(_) => (1, 2),
        Way::Kitty | Way::Iterm2 | Way::Sixel => room.cell,
    };
    let picture = fitted(file, (room.columns * cell.0, room.rows * cell.1)).map_err(refused)?;
    let columns = picture.width.div_ceil(cell.0);
    match way {
        Way::Kitty => kitty::write(out, &png(&picture)?, columns)?,
        Way::Iterm2 => iterm2::write(out, &png(&picture)?, columns)?,
        Way::Sixel => sixel::write(out, &picture)?,
        Way::Blocks(colors) => blocks::write(out, &picture, colors)?,
    }
    Ok(())
}

/// Where the picture may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Room {
    columns: u32,
    rows: u32,
    /// Pixels of a character.
    cell: (u32, u32),
}

/// Lines that the facts below the picture and the next prompt need.
const LINES_OF_FACTS: u32 = 8;

/// Characters are rarely smaller than this, so a guess by it is never too large for the window.
const SMALL_CELL: (u32, u32) = (8, 16);

impl Room {
    const UNKNOWN: Self = Self { columns: 80, rows: 24 - LINES_OF_FACTS, cell: SMALL_CELL };

    #[cfg(unix)]
    fn of_terminal() -> Self {
        let Ok(size) = rustix::termios::tcgetwinsize(std::io::stdout()) else {
            return Self::UNKNOWN;
        };
        let [columns, rows, width, height] =
            [size.ws_col, size.ws_row, size.ws_xpixel, size.ws_ypixel].map(u32::from);
        if columns == 0 || rows == 0 {
            return Self::UNKNOWN;
        }
        // Many terminals do not say how many pixels they have.
        let cell = (width / columns, height / rows);
        let cell = if cell.0 >= 4 && cell.1 >= 4 { cell } else { SMALL_CELL };
        Self { columns, rows: rows.saturating_sub(LINES_OF_FACTS).max(4), cell }
    }

    #[cfg(not(unix))]
    fn of_terminal() -> Self {
        Self::UNKNOWN
    }
}

/// The picture of a file in three samples a pixel, no larger than this and never enlarged.
fn fitted(file: &[u8], most: (u32, u32)) -> Result<Raster, Refusal> {
    let header = header::probe(file)?;
    let across = f64::from(most.0) / f64::from(header.width);
    let down = f64::from(most.1) / f64::from(header.height);
    let scale = across.min(down).min(1.0);
    let side = |side: u32| ((f64::from(side) * scale).round() as u32).max(1);
    let size = (side(header.width), side(header.height));
    let wanted = DecodeOptions { at_most: Some(size), ..DecodeOptions::default() };
    let mut decoded = decode::decode(file, &header, &DecodeLimits::default(), wanted)?;
    decoded.raster = decode::into_opaque(decoded.raster);
    if (decoded.raster.width, decoded.raster.height) != size {
        decoded.raster = resize::resize_window(&decoded.raster, &decoded.window, size)?;
    }
    Ok(colored(decoded.raster))
}

fn colored(raster: Raster) -> Raster {
    let data = match raster.layout {
        Layout::Rgb => return raster,
        Layout::Gray => raster.data.iter().flat_map(|&level| [level; 3]).collect(),
        Layout::Rgba => {
            raster.data.as_chunks::<4>().0.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect()
        }
    };
    Raster { layout: Layout::Rgb, data, ..raster }
}

/// The rows of a colored raster, pixel by pixel.
fn rows(picture: &Raster) -> impl Iterator<Item = &[[u8; 3]]> {
    picture.data.as_chunks::<3>().0.chunks_exact(picture.width.max(1) as usize)
}

/// The one format that both image protocols are sure to take.
fn png(picture: &Raster) -> anyhow::Result<Vec<u8>> {
    let options = EncodeOptions {
        accepts: &["image/png"],
        prefer: Prefer::Lossless,
        ..EncodeOptions::default()
    };
    Ok(encode(picture, &options).map_err(|no_fit| refused(no_fit.refusal))?.bytes)
}

fn refused(refusal: Refusal) -> anyhow::Error {
    anyhow::anyhow!(refusal.says)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture whose every pixel is different, as a file.
    fn gradient(width: u32, height: u32) -> Vec<u8> {
        let pixel = |at: u32| [(at % width * 255 / width) as u8, (at / width * 255 / height) as u8];
        let data = (0..width * height).map(pixel).flat_map(|[r, g]| [r, g, 90]).collect();
        png(&Raster { width, height, layout: Layout::Rgb, data }).unwrap()
    }

    #[test]
    fn a_picture_fills_its_room_and_keeps_its_shape() {
        let size = |file: &[u8], most| {
            let raster = fitted(file, most).unwrap();
            (raster.width, raster.height)
        };
        assert_eq!(size(&gradient(400, 100), (80, 80)), (80, 20));
        assert_eq!(size(&gradient(100, 400), (80, 80)), (20, 80));
        // What is small stays small.
        assert_eq!(size(&gradient(16, 12), (80, 80)), (16, 12));
    }

    #[test]
    fn no_way_of_drawing_is_wider_than_the_room() {
        let room = Room { columns: 40, rows: 10, cell: (8, 16) };
        let drawn = |way| {
            let mut out = Vec::new();
            render(&mut out, &gradient(640, 320), way, room).unwrap();
            String::from_utf8(out).unwrap()
        };
        // Ten rows of sixteen pixels: 160 high, 320 wide, so forty columns of eight.
        assert!(drawn(Way::Kitty).contains(",c=40,"), "kitty");
        assert!(drawn(Way::Iterm2).contains(";width=40;"), "iterm2");
        assert!(drawn(Way::Sixel).contains("\"1;1;320;160"), "sixel");
        assert_eq!(drawn(Way::Blocks(Colors::True)).lines().count(), 10);
    }
}
