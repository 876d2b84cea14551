//! Perceptions: the pixels a model gets, and facts about them.
//!
//! A perception has no freshness token and cannot create one: seeing is not reading.

use std::fmt;

use photic::tokens::Detail;
use photic_pixels::geometry::{Affine, Rect, TextRow};
use photic_pixels::{View, Warning};
use serde::Serialize;

/// A source as a model sees it. Serialization contains everything but the bytes.
#[derive(Clone, PartialEq, Serialize)]
pub struct Perception {
    /// The file to send. It is never serialized or logged.
    #[serde(skip)]
    pub bytes: Vec<u8>,
    /// Its media type, detected from the bytes.
    pub media_type: &'static str,
    /// Its width.
    pub width: u32,
    /// Its height.
    pub height: u32,
    /// Its size in bytes.
    pub byte_size: usize,
    /// Width and height of the upright original, or of the drawn page.
    pub source_size: (u32, u32),
    /// Unit of the original's size: `px`, or `pt` for pages.
    pub unit: &'static str,
    /// The part of the original that is shown.
    pub region: Rect,
    /// Pixels of the view per unit of the original, in the direction in which it is reduced more.
    /// The other direction differs by rounding: points are mapped with `map`.
    pub scale: f64,
    /// Map from pixels of the view to units of the original.
    pub map: Affine,
    /// Tokens for the model it was made for.
    pub tokens: u64,
    /// The `detail` to send, so that the provider keeps the size.
    #[serde(skip)]
    pub detail: Option<Detail>,
    /// Number of pages or frames, at least.
    pub pages: u32,
    /// First and last line shown, for text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    /// Rows from top to bottom, for text.
    #[serde(skip)]
    pub rows: Vec<TextRow>,
    /// Handle for looking at the original again, if there is a store.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Warnings for the reader.
    pub warnings: Vec<Warning>,
    /// Summary to put before the picture.
    pub label: String,
}

impl Perception {
    pub(crate) fn of(view: View, name: &str, reference: Option<String>) -> Self {
        let label = label(&view, name, reference.as_deref());
        Self {
            media_type: view.media_type,
            width: view.width,
            height: view.height,
            byte_size: view.bytes.len(),
            source_size: view.source,
            region: view.region,
            scale: view.scale,
            map: view.map,
            tokens: view.tokens,
            detail: view.detail,
            pages: view.frames.least(),
            lines: lines(&view.rows),
            unit: view.unit,
            rows: view.rows,
            reference,
            warnings: view.warnings,
            label,
            bytes: view.bytes,
        }
    }
}

/// Returns the first and last line with a visible row.
fn lines(rows: &[TextRow]) -> Option<(u32, u32)> {
    let all = rows.iter().map(|row| row.line);
    all.clone().min().zip(all.max())
}

impl fmt::Debug for Perception {
    /// Never shows the bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { media_type, width, height, byte_size, region, .. } = self;
        write!(f, "<{media_type} {width}x{height}, {byte_size} bytes, of {region:?}>")
    }
}

/// Writes how a point of the view maps to the original, with a factor for each direction; `None` if
/// it stays in place.
///
/// A size is whole pixels, so the two factors differ: with one of them for both, the lower end of a
/// narrow page is off by several pixels.
fn mapping(map: &Affine, (width, height): (u32, u32)) -> Option<String> {
    let term = |offset: f64, factor: f64, extent: u32, name: char| {
        // Within 0.05 units, and a quarter of a pixel of the view, at its far end.
        let tolerance = (factor.abs() / 4.0).min(0.05);
        let offset = decimals(offset, tolerance / 10.0);
        let factor = decimals(factor, tolerance / f64::from(extent.max(1)));
        let factor = if factor == "1" { name.to_string() } else { format!("{factor}{name}") };
        if matches!(offset.as_str(), "0" | "-0") { factor } else { format!("{offset} + {factor}") }
    };
    let (x, y) = (term(map.e, map.a, width, 'x'), term(map.f, map.d, height, 'y'));
    let stays = x == "x" && y == "y";
    (!stays).then(|| format!(": (x, y) here is ({x}, {y}) in the original"))
}

/// Writes a number with as few decimals as keep it within a tolerance.
fn decimals(number: f64, tolerance: f64) -> String {
    let is_near = |text: &String| {
        text.parse::<f64>().is_ok_and(|written| (written - number).abs() < tolerance)
    };
    let written = (0..9).map(|digits| format!("{number:.digits$}")).find(is_near);
    written.unwrap_or_else(|| number.to_string())
}

/// Writes the summary: size, scale, coordinates, zoom.
fn label(view: &View, name: &str, reference: Option<&str>) -> String {
    let (source_width, source_height) = view.source;
    let Rect { x, y, width, height } = view.region;
    let mut words = vec![format!("{name}: {source_width}x{source_height} {}", view.unit)];
    if (width, height) != view.source {
        words.push(format!(", region {x},{y},{width},{height}"));
    }
    words.extend(lines(&view.rows).map(|(first, last)| format!(", lines {first} to {last}")));
    words.push(format!(", shown as {}x{}, scale {:.3}", view.width, view.height, view.scale));
    words.extend(mapping(&view.map, (view.width, view.height)));
    words.extend(reference.map(|reference| format!("; ref {reference}")));
    words.extend(view.warnings.iter().map(|warning| format!("\nwarning: {warning}")));
    words.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the factors out of the words, as a model does.
    fn factors(words: &str) -> [(f64, f64); 2] {
        let (_, rest) = words.split_once("is (").unwrap();
        let (inside, _) = rest.split_once(") in").unwrap();
        let (x, y) = inside.split_once(", ").unwrap();
        [(x, 'x'), (y, 'y')].map(|(term, name)| {
            let (offset, factor) = term.split_once(" + ").unwrap_or(("0", term));
            let factor = factor.strip_suffix(name).unwrap();
            let factor = if factor.is_empty() { "1" } else { factor };
            (offset.parse().unwrap(), factor.parse().unwrap())
        })
    }

    /// A narrow page of 2880x8400 pixels shown at 103x300 was off by 8 px with a single factor.
    #[test]
    fn corners_map_to_corners_by_the_words_alone() {
        for (region, shown) in [
            (Rect::new(0, 0, 2880, 8400), (103, 300)),
            (Rect::new(0, 0, 3840, 2160), (1568, 882)),
            (Rect::new(363, 17, 1000, 731), (997, 729)),
            (Rect::new(5, 0, 64, 48), (640, 480)),
            (Rect::new(0, 0, 1, 16000), (1, 2000)),
        ] {
            let map = Affine::tile(&region, shown);
            let [x, y] = factors(&mapping(&map, shown).unwrap());
            let at = |(offset, factor): (f64, f64), of: u32| offset + factor * f64::from(of);
            let far = map.map_point(f64::from(shown.0), f64::from(shown.1));
            assert!((at(x, shown.0) - far.0).abs() < 0.1, "{region:?} {x:?}");
            assert!((at(y, shown.1) - far.1).abs() < 0.1, "{region:?} {y:?}");
            assert!((far.0 - f64::from(region.right())).abs() < 1e-6);
            assert!((far.1 - f64::from(region.bottom())).abs() < 1e-6);
            assert_eq!((x.0, y.0), (f64::from(region.x), f64::from(region.y)));
        }
    }

    /// A drawing of one unit, shown at 2000 px: a tenth of a unit would be a tenth of the picture.
    #[test]
    fn small_units_get_more_digits() {
        let map = Affine::tile(&Rect::new(0, 0, 1, 3), (2000, 2000));
        let [x, y] = factors(&mapping(&map, (2000, 2000)).unwrap());
        assert!((x.1 * 2000.0 - 1.0).abs() < 1e-3 && (y.1 * 2000.0 - 3.0).abs() < 1e-3);
        let offset = Affine { e: -0.25, f: 1e-12, ..Affine::scale(0.5, 0.5) };
        let words = mapping(&offset, (100, 100)).unwrap();
        assert_eq!(words, ": (x, y) here is (-0.25 + 0.5x, 0.5y) in the original");
    }

    #[test]
    fn factors_are_as_short_as_they_can_be() {
        let words = |region, shown| mapping(&Affine::tile(&region, shown), shown);
        assert_eq!(words(Rect::new(0, 0, 64, 48), (64, 48)), None);
        let words = |region, shown| words(region, shown).unwrap();
        let half = words(Rect::new(0, 0, 3000, 2000), (1500, 1000));
        assert_eq!(half, ": (x, y) here is (2x, 2y) in the original");
        let crop = words(Rect::new(10, 20, 64, 48), (64, 48));
        assert_eq!(crop, ": (x, y) here is (10 + x, 20 + y) in the original");
    }
}
