//! Reads base64 or hexadecimal text that begins like a picture: whole, cut off, or something else.

use std::ops::Range;

use super::prefix::prefix_start;
use crate::json::{base64_run, is_base64};
use crate::media::{Extent, Payload, extent, has_weak_magic};

/// Openings that are never a coincidence, wherever they occur.
pub(super) const SIGNATURES: [&[u8]; 3] = [b"iVBORw0KGgoAAAANSUhEUg", b"R0lGODlh", b"R0lGODdh"];
const HEX_OPENINGS: [&[u8]; 4] = [b"89504e470d0a1a0a", b"ffd8ff", b"474946383", b"52494646"];

/// The result of reading a run of base64 that begins like a picture.
pub(super) enum Read<'a> {
    /// Not a picture, up to a position in the text.
    Nothing {
        end: usize,
    },
    /// A picture whose end is missing.
    Cut {
        end: usize,
    },
    /// A picture with other base64 right behind it.
    Glued,
    Picture {
        payload: Payload<'a>,
        end: usize,
    },
}

/// Reads the run of characters in which a picture seems to begin.
pub(super) fn read(text: &[u8], run: Range<usize>) -> Read<'_> {
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
    // A run of an impossible length may continue behind a line break.
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

/// Accepts a whole picture if its header can be read.
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

/// Returns the bytes that hexadecimal digits encode.
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

/// Returns the length of the padding behind base64, in bytes of the text.
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

/// A break within base64 that continues behind it.
struct Join {
    /// Its length in the text.
    length: usize,
    /// The base64 character that it encodes, if any.
    digit: Option<u8>,
    is_line: bool,
}

/// Reads a line break, an escaped slash or a percent escape, raw or escaped.
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
    // For each piece, the number of digits up to its end, and its end in the text.
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
        // A single leftover digit encodes no byte.
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
        // A JPEG is recognized only by its end. A line that is shorter than the one before is the
        // last.
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

/// Returns the number of digits up to the end of the first line that is shorter than the one
/// before.
fn shorter_line(ends: &[(usize, usize)]) -> usize {
    let lengths = |index: usize| ends[index].0 - if index == 0 { 0 } else { ends[index - 1].0 };
    (1..ends.len())
        .find(|&index| lengths(index) < lengths(index - 1))
        .map_or(0, |index| ends[index].0)
}

/// Returns `true` if a text begins like the bytes of a picture in hexadecimal digits.
pub(super) fn begins_hex(rest: &[u8]) -> bool {
    let head = &rest[..rest.len().min(16)];
    HEX_OPENINGS.iter().any(|opening| {
        head.get(..opening.len()).is_some_and(|head| head.eq_ignore_ascii_case(opening))
    }) && head.iter().all(u8::is_ascii_hexdigit)
}

/// Returns `true` if the head of an image data URL comes right before a position.
pub(super) fn names_picture(text: &[u8], start: usize) -> bool {
    let from = prefix_start(text, start);
    from < start && text[from..start].windows(6).any(|word| word.eq_ignore_ascii_case(b"image/"))
}

#[cfg(test)]
thread_local! {
    pub(super) static WORK: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts the bytes that candidates are made of, so that a test can measure the work.
#[cfg(test)]
fn count(bytes: usize) {
    WORK.with(|work| work.set(work.get() + bytes));
}

#[cfg(not(test))]
const fn count(_: usize) {}
