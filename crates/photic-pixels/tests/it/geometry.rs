//! A marker drawn at a known pixel is found where the map says, whatever was done in between.

#![expect(clippy::unwrap_used, reason = "a test that cannot make its data has failed")]

use photic_pixels::geometry::{Affine, Rect};
use photic_pixels::resize::{enlarge, resize};
use photic_pixels::{Layout, Raster, RefusalCode};
use proptest::prelude::*;

/// Half the side of the marker: large enough to survive a fourfold reduction.
const HALF: u32 = 4;

/// A change to a picture between its file and a model. Numbers are shares of the remaining size.
#[derive(Clone, Debug)]
enum Step {
    Crop([f64; 4]),
    Resize(f64, f64),
    Enlarge(u32),
    /// So many columns and rows; the tile that holds the marker is taken.
    Tile(u32, u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        [0.0..1.0, 0.0..1.0, 0.0..1.0, 0.0..1.0].prop_map(Step::Crop),
        (0.5..1.0, 0.5..1.0).prop_map(|(x, y)| Step::Resize(x, y)),
        (2..4_u32).prop_map(Step::Enlarge),
        (1..4_u32, 1..4_u32).prop_map(|(columns, rows)| Step::Tile(columns, rows)),
    ];
    prop::collection::vec(step, 0..6)
}

/// A picture after some steps, and the map back to the stored pixels.
struct TransformedPicture {
    raster: Raster,
    map: Affine,
    /// The marker's center in the source.
    marker: (f64, f64),
}

impl TransformedPicture {
    fn take(&mut self, rect: Rect) {
        self.raster = cut(&self.raster, rect);
        self.map = Affine::crop(&rect).then(&self.map);
    }

    /// The rectangle the marker and its blur need.
    fn needed(&self) -> Rect {
        let margin = f64::from(HALF) + 6.0;
        let (mx, my) = self.marker;
        let corners = [(mx - margin, my - margin), (mx + margin, my + margin)]
            .map(|(x, y)| self.map.unmap_point(x, y).unwrap());
        let low = |a: f64, b: f64, most: u32| (a.min(b).floor().max(0.0) as u32).min(most - 1);
        let high = |a: f64, b: f64, most: u32| (a.max(b).ceil().max(1.0) as u32).min(most);
        let (w, h) = (self.raster.width, self.raster.height);
        let (x, y) = (low(corners[0].0, corners[1].0, w), low(corners[0].1, corners[1].1, h));
        let right = high(corners[0].0, corners[1].0, w).max(x + 1);
        let bottom = high(corners[0].1, corners[1].1, h).max(y + 1);
        Rect::new(x, y, right - x, bottom - y)
    }

    fn apply(&mut self, step: &Step) {
        let (w, h) = (self.raster.width, self.raster.height);
        match *step {
            Step::Crop(shares) => {
                let needed = self.needed();
                let x = (shares[0] * f64::from(needed.x)) as u32;
                let y = (shares[1] * f64::from(needed.y)) as u32;
                let right = needed.right() + (shares[2] * f64::from(w - needed.right())) as u32;
                let bottom = needed.bottom() + (shares[3] * f64::from(h - needed.bottom())) as u32;
                self.take(Rect::new(x, y, right - x, bottom - y));
            }
            Step::Resize(by_x, by_y) => {
                let by = |side: u32, by: f64| ((f64::from(side) * by).round() as u32).max(1);
                let to = (by(w, by_x), by(h, by_y));
                let map = Affine::resize((w, h), to).then(&self.map);
                // The marker must stay larger than a pixel of the view to be found again.
                if map.reduction() <= 4.0 {
                    self.raster = resize(&self.raster, to).unwrap();
                    self.map = map;
                }
            }
            Step::Enlarge(by) => {
                if w.max(h) * by <= 400 {
                    self.raster = enlarge(&self.raster, by);
                    self.map = Affine::resize((w, h), (w * by, h * by)).then(&self.map);
                }
            }
            Step::Tile(columns, rows) => {
                let needed = self.needed();
                let side = |all: u32, parts: u32, low: u32, length: u32| {
                    let tile = (all / parts).max(length).min(all);
                    let start = (low / tile.max(1) * tile).min(all - tile);
                    let start =
                        if start + tile < low + length { low + length - tile } else { start };
                    (start, tile)
                };
                let (x, width) = side(w, columns, needed.x, needed.width);
                let (y, height) = side(h, rows, needed.y, needed.height);
                self.take(Rect::new(x, y, width, height));
            }
        }
    }

    /// The center of all light.
    fn found(&self) -> (f64, f64) {
        let (mut sum, mut x_sum, mut y_sum) = (0.0, 0.0, 0.0);
        for (index, &value) in self.raster.data.iter().enumerate() {
            let x = (index % self.raster.width as usize) as f64 + 0.5;
            let y = (index / self.raster.width as usize) as f64 + 0.5;
            let value = f64::from(value);
            sum += value;
            x_sum += value * x;
            y_sum += value * y;
        }
        (x_sum / sum, y_sum / sum)
    }
}

fn cut(raster: &Raster, rect: Rect) -> Raster {
    let data = (rect.y..rect.bottom())
        .flat_map(|y| {
            let start = (y * raster.width + rect.x) as usize;
            raster.data[start..start + rect.width as usize].iter().copied()
        })
        .collect();
    Raster { width: rect.width, height: rect.height, layout: raster.layout, data }
}

/// Black, with a white square around a pixel.
fn marked((w, h): (u32, u32), (mx, my): (u32, u32)) -> Raster {
    let near = |a: u32, b: u32| a.abs_diff(b) <= HALF;
    let data =
        (0..h).flat_map(|y| (0..w).map(move |x| if near(x, mx) && near(y, my) { 255 } else { 0 }));
    Raster { width: w, height: h, layout: Layout::Gray, data: data.collect() }
}

/// The stored pixels as EXIF wants them shown, written from the standard's own words: where the
/// zeroth row and the zeroth column of the stored picture are on the screen.
fn upright(stored: &Raster, orientation: u8) -> Raster {
    let (w, h) = (stored.width, stored.height);
    let turned = orientation >= 5;
    let (out_w, out_h) = if turned { (h, w) } else { (w, h) };
    let mut data = vec![0; stored.data.len()];
    for sy in 0..h {
        for sx in 0..w {
            let (x, y) = match orientation {
                2 => (w - 1 - sx, sy),
                3 => (w - 1 - sx, h - 1 - sy),
                4 => (sx, h - 1 - sy),
                5 => (sy, sx),
                6 => (h - 1 - sy, sx),
                7 => (h - 1 - sy, w - 1 - sx),
                8 => (sy, w - 1 - sx),
                _ => (sx, sy),
            };
            data[(y * out_w + x) as usize] = stored.data[(sy * w + sx) as usize];
        }
    }
    Raster { width: out_w, height: out_h, layout: stored.layout, data }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The property: any chain of orientation, resize, crop, tile and zoom of zoom.
    #[test]
    fn marker_comes_back_within_a_pixel(
        size in (40..200_u32, 40..200_u32),
        at in (0.0..1.0, 0.0..1.0),
        orientation in 1..=8_u8,
        steps in steps(),
    ) {
        let along = |share: f64, side: u32| 12 + (share * f64::from(side - 24)) as u32;
        let (mx, my) = (along(at.0, size.0), along(at.1, size.1));
        let marker = (f64::from(mx) + 0.5, f64::from(my) + 0.5);
        let stored = marked(size, (mx, my));
        let map = Affine::orientation(orientation, size);
        let mut shown = TransformedPicture { raster: upright(&stored, orientation), map, marker };
        for step in &steps {
            shown.apply(step);
        }
        let (x, y) = shown.found();
        let (x, y) = shown.map.map_point(x, y);
        prop_assert!(
            (x - marker.0).abs() <= 1.0 && (y - marker.1).abs() <= 1.0,
            "marker at {marker:?} came back at {:?}", (x, y)
        );
    }

    /// Both ways, and through whole pixels: half a view pixel is lost at most.
    #[test]
    fn points_and_pixels_come_back(
        size in (1..5000_u32, 1..5000_u32),
        to in (1..3000_u32, 1..3000_u32),
        offset in (-4000.0..4000.0, -4000.0..4000.0),
        orientation in 0..=9_u8,
        at in (0.0..1.0, 0.0..1.0),
    ) {
        let map = Affine::resize(size, to)
            .then(&Affine::offset(offset.0, offset.1))
            .then(&Affine::orientation(orientation, size));
        let (x, y) = (at.0 * f64::from(to.0), at.1 * f64::from(to.1));
        let (sx, sy) = map.map_point(x, y);
        let (bx, by) = map.unmap_point(sx, sy).unwrap();
        prop_assert!((bx - x).abs() < 1e-6 && (by - y).abs() < 1e-6);

        let pixel = (x.floor() as i64, y.floor() as i64);
        let source = map.map_pixel(pixel.0, pixel.1);
        let (bx, by) = map.unmap_point(source.0 as f64 + 0.5, source.1 as f64 + 0.5).unwrap();
        let off = (bx - pixel.0 as f64 - 0.5).abs().max((by - pixel.1 as f64 - 0.5).abs());
        // An enlarged view has many pixels for one of the source: then that one is exact.
        let least = map.a.hypot(map.b).min(map.c.hypot(map.d));
        prop_assert!(off <= (0.5 / least).max(0.5) + 1e-6, "off by {off} view pixels");
    }

    /// A region of a view, read again from the source, shows all of what was pointed at.
    #[test]
    fn a_region_of_a_region_holds_what_was_pointed_at(
        region in (0..900_u32, 0..900_u32, 1..900_u32, 1..900_u32),
        to in (1..900_u32, 1..900_u32),
        inner in (0.0..1.0, 0.0..1.0, 0.0..1.0, 0.0..1.0),
    ) {
        let region = Rect::new(region.0, region.1, region.2, region.3);
        let map = Affine::tile(&region, to);
        let x = (inner.0 * f64::from(to.0 - 1)) as u32;
        let y = (inner.1 * f64::from(to.1 - 1)) as u32;
        let width = 1 + (inner.2 * f64::from(to.0 - x - 1)) as u32;
        let height = 1 + (inner.3 * f64::from(to.1 - y - 1)) as u32;
        let again = map.map_rect(&Rect::new(x, y, width, height));
        prop_assert!(again.width > 0 && again.height > 0);
        prop_assert!(again.x >= region.x && again.right() <= region.right());
        prop_assert!(again.y >= region.y && again.bottom() <= region.bottom());
        for (px, py) in [(x, y), (x + width - 1, y + height - 1)] {
            let (sx, sy) = map.map_pixel(i64::from(px), i64::from(py));
            prop_assert!(again.contains(sx as u32, sy as u32), "{again:?} lacks {sx},{sy}");
        }
    }
}

#[test]
fn hidpi_and_a_monitor_to_the_left() {
    // A 2560x1440 capture at device factor 1.25 of a monitor that begins 2048 points left of the
    // first: view pixels to desktop points.
    for factor in [1.0, 1.25, 2.0, 3.0] {
        let map = Affine::resize((2560, 1440), (1280, 720))
            .then(&Affine::scale(1.0 / factor, 1.0 / factor))
            .then(&Affine::offset(-2048.0, -100.0));
        let (x, y) = map.map_point(640.0, 360.0);
        assert!((x - (1280.0 / factor - 2048.0)).abs() < 1e-9);
        assert!((y - (720.0 / factor - 100.0)).abs() < 1e-9);
        let (bx, by) = map.unmap_point(x, y).unwrap();
        assert!((bx - 640.0).abs() < 1e-9 && (by - 360.0).abs() < 1e-9);
    }
}

#[test]
fn orientations_of_four_pixels() {
    // Stored 2x1: A B. The pixel of the upright picture at 0,0 is stored at ...
    let origin = |orientation| Affine::orientation(orientation, (2, 1)).map_pixel(0, 0);
    assert_eq!([1, 2, 3, 4].map(origin), [(0, 0), (1, 0), (1, 0), (0, 0)]);
    assert_eq!([5, 6, 7, 8].map(origin), [(0, 0), (0, 0), (1, 0), (1, 0)]);
    let second = |orientation| Affine::orientation(orientation, (2, 1)).map_pixel(0, 1);
    assert_eq!([5, 6, 7, 8].map(second), [(1, 0), (1, 0), (0, 0), (0, 0)]);
}

#[test]
fn regions_are_cut_or_refused() {
    let size = (100, 50);
    assert_eq!(Rect::new(90, 40, 20, 20).within(size), Ok(Rect::new(90, 40, 10, 10)));
    assert_eq!(Rect::new(0, 0, u32::MAX, u32::MAX).within(size), Ok(Rect::whole(size)));
    for bad in [
        Rect::new(0, 0, 0, 5),
        Rect::new(0, 0, 5, 0),
        Rect::new(100, 0, 5, 5),
        Rect::new(0, 50, 5, 5),
        Rect::new(u32::MAX, u32::MAX, u32::MAX, u32::MAX),
    ] {
        let refusal = bad.within(size).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::BadRegion);
        assert!(refusal.hint.contains("0,0,100,50"), "{refusal:?}");
    }
}

#[test]
fn a_flat_map_has_no_way_back() {
    assert_eq!(Affine::scale(0.0, 1.0).inverse(), None);
    assert_eq!(Affine::scale(f64::NAN, 1.0).inverse(), None);
    assert_eq!(Affine::IDENTITY.inverse(), Some(Affine::IDENTITY));
}
