//! Screens: large pictures with a small number in a frame, which can be read only after zooming in.
//!
//! Makes screens from a seed and recognizes them. In an overview, the frame is found but the number
//! is not: its dots are smaller than a pixel. Pictures are decoded under limits.

use photic_pixels::decode::{DecodeOptions, decode, into_opaque};
use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_pixels::geometry::Rect;
use photic_pixels::header::probe;
use photic_pixels::{DecodeLimits, Layout, Raster, Refusal};

/// Width and height of a screen.
const SIZE: (u32, u32) = (3840, 2160);
/// Color of the frame, which occurs nowhere else.
const FRAME: [u8; 3] = [255, 0, 255];
/// Thickness of the frame.
const THICK: u32 = 10;
/// Pixels of a dot.
const DOT: u32 = 2;
/// White margin around the number, inside the frame.
const MARGIN: u32 = 12;
/// Number of digits.
const DIGITS: usize = 6;
/// Columns of dots: a bar, the digits with gaps, a bar. The bars mark the first and last column.
const COLUMNS: usize = 2 + DIGITS * 6 + 1;
/// Rows of dots.
const ROWS: usize = 7;
/// Smallest size of a dot that can be read, in pixels.
const MIN_DOT_PIXELS: f64 = 1.5;

/// The digits: five dots wide, one number per row.
const GLYPHS: [[u8; ROWS]; 10] = [
    [0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e],
    [0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e],
    [0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f],
    [0x1f, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0e],
    [0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02],
    [0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e],
    [0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e],
    [0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08],
    [0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e],
    [0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c],
];

/// A screen with a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screen {
    number: String,
    /// The corner of the frame.
    at: (u32, u32),
}

/// The content of a picture that is not a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ScreenContent {
    /// A number that was read.
    Number(String),
    /// A frame around something too small to read, in pixels of the picture, without the frame
    /// itself.
    Frame(Rect),
    /// Neither.
    Nothing,
}

impl Screen {
    /// Makes the screen of a seed. The same seed always gives the same screen.
    pub fn of(seed: u64) -> Self {
        let mix = blake3::hash(&seed.to_le_bytes());
        let mut bytes = mix.as_bytes().iter().map(|byte| u32::from(*byte));
        let mut next = |below: u32| {
            let high = bytes.next().unwrap_or_default();
            (high << 8 | bytes.next().unwrap_or_default()) % below
        };
        let number = (0..DIGITS).map(|_| char::from(b'0' + next(10) as u8)).collect();
        let (width, height) = framed();
        Self { number, at: (next(SIZE.0 - width), next(SIZE.1 - height)) }
    }

    /// The number in it.
    pub fn number(&self) -> &str {
        &self.number
    }

    /// Draws the screen.
    pub fn draw(&self) -> Raster {
        let mut data = Vec::with_capacity(SIZE.0 as usize * SIZE.1 as usize * 3);
        for y in 0..SIZE.1 {
            for x in 0..SIZE.0 {
                data.extend_from_slice(&self.pixel(x, y).unwrap_or_else(|| background(x, y)));
            }
        }
        Raster { width: SIZE.0, height: SIZE.1, layout: Layout::Rgb, data }
    }

    /// Encodes the screen as a PNG.
    pub fn png(&self) -> Result<Vec<u8>, Refusal> {
        let options = EncodeOptions {
            accepts: &["image/png"],
            prefer: Prefer::Lossless,
            ..EncodeOptions::default()
        };
        Ok(encode(&self.draw(), &options)?.bytes)
    }

    /// A pixel of the frame or its content; `None` outside.
    fn pixel(&self, x: u32, y: u32) -> Option<[u8; 3]> {
        let (x, y) = (x.checked_sub(self.at.0)?, y.checked_sub(self.at.1)?);
        let (width, height) = framed();
        if x >= width || y >= height {
            return None;
        }
        if x < THICK || y < THICK || x >= width - THICK || y >= height - THICK {
            return Some(FRAME);
        }
        let dot = |at: u32| at.checked_sub(THICK + MARGIN).map(|at| (at / DOT) as usize);
        let dark = match (dot(x), dot(y)) {
            (Some(column), Some(row)) => row < ROWS && self.dark(column, row),
            _ => false,
        };
        Some(if dark { [16, 16, 16] } else { [255, 255, 255] })
    }

    /// Returns `true` for a dark dot.
    fn dark(&self, column: usize, row: usize) -> bool {
        if column == 0 || column + 1 == COLUMNS {
            return true;
        }
        let Some(inside) = column.checked_sub(2) else { return false };
        let digit = self.number.as_bytes().get(inside / 6).map(|digit| usize::from(digit - b'0'));
        digit.is_some_and(|digit| inside % 6 < 5 && GLYPHS[digit][row] >> (4 - inside % 6) & 1 == 1)
    }
}

/// Decodes a picture and recognizes its content.
pub(crate) fn read_screen(bytes: &[u8]) -> Result<ScreenContent, Refusal> {
    let header = probe(bytes)?;
    let decoded = decode(bytes, &header, &DecodeLimits::default(), DecodeOptions::default())?;
    let raster = into_opaque(decoded.raster);
    if let Some(number) = read(&raster) {
        return Ok(ScreenContent::Number(number));
    }
    Ok(frame(&raster).map_or(ScreenContent::Nothing, ScreenContent::Frame))
}

/// Width and height of the frame.
const fn framed() -> (u32, u32) {
    let around = 2 * (THICK + MARGIN);
    (COLUMNS as u32 * DOT + around, ROWS as u32 * DOT + around)
}

/// The background: gray windows, none as dark as a digit.
fn background(x: u32, y: u32) -> [u8; 3] {
    let window = (x / 640 + y / 540) % 3;
    let line = y % 36 < 3 && x % 640 > 40 && x % 640 < 500;
    let gray = if line { 170 } else { 205 + 15 * window as u8 };
    [gray; 3]
}

/// The bounding box of all pixels that match.
fn bounding(raster: &Raster, is: impl Fn([u8; 3]) -> bool) -> Option<Rect> {
    let mut found: Option<(u32, u32, u32, u32)> = None;
    for y in 0..raster.height {
        for x in 0..raster.width {
            if is(raster.rgb(x, y)) {
                let (left, top, right, bottom) = found.unwrap_or((x, y, x, y));
                found = Some((left.min(x), top.min(y), right.max(x), bottom.max(y)));
            }
        }
    }
    found.map(|(left, top, right, bottom)| Rect::new(left, top, right - left + 1, bottom - top + 1))
}

/// The area inside the frame.
fn frame(raster: &Raster) -> Option<Rect> {
    let outside = bounding(raster, |[red, green, blue]| red > 180 && green < 90 && blue > 180)?;
    let (width, height) = framed();
    let thick = |length: u32, all: u32| length * THICK / all;
    let (across, down) = (thick(outside.width, width), thick(outside.height, height));
    let inside = Rect::new(
        outside.x + across,
        outside.y + down,
        outside.width.saturating_sub(2 * across),
        outside.height.saturating_sub(2 * down),
    );
    (inside.width > 0 && inside.height > 0).then_some(inside)
}

/// Reads the number, if its dots are large enough and all of them match.
fn read(raster: &Raster) -> Option<String> {
    let dark = |[red, green, blue]: [u8; 3]| red < 110 && green < 110 && blue < 110;
    let all = bounding(raster, dark)?;
    let (across, down) =
        (f64::from(all.width) / COLUMNS as f64, f64::from(all.height) / ROWS as f64);
    if across < MIN_DOT_PIXELS || down < MIN_DOT_PIXELS {
        return None;
    }
    let dot = |column: usize, row: usize| {
        let x = f64::from(all.x) + (column as f64 + 0.5) * across;
        let y = f64::from(all.y) + (row as f64 + 0.5) * down;
        dark(raster.rgb(x as u32, y as u32))
    };
    let bar = |column| (0..ROWS).all(|row| dot(column, row));
    let gap = |column| (0..ROWS).all(|row| !dot(column, row));
    let fits = bar(0) && bar(COLUMNS - 1) && (0..=DIGITS).all(|digit| gap(1 + digit * 6));
    let digit = |at: usize| {
        let row = |row| {
            (0..5).fold(0, |bits, column| bits << 1 | u8::from(dot(2 + at * 6 + column, row)))
        };
        let rows: [u8; ROWS] = std::array::from_fn(row);
        GLYPHS.iter().position(|glyph| *glyph == rows).map(|digit| char::from(b'0' + digit as u8))
    };
    if fits { (0..DIGITS).map(digit).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use photic_pixels::{ViewRequest, view};

    use super::*;

    fn profile() -> photic::Profile {
        photic::profile::resolve(photic::Wire::OpenAiChat, Some("gpt-5.4"), None)
    }

    #[test]
    fn an_overview_shows_the_frame_and_a_zoom_the_number() {
        for seed in [1, 2] {
            let screen = Screen::of(seed);
            let file = screen.png().unwrap();
            let profile = profile();
            let mut request = ViewRequest::new(&profile);
            let overview = view(&file, &request).unwrap();
            assert!(overview.scale < 0.6, "scale {}", overview.scale);
            let ScreenContent::Frame(inside) = read_screen(&overview.bytes).unwrap() else {
                panic!("{:?}", read_screen(&overview.bytes).unwrap());
            };
            request.region = Some(overview.region_of(&inside).unwrap());
            let zoom = view(&file, &request).unwrap();
            let number = screen.number().to_owned();
            assert_eq!(
                read_screen(&zoom.bytes).unwrap(),
                ScreenContent::Number(number),
                "seed {seed}"
            );
        }
    }

    #[test]
    fn a_zoom_into_the_overview_instead_of_the_original_shows_nothing() {
        let profile = profile();
        let mut request = ViewRequest::new(&profile);
        let overview = view(&Screen::of(1).png().unwrap(), &request).unwrap();
        let ScreenContent::Frame(inside) = read_screen(&overview.bytes).unwrap() else {
            panic!("no frame")
        };
        request.region = Some(inside);
        let blown_up = view(&overview.bytes, &request).unwrap();
        assert!(!matches!(read_screen(&blown_up.bytes).unwrap(), ScreenContent::Number(_)));
    }

    #[test]
    fn screens_differ() {
        assert_ne!(Screen::of(1), Screen::of(2));
        assert_eq!(Screen::of(3).number().len(), DIGITS);
    }
}
