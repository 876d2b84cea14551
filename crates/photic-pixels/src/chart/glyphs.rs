//! The letters and digits of codes, as strokes of a round pen.
//!
//! Glyphs are drawn in a box four units wide and six high. Characters that are easily confused (I,
//! O, 0, 1) are left out.

use std::sync::LazyLock;

/// The characters of codes.
pub const ALPHABET: &str = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
/// Half the width of the pen.
pub(super) const PEN: f64 = 0.42;
/// Width and height of a glyph, the pen included.
pub(super) const BOX: (f64, f64) = (4.0 + 2.0 * PEN, 6.0 + 2.0 * PEN);

/// A straight piece of a stroke: from, to.
type Piece = ((f64, f64), (f64, f64));

/// Number of straight pieces that approximate a curve.
const PIECES: u32 = 8;

/// `M` moves the pen, `L` draws a line, `Q` a curve around its first point to its second.
const STROKES: [&str; 32] = [
    "M0,6 L2,0 L4,6 M0.75,4 L3.25,4",
    "M0,0 L0,6 L2.2,6 Q4,6 4,4.4 Q4,2.9 2.2,2.9 L0,2.9 M2,2.9 Q3.6,2.9 3.6,1.4 Q3.6,0 2,0 L0,0",
    "M4,1.3 Q3.4,0 2.1,0 Q0,0 0,3 Q0,6 2.1,6 Q3.4,6 4,4.7",
    "M0,0 L0,6 L1.6,6 Q4,6 4,3 Q4,0 1.6,0 L0,0",
    "M4,0 L0,0 L0,6 L4,6 M0,2.9 L3.5,2.9",
    "M4,0 L0,0 L0,6 M0,2.9 L3.3,2.9",
    "M4,1.2 Q3.4,0 2.1,0 Q0,0 0,3 Q0,6 2.1,6 Q3.3,6 4,5.2 L4,3.2 L2.3,3.2",
    "M0,0 L0,6 M4,0 L4,6 M0,2.9 L4,2.9",
    "M3.4,0 L3.4,4.2 Q3.4,6 1.8,6 Q0.5,6 0.2,4.7",
    "M0,0 L0,6 M3.9,0 L0,3.7 M1.4,2.4 L4,6",
    "M0,0 L0,6 L3.8,6",
    "M0,6 L0,0 L2,3.6 L4,0 L4,6",
    "M0,6 L0,0 L4,6 L4,0",
    "M0,6 L0,0 L2.2,0 Q4,0 4,1.7 Q4,3.4 2.2,3.4 L0,3.4",
    "M2,0 Q0,0 0,3 Q0,6 2,6 Q4,6 4,3 Q4,0 2,0 M2.5,4.3 L4,6",
    "M0,6 L0,0 L2.2,0 Q4,0 4,1.7 Q4,3.4 2.2,3.4 L0,3.4 M2,3.4 L4,6",
    "M3.8,1.2 Q3.3,0 2,0 Q0.2,0 0.2,1.5 Q0.2,2.7 2,3 Q4,3.3 4,4.5 Q4,6 2,6 Q0.5,6 0,4.7",
    "M0,0 L4,0 M2,0 L2,6",
    "M0,0 L0,4 Q0,6 2,6 Q4,6 4,4 L4,0",
    "M0,0 L2,6 L4,0",
    "M0,0 L0.9,6 L2,2 L3.1,6 L4,0",
    "M0,0 L4,6 M4,0 L0,6",
    "M0,0 L2,3 L4,0 M2,3 L2,6",
    "M0.1,0 L3.9,0 L0,6 L4,6",
    "M0.2,1.5 Q0.3,0 2,0 Q3.8,0 3.8,1.6 Q3.8,2.7 2.4,3.8 L0,6 L4,6",
    "M0.3,1.1 Q0.7,0 2,0 Q3.6,0 3.6,1.5 Q3.6,2.8 1.7,2.8 Q4,2.8 4,4.4 Q4,6 2,6 Q0.4,6 0,4.8",
    "M3,6 L3,0 L0,4.2 L4,4.2",
    "M3.7,0 L0.6,0 L0.3,2.7 Q1,2.1 2,2.1 Q4,2.1 4,4 Q4,6 2,6 Q0.5,6 0,4.8",
    "M3.7,1 Q3.2,0 2.2,0 Q0,0 0,3.6 Q0,6 2,6 Q4,6 4,4.1 Q4,2.3 2.1,2.3 Q0.4,2.3 0,3.9",
    "M0,0 L4,0 L1.5,6",
    "M2,2.8 Q0.3,2.8 0.3,1.4 Q0.3,0 2,0 Q3.7,0 3.7,1.4 Q3.7,2.8 2,2.8 Q0,2.8 0,4.4 Q0,6 2,6 Q4,6 4,4.4 Q4,2.8 2,2.8",
    "M0.3,5 Q0.8,6 1.8,6 Q4,6 4,2.4 Q4,0 2,0 Q0,0 0,1.9 Q0,3.7 1.9,3.7 Q3.6,3.7 4,2.1",
];

/// The pieces of every glyph, in the order of [`ALPHABET`].
static GLYPHS: LazyLock<Vec<Vec<Piece>>> =
    LazyLock::new(|| STROKES.iter().map(|strokes| pieces(strokes)).collect());

/// Distance of a point in a glyph's box from the center line of its strokes. The box begins at the
/// outer edge of the pen.
pub(super) fn distance(glyph: usize, (x, y): (f64, f64)) -> f64 {
    let point = (x - PEN, y - PEN);
    let squares = GLYPHS[glyph].iter().map(|piece| from_piece(point, *piece));
    squares.fold(f64::INFINITY, f64::min).sqrt()
}

/// The squared distance of a point from one piece; one square root for all pieces is enough.
fn from_piece((x, y): (f64, f64), ((ax, ay), (bx, by)): Piece) -> f64 {
    let (dx, dy) = (bx - ax, by - ay);
    let along = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy).max(f64::EPSILON);
    let along = along.clamp(0.0, 1.0);
    (x - ax - along * dx).powi(2) + (y - ay - along * dy).powi(2)
}

/// Parses strokes into straight pieces.
fn pieces(strokes: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut at = (0.0, 0.0);
    let mut around = None;
    for word in strokes.split(' ') {
        let to = point(word.trim_start_matches(['M', 'L', 'Q']));
        match (word.chars().next(), around.take()) {
            (Some('M'), _) => {}
            (Some('Q'), _) => {
                around = Some(to);
                continue;
            }
            (_, None) => pieces.push((at, to)),
            (_, Some(control)) => {
                let mut from = at;
                for step in 1..=PIECES {
                    let next = curve(at, control, to, f64::from(step) / f64::from(PIECES));
                    pieces.push((from, next));
                    from = next;
                }
            }
        }
        at = to;
    }
    pieces
}

/// A point of a quadratic curve.
fn curve(a: (f64, f64), b: (f64, f64), c: (f64, f64), t: f64) -> (f64, f64) {
    let mix =
        |a: f64, b: f64, c: f64| (1.0 - t).powi(2) * a + 2.0 * (1.0 - t) * t * b + t.powi(2) * c;
    (mix(a.0, b.0, c.0), mix(a.1, b.1, c.1))
}

/// Parses `x,y`.
fn point(text: &str) -> (f64, f64) {
    let number = |text: &str| text.parse().unwrap_or_default();
    text.split_once(',').map(|(x, y)| (number(x), number(y))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_glyph_stays_in_its_box_and_touches_its_top_and_bottom() {
        assert_eq!(ALPHABET.len(), STROKES.len());
        for (letter, pieces) in ALPHABET.chars().zip(GLYPHS.iter()) {
            let points = || pieces.iter().flat_map(|(from, to)| [*from, *to]);
            let inside = |(x, y): (f64, f64)| (0.0..=4.0).contains(&x) && (0.0..=6.0).contains(&y);
            assert!(points().all(inside), "{letter}");
            let top = points().map(|(_, y)| y).fold(f64::INFINITY, f64::min);
            let bottom = points().map(|(_, y)| y).fold(0.0, f64::max);
            assert!(top < 0.01 && bottom > 5.99, "{letter} from {top} to {bottom}");
        }
    }
}
