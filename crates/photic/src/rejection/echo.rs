//! Echoes: the parts of an answer that quote the request.
//!
//! Providers quote the values that they refuse, and the client chooses those values. So an answer
//! is also read without anything that occurs in the request:
//!
//! - a long run of letters anywhere in it
//! - a short one that is a whole value, a whole phrase of one, or its beginning or end
//!
//! Only letters and digits are compared, ignoring case, so quotes and escapes make no difference.
//! The time must stay linear in the size of the request.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::LazyLock;

use super::envelope::Layers;
use super::said::Said;

/// Minimum number of letters in a row that are an echo anywhere in the request.
const LONG: usize = 24;
/// Minimum number of letters of an echo.
const SHORT: usize = 3;
/// The multiplier of the rolling hash; any odd number.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
/// Number of bits of a hash that index `Answer::noted`.
const NOTED_BITS: u32 = 16;

/// Words of the wires themselves, as letters only. They are in every request, so an answer that
/// has one does not echo the client.
static VOCABULARY: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    "text image images imageurl inputimage inputtext outputtext inputfile inputaudio file files \
     document documents audio video tool tools toolresult tooluse toolcall toolcalls toolcallid \
     tooluseid function functioncall functionresponse functioncalloutput user assistant system \
     developer model base64 url uri detail content contents messages message input output part \
     parts auto low high original data source type role name format bytes mimetype mediatype \
     inlinedata filedata fileuri cachecontrol cachepoint ephemeral promptcachebreakpoint \
     promptcachekey imagepng imagejpeg imagejpg imagegif imagewebp imagebmp imagetiff imageheic \
     imageavif imagesvgxml applicationpdf textplain png jpeg jpg gif webp pdf stream maxtokens \
     maxcompletiontokens maxoutputtokens temperature description parameters properties object \
     string number array boolean enum required"
        .split_whitespace()
        .collect()
});

/// Blanks everything in an answer that also occurs in the request.
pub(super) fn blank(layers: &mut Layers, said: &[Said<'_>]) {
    let Layers { innermost, outer, codes } = layers;
    let mut texts: Vec<&mut String> =
        std::iter::once(innermost).chain(outer).chain(codes).collect();
    let mut answer = Answer::of(texts.iter().map(|text| text.as_str()));
    for one in said {
        one.each(|text| answer.hear(text));
    }
    for (number, text) in texts.iter_mut().enumerate() {
        answer.blank(number, text);
    }
}

/// The letters of an answer.
#[derive(Debug, Default)]
struct Answer {
    letters: Vec<Letter>,
    /// The starts of every run of [`LONG`] letters, by its hash.
    stretches: BTreeMap<u64, Vec<usize>>,
    /// Flags for hashes that may occur, by their highest bits. Most hashes of a request do not.
    noted: Vec<bool>,
    /// The positions of short phrases of whole words.
    phrases: BTreeMap<String, Vec<(usize, usize)>>,
}

#[derive(Debug)]
struct Letter {
    folded: char,
    /// The index of its text, and its range within it.
    text: usize,
    start: usize,
    end: usize,
    begins_word: bool,
    is_echo: bool,
}

impl Answer {
    fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut letters = Vec::new();
        for (text, words) in texts.enumerate() {
            let mut begins_word = true;
            for (start, c) in words.char_indices() {
                let Some(letter) = folded(c) else {
                    begins_word = true;
                    continue;
                };
                let end = start + c.len_utf8();
                letters.push(Letter {
                    folded: letter,
                    text,
                    start,
                    end,
                    begins_word,
                    is_echo: false,
                });
                begins_word = false;
            }
        }
        let mut answer = Self { noted: vec![false; 1 << NOTED_BITS], ..Self::default() };
        for (at, stretch) in letters.windows(LONG).enumerate() {
            if stretch[0].text == stretch[LONG - 1].text {
                let hash = stretch.iter().fold(0, |hash, one| rolled(hash, one.folded));
                answer.stretches.entry(hash).or_default().push(at);
                answer.noted[place(hash)] = true;
            }
        }
        for start in (0..letters.len()).filter(|start| letters[*start].begins_word) {
            let mut phrase = String::new();
            let rest = letters[start..].iter().take_while(|one| one.text == letters[start].text);
            for (at, one) in (start..).zip(rest.take(LONG)) {
                phrase.push(one.folded);
                let next = letters.get(at + 1);
                let ends = next.is_none_or(|next| next.begins_word || next.text != one.text);
                if ends && phrase.chars().count() >= SHORT {
                    answer.phrases.entry(phrase.clone()).or_default().push((start, at + 1));
                }
            }
        }
        answer.letters = letters;
        answer
    }

    /// Marks the echoes of a string of the request.
    fn hear(&mut self, text: &str) {
        let mut hash = 0_u64;
        let mut window: VecDeque<char> = VecDeque::with_capacity(LONG + 1);
        // The starts of the last words, counted in letters.
        let mut starts: VecDeque<usize> = VecDeque::with_capacity(LONG + 1);
        let (mut count, mut in_word) = (0_usize, false);
        let (mut whole, mut phrase) = (Phrase::default(), Phrase::default());
        for c in text.chars() {
            let Some(letter) = folded(c) else {
                if in_word && whole.words > 1 {
                    self.mark(&whole);
                }
                in_word = false;
                if !matches!(c, ' ' | '_' | '-') {
                    self.mark_phrase(&phrase);
                    phrase = Phrase::default();
                }
                continue;
            };
            if !in_word {
                (whole.words, phrase.words) = (whole.words + 1, phrase.words + 1);
                starts.push_back(count);
                if starts.len() > LONG {
                    starts.pop_front();
                }
            }
            in_word = true;
            whole.push(letter);
            phrase.push(letter);
            count += 1;
            hash = rolled(hash, letter);
            window.push_back(letter);
            if window.len() > LONG
                && let Some(gone) = window.pop_front()
            {
                hash = hash.wrapping_sub(u64::from(gone).wrapping_mul(LAST));
            }
            if window.len() == LONG && self.noted[place(hash)] {
                self.mark_stretch(hash);
            }
        }
        self.mark_phrase(&phrase);
        self.mark(&whole);
        for (number, start) in starts.iter().enumerate() {
            let length = count - start;
            if length <= window.len() && starts.len() - number > 1 {
                let letters = window.iter().skip(window.len() - length).collect();
                self.mark(&Phrase { letters, words: 2, length });
            }
        }
    }

    fn mark_phrase(&mut self, phrase: &Phrase) {
        if phrase.words > 1 {
            self.mark(phrase);
        }
    }

    /// Marks a phrase everywhere in the answer. It need not be found again then.
    fn mark(&mut self, phrase: &Phrase) {
        if (SHORT..=LONG).contains(&phrase.length)
            && !VOCABULARY.contains(phrase.letters.as_str())
            && let Some(places) = self.phrases.remove(&phrase.letters)
        {
            for (start, end) in places {
                self.mark_letters(start, end);
            }
        }
    }

    fn mark_stretch(&mut self, hash: u64) {
        for at in self.stretches.remove(&hash).unwrap_or_default() {
            self.mark_letters(at, at + LONG);
        }
    }

    fn mark_letters(&mut self, start: usize, end: usize) {
        for one in &mut self.letters[start..end] {
            one.is_echo = true;
        }
    }

    /// Replaces every echo in a text by an ellipsis.
    fn blank(&self, number: usize, text: &mut String) {
        let mut spans: Vec<(usize, usize)> = Vec::new();
        let mut goes_on = false;
        for one in self.letters.iter().filter(|one| one.text == number) {
            match spans.last_mut() {
                Some((_, end)) if one.is_echo && goes_on => *end = one.end,
                _ if one.is_echo => spans.push((one.start, one.end)),
                _ => {}
            }
            goes_on = one.is_echo;
        }
        for (start, end) in spans.into_iter().rev() {
            text.replace_range(start..end, "…");
        }
    }
}

/// Letters of a string, as long as they may be a short phrase.
#[derive(Debug, Default)]
struct Phrase {
    letters: String,
    length: usize,
    words: usize,
}

impl Phrase {
    fn push(&mut self, letter: char) {
        self.length += 1;
        if self.length <= LONG {
            self.letters.push(letter);
        }
    }
}

/// Returns a letter or digit without its case.
fn folded(c: char) -> Option<char> {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric().then(|| c.to_ascii_lowercase());
    }
    c.is_alphanumeric().then(|| c.to_lowercase().next().unwrap_or(c))
}

fn rolled(hash: u64, letter: char) -> u64 {
    hash.wrapping_mul(STEP).wrapping_add(u64::from(letter))
}

/// The weight of a letter that leaves the window.
const LAST: u64 = {
    let (mut weight, mut at) = (1_u64, 0);
    while at < LONG {
        weight = weight.wrapping_mul(STEP);
        at += 1;
    }
    weight
};

const fn place(hash: u64) -> usize {
    (hash >> (u64::BITS - NOTED_BITS)) as usize
}
