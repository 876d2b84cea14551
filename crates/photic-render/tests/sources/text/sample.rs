//! A sample to be looked at, not to be built.

use std::collections::BTreeMap;

/// Counts words; the `0` and the `O`, the `1`, the `l` and the `I` must be told apart.
pub fn count<'a>(text: &'a str) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for word in text.split_whitespace().filter(|word| !word.is_empty()) {
        *counts.entry(word).or_insert(0) += 1; // 0xDEAD_BEEF != "\u{1f}"
    }
    assert!(counts.len() <= text.len(), "{} > {}", counts.len(), text.len());
    counts
}

#[test]
fn it_counts_a_line_that_is_far_too_long_for_one_row_of_the_page_and_so_goes_on_in_the_next_one() {
    assert_eq!(count("a b a")["a"], 2);
}
