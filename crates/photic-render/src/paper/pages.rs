//! Cuts strips into pages, filled from the top, independent of the requested page.

use std::ops::Range;

use super::strip::{Keep, Strip};
use crate::text::{MARGIN, SHEET};

/// Height for strips on a page.
pub(super) const ROOM: f64 = SHEET - 2.0 * MARGIN;

/// The strips of each page.
pub(super) fn cut(strips: &[Strip<'_>]) -> Vec<Range<usize>> {
    let mut pages = Vec::new();
    let mut start = 0;
    let mut taken = 0.0;
    let mut index = 0;
    while index < strips.len() {
        let strip = &strips[index];
        if index == start {
            taken = head(strips, index).map_or(0.0, |head| strips[head].height) + strip.height;
        } else if taken + strip.before + strip.height > ROOM {
            let end = before_kept(strips, start, index);
            pages.push(start..end);
            (start, index) = (end, end);
            continue;
        } else {
            taken += strip.before + strip.height;
        }
        index += 1;
    }
    if start < strips.len() || pages.is_empty() {
        pages.push(start..strips.len());
    }
    pages
}

/// The strips of a page with their positions, and the end of the last one.
pub(super) fn place(strips: &[Strip<'_>], page: &Range<usize>) -> (Vec<(usize, f64)>, f64) {
    let mut top = MARGIN;
    let mut placed = Vec::new();
    if let Some(head) = head(strips, page.start) {
        placed.push((head, top));
        top += strips[head].height;
    }
    for index in page.clone() {
        if index > page.start {
            top += strips[index].before;
        }
        placed.push((index, top));
        top += strips[index].height;
    }
    (placed, top)
}

/// The table head to repeat above a strip that starts a page.
fn head(strips: &[Strip<'_>], index: usize) -> Option<usize> {
    strips.get(index).and_then(|strip| strip.head).filter(|head| *head < index)
}

/// The end of a page without room for this strip: before strips that must stay with it.
fn before_kept(strips: &[Strip<'_>], start: usize, index: usize) -> usize {
    let mut end = index;
    while end > start + 1 && strips[end - 1].keep == Keep::WithNext {
        end -= 1;
    }
    // A page that consists of headings is cut where it is full.
    if end == start + 1 && strips[start].keep == Keep::WithNext { index } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::strip::Content;
    use std::rc::Rc;

    fn strip(height: f64, keep: Keep, head: Option<usize>) -> Strip<'static> {
        let (bars, shade) = (Rc::from([]), None);
        Strip { before: 10.0, height, keep, head, bars, shade, content: Content::Blank }
    }

    #[test]
    fn headings_stay_with_what_follows_and_heads_are_repeated() {
        let free = |height| strip(height, Keep::Free, None);
        let strips = [free(900.0), strip(50.0, Keep::WithNext, None), free(200.0)];
        assert_eq!(cut(&strips), [0..1, 1..3]);

        let row = || strip(500.0, Keep::Free, Some(0));
        let strips = [strip(100.0, Keep::WithNext, None), row(), row(), row()];
        assert_eq!(cut(&strips), [0..2, 2..3, 3..4]);
        let (placed, end) = place(&strips, &(2..3));
        assert_eq!(placed, [(0, MARGIN), (2, MARGIN + 100.0)]);
        assert!((end - MARGIN - 600.0).abs() < 1e-9);

        let heads: Vec<Strip<'_>> = (0..60).map(|_| strip(50.0, Keep::WithNext, None)).collect();
        let pages = cut(&heads);
        assert!(pages.len() > 2 && pages.iter().all(|page| !page.is_empty()), "{pages:?}");
        assert_eq!(cut(&[]).len(), 1, "nothing is a page too");
    }
}
