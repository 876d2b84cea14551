//! Draws with half blocks: two pixels per character, one as text color and one as background.

use std::io::{self, Write};

use photic_pixels::Raster;

use super::{palette, rows};

/// The number of available colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colors {
    /// 24-bit color.
    True,
    /// The 240 fixed colors of a terminal with 256.
    Palette,
}

/// Draws a picture: one column per pixel, one line for two rows.
pub(super) fn write(mut out: impl Write, picture: &Raster, colors: Colors) -> io::Result<()> {
    let mut rows = rows(picture);
    while let Some(upper) = rows.next() {
        let lower = rows.next();
        let mut last = None;
        for (column, &above) in upper.iter().enumerate() {
            let below = lower.and_then(|row| row.get(column)).copied();
            // Colors are written only when they change, which keeps flat pictures short.
            if last != Some((above, below)) {
                write!(out, "\x1b[38;{}", code(above, colors))?;
                match below {
                    Some(below) => write!(out, ";48;{}m", code(below, colors))?,
                    None => write!(out, "m")?,
                }
                last = Some((above, below));
            }
            write!(out, "▀")?;
        }
        writeln!(out, "\x1b[0m")?;
    }
    Ok(())
}

/// The escape code of a color.
fn code(color: [u8; 3], colors: Colors) -> String {
    let [r, g, b] = color;
    match colors {
        Colors::True => format!("2;{r};{g};{b}"),
        Colors::Palette => format!("5;{}", palette::nearest(color)),
    }
}

#[cfg(test)]
mod tests {
    use photic_pixels::Layout;

    use super::*;

    fn written(width: u32, pixels: &[[u8; 3]], colors: Colors) -> String {
        let height = pixels.len() as u32 / width;
        let picture = Raster { width, height, layout: Layout::Rgb, data: pixels.concat() };
        let mut out = Vec::new();
        write(&mut out, &picture, colors).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn two_rows_are_one_line_and_colors_are_stated_once() {
        let (red, blue) = ([255, 0, 0], [0, 0, 255]);
        assert_eq!(
            written(2, &[red, red, blue, blue], Colors::True),
            "\x1b[38;2;255;0;0;48;2;0;0;255m▀▀\x1b[0m\n"
        );
        assert_eq!(written(1, &[red, blue], Colors::Palette), "\x1b[38;5;196;48;5;21m▀\x1b[0m\n");
    }

    #[test]
    fn an_odd_last_row_leaves_the_background_alone() {
        let text = written(3, &[[9; 3]; 9], Colors::True);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines, ["\x1b[38;2;9;9;9;48;2;9;9;9m▀▀▀\x1b[0m", "\x1b[38;2;9;9;9m▀▀▀\x1b[0m"]);
    }
}
