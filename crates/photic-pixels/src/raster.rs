//! Decoded pixels: eight bits a sample, sRGB, rows without padding.

/// How samples stand in a raster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One gray sample a pixel.
    Gray,
    /// Red, green, blue.
    Rgb,
    /// Red, green, blue, alpha; not premultiplied.
    Rgba,
}

impl Layout {
    /// Samples a pixel.
    pub const fn samples(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::Rgb => 3,
            Self::Rgba => 4,
        }
    }
}

/// Pixels in memory. `data.len() == width * height * layout.samples()`, always.
#[derive(Clone, PartialEq, Eq)]
pub struct Raster {
    /// Pixels a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// What a pixel is made of.
    pub layout: Layout,
    /// The samples, row by row.
    pub data: Vec<u8>,
}

impl Raster {
    /// Width and height.
    pub const fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// The color of a pixel, whatever it lets shine through.
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
    /// Never the pixels: they must not reach a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{:?} {}x{}>", self.layout, self.width, self.height)
    }
}
