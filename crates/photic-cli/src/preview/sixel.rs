//! Sixel graphics: bands of six rows, one color after the other, dithered to the fixed palette.

use std::io::{self, Write};

use photic_pixels::Raster;

use super::{palette, rows};

/// Rows of a band.
const BAND: usize = 6;

/// Draws a picture pixel by pixel, and leaves the cursor on the line below.
pub(super) fn write(mut out: impl Write, picture: &Raster) -> io::Result<()> {
    let Raster { width, height, .. } = *picture;
    let numbers = dithered(picture);
    // Unset pixels stay as they are (`0;1`); pixels are square (`1;1`).
    write!(out, "\x1bP0;1;0q\"1;1;{width};{height}")?;
    for number in used(&numbers) {
        let [r, g, b] = palette::color(number).map(|sample| (u32::from(sample) * 100 + 127) / 255);
        write!(out, "#{};2;{r};{g};{b}", number - palette::FIRST)?;
    }
    let width = width.max(1) as usize;
    for band in numbers.chunks(width * BAND) {
        for number in used(band) {
            write!(out, "#{}", number - palette::FIRST)?;
            write_sixels(&mut out, &sixels(band, width, number))?;
            // Back to the start of the band, for the next color.
            write!(out, "$")?;
        }
        write!(out, "-")?;
    }
    out.write_all(b"\x1b\\\n")
}

/// The colors that occur, in order.
fn used(numbers: &[u8]) -> impl Iterator<Item = u8> {
    let mut seen = [false; 256];
    for &number in numbers {
        seen[usize::from(number)] = true;
    }
    (palette::FIRST..=u8::MAX).filter(move |&number| seen[usize::from(number)])
}

/// For each column of a band, the rows that have this color.
fn sixels(band: &[u8], width: usize, number: u8) -> Vec<u8> {
    let mut bits = vec![0; width];
    for (row, line) in band.chunks_exact(width).enumerate() {
        for (bits, _) in bits.iter_mut().zip(line).filter(|(_, at)| **at == number) {
            *bits |= 1 << row;
        }
    }
    bits
}

/// Writes sixels. Runs are encoded from length four on, where that is shorter.
fn write_sixels(out: &mut impl Write, sixels: &[u8]) -> io::Result<()> {
    let runs: Vec<&[u8]> = sixels.chunk_by(|a, b| a == b).collect();
    // Empty columns at the end are left out.
    let shown = runs.iter().rposition(|run| run[0] != 0).map_or(0, |last| last + 1);
    for run in &runs[..shown] {
        let letter = char::from(b'?' + run[0]);
        if run.len() < 4 {
            run.iter().try_for_each(|_| write!(out, "{letter}"))?;
        } else {
            write!(out, "!{}{letter}", run.len())?;
        }
    }
    Ok(())
}

/// Converts a picture to palette colors with Floyd-Steinberg dithering, which keeps the mean color
/// of areas.
fn dithered(picture: &Raster) -> Vec<u8> {
    let width = picture.width as usize;
    let mut numbers = Vec::with_capacity(width * picture.height as usize);
    // One spare column on either side, so that every pixel has neighbors.
    let mut here = vec![[0_i32; 3]; width + 2];
    let mut below = here.clone();
    for row in rows(picture) {
        for (x, pixel) in (1..).zip(row) {
            let wanted: [i32; 3] =
                std::array::from_fn(|c| (i32::from(pixel[c]) + here[x][c] / 16).clamp(0, 255));
            let number = palette::nearest(wanted.map(|sample| sample as u8));
            let got = palette::color(number);
            for c in 0..3 {
                let missed = wanted[c] - i32::from(got[c]);
                here[x + 1][c] += missed * 7;
                below[x - 1][c] += missed * 3;
                below[x][c] += missed * 5;
                below[x + 1][c] += missed;
            }
            numbers.push(number);
        }
        std::mem::swap(&mut here, &mut below);
        below.fill([0; 3]);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use photic_pixels::Layout;

    use super::*;

    /// A decoder for the output of [`write`]: colors by register, runs, `$` and `-`.
    fn decoded(text: &str) -> (usize, Vec<[u8; 3]>) {
        let body = text.strip_prefix("\x1bP0;1;0q").unwrap().strip_suffix("\x1b\\\n").unwrap();
        let mut rest = body;
        let numbers = |rest: &mut &str| -> Vec<usize> {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(rest.len());
            let (list, after) = rest.split_at(end);
            *rest = after;
            list.split(';').map(|number| number.parse().unwrap()).collect()
        };
        let (mut size, mut pixels) = ((0, 0), Vec::new());
        let mut registers = vec![[0; 3]; 256];
        let (mut x, mut top, mut color, mut times) = (0, 0, 0, 1);
        while let Some(letter) = rest.chars().next() {
            rest = &rest[1..];
            match letter {
                '"' => {
                    let raster = numbers(&mut rest);
                    size = (raster[2], raster[3]);
                    pixels = vec![None; size.0 * size.1];
                }
                '#' => match numbers(&mut rest)[..] {
                    [number] => color = number,
                    [number, 2, r, g, b] => {
                        registers[number] = [r, g, b].map(|percent| (percent * 255 / 100) as u8);
                    }
                    ref other => panic!("{other:?}"),
                },
                '!' => times = numbers(&mut rest)[0],
                '$' => x = 0,
                '-' => (x, top) = (0, top + BAND),
                sixel @ '?'..='~' => {
                    let bits = sixel as u8 - b'?';
                    for column in x..x + times {
                        for row in (0..BAND).filter(|row| bits & (1 << row) != 0) {
                            let pixel = &mut pixels[(top + row) * size.0 + column];
                            assert!(pixel.replace(registers[color]).is_none(), "painted twice");
                        }
                    }
                    (x, times) = (x + times, 1);
                }
                other => panic!("{other:?}"),
            }
        }
        (size.0, pixels.into_iter().map(|pixel| pixel.expect("a pixel without color")).collect())
    }

    fn round_trip(width: u32, height: u32, pixel: impl Fn(u32, u32) -> [u8; 3]) -> Vec<[u8; 3]> {
        let data = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let data = data.flat_map(|(x, y)| pixel(x, y)).collect();
        let mut out = Vec::new();
        write(&mut out, &Raster { width, height, layout: Layout::Rgb, data }).unwrap();
        let (got, pixels) = decoded(&String::from_utf8(out).unwrap());
        assert_eq!((got, pixels.len()), (width as usize, (width * height) as usize));
        pixels
    }

    #[test]
    fn colors_of_the_palette_come_back_as_they_are() {
        let bar = |x, y| if (x / 9 + y / 5) % 2 == 0 { [255, 0, 0] } else { [0, 0, 255] };
        let pixels = round_trip(37, 20, bar);
        for (at, pixel) in (0..).zip(pixels) {
            assert_eq!(pixel, bar(at % 37, at / 37), "pixel {at}");
        }
    }

    #[test]
    fn areas_keep_their_mean_color() {
        let ramp = |x: u32, y: u32| [(x * 4) as u8, (y * 5) as u8, 120];
        let pixels = round_trip(64, 48, ramp);
        for (left, top) in (0..8).flat_map(|x| (0..6).map(move |y| (x * 8, y * 8))) {
            let (mut wanted, mut got) = ([0_i32; 3], [0_i32; 3]);
            for (x, y) in (0..64).map(|n| (left + n % 8, top + n / 8)) {
                let pair = ramp(x, y).into_iter().zip(pixels[(y * 64 + x) as usize]);
                for (channel, (a, b)) in pair.enumerate() {
                    wanted[channel] += i32::from(a);
                    got[channel] += i32::from(b);
                }
            }
            let close = wanted.into_iter().zip(got).all(|(a, b)| (a - b).abs() / 64 <= 6);
            assert!(close, "{left},{top}: {wanted:?} {got:?}");
        }
    }
}
