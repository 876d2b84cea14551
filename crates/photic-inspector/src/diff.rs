//! Differences of two request bodies, found by their JSON tokens. Byte ranges outside of the
//! differences are equal.
//!
//! The search is written here and not taken from the crate `similar`, which limits its work by a
//! deadline alone: the same session would give other exports on another day.

#![expect(clippy::cast_possible_wrap, reason = "numbers of bytes are far below 2^63")]

use std::ops::Range;

/// Most edits that are searched for. Beyond them the rest of the bodies counts as one difference.
const MAX_EDITS: usize = 1200;

/// A difference: bytes of the first body, and bytes of the second that stand in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) a: Range<usize>,
    pub(crate) b: Range<usize>,
}

/// Returns the differences of two bodies, in order.
pub(crate) fn differences(a: &[u8], b: &[u8]) -> Vec<Difference> {
    let (left, right) = (tokens(a), tokens(b));
    let runs = edits(a, b, &left, &right);
    let at = |tokens: &[Range<usize>], len: usize, index: usize| {
        tokens.get(index).map_or(len, |token| token.start)
    };
    let mut found: Vec<Difference> = Vec::new();
    for (from_a, to_a, from_b, to_b) in runs {
        let span = |tokens: &[Range<usize>], len: usize, from: usize, to: usize| {
            let start = at(tokens, len, from);
            let end = if to > from { tokens[to - 1].end } else { start };
            start..end
        };
        let one = Difference {
            a: span(&left, a.len(), from_a, to_a),
            b: span(&right, b.len(), from_b, to_b),
        };
        found.push(widened(a, b, one));
    }
    join(a, b, found)
}

/// Makes the white space before an insertion belong to it on both sides, so that the rest is equal.
fn widened(a: &[u8], b: &[u8], one: Difference) -> Difference {
    let space = |text: &[u8], at: usize| {
        text[..at].iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count()
    };
    let (before_a, before_b) = (space(a, one.a.start), space(b, one.b.start));
    let same = (1..=before_a.min(before_b))
        .take_while(|n| a[one.a.start - n] == b[one.b.start - n])
        .count();
    if before_a == same && before_b == same {
        return one;
    }
    Difference { a: one.a.start - before_a..one.a.end, b: one.b.start - before_b..one.b.end }
}

/// Joins differences whose space between is not equal on both sides, until all spaces are.
fn join(a: &[u8], b: &[u8], found: Vec<Difference>) -> Vec<Difference> {
    let mut joined: Vec<Difference> = Vec::new();
    for one in found {
        let end = joined.last().map_or((0, 0), |last| (last.a.end, last.b.end));
        let start = (one.a.start.max(end.0), one.b.start.max(end.1));
        if a[end.0..start.0] == b[end.1..start.1] && start == (one.a.start, one.b.start) {
            joined.push(one);
            continue;
        }
        match joined.last_mut() {
            Some(last) => {
                last.a.end = one.a.end.max(last.a.end);
                last.b.end = one.b.end.max(last.b.end);
            }
            None => joined.push(Difference { a: 0..one.a.end, b: 0..one.b.end }),
        }
    }
    let end = joined.last().map_or((0, 0), |last| (last.a.end, last.b.end));
    if a[end.0..] != b[end.1..] {
        match joined.last_mut() {
            Some(last) => (last.a.end, last.b.end) = (a.len(), b.len()),
            None => joined.push(Difference { a: 0..a.len(), b: 0..b.len() }),
        }
    }
    joined
}

/// Splits JSON into strings, punctuation and words. White space is left out. Text that is no JSON
/// is split the same way.
pub(crate) fn tokens(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let start = at;
        match text[at] {
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'"' => {
                at += 1;
                while at < text.len() && text[at] != b'"' {
                    at += if text[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(text.len());
            }
            b'{' | b'}' | b'[' | b']' | b',' | b':' => at += 1,
            _ => {
                let ends = |byte: u8| {
                    byte.is_ascii_whitespace()
                        || matches!(byte, b'"' | b'{' | b'}' | b'[' | b']' | b',' | b':')
                };
                while at < text.len() && !ends(text[at]) {
                    at += 1;
                }
            }
        }
        found.push(start..at);
    }
    found
}

/// A run of tokens that differ: from and to on the left, from and to on the right.
type Run = (usize, usize, usize, usize);

fn edits(a: &[u8], b: &[u8], left: &[Range<usize>], right: &[Range<usize>]) -> Vec<Run> {
    let same = |x: usize, y: usize| a[left[x].clone()] == b[right[y].clone()];
    let shorter = left.len().min(right.len());
    let prefix = (0..shorter).take_while(|&n| same(n, n)).count();
    let suffix = (0..shorter - prefix)
        .take_while(|&n| same(left.len() - 1 - n, right.len() - 1 - n))
        .count();
    let (width, height) = (left.len() - prefix - suffix, right.len() - prefix - suffix);
    if width == 0 && height == 0 {
        return Vec::new();
    }
    let whole = vec![(prefix, prefix + width, prefix, prefix + height)];
    if width == 0 || height == 0 {
        return whole;
    }
    let same = |x: usize, y: usize| same(prefix + x, prefix + y);
    let Some(trace) = search(width, height, &same) else { return whole };
    let mut runs = runs_of(&trace, width, height, &same);
    for (from_a, to_a, from_b, to_b) in &mut runs {
        for side in [from_a, to_a, from_b, to_b] {
            *side += prefix;
        }
    }
    runs
}

/// Searches the shortest edit (Myers 1986). Returns the furthest points before each round: of the
/// diagonals from `-round` to `round`.
fn search(
    width: usize,
    height: usize,
    same: &impl Fn(usize, usize) -> bool,
) -> Option<Vec<Vec<i64>>> {
    let most = (width + height).min(MAX_EDITS) as i64;
    let (wide, high) = (width as i64, height as i64);
    let at = |diagonal: i64| (diagonal + most + 1) as usize;
    let mut furthest = vec![0_i64; 2 * most as usize + 3];
    let mut trace = Vec::new();
    for round in 0..=most {
        trace.push(furthest[at(-round)..=at(round)].to_vec());
        for diagonal in (-round..=round).step_by(2) {
            let (below, above) = (furthest[at(diagonal - 1)], furthest[at(diagonal + 1)]);
            let mut x = if goes_down(diagonal, round, below, above) { above } else { below + 1 };
            let mut y = x - diagonal;
            while x >= 0 && y >= 0 && x < wide && y < high && same(x as usize, y as usize) {
                (x, y) = (x + 1, y + 1);
            }
            furthest[at(diagonal)] = x;
            if x >= wide && y >= high {
                return Some(trace);
            }
        }
    }
    None
}

/// Returns `true` if the best step onto a diagonal is an insertion.
const fn goes_down(diagonal: i64, round: i64, below: i64, above: i64) -> bool {
    diagonal == -round || (diagonal != round && below < above)
}

/// Walks the trace back, and joins neighboring edits to runs.
fn runs_of(
    trace: &[Vec<i64>],
    width: usize,
    height: usize,
    same: &impl Fn(usize, usize) -> bool,
) -> Vec<Run> {
    let (mut x, mut y) = (width as i64, height as i64);
    let mut edits: Vec<(i64, i64, bool)> = Vec::new();
    for (round, row) in trace.iter().enumerate().rev() {
        let round = round as i64;
        if round == 0 {
            break;
        }
        let diagonal = x - y;
        // Before its round a point was only known for diagonals nearer to the middle.
        let known = |diagonal: i64| {
            usize::try_from(diagonal + round).ok().and_then(|at| row.get(at)).copied().unwrap_or(0)
        };
        let (below, above) = (known(diagonal - 1), known(diagonal + 1));
        let is_added = goes_down(diagonal, round, below, above);
        let from =
            if is_added { (above, above - diagonal - 1) } else { (below, below - diagonal + 1) };
        let (after_x, after_y) = if is_added { (from.0, from.1 + 1) } else { (from.0 + 1, from.1) };
        debug_assert!((after_x..x).all(|at| same(at as usize, (at - diagonal) as usize)));
        debug_assert_eq!(x - after_x, y - after_y);
        edits.push((from.0, from.1, is_added));
        (x, y) = from;
    }
    let mut runs: Vec<Run> = Vec::new();
    for &(x, y, is_added) in edits.iter().rev() {
        let (x, y) = (x as usize, y as usize);
        let (to_x, to_y) = if is_added { (x, y + 1) } else { (x + 1, y) };
        match runs.last_mut() {
            Some(last) if last.1 == x && last.3 == y => (last.1, last.3) = (to_x, to_y),
            _ => runs.push((x, to_x, y, to_y)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(a: &str, b: &str) -> Vec<(String, String)> {
        let found = differences(a.as_bytes(), b.as_bytes());
        let (mut built, mut at) = (Vec::new(), 0);
        for one in &found {
            built.extend_from_slice(&a.as_bytes()[at..one.a.start]);
            assert_eq!(built.len(), one.b.start, "{a} {b}");
            built.extend_from_slice(&b.as_bytes()[one.b.clone()]);
            at = one.a.end;
        }
        built.extend_from_slice(&a.as_bytes()[at..]);
        assert_eq!(built, b.as_bytes(), "applying the differences gives the second body");
        let text = |text: &str, range: &Range<usize>| text[range.clone()].to_owned();
        found.iter().map(|one| (text(a, &one.a), text(b, &one.b))).collect()
    }

    #[test]
    fn differences_are_small_and_exact() {
        assert_eq!(apply("{\"a\":1}", "{\"a\":1}"), []);
        assert_eq!(
            apply(r#"{"a":1,"b":[2,3]}"#, r#"{"a":1,"b":[2,4]}"#),
            [("3".to_owned(), "4".to_owned())]
        );
        let pairs = apply(r#"{"a":[1,2,3,4,5,6,7]}"#, r#"{"a":[1,9,3,4,5,6]}"#);
        assert_eq!(pairs.len(), 2, "{pairs:?}");
        apply(r#"{ "a": 1, "b": 2 }"#, r#"{ "a": 1, "m": {"x": "y"}, "b": 2 }"#);
        apply("", "{}");
        apply("{}", "");
        apply("no json at all", "no  json\nat all");
        apply(r#"{"a":"unclosed"#, r#"{"a":"unclosed too"#);
    }

    #[test]
    fn any_pair_of_texts_can_be_rebuilt() {
        // All short texts over an alphabet with every kind of token.
        let letters = ["1", " ", "\"a\"", ",", "["];
        let texts: Vec<String> = (0..625)
            .map(|n: usize| (0..4).map(|at| letters[n / 5_usize.pow(at) % 5]).collect())
            .collect();
        for a in texts.iter().step_by(7) {
            for b in texts.iter().step_by(3) {
                apply(a, b);
            }
        }
    }
}
