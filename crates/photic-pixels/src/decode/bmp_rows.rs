//! Rows of an uncompressed BMP file, which can be read one by one at their place in the file.

use super::budget::DecodeBudget;
use super::part::{DecodedPart, PartRequest};
use super::row_sink::{self, RowSink};
use crate::geometry::Rect;
use crate::header::Header;
use crate::raster::Layout;
use crate::refusal::Refusal;

/// Number of rows between two checks of the deadline.
const ROWS_PER_CHECK: u32 = 64;

/// Length of the file header, which the picture's own header follows.
const FILE_HEADER: usize = 14;

/// The rows of an uncompressed BMP file with 8, 24 or 32 bits a pixel.
pub(super) struct BmpRows<'a> {
    /// The rows in the order of the file, with their padding.
    data: &'a [u8],
    /// Bytes of a row with its padding.
    stride: usize,
    /// Bytes of a pixel.
    pixel: usize,
    /// `true` if the first row of the file is the lowest of the picture.
    is_bottom_up: bool,
    /// Blue, green, red and a byte that means nothing, for each color; empty without a palette.
    palette: &'a [u8],
    height: u32,
}

impl<'a> BmpRows<'a> {
    /// Finds the rows; `None` for compressed files, other depths, and files that end too early.
    pub(super) fn of(bytes: &'a [u8], header: &Header) -> Option<Self> {
        let le32 = |at: usize| {
            bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes).map(|n| n as usize)
        };
        let own = le32(FILE_HEADER)?;
        // Header sizes below 40 are of OS/2; compression 0 is none.
        if own < 40 || le32(30)? != 0 {
            return None;
        }
        let depth = usize::from(*bytes.get(28)?) | usize::from(*bytes.get(29)?) << 8;
        let (width, height) = (header.stored_width as usize, header.stored_height as usize);
        let stride = width.checked_mul(depth)?.checked_add(31)? / 32 * 4;
        let start = le32(10)?;
        let data = bytes.get(start..start.checked_add(stride.checked_mul(height)?)?)?;
        let palette = match depth {
            8 => {
                let count = match le32(46)? {
                    0 => 256,
                    count => count.min(256),
                };
                let palette = FILE_HEADER.checked_add(own)?;
                bytes.get(palette..palette.checked_add(count * 4)?)?
            }
            24 | 32 => &[],
            _ => return None,
        };
        let is_bottom_up = (le32(22)? as u32).cast_signed() > 0;
        let rows = Self {
            data,
            stride,
            pixel: depth / 8,
            is_bottom_up,
            palette,
            height: header.stored_height,
        };
        (width > 0 && height > 0).then_some(rows)
    }

    /// The bytes of a row, counted from the top of the picture.
    fn row(&self, y: u32) -> &'a [u8] {
        let at = if self.is_bottom_up { self.height - 1 - y } else { y } as usize * self.stride;
        &self.data[at..at + self.stride]
    }

    /// Decodes a region; the other rows are not touched.
    pub(super) fn decode(
        &self,
        budget: &DecodeBudget<'_>,
        ask: PartRequest,
    ) -> Result<DecodedPart, Refusal> {
        let Rect { x, y: top, width, height } = ask.region;
        let factor = row_sink::factor(ask.region, ask.at_most);
        let own = Rect::whole((width, height));
        budget
            .room(row_sink::bytes(own, factor, Layout::Rgb) + u64::from(width) * 3 + (1 << 16))?;
        let mut sink = RowSink::new(own, factor, Layout::Rgb);
        let mut row = Vec::with_capacity(width as usize * 3);
        let columns = x as usize * self.pixel..(x as usize + width as usize) * self.pixel;
        for y in 0..height {
            if y % ROWS_PER_CHECK == 0 {
                budget.on_time()?;
            }
            row.clear();
            for pixel in self.row(top + y)[columns.clone()].chunks_exact(self.pixel) {
                row.extend_from_slice(&self.color(pixel));
            }
            sink.row(y, &row);
        }
        sink.done().ok_or_else(|| budget.cut())
    }

    /// The color of a pixel; black for an index past the palette.
    fn color(&self, pixel: &[u8]) -> [u8; 3] {
        let stored = match *pixel {
            [index] => self.palette.get(usize::from(index) * 4..).unwrap_or_default(),
            _ => pixel,
        };
        match *stored {
            [blue, green, red, ..] => [red, green, blue],
            _ => [0; 3],
        }
    }
}
