//! Finds whole pictures inside longer text, whatever the text is: prose, Markdown, HTML, Python
//! reprs, YAML, CSV, JSON that does not parse.
//!
//! The text is searched for runs of base64 characters. A run that begins like a picture is read as
//! one: its format says where it ends ([`extent`]), and what follows must not be base64. Such a
//! span provably is one whole picture, so that it can leave the text without harm.
//!
//! Some whole pictures stay all the same, and so does everything that is not whole:
//!
//! - a small picture, less than [`SMALL`] pixels wide and high: an icon belongs to the text around it,
//!   costs less there than as a picture, and shows a model nothing;
//! - a picture in source code, a style sheet or a diff ([`super::source`]): the text is needed to the
//!   letter.
//!
//! What stays and could be a picture is reported ([`Left`]). Time is linear in the length of the
//! text: runs are found by looking at every [`SHORTEST_RUN`]th byte, and no byte is given to two
//! candidates.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::prefix::prefix_start;
use super::source::is_source;
use super::{Left, Rescued};
use crate::finding::Code;
use crate::json::{Str, base64_run, is_base64};
use crate::media::{Extent, MediaKind, Payload, Source, extent, has_weak_magic};

/// A picture of fewer pixels than this on both sides stays in the text it stands in.
pub(super) const SMALL: u32 = 64;
/// Shorter runs are not looked at. The first characters of every PNG are a longer one.
const SHORTEST_RUN: usize = 20;

/// Words and the pictures between them; one more text than pictures.
pub(super) type Split<'a> = (Vec<Str<'a>>, Vec<Rescued<'a>>);

/// Takes the whole pictures out of a text; `None` where it holds none. What stays is added to `left`.
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

/// Reports what in a text could be a picture, where none may be taken out.
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
                // An escaped slash takes its backslash with it.
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

/// A picture without a name or label.
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

/// Whether a picture is too small to leave the text it stands in.
pub(super) fn is_small(payload: &Payload<'_>) -> bool {
    payload.header().size.is_some_and(|(width, height)| width < SMALL && height < SMALL)
}

/// What a run of base64 that begins like a picture turned out to be.
enum Read<'a> {
    /// No picture, up to a place in the text.
    Nothing {
        end: usize,
    },
    /// A picture whose end is missing.
    Cut {
        end: usize,
    },
    /// A picture that something follows without a break.
    Glued,
    Picture {
        payload: Payload<'a>,
        end: usize,
    },
}

/// Runs of base64 characters that are long enough.
struct Runs<'t> {
    text: &'t [u8],
    at: usize,
}

impl Runs<'_> {
    fn next(&mut self) -> Option<Range<usize>> {
        let mut place = self.at + SHORTEST_RUN - 1;
        while place < self.text.len() {
            let before = &self.text[self.at..=place];
            let back = before.iter().rev().take_while(|&&byte| is_base64(byte)).count();
            if back == 0 {
                self.at = place + 1;
                place += SHORTEST_RUN;
                continue;
            }
            let start = place + 1 - back;
            // Most runs are words: a few bytes tell.
            let near = self.text[place..].iter().take(SHORTEST_RUN);
            let near = near.take_while(|&&byte| is_base64(byte)).count();
            let end = if near < SHORTEST_RUN {
                place + near
            } else {
                place + base64_run(&self.text[place..])
            };
            self.at = end;
            if end - start >= SHORTEST_RUN {
                return Some(start..end);
            }
            place = end + SHORTEST_RUN;
        }
        None
    }
}

/// How pictures begin in base64. Those of two letters are told apart by their headers.
const OPENINGS: [&[u8]; 8] =
    [b"iVBORw0KGgo", b"/9j/", b"R0lGOD", b"UklGR", b"Qk", b"SUkqA", b"TU0AK", b"AAAA"];
/// Openings that are no accident wherever they stand.
const SIGNATURES: [&[u8]; 3] = [b"iVBORw0KGgoAAAANSUhEUg", b"R0lGODlh", b"R0lGODdh"];
const HEX_OPENINGS: [&[u8]; 4] = [b"89504e470d0a1a0a", b"ffd8ff", b"474946383", b"52494646"];

/// Where in a run a picture begins, if one does.
fn begins(text: &[u8], run: &Range<usize>) -> Option<usize> {
    let opens = |at: usize| {
        let rest = &text[at..run.end];
        OPENINGS.iter().any(|opening| rest.starts_with(opening)) || begins_hex(rest)
    };
    if opens(run.start) {
        return Some(run.start);
    }
    let before = &text[..run.start];
    // The last letter of an escape, as in `\n`, is no part of the run.
    if before.ends_with(b"\\") && opens(run.start + 1) {
        return Some(run.start + 1);
    }
    // `\/9j\/4` is how some encoders write `/9j/4`.
    let slashed = before.ends_with(b"/9j\\") && text[run.clone()].starts_with(b"/");
    slashed.then(|| run.start - 4)
}

fn begins_hex(rest: &[u8]) -> bool {
    let head = &rest[..rest.len().min(16)];
    HEX_OPENINGS.iter().any(|opening| {
        head.get(..opening.len()).is_some_and(|head| head.eq_ignore_ascii_case(opening))
    }) && head.iter().all(u8::is_ascii_hexdigit)
}

/// Whether the head of an image data URL stands right before a place.
fn names_picture(text: &[u8], start: usize) -> bool {
    let from = prefix_start(text, start);
    from < start && text[from..start].windows(6).any(|word| word.eq_ignore_ascii_case(b"image/"))
}

fn holds_signature(run: &[u8]) -> bool {
    run.len() >= 64
        && SIGNATURES.iter().any(|signature| memchr::memmem::find(run, signature).is_some())
}

/// Whether a text spells the bytes of a PNG outside of base64: as escapes or as numbers.
fn spells_bytes(text: &[u8]) -> bool {
    static SPELLINGS: LazyLock<[Finder<'static>; 2]> =
        LazyLock::new(|| ["x89PNG", "137"].map(Finder::new));
    let [escapes, numbers] = &*SPELLINGS;
    text.len() >= 64
        && (escapes.find(text).is_some()
            || numbers.find_iter(text).any(|at| {
                let rest = next_number(&text[at + 3..], b"1", b"80");
                rest.and_then(|rest| next_number(rest, b"2", b"78")).is_some()
            }))
}

/// What follows a number, if it is the next of a list or of an object with numbers as keys.
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

fn read(text: &[u8], run: Range<usize>) -> Read<'_> {
    count(run.len());
    if begins_hex(&text[run.clone()]) {
        return hex(text, run);
    }
    let padding = padding(&text[run.end..]);
    let end = run.end + padding;
    let digits = &text[run.clone()];
    let payload = Payload::canonical(&text[run.start..end], true)
        .filter(|_| padding <= 2)
        .or_else(|| Payload::from_digits(digits.to_vec()));
    // A run of an impossible length may still go on behind a line break.
    if let Some(payload) = payload {
        match extent(&payload) {
            Extent::Unknown => return Read::Nothing { end },
            Extent::Ends(_) if payload.is_whole_picture() => return judged(payload, end),
            Extent::Ends(_) => return Read::Glued,
            Extent::Cut => {}
        }
        if join(text, run.end).is_none() {
            return cut_off(text, &payload, run.start, end);
        }
    }
    joined(text, run.start)
}

/// A picture that is whole, if its header can be read.
fn judged(payload: Payload<'_>, end: usize) -> Read<'_> {
    let header = payload.header();
    if header.is_image() && header.size.is_some() && !has_weak_magic(&header) {
        Read::Picture { payload, end }
    } else {
        Read::Nothing { end }
    }
}

fn cut_off<'a>(text: &[u8], payload: &Payload<'_>, start: usize, end: usize) -> Read<'a> {
    let header = payload.header();
    let is_picture = header.is_image() && header.size.is_some() && !has_weak_magic(&header);
    if is_picture || names_picture(text, start) { Read::Cut { end } } else { Read::Nothing { end } }
}

fn hex(text: &[u8], run: Range<usize>) -> Read<'_> {
    let digits = text[run.clone()].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let end = run.start + digits;
    let Some(payload) = hex_payload(&text[run.start..end]) else {
        return Read::Nothing { end };
    };
    match extent(&payload) {
        Extent::Unknown => Read::Nothing { end },
        Extent::Ends(_) if end == run.end && payload.is_whole_picture() => judged(payload, end),
        Extent::Ends(_) => Read::Glued,
        Extent::Cut => cut_off(text, &payload, run.start, end),
    }
}

/// The bytes that hexadecimal digits stand for.
pub(super) fn hex_payload(digits: &[u8]) -> Option<Payload<'static>> {
    if !begins_hex(digits) {
        return None;
    }
    let nibble = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    let bytes: Option<Vec<u8>> = digits
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some(nibble(*high)? << 4 | nibble(*low)?),
            _ => None,
        })
        .collect();
    Some(Payload::encode(&bytes?))
}

/// The padding that follows base64, in bytes of the text.
fn padding(rest: &[u8]) -> usize {
    let mut length = 0;
    for _ in 0..2 {
        let rest = &rest[length..];
        length += if rest.starts_with(b"=") {
            1
        } else if rest.get(..3).is_some_and(|sign| sign.eq_ignore_ascii_case(b"%3d")) {
            3
        } else {
            break;
        };
    }
    length
}

/// A break that base64 goes on behind.
struct Join {
    /// Its length in the text.
    length: usize,
    /// A digit that it stands for.
    digit: Option<u8>,
    is_line: bool,
}

/// A line break, an escaped slash or a percent sign, raw or escaped.
fn join(text: &[u8], at: usize) -> Option<Join> {
    let rest = &text[at..];
    let percent = |word: &[u8]| rest.get(..3).is_some_and(|sign| sign.eq_ignore_ascii_case(word));
    if percent(b"%2b") || percent(b"%2f") {
        let digit = if percent(b"%2b") { b'+' } else { b'/' };
        return Some(Join { length: 3, digit: Some(digit), is_line: false });
    }
    let slashes = rest.iter().take_while(|&&byte| byte == b'\\').count();
    if slashes > 0 && rest.get(slashes) == Some(&b'/') {
        return Some(Join { length: slashes, digit: None, is_line: false });
    }
    let line = |rest: &[u8], letter: u8, sign: u8| {
        let slashes = rest.iter().take_while(|&&byte| byte == b'\\').count();
        match rest.get(slashes) {
            Some(&byte) if slashes > 0 && byte == letter => slashes + 1,
            Some(&byte) if slashes == 0 && byte == sign => 1,
            _ => 0,
        }
    };
    let returned = line(rest, b'r', b'\r');
    let mut length = returned + line(&rest[returned..], b'n', b'\n');
    if length == 0 {
        return None;
    }
    // Lines may be indented.
    length += rest[length..].iter().take_while(|&&byte| matches!(byte, b' ' | b'\t')).count();
    Some(Join { length, digit: None, is_line: true })
}

/// Reads base64 that is broken over lines or holds escaped slashes.
fn joined<'a>(text: &[u8], start: usize) -> Read<'a> {
    let mut digits = Vec::new();
    // How many digits there are at the end of each piece, and where it ends in the text.
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut at = start;
    loop {
        let run = base64_run(&text[at..]);
        digits.extend_from_slice(&text[at..at + run]);
        at += run;
        ends.push((digits.len(), at));
        let Some(join) = join(text, at).filter(|_| padding(&text[at..]) == 0) else { break };
        let next = &text[at + join.length..];
        let is_new = join.is_line && SIGNATURES.iter().any(|opening| next.starts_with(opening));
        if is_new || !(join.digit.is_some() || next.first().is_some_and(|&byte| is_base64(byte))) {
            break;
        }
        digits.extend(join.digit);
        at += join.length;
    }
    let last = at;
    count(last - start);
    let read = |digits: &[u8]| {
        // A digit that stands alone is no byte.
        let whole = digits.len() - usize::from(digits.len() % 4 == 1);
        Payload::from_digits(digits[..whole].to_vec())
    };
    let Some(payload) = read(&digits) else { return Read::Nothing { end: last } };
    let full = match extent(&payload) {
        Extent::Unknown => return Read::Nothing { end: last },
        Extent::Ends(_) if payload.is_whole_picture() => {
            return judged(payload, last + padding(&text[last..]));
        }
        Extent::Ends(end) => (end * 4).div_ceil(3),
        // Of a JPEG only the end tells; a line that is shorter than the one before is the last.
        Extent::Cut => shorter_line(&ends),
    };
    let Ok(index) = ends.binary_search_by_key(&full, |(digits, _)| *digits) else {
        return cut_off(text, &payload, start, last);
    };
    let end = ends[index].1;
    match read(&digits[..full]).filter(Payload::is_whole_picture) {
        Some(payload) => judged(payload, end + padding(&text[end..])),
        None => cut_off(text, &payload, start, last),
    }
}

/// How many digits there are at the end of the first line that is shorter than the one before it.
fn shorter_line(ends: &[(usize, usize)]) -> usize {
    let lengths = |index: usize| ends[index].0 - if index == 0 { 0 } else { ends[index - 1].0 };
    (1..ends.len())
        .find(|&index| lengths(index) < lengths(index - 1))
        .map_or(0, |index| ends[index].0)
}

/// Counts the bytes that candidates are made of, so that a test can tell how much is looked at.
#[cfg(test)]
fn count(bytes: usize) {
    tests::WORK.with(|work| work.set(work.get() + bytes));
}

#[cfg(not(test))]
const fn count(_: usize) {}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use photic_testkit::image;

    use super::*;

    thread_local! {
        pub(super) static WORK: Cell<usize> = const { Cell::new(0) };
    }

    fn pictures(text: &str) -> (usize, Vec<Code>) {
        let mut left = Left::default();
        let split = split(&Str::plain(text), &mut left);
        (split.map_or(0, |(_, media)| media.len()), left.into_codes())
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
