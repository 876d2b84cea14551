//! Where a pixel of a view stands in its source, and back.
//!
//! Owns rectangles of pixels and the affine map every view carries. Coordinates are continuous: the
//! pixel in column `i` covers `i..i + 1` and its center is `i + 0.5`, so that a resize is a pure
//! scale and cropping a pure shift. Must never round inside a chain: only
//! [`Affine::map_pixel`] and [`Affine::map_rect`] do, once, at the end.

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
    /// A rectangle.
    pub const fn new(x: u32, y: u32, width: u32, height: u32) -> Self {
        Self { x, y, width, height }
    }

    /// The whole of an image of this size.
    pub const fn whole(size: (u32, u32)) -> Self {
        Self::new(0, 0, size.0, size.1)
    }

    /// Width and height.
    pub const fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// The first column past it; a corner past `u32::MAX` counts as that.
    pub const fn right(&self) -> u32 {
        self.x.saturating_add(self.width)
    }

    /// The first row past it.
    pub const fn bottom(&self) -> u32 {
        self.y.saturating_add(self.height)
    }

    /// Whether a pixel lies in it.
    pub const fn contains(&self, x: u32, y: u32) -> bool {
        x >= self.x && y >= self.y && x < self.right() && y < self.bottom()
    }

    /// The part of it that lies in an image of this size.
    ///
    /// A rectangle that hangs over an edge is cut there; one that is empty or lies wholly outside
    /// is refused.
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

/// A map of the plane: `x' = a·x + c·y + e`, `y' = b·x + d·y + f`.
///
/// In a view it leads from the view's pixels to the pixels of the upright source, the image as a
/// person sees it, with its stored orientation applied.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Affine {
    /// `x'` for each `x`.
    pub a: f64,
    /// `y'` for each `x`.
    pub b: f64,
    /// `x'` for each `y`.
    pub c: f64,
    /// `y'` for each `y`.
    pub d: f64,
    /// `x'` of the origin.
    pub e: f64,
    /// `y'` of the origin.
    pub f: f64,
}

impl Affine {
    /// Every point stays.
    pub const IDENTITY: Self = Self { a: 1.0, b: 0.0, c: 0.0, d: 1.0, e: 0.0, f: 0.0 };

    /// From the pixels of a crop to the image it was cut from.
    ///
    /// Negative offsets are fine: a second monitor may lie left of the first.
    pub const fn offset(x: f64, y: f64) -> Self {
        Self { e: x, f: y, ..Self::IDENTITY }
    }

    /// From the pixels of a crop or tile to the image it was cut from.
    pub fn crop(rect: &Rect) -> Self {
        Self::offset(f64::from(rect.x), f64::from(rect.y))
    }

    /// So many pixels of the source for each of the view, across and down.
    pub const fn scale(x: f64, y: f64) -> Self {
        Self { a: x, d: y, ..Self::IDENTITY }
    }

    /// From an image resized to `to` back to the size `from` it had.
    pub fn resize(from: (u32, u32), to: (u32, u32)) -> Self {
        let each = |from: u32, to: u32| f64::from(from.max(1)) / f64::from(to.max(1));
        Self::scale(each(from.0, to.0), each(from.1, to.1))
    }

    /// From the pixels of a `rect` of the source, shown at `to`, to the source.
    pub fn tile(rect: &Rect, to: (u32, u32)) -> Self {
        Self::resize(rect.size(), to).then(&Self::crop(rect))
    }

    /// From an upright image to the stored pixels of size `stored` that EXIF says to turn so.
    ///
    /// An orientation outside 1 to 8 means nothing and turns nothing.
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

    /// This map first, then the other.
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

    /// The way back; none for a map that flattens the plane, which no view has.
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

    /// Where a point lands: view to source.
    pub fn map_point(&self, x: f64, y: f64) -> (f64, f64) {
        (self.a.mul_add(x, self.c.mul_add(y, self.e)), self.b.mul_add(x, self.d.mul_add(y, self.f)))
    }

    /// Where a point comes from: source to view.
    pub fn unmap_point(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        self.inverse().map(|back| back.map_point(x, y))
    }

    /// The pixel under the center of a pixel, which is what a click means.
    pub fn map_pixel(&self, x: i64, y: i64) -> (i64, i64) {
        let (x, y) = self.map_point(x as f64 + 0.5, y as f64 + 0.5);
        (x.floor() as i64, y.floor() as i64)
    }

    /// The smallest rectangle of whole pixels that holds the image of a rectangle.
    ///
    /// This is how a region of a view becomes a region of its source, to be read again from there.
    /// What lies left of or above the source is cut.
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

    /// Source pixels for each view pixel, the larger of both directions.
    pub fn reduction(&self) -> f64 {
        self.a.hypot(self.b).max(self.c.hypot(self.d))
    }
}

/// A row of text: where it stands on the page, and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Upper edge.
    pub top: f64,
    /// How high.
    pub height: f64,
    /// Left edge of the first cell.
    pub left: f64,
    /// How wide a cell is.
    pub cell: f64,
    /// Line of the source, from 1.
    pub line: u32,
    /// For each cell, which column of that line it shows: characters, from 1.
    pub columns: Vec<u32>,
}

impl Row {
    /// The line and column at a point of a page with these rows; beside all that stand at its height,
    /// the nearest character. None above or below them.
    ///
    /// Text that was laid out anew has several rows side by side, of one source line each.
    pub fn find(rows: &[Self], x: f64, y: f64) -> Option<(u32, u32)> {
        let high = rows.iter().filter(|row| y >= row.top && y < row.top + row.height);
        let nearest = high.min_by(|one, other| one.beside(x).total_cmp(&other.beside(x)))?;
        let cell = ((x - nearest.left) / nearest.cell).floor().max(0.0) as usize;
        let column = nearest.columns.get(cell).or(nearest.columns.last()).copied().unwrap_or(1);
        Some((nearest.line, column))
    }

    /// How far a point lies from the cells of this row, to the left or to the right.
    fn beside(&self, x: f64) -> f64 {
        let right = self.left + self.cell * self.columns.len() as f64;
        (self.left - x).max(x - right).max(0.0)
    }
}

/// A corner this close to a pixel boundary lies on it: sums of fractions are not exact.
const SLACK: f64 = 1e-6;
