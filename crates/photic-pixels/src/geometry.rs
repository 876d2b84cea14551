//! Rectangles, and maps from pixels of a view to pixels of its source and back.
//!
//! Coordinates are continuous: the pixel in column `i` covers `i..i + 1` and its center is `i +
//! 0.5`, so a resize is a pure scale and a crop a pure shift. Only [`Affine::map_pixel`] and
//! [`Affine::map_rect`] round, once, at the end of a chain.
//!
//! # Examples
//!
//! ```
//! use photic_pixels::geometry::{Affine, Rect};
//!
//! // A region of 400×300 pixels at (1000, 500), shown at 200×150.
//! let map = Affine::tile(&Rect::new(1000, 500, 400, 300), (200, 150));
//! assert_eq!(map.map_point(50.0, 50.0), (1100.0, 600.0));
//! ```

use serde::{Deserialize, Serialize};

use crate::{Refusal, RefusalCode};

/// A rectangle of whole pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Rect {
    /// First column.
    pub x: u32,
    /// First row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Rect {
    /// Creates a rectangle.
    pub const fn new(x: u32, y: u32, width: u32, height: u32) -> Self {
        Self { x, y, width, height }
    }

    /// The rectangle that covers an image of this size.
    pub const fn whole(size: (u32, u32)) -> Self {
        Self::new(0, 0, size.0, size.1)
    }

    /// Width and height.
    pub const fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// The first column past it, at most `u32::MAX`.
    pub const fn right(&self) -> u32 {
        self.x.saturating_add(self.width)
    }

    /// The first row past it.
    pub const fn bottom(&self) -> u32 {
        self.y.saturating_add(self.height)
    }

    /// Returns `true` if the pixel lies in it.
    pub const fn contains(&self, x: u32, y: u32) -> bool {
        x >= self.x && y >= self.y && x < self.right() && y < self.bottom()
    }

    /// The part of it that lies in an image of this size.
    ///
    /// # Errors
    ///
    /// Refuses a rectangle that is empty or lies wholly outside the image.
    pub fn within(&self, size: (u32, u32)) -> Result<Self, Refusal> {
        let hint = || format!("ask for a region inside 0,0,{},{}", size.0, size.1);
        if self.width == 0 || self.height == 0 {
            return Err(Refusal::new(RefusalCode::BadRegion, "the region is empty", hint()));
        }
        if self.x >= size.0 || self.y >= size.1 {
            let says = format!(
                "the region {},{},{},{} lies outside the {}x{} image",
                self.x, self.y, self.width, self.height, size.0, size.1
            );
            return Err(Refusal::new(RefusalCode::BadRegion, says, hint()));
        }
        Ok(Self {
            width: self.width.min(size.0 - self.x),
            height: self.height.min(size.1 - self.y),
            ..*self
        })
    }
}

/// An affine map: `x' = a·x + c·y + e`, `y' = b·x + d·y + f`.
///
/// The map of a view leads from the view's pixels to pixels of the upright source, which is the
/// image with its stored orientation applied.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Affine {
    /// Change of `x'` for each `x`.
    pub a: f64,
    /// Change of `y'` for each `x`.
    pub b: f64,
    /// Change of `x'` for each `y`.
    pub c: f64,
    /// Change of `y'` for each `y`.
    pub d: f64,
    /// `x'` of the origin.
    pub e: f64,
    /// `y'` of the origin.
    pub f: f64,
}

impl Affine {
    /// The map that leaves every point in place.
    pub const IDENTITY: Self = Self { a: 1.0, b: 0.0, c: 0.0, d: 1.0, e: 0.0, f: 0.0 };

    /// A shift: from pixels of a crop to the image it was cut from.
    ///
    /// Negative offsets are allowed: a second monitor may lie left of the first.
    pub const fn offset(x: f64, y: f64) -> Self {
        Self { e: x, f: y, ..Self::IDENTITY }
    }

    /// From pixels of a crop or tile to the image it was cut from.
    pub fn crop(rect: &Rect) -> Self {
        Self::offset(f64::from(rect.x), f64::from(rect.y))
    }

    /// A scale: the number of source pixels for each view pixel, across and down.
    pub const fn scale(x: f64, y: f64) -> Self {
        Self { a: x, d: y, ..Self::IDENTITY }
    }

    /// From an image resized to `to` back to its size `from`.
    pub fn resize(from: (u32, u32), to: (u32, u32)) -> Self {
        let each = |from: u32, to: u32| f64::from(from.max(1)) / f64::from(to.max(1));
        Self::scale(each(from.0, to.0), each(from.1, to.1))
    }

    /// From pixels of a `rect` of the source, shown at the size `to`, to the source.
    pub fn tile(rect: &Rect, to: (u32, u32)) -> Self {
        Self::resize(rect.size(), to).then(&Self::crop(rect))
    }

    /// From an upright image to stored pixels of size `stored` with an EXIF orientation.
    ///
    /// An orientation outside 1 to 8 leaves every point in place.
    pub fn orientation(orientation: u8, stored: (u32, u32)) -> Self {
        let (w, h) = (f64::from(stored.0), f64::from(stored.1));
        let turn = |[a, b, c, d]: [f64; 4], e, f| Self { a, b, c, d, e, f };
        match orientation {
            2 => turn([-1.0, 0.0, 0.0, 1.0], w, 0.0),
            3 => turn([-1.0, 0.0, 0.0, -1.0], w, h),
            4 => turn([1.0, 0.0, 0.0, -1.0], 0.0, h),
            5 => turn([0.0, 1.0, 1.0, 0.0], 0.0, 0.0),
            6 => turn([0.0, -1.0, 1.0, 0.0], 0.0, h),
            7 => turn([0.0, -1.0, -1.0, 0.0], w, h),
            8 => turn([0.0, 1.0, -1.0, 0.0], w, 0.0),
            _ => Self::IDENTITY,
        }
    }

    /// Applies this map first, then `next`.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        Self {
            a: next.a.mul_add(self.a, next.c * self.b),
            b: next.b.mul_add(self.a, next.d * self.b),
            c: next.a.mul_add(self.c, next.c * self.d),
            d: next.b.mul_add(self.c, next.d * self.d),
            e: next.a.mul_add(self.e, next.c.mul_add(self.f, next.e)),
            f: next.b.mul_add(self.e, next.d.mul_add(self.f, next.f)),
        }
    }

    /// The inverse map; `None` for a map that flattens the plane, which no view has.
    pub fn inverse(&self) -> Option<Self> {
        let det = self.a.mul_add(self.d, -(self.b * self.c));
        if !det.is_finite() || det.abs() < 1e-12 {
            return None;
        }
        Some(Self {
            a: self.d / det,
            b: -self.b / det,
            c: -self.c / det,
            d: self.a / det,
            e: self.c.mul_add(self.f, -(self.d * self.e)) / det,
            f: self.b.mul_add(self.e, -(self.a * self.f)) / det,
        })
    }

    /// Maps a point: view to source.
    pub fn map_point(&self, x: f64, y: f64) -> (f64, f64) {
        (self.a.mul_add(x, self.c.mul_add(y, self.e)), self.b.mul_add(x, self.d.mul_add(y, self.f)))
    }

    /// Maps a point back: source to view.
    pub fn unmap_point(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        self.inverse().map(|back| back.map_point(x, y))
    }

    /// The pixel that contains the mapped center of a pixel, which is what a click means.
    pub fn map_pixel(&self, x: i64, y: i64) -> (i64, i64) {
        let (x, y) = self.map_point(x as f64 + 0.5, y as f64 + 0.5);
        (x.floor() as i64, y.floor() as i64)
    }

    /// The smallest rectangle of whole pixels that contains the mapped rectangle.
    ///
    /// This turns a region of a view into a region of its source, to be read again from there.
    /// Parts left of or above the source are cut off.
    pub fn map_rect(&self, rect: &Rect) -> Rect {
        let (left, top) = (f64::from(rect.x), f64::from(rect.y));
        let (right, bottom) = (left + f64::from(rect.width), top + f64::from(rect.height));
        let (x0, y0) = self.map_point(left, top);
        let (x1, y1) = self.map_point(right, bottom);
        let low = |a: f64, b: f64| (a.min(b) + SLACK).floor().max(0.0) as u32;
        let high = |a: f64, b: f64| (a.max(b) - SLACK).ceil().max(0.0) as u32;
        let (x, y) = (low(x0, x1), low(y0, y1));
        Rect::new(x, y, high(x0, x1).saturating_sub(x), high(y0, y1).saturating_sub(y))
    }

    /// Source pixels for each view pixel, in the direction in which the view is reduced more.
    pub fn reduction(&self) -> f64 {
        self.a.hypot(self.b).max(self.c.hypot(self.d))
    }
}

/// A row of text on a page, and the line of the source that it shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextRow {
    /// Upper edge.
    pub top: f64,
    /// Height.
    pub height: f64,
    /// Left edge of the first cell.
    pub left: f64,
    /// Width of a cell.
    pub cell: f64,
    /// Line of the source, from 1.
    pub line: u32,
    /// The column of the line that each cell shows, in characters from 1.
    pub columns: Vec<u32>,
}

impl TextRow {
    /// The line and column at a point of a page with these rows. Beside the rows at its height, it
    /// is the nearest character; above or below all rows, it is `None`.
    ///
    /// Text that was laid out again, as on a page, has several rows side by side, each of one
    /// source line.
    pub fn find(rows: &[Self], x: f64, y: f64) -> Option<(u32, u32)> {
        let high = rows.iter().filter(|row| y >= row.top && y < row.top + row.height);
        let nearest = high.min_by(|one, other| one.beside(x).total_cmp(&other.beside(x)))?;
        let cell = ((x - nearest.left) / nearest.cell).floor().max(0.0) as usize;
        let column = nearest.columns.get(cell).or(nearest.columns.last()).copied().unwrap_or(1);
        Some((nearest.line, column))
    }

    /// Horizontal distance of a point from the cells of this row.
    fn beside(&self, x: f64) -> f64 {
        let right = self.left + self.cell * self.columns.len() as f64;
        (self.left - x).max(x - right).max(0.0)
    }
}

/// Distance within which a corner counts as lying on a pixel boundary: sums of fractions are not
/// exact.
const SLACK: f64 = 1e-6;
