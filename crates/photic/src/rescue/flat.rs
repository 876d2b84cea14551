//! Finds whole pictures inside longer text of any kind: prose, Markdown, HTML, Python reprs, YAML,
//! CSV, JSON that does not parse.
//!
//! The text is searched for runs of base64 characters. A run that begins like a picture is read as
//! one. Its format tells its end ([`super::candidate`]), and no base64 may follow. Such a span is
//! provably one whole picture, so it can be taken out of the text safely.
//!
//! Some whole pictures stay, and so does everything that is not whole:
//!
//! - a small picture, less than [`SMALL`] pixels wide and high: an icon belongs to the text around
//!   it, costs less there than as a picture, and shows a model nothing;
//! - a picture in source code, a style sheet or a diff ([`super::source`]): the text must stay
//!   exact.
//!
//! A picture, or a possible one, that stays is reported ([`Left`]). Time is linear in the length
//! of the text: runs are found by testing every [`SHORTEST_RUN`]th byte, and no byte is given to
//! two candidates.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::candidate::{Read, SIGNATURES, begins_hex, names_picture, read};
use super::prefix::prefix_start;
use super::source::is_source;
use super::{Left, Rescued};
use crate::finding::Code;
use crate::json::{Str, base64_run, is_base64};
use crate::media::{MediaKind, Payload, Source};

/// A picture of fewer pixels than this on both sides stays in its text.
pub(super) const SMALL: u32 = 64;
/// Minimum length of a run that is read. The first characters of every PNG are a longer one.
const SHORTEST_RUN: usize = 20;

/// Texts and the pictures between them; one more text than pictures.
pub(super) type Split<'a> = (Vec<Str<'a>>, Vec<Rescued<'a>>);

/// Takes the whole pictures out of a text. Returns `None` if it holds none. Possible pictures that
/// stay are added to `left`.
pub(super) fn split<'a>(text: &Str<'a>, left: &mut Left) -> Option<Split<'a>> {
    match text {
        Str::Escaped(bytes) => cut(bytes, left, |range| Str::Escaped(&bytes[range])),
        Str::Plain(Cow::Borrowed(plain)) => {
            cut(plain.as_bytes(), left, |range| Str::plain(&plain[range]))
        }
        Str::Plain(Cow::Owned(plain)) => {
            let (words, media) = cut(plain.as_bytes(), left, |range| Str::plain(&plain[range]))?;
            let words = words.into_iter().map(Str::into_owned).collect();
            Some((words, media.into_iter().map(Rescued::into_owned).collect()))
        }
    }
}

/// Reports possible pictures in a text that none may be taken out of.
pub(super) fn report(text: &Str<'_>, left: &mut Left) {
    let mut inside = Left::default();
    if cut(text.bytes(), &mut inside, |_| Str::plain("")).is_some() {
        left.add(Code::ImageInsideLongerText);
    }
    left.join(inside);
}

fn cut<'a>(
    text: &'a [u8],
    left: &mut Left,
    words: impl Fn(Range<usize>) -> Str<'a>,
) -> Option<Split<'a>> {
    let mut spans = Vec::new();
    let mut runs = Runs { text, at: 0 };
    while let Some(run) = runs.next() {
        let Some(start) = begins(text, &run) else {
            if names_picture(text, run.start) || holds_signature(&text[run]) {
                left.add(Code::ImageInsideLongerText);
            }
            continue;
        };
        match read(text, start..run.end) {
            Read::Nothing { end } => {
                runs.at = runs.at.max(end);
                if names_picture(text, start) {
                    left.add(Code::ImageInsideLongerText);
                }
            }
            Read::Cut { end } => {
                left.add(Code::ImageCutOff);
                runs.at = end;
            }
            Read::Glued => left.add(Code::ImageInsideLongerText),
            Read::Picture { payload, end } => {
                runs.at = end;
                // An escaped slash is removed together with its backslash.
                let escape = text[..start].iter().rev().take_while(|&&byte| byte == b'\\').count();
                let escape = if text[start] == b'/' { escape } else { 0 };
                let start = prefix_start(text, start - escape);
                if is_small(&payload) {
                    left.add(Code::SmallImageInText);
                } else if is_source(text, start..end) {
                    left.add(Code::ImageInFile);
                } else {
                    spans.push((start..end, payload));
                }
            }
        }
    }
    if spells_bytes(text) {
        left.add(Code::ImageInsideLongerText);
    }
    if spans.is_empty() {
        return None;
    }
    let (mut texts, mut media, mut at) = (Vec::new(), Vec::new(), 0);
    for (span, payload) in spans {
        texts.push(words(at..span.start));
        at = span.end;
        media.push(picture(payload));
    }
    texts.push(words(at..text.len()));
    Some((texts, media))
}

/// Creates a picture without a name or label.
pub(super) fn picture(payload: Payload<'_>) -> Rescued<'_> {
    let source = Source::Data(payload);
    Rescued {
        kind: MediaKind::Image,
        source,
        declared: None,
        name: None,
        inner: None,
        typed: false,
    }
}

/// Returns `true` if a picture is so small that it stays in its text.
pub(super) fn is_small(payload: &Payload<'_>) -> bool {
    payload.header().size.is_some_and(|(width, height)| width < SMALL && height < SMALL)
}

/// Runs of base64 characters that are long enough.
struct Runs<'t> {
    text: &'t [u8],
    at: usize,
}

impl Runs<'_> {
    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            let window = self.text.get(self.at..)?.first_chunk::<SHORTEST_RUN>()?;
            // No run of this length begins before its last outsider. Most runs are words, and a few
            // bytes are enough to see that.
            if let Some(outsider) = window.iter().rposition(|&byte| !is_base64(byte)) {
                self.at += outsider + 1;
                continue;
            }
            let start = self.at;
            let rest = start + SHORTEST_RUN;
            self.at = rest + base64_run(&self.text[rest..]);
            return Some(start..self.at);
        }
    }
}

/// The base64 openings of pictures. Those of two letters are told apart by their headers.
const OPENINGS: [&[u8]; 8] =
    [b"iVBORw0KGgo", b"/9j/", b"R0lGOD", b"UklGR", b"Qk", b"SUkqA", b"TU0AK", b"AAAA"];
/// Returns the position in a run at which a picture begins, if one does.
fn begins(text: &[u8], run: &Range<usize>) -> Option<usize> {
    let opens = |at: usize| {
        let rest = &text[at..run.end];
        OPENINGS.iter().any(|opening| rest.starts_with(opening)) || begins_hex(rest)
    };
    if opens(run.start) {
        return Some(run.start);
    }
    let before = &text[..run.start];
    // The last letter of an escape, as in `\n`, does not belong to the run.
    if before.ends_with(b"\\") && opens(run.start + 1) {
        return Some(run.start + 1);
    }
    // Some encoders write `/9j/4` as `\/9j\/4`.
    let slashed = before.ends_with(b"/9j\\") && text[run.clone()].starts_with(b"/");
    slashed.then(|| run.start - 4)
}

fn holds_signature(run: &[u8]) -> bool {
    run.len() >= 64
        && SIGNATURES.iter().any(|signature| memchr::memmem::find(run, signature).is_some())
}

/// Returns `true` if a text spells the bytes of a PNG outside of base64: as escapes or as numbers.
fn spells_bytes(text: &[u8]) -> bool {
    static SPELLINGS: LazyLock<[Finder<'static>; 2]> =
        LazyLock::new(|| ["x89PNG", "137"].map(Finder::new));
    let [escapes, numbers] = &*SPELLINGS;
    text.len() >= 64
        // Both spellings have this digit, and most texts do not.
        && memchr::memchr(b'8', text).is_some()
        && (escapes.find(text).is_some()
            || numbers.find_iter(text).any(|at| {
                let rest = next_number(&text[at + 3..], b"1", b"80");
                rest.and_then(|rest| next_number(rest, b"2", b"78")).is_some()
            }))
}

/// Returns the text behind a number, if the number is the next of a list or of an object with
/// numbers as keys.
fn next_number<'t>(text: &'t [u8], key: &[u8], number: &[u8]) -> Option<&'t [u8]> {
    fn skipped(text: &[u8]) -> &[u8] {
        let is_sign = |byte: &u8| matches!(byte, b' ' | b',' | b'"' | b'\\' | b':' | b'\n');
        &text[text.iter().take(16).take_while(|byte| is_sign(byte)).count()..]
    }
    let list = skipped(text);
    if list.len() == text.len() {
        return None;
    }
    list.strip_prefix(number).or_else(|| skipped(list.strip_prefix(key)?).strip_prefix(number))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use photic_testkit::image;

    use super::super::candidate::WORK;
    use super::*;

    fn pictures(text: &str) -> (usize, Vec<Code>) {
        let mut left = Left::default();
        let split = split(&Str::plain(text), &mut left);
        (split.map_or(0, |(_, media)| media.len()), left.into_codes())
    }

    #[test]
    fn every_run_that_is_long_enough_is_found() {
        let mut text = Vec::new();
        for length in [0, 1, 18, 19, 20, 21, 22, 39, 40, 41, 200, 5, 20, 20, 300, 19] {
            for between in 1..23 {
                text.extend(std::iter::repeat_n(b'a', length));
                text.extend(std::iter::repeat_n(b'.', between));
            }
        }
        for cut in 0..64 {
            let text = &text[cut..text.len() - 3 * cut];
            let mut expected = Vec::new();
            let mut start = 0;
            for at in 0..=text.len() {
                if text.get(at).is_none_or(|&byte| !is_base64(byte)) {
                    expected.extend((at - start >= SHORTEST_RUN).then_some(start..at));
                    start = at + 1;
                }
            }
            let mut runs = Runs { text, at: 0 };
            let found: Vec<_> = std::iter::from_fn(|| runs.next()).collect();
            assert_eq!(found, expected, "{cut}");
        }
    }

    #[test]
    fn hostile_texts_cost_no_more_than_their_length() {
        let whole = image::base64(&image::png(80, 70, [1, 2, 3]));
        for piece in [
            "iVBORw0KGgoAAAANSUhEUgAAAUAAAADI ",
            "iVBORw0KGgoAAAANSUhEUgAAAUAAAADI\n",
            "Qkaaaaaaaaaaaaaaaaaaaaaaa\n",
            "Qkaaaaaaaaaaaaaaaaaaaaaaaa\n",
            "/9j/4AAQSkZJRgABAQAAAQABAAD\n",
            "\\/9j\\/4AAQSkZJRgABAQAAAQABAAD",
            "data:image/png;base64,AAAAAAAAAAAAAAAAAAAAAAAAAA",
            "89504e470d0a1a0a0000000d49484452 ",
            &format!("{}\n", &whole[..whole.len() - 4]),
            "AAAA",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAA\n",
            "UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASo\n",
        ] {
            let text = piece.repeat(400_000 / piece.len());
            WORK.with(|work| work.set(0));
            pictures(&text);
            let work = WORK.with(Cell::get);
            assert!(work <= 3 * text.len(), "{piece:?}: {work} for {}", text.len());
        }
    }

    #[test]
    fn the_end_of_a_picture_is_where_its_format_says() {
        let jpeg = image::base64(&image::jpeg());
        let mut large = image::jpeg();
        let frame = large.windows(2).position(|marker| marker == [0xff, 0xc0]).unwrap();
        large[frame + 5..frame + 9].copy_from_slice(&[0, 72, 0, 96]);
        let large = image::base64(&large);
        let lines = |text: &str| {
            let lines: Vec<_> =
                text.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
            lines.join("\n")
        };
        let png = image::base64(&image::png(80, 70, [1, 2, 3]));
        for (text, count) in [
            (format!("see {png}."), 1),
            (format!("see {}\nDone", lines(&png)), 1),
            (format!("see {}\nDone", lines(&large)), 1),
            (format!("see {}\nDone it is.", lines(&large)), 1),
            (format!("{}\n{}", lines(&png), lines(&png)), 2),
            (format!("x {jpeg}"), 0),
            (format!("{png}{png}"), 2),
            (format!("{}{png}", png.trim_end_matches('=')), 0),
            (format!("see {}", &png[..png.len() - 12]), 0),
        ] {
            assert_eq!(pictures(&text).0, count, "{text}");
        }
    }
}
