//! Fates as letters, one for each picture number of a session.

use photic::{Choice, Fate, Reason};
use photic_store::record::{PictureRun, SentFate};

/// The letters of pictures that the model sees.
pub(crate) const SHOWN: &str = "khspo";

/// Returns the letter of a fate.
pub(crate) const fn letter(fate: SentFate) -> char {
    match (fate.fate, fate.is_remade) {
        (Fate::Keep(_), false) => 'k',
        (Fate::Hoist(_), false) => 'h',
        (Fate::Keep(_) | Fate::Hoist(_), true) => 's',
        (Fate::Elide(Reason::Dropped), _) => 'd',
        (Fate::Elide(Reason::Repeated), _) => 'e',
        (Fate::Elide(Reason::OnSheet), _) => 'o',
        (Fate::Elide(Reason::Cleared | Reason::Summary), _) => 'c',
        (Fate::Elide(reason), _) if reason.gave_way() || matches!(reason, Reason::OverLimit) => 'r',
        (Fate::Elide(_) | Fate::Refuse(_), _) => 'f',
    }
}

/// Returns `true` for the letters of pictures that the model sees.
pub(crate) fn is_shown(letter: char) -> bool {
    SHOWN.contains(letter)
}

/// Returns the number of the session's picture of each medium of a turn; `None` for media without
/// bytes in the record.
pub(crate) fn numbers(runs: &[PictureRun]) -> Vec<Option<u32>> {
    let each = runs
        .iter()
        .flat_map(|run| (0..run.count).map(move |at| (run.first > 0).then(|| run.first + at)));
    each.collect()
}

/// Returns the letters of a turn by picture number. Of a picture that is there twice, the one that
/// is shown decides.
pub(crate) fn letters(
    numbers: &[Option<u32>],
    fates: impl Iterator<Item = SentFate>,
    choice: impl Fn(u32) -> Option<Choice>,
) -> String {
    let mut letters: Vec<char> = Vec::new();
    for (number, fate) in numbers.iter().zip(fates) {
        let Some(number) = *number else { continue };
        let index = number as usize - 1;
        if letters.len() <= index {
            letters.resize(index + 1, '.');
        }
        let mut one = letter(fate);
        if matches!(one, 'k' | 'h') && choice(number) == Some(Choice::Pin) {
            one = 'p';
        }
        if letters[index] == '.' || !is_shown(letters[index]) {
            letters[index] = one;
        }
    }
    letters.into_iter().collect()
}

/// Returns the letter of a picture in the letters of a turn.
pub(crate) fn of(letters: &str, number: u32) -> char {
    // One byte for each letter.
    let found = letters.as_bytes().get((number as usize).wrapping_sub(1));
    found.map_or('.', |byte| char::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fate(fate: Fate) -> SentFate {
        SentFate { fate, is_remade: false }
    }

    #[test]
    fn each_number_has_a_letter_and_what_is_shown_decides() {
        let numbers = [Some(1), Some(2), None, Some(4), Some(2)];
        let fates = [
            Fate::Keep(Reason::Fits),
            Fate::Elide(Reason::Repeated),
            Fate::Keep(Reason::Fits),
            Fate::Elide(Reason::Retired),
            Fate::Hoist(Reason::ErrorResult),
        ];
        let pinned = |number| (number == 1).then_some(Choice::Pin);
        let letters = letters(&numbers, fates.into_iter().map(fate), pinned);
        assert_eq!(letters, "ph.r");
        assert_eq!((of(&letters, 2), of(&letters, 9), of(&letters, 0)), ('h', '.', '.'));
    }

    #[test]
    fn every_reason_has_a_letter() {
        let shown = SentFate { fate: Fate::Keep(Reason::Fits), is_remade: true };
        assert_eq!(letter(shown), 's');
        for (reason, expected) in [
            (Reason::Dropped, 'd'),
            (Reason::OnSheet, 'o'),
            (Reason::Summary, 'c'),
            (Reason::OverBudget, 'r'),
            (Reason::NoSight, 'f'),
        ] {
            assert_eq!(letter(fate(Fate::Elide(reason))), expected, "{reason:?}");
        }
        assert_eq!(letter(fate(Fate::Refuse(Reason::Unreadable))), 'f');
    }
}
