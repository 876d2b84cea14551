//! Shows pictures in the terminal, if it supports that.
//!
//! The picture is decoded from the bytes that the model would get. The terminal is never queried: a
//! late response would end up in the user's shell.

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

/// The option `--preview`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preview {
    /// The best mode of the terminal; nothing without a terminal
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
    /// No picture
    None,
}

/// The mode in which a picture is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GraphicsMode {
    Kitty,
    Iterm2,
    Sixel,
    Blocks(Colors),
}

/// The name of the mode that this terminal supports, if any.
pub(crate) fn support() -> Option<&'static str> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let mode = detect::mode(variable).filter(|_| std::io::stdout().is_terminal())?;
    Some(match mode {
        GraphicsMode::Kitty => "kitty's graphics",
        GraphicsMode::Iterm2 => "iTerm2's inline images",
        GraphicsMode::Sixel => "sixels",
        GraphicsMode::Blocks(_) => "blocks of color",
    })
}

/// Draws a view to standard output, if requested or supported.
pub(crate) fn draw(view: &View, wish: Preview) -> anyhow::Result<()> {
    let stdout = std::io::stdout();
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let mode = match wish {
        Preview::Auto if stdout.is_terminal() => detect::mode(variable),
        Preview::Auto | Preview::None => None,
        Preview::Kitty => Some(GraphicsMode::Kitty),
        Preview::Iterm2 => Some(GraphicsMode::Iterm2),
        Preview::Sixel => Some(GraphicsMode::Sixel),
        Preview::Blocks => Some(GraphicsMode::Blocks(detect::colors(variable))),
    };
    let Some(mode) = mode else { return Ok(()) };
    let mut drawn = Vec::new();
    render(&mut drawn, &view.bytes, mode, TerminalArea::of_terminal())
        .context("cannot draw the preview; pass `--preview none` to skip it")?;
    let mut out = stdout.lock();
    out.write_all(&drawn).and_then(|()| out.flush()).context("cannot write to standard output")
}

/// Renders a picture for a mode.
fn render(
    out: &mut Vec<u8>,
    file: &[u8],
    mode: GraphicsMode,
    area: TerminalArea,
) -> anyhow::Result<()> {
    let cell = match mode {
        GraphicsMode::Blocks(_) => (1, 2),
        GraphicsMode::Kitty | GraphicsMode::Iterm2 | GraphicsMode::Sixel => area.cell,
    };
    let picture = fitted(file, (area.columns * cell.0, area.rows * cell.1)).map_err(refused)?;
    let columns = picture.width.div_ceil(cell.0);
    match mode {
        GraphicsMode::Kitty => kitty::write(out, &png(&picture)?, columns)?,
        GraphicsMode::Iterm2 => iterm2::write(out, &png(&picture)?, columns)?,
        GraphicsMode::Sixel => sixel::write(out, &picture)?,
        GraphicsMode::Blocks(colors) => blocks::write(out, &picture, colors)?,
    }
    Ok(())
}

/// The area of the terminal that a picture may fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TerminalArea {
    columns: u32,
    rows: u32,
    /// Width and height of a character in pixels.
    cell: (u32, u32),
}

/// Lines for the text below the picture and the next prompt.
const RESERVED_LINES: u32 = 8;

/// Smallest common size of a character, so that a picture never exceeds the window.
const MIN_CELL: (u32, u32) = (8, 16);

impl TerminalArea {
    /// The area if the size of the terminal is unknown.
    const UNKNOWN: Self = Self { columns: 80, rows: 24 - RESERVED_LINES, cell: MIN_CELL };

    /// The area of this terminal.
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
        // Many terminals do not report their size in pixels.
        let cell = (width / columns, height / rows);
        let cell = if cell.0 >= 4 && cell.1 >= 4 { cell } else { MIN_CELL };
        Self { columns, rows: rows.saturating_sub(RESERVED_LINES).max(4), cell }
    }

    #[cfg(not(unix))]
    fn of_terminal() -> Self {
        Self::UNKNOWN
    }
}

/// Decodes a picture with three samples a pixel, no larger than `most`, never enlarged.
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

/// Converts a raster to three samples a pixel.
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

/// The rows of a color raster.
fn rows(picture: &Raster) -> impl Iterator<Item = &[[u8; 3]]> {
    picture.data.as_chunks::<3>().0.chunks_exact(picture.width.max(1) as usize)
}

/// Encodes a PNG, which both image protocols support.
fn png(picture: &Raster) -> anyhow::Result<Vec<u8>> {
    let options = EncodeOptions {
        accepts: &["image/png"],
        prefer: Prefer::Lossless,
        ..EncodeOptions::default()
    };
    Ok(encode(picture, &options).map_err(|no_fit| refused(no_fit.refusal))?.bytes)
}

/// Turns a refusal into an error.
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
        // A small picture is not enlarged.
        assert_eq!(size(&gradient(16, 12), (80, 80)), (16, 12));
    }

    #[test]
    fn no_way_of_drawing_is_wider_than_the_room() {
        let area = TerminalArea { columns: 40, rows: 10, cell: (8, 16) };
        let drawn = |mode| {
            let mut out = Vec::new();
            render(&mut out, &gradient(640, 320), mode, area).unwrap();
            String::from_utf8(out).unwrap()
        };
        // Ten rows of sixteen pixels: 160 high, 320 wide, so forty columns of eight.
        assert!(drawn(GraphicsMode::Kitty).contains(",c=40,"), "kitty");
        assert!(drawn(GraphicsMode::Iterm2).contains(";width=40;"), "iterm2");
        assert!(drawn(GraphicsMode::Sixel).contains("\"1;1;320;160"), "sixel");
        assert_eq!(drawn(GraphicsMode::Blocks(Colors::True)).lines().count(), 10);
    }
}
