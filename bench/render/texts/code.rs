//! From a page, a region and a wish to a canvas: how many pixels, and which point goes where.
//!
//! Owns every bound on the size of a drawing. A region is drawn anew at the scale it asks for, so
//! the map is exact and nothing is scaled afterwards.

use photic_pixels::geometry::Affine;

use crate::refusal::{Refusal, RefusalCode};
use crate::request::{Area, Bounds, Fit, Wanted};

/// A canvas, and what it shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frame {
    /// Pixels across.
    pub(crate) width: u32,
    /// Pixels down.
    pub(crate) height: u32,
    /// Pixels a unit.
    pub(crate) scale: f64,
    /// The part of the page that it shows.
    pub(crate) area: Area,
}

/// The longer side of a kind's drawing where nothing was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usual {
    /// Smaller pages are enlarged to this.
    pub(crate) least: f64,
    /// Larger pages are reduced to this.
    pub(crate) most: f64,
}

impl Frame {
    /// The canvas for a page of this size.
    pub(crate) fn new(size: (f64, f64), wanted: &Wanted, usual: Usual) -> Result<Self, Refusal> {
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
        let pixels = |length: f64| ((length * scale - SLACK).ceil() as u32).max(1);
        let (width, height) = (pixels(area.width), pixels(area.height));
        Ok(Self { width, height, scale, area })
    }

    /// From its pixels to the units of the page.
    pub(crate) fn to_page(self) -> Affine {
        let unit = 1.0 / self.scale;
        Affine::scale(unit, unit).then(&Affine::offset(self.area.x, self.area.y))
    }
}

/// Rasterizers count the rows and columns of a canvas in 16 bits.
const MOST_EDGE: u32 = 32_000;

/// A length this close to a whole number of pixels is one.
const SLACK: f64 = 1e-3;

/// The region, cut at the edges of the page.
fn part(size: (f64, f64), region: Option<Area>) -> Result<Area, Refusal> {
    let (width, height) = size;
    if !(width.is_finite() && height.is_finite() && width > 0.0 && height > 0.0) {
        let says = "the page has no size";
        return Err(Refusal::new(RefusalCode::Corrupt, says, "look at its source instead"));
    }
    let Some(region) = region else { return Ok(Area { x: 0.0, y: 0.0, width, height }) };
    let left = region.x.max(0.0);
    let top = region.y.max(0.0);
    let right = (region.x + region.width).min(width);
    let bottom = (region.y + region.height).min(height);
    let finite = [region.x, region.y, region.width, region.height].iter().all(|n| n.is_finite());
    if finite && right > left && bottom > top {
        return Ok(Area { x: left, y: top, width: right - left, height: bottom - top });
    }
    let says =
        format!("the region is empty or lies outside the page, which is {width} by {height}");
    Err(Refusal::new(RefusalCode::BadRegion, says, "ask for a region inside the page"))
}

/// The scale, or the largest that the bounds allow.
fn bounded(scale: f64, area: &Area, bounds: &Bounds) -> f64 {
    let edge = f64::from(bounds.edge.clamp(1, MOST_EDGE)) / area.width.max(area.height);
    let room = (bounds.pixels.max(1) as f64 / (area.width * area.height)).sqrt();
    // A strip has at least one row of pixels, however thin: the edge alone bounds it.
    let room = if area.width.min(area.height) * room < 1.0 { edge } else { room };
    scale.min(edge).min(room)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Kind;

    const USUAL: Usual = Usual { least: 512.0, most: 1568.0 };

    fn frame(size: (f64, f64), change: impl FnOnce(&mut Wanted)) -> Frame {
        let mut wanted = Wanted::new(Kind::Svg);
        change(&mut wanted);
        Frame::new(size, &wanted, USUAL).expect("a frame")
    }

    #[test]
    fn sizes_are_usual_unless_asked_for() {
        let cases: [((f64, f64), (u32, u32)); 6] = [
            ((800.0, 600.0), (800, 600)),
            ((24.0, 24.0), (512, 512)),
            ((4000.0, 1000.0), (1568, 392)),
            ((1e9, 1e9), (1568, 1568)),
            ((1e9, 1.0), (1568, 1)),
            ((1e-9, 1e-9), (512, 512)),
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
        let (x, y) = frame.to_page().map_point(1000.0, 500.0);
        assert!((x - 120.0).abs() < 1e-9 && (y - 60.0).abs() < 1e-9, "{x} {y}");
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
            let mut wanted = Wanted::new(Kind::Svg);
            wanted.region = Some(Area { x, y, width, height });
            let refusal = Frame::new((800.0, 600.0), &wanted, USUAL).expect_err("outside");
            assert_eq!(refusal.code, RefusalCode::BadRegion);
        }
    }
}
