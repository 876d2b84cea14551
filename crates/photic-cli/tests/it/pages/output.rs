//! Output as a page shows it: `…` and `[..]` stand for anything, and a line `…` for any lines.

/// A line that stands for any lines.
const SKIP: &str = "…";

/// Characters of context by which a wildcard is found again in a changed line.
const CONTEXT: usize = 8;

/// Returns `true` if the shown lines describe the printed ones. Empty lines at the end are free.
pub(super) fn matches(shown: &[String], printed: &[String]) -> bool {
    let (shown, printed) = (trimmed(shown), trimmed(printed));
    // `reached[j]`: the shown lines so far describe the first `j` printed ones.
    let mut reached = vec![false; printed.len() + 1];
    reached[0] = true;
    for line in shown {
        let before = reached;
        reached = vec![false; printed.len() + 1];
        for at in 0..=printed.len() {
            reached[at] = if line.trim() == SKIP {
                before[..=at].contains(&true)
            } else {
                at > 0 && before[at - 1] && line_matches(line, &printed[at - 1])
            };
        }
    }
    reached[printed.len()]
}

/// Returns what the page should show: the printed lines, with the wildcards that the page has, where
/// they still fit.
pub(super) fn blessed(shown: &[String], printed: &[String]) -> Vec<String> {
    let (shown, printed) = (trimmed(shown), trimmed(printed));
    let mut lines = Vec::new();
    let (mut done, mut told) = (0, 0);
    for (at, line) in anchors(shown, printed) {
        lines.extend(gap(&shown[done..at], &printed[told..line]));
        lines.push(shown[at].clone());
        (done, told) = (at + 1, line + 1);
    }
    lines.extend(gap(&shown[done..], &printed[told..]));
    lines
}

/// The lines of one run, with a wildcard in place of the words that another run printed differently.
pub(super) fn steady(one: &[String], other: &[String]) -> Vec<String> {
    let line = |(at, line): (usize, &String)| match other.get(at) {
        Some(other) if other != line => masked(line, other),
        _ => line.clone(),
    };
    one.iter().enumerate().map(line).collect()
}

/// A line with a wildcard from the first word that differs to the last.
fn masked(line: &str, other: &str) -> String {
    let words: Vec<&str> = line.split_inclusive(' ').collect();
    let others: Vec<&str> = other.split_inclusive(' ').collect();
    let alike = |(one, other): (&&str, &&str)| one.trim_end() == other.trim_end();
    let same = words.iter().zip(&others).take_while(|pair| alike(*pair)).count();
    let most = words.len().min(others.len()) - same;
    let pairs = words.iter().rev().zip(others.iter().rev());
    let behind = pairs.take(most).take_while(|pair| alike(*pair)).count();
    let rest = words[words.len() - behind..].concat();
    let space = if rest.is_empty() { "" } else { " " };
    words[..same].concat() + "…" + space + &rest
}

/// The longest list of shown and printed lines that agree, in order.
fn anchors(shown: &[String], printed: &[String]) -> Vec<(usize, usize)> {
    let agree = |at: usize, line: usize| {
        shown[at].trim() != SKIP && line_matches(&shown[at], &printed[line])
    };
    let mut longest = vec![vec![0_usize; printed.len() + 1]; shown.len() + 1];
    for at in (0..shown.len()).rev() {
        for line in (0..printed.len()).rev() {
            longest[at][line] = if agree(at, line) {
                1 + longest[at + 1][line + 1]
            } else {
                longest[at + 1][line].max(longest[at][line + 1])
            };
        }
    }
    let (mut at, mut line, mut anchors) = (0, 0, Vec::new());
    while at < shown.len() && line < printed.len() {
        if agree(at, line) && longest[at][line] == 1 + longest[at + 1][line + 1] {
            anchors.push((at, line));
            (at, line) = (at + 1, line + 1);
        } else if longest[at + 1][line] >= longest[at][line + 1] {
            at += 1;
        } else {
            line += 1;
        }
    }
    anchors
}

/// The lines between two that agree. A skipped run stays skipped; as many lines as the page shows
/// before and after it are written out.
fn gap(shown: &[String], printed: &[String]) -> Vec<String> {
    let skip = |line: &String| line.trim() == SKIP;
    let (Some(first), Some(last)) = (shown.iter().position(skip), shown.iter().rposition(skip))
    else {
        return carried(shown, printed);
    };
    let before = first.min(printed.len());
    let after = (shown.len() - last - 1).min(printed.len() - before);
    let (head, rest) = printed.split_at(before);
    let tail = &rest[rest.len() - after..];
    let mut lines = carried(&shown[..first], head);
    lines.push(shown[first].clone());
    lines.extend(carried(&shown[last + 1..], tail));
    lines
}

/// The printed lines, each with the wildcards of the shown line in its place.
fn carried(shown: &[String], printed: &[String]) -> Vec<String> {
    let one = |(at, line): (usize, &String)| match shown.get(at) {
        Some(shown) => with_wildcards(shown, line),
        None => line.clone(),
    };
    printed.iter().enumerate().map(one).collect()
}

/// The new line with the wildcards of the old one, where the words around them are still there.
fn with_wildcards(old: &str, new: &str) -> String {
    let pieces = pieces(old);
    let mut line = String::new();
    let mut rest = new;
    for pair in pieces.windows(2) {
        let left: String = tail(pair[0]);
        let right: String = pair[1].chars().take(CONTEXT).collect();
        let Some(from) = rest.find(&left).map(|at| at + left.len()) else { continue };
        let until =
            if right.is_empty() { Some(rest.len() - from) } else { rest[from..].find(&right) };
        if let Some(until) = until {
            line.push_str(&rest[..from]);
            line.push('…');
            rest = &rest[from + until..];
        }
    }
    line + rest
}

fn tail(text: &str) -> String {
    let skipped = text.chars().count().saturating_sub(CONTEXT);
    text.chars().skip(skipped).collect()
}

/// Returns `true` if a pattern with wildcards describes the line.
fn line_matches(pattern: &str, line: &str) -> bool {
    let pieces = pieces(pattern.trim_end());
    let (first, last) = (pieces[0], pieces[pieces.len() - 1]);
    let line = line.trim_end();
    if pieces.len() == 1 {
        return first == line;
    }
    let Some(mut rest) = line.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else {
        return false;
    };
    pieces[1..pieces.len() - 1].iter().all(|piece| match rest.find(piece) {
        Some(at) => {
            rest = &rest[at + piece.len()..];
            true
        }
        None => false,
    })
}

/// The pieces of a pattern between its wildcards.
fn pieces(pattern: &str) -> Vec<&str> {
    pattern.split('…').flat_map(|piece| piece.split("[..]")).collect()
}

/// The lines without empty ones at the end.
fn trimmed(lines: &[String]) -> &[String] {
    let end = lines.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |at| at + 1);
    &lines[..end]
}

#[cfg(test)]
mod tests {
    use super::{blessed, line_matches, matches, steady};

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn wildcards_stand_for_anything_and_nothing_else_does() {
        assert!(line_matches("took … ms", "took 12 ms"));
        assert!(line_matches("took [..] ms of …", "took 12 ms of 14"));
        assert!(!line_matches("took … ms", "took 12 s"));
        assert!(!line_matches("a", "ab"));
        assert!(matches(&lines("a\n…\nd"), &lines("a\nb\nc\nd\n\n")));
        assert!(matches(&lines("…"), &lines("")));
        assert!(!matches(&lines("a\n…\nd"), &lines("a\nb\nc")));
        assert!(!matches(&lines("a"), &lines("a\nb")));
        assert!(!matches(&lines("a\n\nb"), &lines("a\nb")));
    }

    #[test]
    fn words_that_differ_between_two_runs_become_wildcards() {
        let steady = |one: &str, other: &str| steady(&lines(one), &lines(other)).join("\n");
        assert_eq!(steady("a\ntook 5 ms of it", "a\ntook 61 ms of it"), "a\ntook … ms of it");
        assert_eq!(steady("session s_1", "session s_2"), "session …");
        assert_eq!(steady("a b", "a b"), "a b");
        assert_eq!(steady("a b c", "a b"), "a b …");
    }

    #[test]
    fn blessing_changes_what_differs_and_keeps_wildcards() {
        let shown = lines("head 1\n…\nwrote … bytes in /x\ntail");
        let printed = lines("head 1\nnew\nwrote 5 bytes in /y\ntail");
        assert_eq!(blessed(&shown, &printed), lines("head 1\n…\nwrote … bytes in /y\ntail"));
        assert!(matches(&blessed(&shown, &printed), &printed));
        let printed = lines("head 2\na\nb\ntail");
        assert!(matches(&blessed(&shown, &printed), &printed));
        assert_eq!(blessed(&lines("old"), &lines("new\nmore")), lines("new\nmore"));
        assert_eq!(blessed(&lines("a\nb"), &lines("")), lines(""));
        assert_eq!(blessed(&lines("t … ms"), &lines("time 5 ms")), lines("time 5 ms"));
    }
}
