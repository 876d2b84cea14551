//! Scores a text about a chart by position, whatever its wording.
//!
//! The words that count are chosen without looking at the chart, so a model that cannot see scores
//! exactly by chance. Trying several readings of a text and keeping the best one would break this.

use super::glyphs::ALPHABET;
use super::{Chart, Code, PALETTE};

/// Names of two words that mean one color although each word is a color as well.
const PAIRS: [(&str, &str); 4] =
    [("navy", "blue"), ("lime", "green"), ("teal", "blue"), ("teal", "green")];

impl Chart {
    /// Counts the cells that a text names correctly, each at its position. If a text names more
    /// colors than there are cells, the last ones count: they are the answer.
    pub fn hits(&self, said: &str) -> u32 {
        let said = colors(said);
        let talk = said.len().saturating_sub(self.cells().count());
        let named = self.cells().zip(&said[talk..]);
        named.filter(|(cell, said)| cell == *said).count() as u32
    }
}

impl Code {
    /// Counts the characters that a text gives correctly, each at its position.
    pub fn hits(&self, said: &str) -> u32 {
        let Some(said) = code(said, self.text().len()) else { return 0 };
        self.text().chars().zip(said.chars()).filter(|(is, said)| is == said).count() as u32
    }
}

/// The colors that a text names, in order, as indices into [`PALETTE`].
pub fn colors(text: &str) -> Vec<usize> {
    let words: Vec<(usize, &str)> = words(text).collect();
    let mut colors = Vec::new();
    let mut before: Option<(usize, &str)> = None;
    for (at, word) in words {
        let pair = before.take().is_some_and(|(end, first)| {
            let near = text[end..at].chars().all(|c| c == ' ' || c == '-');
            let is = |pair: &(&str, &str)| {
                first.eq_ignore_ascii_case(pair.0) && word.eq_ignore_ascii_case(pair.1)
            };
            near && PAIRS.iter().any(is)
        });
        if pair {
            continue;
        }
        let word_is = |name: &str| word.eq_ignore_ascii_case(name);
        let gray = word_is("grey").then_some("gray");
        if let Some(color) = PALETTE
            .iter()
            .position(|(name, _)| gray.map_or_else(|| word_is(name), |gray| gray == *name))
        {
            colors.push(color);
        }
        before = Some((at + word.len(), word));
    }
    colors
}

/// The code that a text gives: the last word of `length` characters that can be one. Single
/// characters in a row, as in `K 7 P Q`, count as a word.
pub fn code(text: &str, length: usize) -> Option<String> {
    let is_code = |word: &str| word.chars().all(|c| ALPHABET.contains(c.to_ascii_uppercase()));
    let is_loud = |word: &str| !word.chars().any(|c| c.is_ascii_lowercase());
    let all: Vec<&str> = alphanumeric(text).collect();
    let last = |fits: &dyn Fn(&str) -> bool| {
        all.iter()
            .rev()
            .find(|word| is_code(word) && fits(word))
            .map(|word| word.to_ascii_uppercase())
    };
    let spelled = || {
        let run = |run: &&[&str]| run.iter().all(|word| word.len() == 1 && is_code(word));
        all.windows(length).rev().find(run).map(|run| run.concat().to_ascii_uppercase())
    };
    last(&|word| word.len() == length && is_loud(word))
        .or_else(spelled)
        .or_else(|| last(&|word| word.len() == length))
        .or_else(|| last(&|word| (2..=2 * length).contains(&word.len()) && is_loud(word)))
}

/// The words of a text with their offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text[from..].find(|c: char| c.is_ascii_alphabetic())?;
        let word = text[start..].split(|c: char| !c.is_ascii_alphabetic()).next()?;
        from = start + word.len();
        Some((start, word))
    })
}

/// The runs of letters and digits in a text.
fn alphanumeric(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<&'static str> {
        colors(text).into_iter().map(|color| PALETTE[color].0).collect()
    }

    #[test]
    fn wording_does_not_matter() {
        let expected = ["red", "navy", "gray", "lime"];
        for said in [
            "red, navy, gray, lime",
            "Red / Navy Blue\nGrey / lime green",
            "**Row 1:** red | navy; **Row 2:** grey | lime.",
            "1. red 2. navy-blue 3. gray 4. lime",
        ] {
            assert_eq!(names(said), expected, "{said}");
        }
        assert_eq!(names("I see no picture, sorry: nothing colored, or predated"), [""; 0]);
        assert_eq!(names("navy, blue"), ["navy", "blue"]);
    }

    #[test]
    fn order_matters() {
        let chart = Chart::grid(5, 3, 3);
        let words = chart.words();
        assert_eq!(chart.hits(&words), 9);
        assert_eq!(chart.hits(&format!("Blue, no, let me see. {words}.")), 9);
        let mut turned: Vec<&str> = words.split([',', '/']).map(str::trim).collect();
        turned.rotate_left(1);
        assert!(chart.hits(&turned.join(", ")) < 5);
        assert_eq!(chart.hits("no picture"), 0);
    }

    #[test]
    fn codes_in_words() {
        for said in
            ["K7PQ", "k7pq", "The code reads \"K7PQ\".", "K 7 P Q", "K-7-P-Q", "**K7PQ**\nDone."]
        {
            assert_eq!(code(said, 4).as_deref(), Some("K7PQ"), "{said}");
        }
        assert_eq!(code("The code reads: B3B3B", 5).as_deref(), Some("B3B3B"));
        assert_eq!(code("no picture", 5), None);
        // One character is missing; the others keep their positions.
        assert_eq!(code("K7P", 4).as_deref(), Some("K7P"));
        let is = Code::of(3, 5);
        assert_eq!(is.hits(is.text()), 5);
        assert_eq!(is.hits("no picture"), 0);
    }
}
