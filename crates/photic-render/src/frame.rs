//! The canvas for a page or region: its size in pixels, and the map from the page.
//!
//! All limits on the size of a drawing are applied here. A region is drawn again at its own scale,
//! so the map is exact and nothing is scaled afterwards.

use photic_pixels::geometry::Affine;

use crate::refusal::{Refusal, RefusalCode};
use crate::request::{Area, DrawLimits, DrawOptions, Fit};

/// A canvas, and the area it shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frame {
    /// Width in pixels.
    pub(crate) width: u32,
    /// Height in pixels.
    pub(crate) height: u32,
    /// Requested pixels per unit, before rounding to whole pixels; [`Frame::place`] has the exact
    /// scales.
    pub(crate) scale: f64,
    /// The area of the page that it shows.
    pub(crate) area: Area,
}

/// The default length of the longer side of a drawing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DefaultSize {
    /// Smaller pages are enlarged to this.
    pub(crate) least: f64,
    /// Larger pages are reduced to this.
    pub(crate) most: f64,
}

impl Frame {
    /// The canvas for a page of this size.
    pub(crate) fn new(
        size: (f64, f64),
        wanted: &DrawOptions,
        usual: DefaultSize,
    ) -> Result<Self, Refusal> {
        let area = part(size, wanted.region)?;
        let longer = area.width.max(area.height);
        let scale = match wanted.fit {
            Fit::Usual if wanted.region.is_some() => usual.most / longer,
            Fit::Usual => longer.clamp(usual.least, usual.most) / longer,
            Fit::Longest(pixels) => f64::from(pixels.max(1)) / longer,
            Fit::Scale(scale) if scale.is_finite() && scale > 0.0 => scale,
            Fit::Scale(_) => 1.0,
        };
        let scale = bounded(scale, &area, &wanted.bounds);
        let pixels = |length: f64| ((length * scale).round() as u32).max(1);
        let (width, height) = (pixels(area.width), pixels(area.height));
        Ok(Self { width, height, scale, area })
    }

    /// Returns this canvas at one scale for both directions: it shows up to half a pixel more or
    /// less at the right and below. For pages on paper, where circles must be round.
    #[must_use]
    pub(crate) fn unstretched(mut self) -> Self {
        self.area.width = f64::from(self.width) / self.scale;
        self.area.height = f64::from(self.height) / self.scale;
        self
    }

    /// Pixels per unit, across and down. The canvas covers its area exactly, so they differ
    /// slightly.
    pub(crate) fn scales(self) -> (f64, f64) {
        (f64::from(self.width) / self.area.width, f64::from(self.height) / self.area.height)
    }

    /// The coefficients of the affine map from page units to pixels.
    pub(crate) fn place(self) -> [f64; 6] {
        let (across, down) = self.scales();
        [across, 0.0, 0.0, down, -self.area.x * across, -self.area.y * down]
    }

    /// The map from pixels to page units.
    pub(crate) fn to_page(self) -> Affine {
        let (width, height) = (f64::from(self.width), f64::from(self.height));
        Affine::scale(self.area.width / width, self.area.height / height)
            .then(&Affine::offset(self.area.x, self.area.y))
    }
}

/// Longest side of a canvas: rasterizers count rows and columns in 16 bits.
const MAX_EDGE: u32 = 32_000;

/// Shortest side of a page or region; below it, pixels cannot be mapped back exactly.
const MIN_SIDE: f64 = 1e-6;
/// Largest number of pixels per unit, for the same reason.
const MAX_SCALE: f64 = 9e5;

/// The region, cut at the edges of the page.
fn part(size: (f64, f64), region: Option<Area>) -> Result<Area, Refusal> {
    let (width, height) = size;
    if !(width.is_finite() && height.is_finite() && width >= MIN_SIDE && height >= MIN_SIDE) {
        let says = "the page has no size, or one that nothing could be seen in";
        return Err(Refusal::new(RefusalCode::Corrupt, says, "look at its source instead"));
    }
    let Some(region) = region else { return Ok(Area { x: 0.0, y: 0.0, width, height }) };
    let left = region.x.max(0.0);
    let top = region.y.max(0.0);
    let right = (region.x + region.width).min(width);
    let bottom = (region.y + region.height).min(height);
    let finite = [region.x, region.y, region.width, region.height].iter().all(|n| n.is_finite());
    if finite && right - left >= MIN_SIDE && bottom - top >= MIN_SIDE {
        return Ok(Area { x: left, y: top, width: right - left, height: bottom - top });
    }
    let says =
        format!("the region is empty or lies outside the page, which is {width} by {height}");
    Err(Refusal::new(RefusalCode::BadRegion, says, "ask for a region inside the page"))
}

/// The scale, limited by the bounds.
fn bounded(scale: f64, area: &Area, bounds: &DrawLimits) -> f64 {
    let edge = f64::from(bounds.edge.clamp(1, MAX_EDGE)) / area.width.max(area.height);
    let room = (bounds.pixels.max(1) as f64 / (area.width * area.height)).sqrt();
    // A strip has at least one row of pixels, however thin; only the edge limits it.
    let room = if area.width.min(area.height) * room < 1.0 { edge } else { room };
    scale.min(edge).min(room).min(MAX_SCALE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Kind;

    const DEFAULT_SIZE: DefaultSize = DefaultSize { least: 512.0, most: 1568.0 };

    fn frame(size: (f64, f64), change: impl FnOnce(&mut DrawOptions)) -> Frame {
        let mut wanted = DrawOptions::new(Kind::Svg);
        change(&mut wanted);
        Frame::new(size, &wanted, DEFAULT_SIZE).expect("a frame")
    }

    #[test]
    fn sizes_are_usual_unless_asked_for() {
        let cases: [((f64, f64), (u32, u32)); 7] = [
            ((800.0, 600.0), (800, 600)),
            ((24.0, 24.0), (512, 512)),
            ((4000.0, 1000.0), (1568, 392)),
            ((1e9, 1e9), (1568, 1568)),
            ((1e9, 1.0), (1568, 1)),
            ((1e-3, 1e-3), (512, 512)),
            ((1e-5, 1e-5), (9, 9)),
        ];
        for (size, pixels) in cases {
            let frame = frame(size, |_| {});
            assert_eq!((frame.width, frame.height), pixels, "{size:?}");
        }
    }

    #[test]
    fn bounds_hold_against_any_wish() {
        for fit in [Fit::Longest(u32::MAX), Fit::Scale(1e12), Fit::Scale(f64::INFINITY)] {
            let frame = frame((300.0, 200.0), |wanted| wanted.fit = fit);
            assert!(frame.width <= 8_000 && frame.height <= 8_000, "{frame:?}");
            assert!(u64::from(frame.width) * u64::from(frame.height) <= 32_100_000, "{frame:?}");
        }
    }

    #[test]
    fn a_region_is_enlarged_and_maps_back() {
        let region = Area { x: 100.0, y: 50.0, width: 20.0, height: 10.0 };
        let frame = frame((800.0, 600.0), |wanted| {
            wanted.region = Some(region);
            wanted.fit = Fit::Longest(1000);
        });
        assert_eq!((frame.width, frame.height), (1000, 500));
        assert_eq!(frame.to_page().map_point(0.0, 0.0), (100.0, 50.0));
        assert_eq!(frame.to_page().map_point(1000.0, 500.0), (120.0, 60.0));
    }

    #[test]
    fn every_corner_of_the_canvas_is_a_corner_of_the_region() {
        let regions = [
            (0.0, 0.0, 612.0, 792.0),
            (17.3, 2.71, 100.0, 33.3),
            (0.1, 700.9, 611.7, 0.05),
            (300.0, 300.0, 1e-3, 7e-4),
            (611.0, 0.0, 1.0, 792.0),
        ];
        let fits = [Fit::Usual, Fit::Longest(7), Fit::Longest(999), Fit::Scale(0.37)];
        for (x, y, width, height) in regions {
            for fit in fits {
                let region = Area { x, y, width, height };
                let frame = frame((612.0, 792.0), |wanted| {
                    wanted.region = Some(region);
                    wanted.fit = fit;
                });
                for (right, down) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
                    let corner = (f64::from(frame.width) * right, f64::from(frame.height) * down);
                    let there = (x + width * right, y + height * down);
                    let near = |a: (f64, f64), b: (f64, f64)| {
                        (a.0 - b.0).abs() < 1e-9 && (a.1 - b.1).abs() < 1e-9
                    };
                    let back = frame.to_page().map_point(corner.0, corner.1);
                    assert!(near(back, there), "{frame:?}: {back:?}, not {there:?}");
                    // A pixel of the largest canvas is a thousandth of a point here.
                    let [across, _, _, down, x, y] = frame.place();
                    let forth = (there.0 * across + x, there.1 * down + y);
                    let off = (forth.0 - corner.0).abs().max((forth.1 - corner.1).abs());
                    assert!(off < 1e-6, "{frame:?}: {forth:?}, not {corner:?}");
                }
            }
        }
    }

    #[test]
    fn every_frame_has_a_way_back_and_a_page_without_size_has_none() {
        for side in [1e-6, 3e-5, 1e-3, 0.5, 1.0, 1e9, 1e30] {
            for other in [1e-6, 1.0, 1e30] {
                let frame = frame((side, other), |wanted| wanted.fit = Fit::Longest(8_000));
                let to_page = frame.to_page();
                assert!(to_page.inverse().is_some(), "{frame:?}");
            }
        }
        for side in [0.0, -1.0, 1e-30, f64::NAN, f64::INFINITY] {
            let refusal = Frame::new((side, 9.0), &DrawOptions::new(Kind::Pdf), DEFAULT_SIZE)
                .expect_err("none");
            assert_eq!(refusal.code, RefusalCode::Corrupt, "{side}");
        }
    }

    #[test]
    fn regions_outside_are_refused() {
        let nan = f64::NAN;
        for (x, y, width, height) in [
            (800.0, 0.0, 5.0, 5.0),
            (0.0, 0.0, 0.0, 5.0),
            (nan, 0.0, nan, 5.0),
            (-9.0, 0.0, 9.0, 9.0),
        ] {
            let mut wanted = DrawOptions::new(Kind::Svg);
            wanted.region = Some(Area { x, y, width, height });
            let refusal = Frame::new((800.0, 600.0), &wanted, DEFAULT_SIZE).expect_err("outside");
            assert_eq!(refusal.code, RefusalCode::BadRegion);
        }
    }
}
