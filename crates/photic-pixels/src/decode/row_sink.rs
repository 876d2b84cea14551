//! Receives decoded rows, crops them to the region, and averages squares of pixels.
//!
//! Averaging is used if the caller scales down anyway, so a large picture is never held in full
//! size.

use super::part::DecodedPart;
use crate::geometry::Rect;
use crate::raster::{Layout, Raster};
use crate::resize::Window;

/// Takes rows in order, with the full stored width, and produces a part.
pub(super) struct RowSink {
    region: Rect,
    factor: usize,
    layout: Layout,
    width: usize,
    height: usize,
    sums: Sums,
    held: u32,
    out: Vec<u8>,
}

/// Sums of the columns of the squares in progress.
struct Sums {
    /// Plain sums of samples; 64 rows of 255 fit.
    plain: Vec<u16>,
    /// Sums of colors times alpha, and of alpha; used from the first row that is not opaque.
    weighed: Vec<u32>,
    is_weighed: bool,
}

/// The side of the squares to average. The result is still at least twice the requested size, so
/// that the averaging is not visible after the resize that follows.
pub(super) fn factor(region: Rect, at_most: Option<(u32, u32)>) -> u32 {
    at_most.map_or(1, |(width, height)| {
        let across = region.width / width.max(1);
        let down = region.height / height.max(1);
        (across.min(down) / 2).clamp(1, 64)
    })
}

/// Number of bytes that a sink of this shape holds.
pub(super) fn bytes(region: Rect, factor: u32, layout: Layout) -> u64 {
    let (width, height) = (region.width.div_ceil(factor), region.height.div_ceil(factor));
    let out = u64::from(width) * u64::from(height) * layout.samples() as u64;
    let sums = if factor > 1 { u64::from(region.width) * layout.samples() as u64 * 6 } else { 0 };
    out + sums
}

impl RowSink {
    pub(super) fn new(region: Rect, factor: u32, layout: Layout) -> Self {
        let width = region.width.div_ceil(factor) as usize;
        let height = region.height.div_ceil(factor) as usize;
        let sums = if factor > 1 { region.width as usize * layout.samples() } else { 0 };
        Self {
            region,
            factor: factor as usize,
            layout,
            width,
            height,
            sums: Sums { plain: vec![0; sums], weighed: Vec::new(), is_weighed: false },
            held: 0,
            // Grows as rows arrive: a file that ends early never costs the memory of the whole
            // picture.
            out: Vec::new(),
        }
    }

    /// Returns `true` if rows from `y` on are not needed.
    pub(super) fn is_past(&self, y: u32) -> bool {
        y >= self.region.bottom()
    }

    /// Adds one row.
    pub(super) fn row(&mut self, y: u32, row: &[u8]) {
        if y < self.region.y || self.is_past(y) {
            return;
        }
        let samples = self.layout.samples();
        let start = self.region.x as usize * samples;
        let Some(row) = row.get(start..start + self.region.width as usize * samples) else {
            return;
        };
        if self.out.capacity() == 0 {
            self.out.reserve_exact(self.width * self.height * samples);
        }
        if self.factor == 1 {
            self.out.extend_from_slice(row);
            return;
        }
        self.sums.add(row, self.layout);
        self.held += 1;
        if self.held as usize == self.factor || y + 1 == self.region.bottom() {
            self.flush();
        }
    }

    /// Writes the averages of the rows held so far.
    fn flush(&mut self) {
        let held = std::mem::take(&mut self.held);
        if self.sums.is_weighed {
            flush_weighed(&self.sums.weighed, self.factor, held, &mut self.out);
        } else {
            let (sums, factor, out) = (&self.sums.plain, self.factor, &mut self.out);
            match self.layout {
                Layout::Gray => flush_plain::<1>(sums, factor, held, out),
                Layout::Rgb => flush_plain::<3>(sums, factor, held, out),
                Layout::Rgba => flush_plain::<4>(sums, factor, held, out),
            }
        }
        self.sums.reset();
    }

    /// The finished part, or `None` if rows are missing.
    pub(super) fn done(self) -> Option<DecodedPart> {
        let raster = Raster {
            width: self.width as u32,
            height: self.height as u32,
            layout: self.layout,
            data: self.out,
        };
        if raster.data.len() != self.width * self.height * self.layout.samples() {
            return None;
        }
        let factor = self.factor as f64;
        let window = Window {
            x: 0.0,
            y: 0.0,
            width: f64::from(self.region.width) / factor,
            height: f64::from(self.region.height) / factor,
        };
        Some(DecodedPart { raster, window, scale: 1.0 / factor, notes: Vec::new() })
    }
}

impl Sums {
    fn add(&mut self, row: &[u8], layout: Layout) {
        let clear = layout == Layout::Rgba && row.chunks_exact(4).any(|pixel| pixel[3] != 255);
        if clear && !self.is_weighed {
            // Every alpha so far was 255, which is the weight of the colors.
            self.weighed.clear();
            self.weighed.extend(self.plain.chunks_exact(4).flat_map(|sum| {
                let [red, green, blue, alpha] = [sum[0], sum[1], sum[2], sum[3]].map(u32::from);
                [red * 255, green * 255, blue * 255, alpha]
            }));
            self.is_weighed = true;
        }
        if self.is_weighed {
            weigh(&mut self.weighed, row);
        } else {
            for (sum, &sample) in self.plain.iter_mut().zip(row) {
                *sum += u16::from(sample);
            }
        }
    }

    fn reset(&mut self) {
        self.plain.fill(0);
        self.is_weighed = false;
    }
}

/// Repeated division by one number, exact for sums of up to 64 by 64 samples.
#[derive(Clone, Copy)]
struct Mean {
    half: u64,
    by: u64,
}

impl Mean {
    fn new(count: u32) -> Self {
        let count = u64::from(count.max(1));
        Self { half: count / 2, by: (1_u64 << 40).div_ceil(count) }
    }

    fn of(self, sum: u32) -> u8 {
        (((u64::from(sum) + self.half) * self.by) >> 40) as u8
    }
}

/// Averages squares of opaque pixels.
fn flush_plain<const SAMPLES: usize>(sums: &[u16], factor: usize, held: u32, out: &mut Vec<u8>) {
    let full = Mean::new(held * factor as u32);
    let cells = sums.chunks_exact(factor * SAMPLES);
    let rest = cells.remainder();
    // Squares of two are by far the most common, so they get a loop of their own.
    if factor == 2 && held == 2 {
        let start = out.len();
        out.resize(start + cells.len() * SAMPLES, 0);
        let means = out[start..].chunks_exact_mut(SAMPLES);
        for (mean, cell) in means.zip(cells) {
            for sample in 0..SAMPLES {
                mean[sample] = ((cell[sample] + cell[sample + SAMPLES] + 2) >> 2) as u8;
            }
        }
    } else {
        for cell in cells {
            out.extend_from_slice(&total::<SAMPLES>(cell).map(|sum| full.of(sum)));
        }
    }
    if !rest.is_empty() {
        let part = Mean::new(held * (rest.len() / SAMPLES) as u32);
        out.extend_from_slice(&total::<SAMPLES>(rest).map(|sum| part.of(sum)));
    }
}

/// Sums the pixels of a square.
fn total<const SAMPLES: usize>(cell: &[u16]) -> [u32; SAMPLES] {
    let mut total = [0; SAMPLES];
    for pixel in cell.chunks_exact(SAMPLES) {
        for (total, &sum) in total.iter_mut().zip(pixel) {
            *total += u32::from(sum);
        }
    }
    total
}

/// Adds colors weighted by alpha. The factor is at most 64, so sums stay below 64·255·255·64 < 2³².
fn weigh(sums: &mut [u32], row: &[u8]) {
    for (sum, pixel) in sums.chunks_exact_mut(4).zip(row.chunks_exact(4)) {
        let alpha = u32::from(pixel[3]);
        sum[0] += u32::from(pixel[0]) * alpha;
        sum[1] += u32::from(pixel[1]) * alpha;
        sum[2] += u32::from(pixel[2]) * alpha;
        sum[3] += alpha;
    }
}

/// Averages squares of pixels with alpha.
fn flush_weighed(sums: &[u32], factor: usize, held: u32, out: &mut Vec<u8>) {
    for cell in sums.chunks(factor * 4) {
        let mut total = [0_u32; 4];
        for pixel in cell.chunks_exact(4) {
            for (total, &sum) in total.iter_mut().zip(pixel) {
                *total += sum;
            }
        }
        let alpha = total[3];
        if alpha == 0 {
            out.extend_from_slice(&[0; 4]);
            continue;
        }
        let color = |sum: u32| ((sum + alpha / 2) / alpha) as u8;
        let mean = Mean::new(held * (cell.len() / 4) as u32);
        out.extend_from_slice(&[color(total[0]), color(total[1]), color(total[2]), mean.of(alpha)]);
    }
}

/// Crops a raster in place.
pub(super) fn crop(mut raster: Raster, region: Rect) -> Raster {
    if region.size() == (raster.width, raster.height) {
        return raster;
    }
    let samples = raster.layout.samples();
    let (stride, length) = (raster.width as usize * samples, region.width as usize * samples);
    for row in 0..region.height as usize {
        let from = (region.y as usize + row) * stride + region.x as usize * samples;
        raster.data.copy_within(from..from + length, row * length);
    }
    raster.data.truncate(region.height as usize * length);
    raster.data.shrink_to_fit();
    Raster { width: region.width, height: region.height, ..raster }
}
