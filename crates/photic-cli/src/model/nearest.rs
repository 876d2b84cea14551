//! Finds the known model that is spelled most like a misspelled one.

/// Fewest letters of a name that is suggested. Shorter ones are near everything.
const MIN_LETTERS: usize = 4;
/// Most bytes of a name that is compared; those of models are far shorter.
const MAX_BYTES: usize = 200;
/// Letters of a name for each difference that is allowed.
const LETTERS_PER_DIFFERENCE: usize = 5;

/// Returns the known model that is spelled most like `model`. Returns `None` if `model` is known by
/// name, or if no name is near it.
///
/// A name with other digits is another version and no misspelling: `claude-opus-9` is not taken for
/// `claude-opus-5`.
pub(super) fn nearest(model: &str) -> Option<String> {
    let asked = model.trim().rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    if asked.len() > MAX_BYTES {
        return None;
    }
    let mut best: Option<(usize, usize, &str)> = None;
    let mut matched = 0;
    for glob in photic::profile::shipped().iter().flat_map(|profile| &profile.models) {
        let is_open = glob.ends_with('*');
        let name = glob.strip_suffix('*').unwrap_or(glob);
        if photic::profile::specificity(std::slice::from_ref(glob), model).is_some() {
            matched = matched.max(name.len());
        }
        if name.contains('*') || name.len() < MIN_LETTERS || name.ends_with('-') {
            continue;
        }
        // A name without the end of a known one is often a sibling: `glm-4.5` of `glm-4.5v`.
        if name != asked && name.starts_with(&asked) {
            continue;
        }
        let (far, end) = distance(name, &asked, is_open);
        if far * LETTERS_PER_DIFFERENCE > name.len() || digits(name) != digits(&asked[..end]) {
            continue;
        }
        let rank = (far, usize::MAX - name.len(), name);
        if best.is_none_or(|former| rank < former) {
            best = Some(rank);
        }
    }
    // A name that matches better than the nearest one is not misspelled.
    best.filter(|(far, _, name)| *far > 0 && name.len() > matched)
        .map(|(_, _, name)| name.to_owned())
}

/// The digits of a name: its version.
fn digits(name: &str) -> String {
    name.chars().filter(char::is_ascii_digit).collect()
}

/// Returns the number of letters to change, add, remove or swap with the next one to get from
/// `known` to `asked`, and the number of bytes of `asked` that were compared: all of them, or the
/// best beginning if `is_open`.
fn distance(known: &str, asked: &str, is_open: bool) -> (usize, usize) {
    let (known, asked) = (known.as_bytes(), asked.as_bytes());
    let width = asked.len() + 1;
    let mut rows: Vec<Vec<usize>> = vec![(0..width).collect()];
    for (i, &a) in known.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &b) in asked.iter().enumerate() {
            let changed = rows[i][j] + usize::from(a != b);
            let mut least = changed.min(rows[i][j + 1] + 1).min(row[j] + 1);
            let is_swapped = i > 0 && j > 0 && a == asked[j - 1] && b == known[i - 1] && a != b;
            if is_swapped {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    let last = rows.pop().unwrap_or_default();
    let all = (last.last().copied().unwrap_or(usize::MAX), asked.len());
    if !is_open {
        return all;
    }
    // A beginning ends where a word of the name does.
    let is_end = |end: usize| asked.get(end).is_none_or(|next| !next.is_ascii_alphanumeric());
    let is_whole = |end: usize| std::str::from_utf8(&asked[..end]).is_ok();
    let ends = last.iter().enumerate().filter(|&(end, _)| is_end(end) && is_whole(end));
    let ends = ends.map(|(end, &far)| (far, end));
    ends.min_by_key(|&(far, end)| (far, usize::MAX - end)).unwrap_or(all)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn misspelled_names_have_a_nearest_one() {
        for (asked, known) in [
            ("gtp-4o", "gpt-4o"),
            ("gtp-4o-mini", "gpt-4o-mini"),
            ("openai/gtp-4o", "gpt-4o"),
            ("claude-sonet-5", "claude-sonnet-5"),
            ("cluade-opus-4-5-20251101", "claude-opus-4-5"),
            ("gemni-2.5-pro", "gemini-2"),
        ] {
            assert_eq!(nearest(asked).as_deref(), Some(known), "{asked}");
        }
    }

    #[test]
    fn known_names_new_versions_and_nonsense_have_none() {
        for asked in [
            "gpt-4o",
            "gpt-4o-2024-08-06",
            "claude-sonnet-5",
            "claude-opus-9",
            "gpt-9",
            "glm-4.5",
            "nonsense",
            "house/vl",
            "m",
            "",
            "é",
        ] {
            assert_eq!(nearest(asked), None, "{asked}");
        }
        // A body may name anything.
        assert_eq!(nearest(&"gtp-4o".repeat(1 << 20)), None);
    }
}
