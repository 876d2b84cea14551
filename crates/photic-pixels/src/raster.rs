//! Decoded pixels: eight bits a sample, sRGB, rows without padding.

/// The samples of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One gray sample.
    Gray,
    /// Red, green, blue.
    Rgb,
    /// Red, green, blue, alpha; not premultiplied.
    Rgba,
}

impl Layout {
    /// Number of samples of a pixel.
    pub const fn samples(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::Rgb => 3,
            Self::Rgba => 4,
        }
    }
}

/// Pixels in memory. `data.len()` is always `width * height * layout.samples()`.
#[derive(Clone, PartialEq, Eq)]
pub struct Raster {
    /// Pixels of a row.
    pub width: u32,
    /// Number of rows.
    pub height: u32,
    /// The samples of each pixel.
    pub layout: Layout,
    /// The samples, row by row.
    pub data: Vec<u8>,
}

impl Raster {
    /// Width and height.
    pub const fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// The color of a pixel, without regard to alpha.
    pub fn rgb(&self, x: u32, y: u32) -> [u8; 3] {
        let samples = self.layout.samples();
        let start = (y as usize * self.width as usize + x as usize) * samples;
        match self.data[start..start + samples] {
            [gray] => [gray; 3],
            [red, green, blue, ..] => [red, green, blue],
            _ => [0; 3],
        }
    }
}

impl std::fmt::Debug for Raster {
    /// Omits the pixels, which must not reach a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{:?} {}x{}>", self.layout, self.width, self.height)
    }
}
