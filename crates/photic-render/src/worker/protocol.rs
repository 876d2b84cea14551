//! The protocol between parent and child: a JSON header, then bytes.
//!
//! Each child gets one request and gives one answer. The answer comes from a process that read
//! hostile bytes, so every number in it is validated against the request.

use std::borrow::Cow;
use std::io::{self, Read, Write};

use photic_pixels::geometry::Affine;
use photic_pixels::{Layout, Raster};
use serde::{Deserialize, Serialize};

use crate::page::{Page, PageFacts, PageText, clean};
use crate::refusal::Refusal;
use crate::request::{DrawLimits, DrawOptions, Request, SourceFile};

/// Largest header: a page of text with all its columns takes a tenth of it.
const MAX_HEADER: usize = 4 << 20;

/// The header of a request.
#[derive(Serialize, Deserialize)]
struct RequestHeader {
    wanted: DrawOptions,
    words: bool,
    source: usize,
    fonts: Vec<usize>,
    files: Vec<(String, usize)>,
}

/// The header of an answer.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AnswerHeader {
    Drawn { width: u32, height: u32, alpha: bool, to_page: [f64; 6], facts: PageFacts },
    Text(PageText),
    Refused(Refusal),
}

/// The result of a child.
#[derive(Debug, PartialEq)]
pub(super) enum WorkerResult {
    Page(Page),
    Text(PageText),
}

/// The pieces of a request in order, for the page or for its text.
pub(super) fn question<'a>(request: &Request<'a>, words: bool) -> io::Result<Vec<Cow<'a, [u8]>>> {
    let question = RequestHeader {
        wanted: request.wanted.clone(),
        words,
        source: request.bytes.len(),
        fonts: request.fonts.iter().map(Vec::len).collect(),
        files: request.files.iter().map(|f| (f.reference.clone(), f.bytes.len())).collect(),
    };
    let mut pieces = vec![Cow::Owned(header(&question)?), Cow::Borrowed(request.bytes)];
    pieces.extend(request.fonts.iter().map(|font| Cow::Borrowed(font.as_slice())));
    pieces.extend(request.files.iter().map(|file| Cow::Borrowed(file.bytes.as_slice())));
    Ok(pieces)
}

/// A request as the child reads it.
pub(super) struct ReceivedRequest {
    pub(super) wanted: DrawOptions,
    pub(super) words: bool,
    pub(super) source: Vec<u8>,
    pub(super) fonts: Vec<Vec<u8>>,
    pub(super) files: Vec<SourceFile>,
}

/// Reads a request.
pub(super) fn asked(from: &mut dyn Read) -> io::Result<ReceivedRequest> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let question = exactly(from, u32::from_le_bytes(length) as usize)?;
    let question: RequestHeader = serde_json::from_slice(&question)?;
    let source = exactly(from, question.source)?;
    let fonts = question.fonts.iter().map(|length| exactly(from, *length));
    let fonts = fonts.collect::<io::Result<_>>()?;
    let files = question.files.into_iter().map(|(reference, length)| {
        exactly(from, length).map(|bytes| SourceFile { reference, bytes })
    });
    let files = files.collect::<io::Result<_>>()?;
    Ok(ReceivedRequest { wanted: question.wanted, words: question.words, source, fonts, files })
}

/// Writes an answer.
pub(super) fn tell(to: &mut dyn Write, result: Result<WorkerResult, Refusal>) -> io::Result<()> {
    let (answer, pixels) = match result {
        Ok(WorkerResult::Text(words)) => (AnswerHeader::Text(words), Vec::new()),
        Ok(WorkerResult::Page(page)) => {
            let Raster { width, height, layout, data } = page.raster;
            let (alpha, to_page) = (layout == Layout::Rgba, coefficients(&page.to_page));
            (AnswerHeader::Drawn { width, height, alpha, to_page, facts: page.facts }, data)
        }
        Err(refusal) => (AnswerHeader::Refused(refusal), Vec::new()),
    };
    to.write_all(&header(&answer)?)?;
    to.write_all(&pixels)?;
    to.flush()
}

/// Largest size of an answer, plus one byte to detect a flood.
pub(super) fn longest_answer(bounds: &DrawLimits) -> u64 {
    4 + MAX_HEADER as u64 + most_pixels(bounds) * 4 + 1
}

/// Parses an answer; `None` unless it is complete and of an allowed size.
pub(super) fn answer(
    mut bytes: Vec<u8>,
    bounds: &DrawLimits,
) -> Option<Result<WorkerResult, Refusal>> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    if length > MAX_HEADER {
        return None;
    }
    let answer: AnswerHeader = serde_json::from_slice(rest.get(..length)?).ok()?;
    let pixels = rest.len() - length;
    let (width, height, alpha, to_page, facts) = match answer {
        AnswerHeader::Refused(Refusal { code, says, hint }) => {
            let refusal = Refusal::new(code, clean(&says), clean(&hint));
            return (pixels == 0).then_some(Err(refusal));
        }
        AnswerHeader::Text(words) => {
            return (pixels == 0).then_some(Ok(WorkerResult::Text(words)));
        }
        AnswerHeader::Drawn { width, height, alpha, to_page, facts } => {
            (width, height, alpha, to_page, facts)
        }
    };
    let count = u64::from(width) * u64::from(height);
    let layout = if alpha { Layout::Rgba } else { Layout::Rgb };
    let whole = count.checked_mul(layout.samples() as u64) == Some(pixels as u64);
    let fits = width > 0 && height > 0 && count <= most_pixels(bounds);
    let to_page = affine(&to_page);
    if !whole || !fits || to_page.inverse().is_none() {
        return None;
    }
    bytes.drain(..4 + length);
    let raster = Raster { width, height, layout, data: bytes };
    Some(Ok(WorkerResult::Page(Page { raster, to_page, facts: facts.limited() })))
}

/// The coefficients of a map.
fn coefficients(map: &Affine) -> [f64; 6] {
    [map.a, map.b, map.c, map.d, map.e, map.f]
}

/// The map of coefficients.
fn affine(of: &[f64; 6]) -> Affine {
    Affine { a: of[0], b: of[1], c: of[2], d: of[3], e: of[4], f: of[5] }
}

/// The limit, plus what rounding up both sides may add.
fn most_pixels(bounds: &DrawLimits) -> u64 {
    bounds.pixels.saturating_add(2 * u64::from(bounds.edge) + 1)
}

/// A header with its length in front.
fn header(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, value)?;
    let length = (bytes.len() - 4) as u32;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// Reads exactly so many bytes.
fn exactly(from: &mut dyn Read, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length);
    from.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::RefusalCode;
    use crate::request::Kind;

    fn page() -> Page {
        Page {
            raster: Raster { width: 3, height: 2, layout: Layout::Rgb, data: (0..18).collect() },
            to_page: Affine::scale(2.0, 2.0),
            facts: PageFacts::single((6.0, 4.0)),
        }
    }

    fn told(result: Result<Page, Refusal>) -> Vec<u8> {
        let mut bytes = Vec::new();
        tell(&mut bytes, result.map(WorkerResult::Page)).expect("memory");
        bytes
    }

    #[test]
    fn questions_and_answers_arrive_as_they_were_sent() {
        let fonts = [vec![1, 2, 3], Vec::new()];
        let request = Request { fonts: &fonts, ..Request::new(b"<svg/>", Kind::Svg) };
        let pieces = question(&request, false).expect("a question").concat();
        let asked = asked(&mut pieces.as_slice()).expect("the question");
        assert_eq!(asked.wanted, request.wanted);
        assert_eq!(asked.source, request.bytes);
        assert_eq!(asked.fonts, fonts);

        let bounds = DrawLimits::default();
        assert_eq!(answer(told(Ok(page())), &bounds), Some(Ok(WorkerResult::Page(page()))));
        let refusal = Refusal::new(RefusalCode::Corrupt, "no", "none");
        assert_eq!(answer(told(Err(refusal.clone())), &bounds), Some(Err(refusal)));
    }

    #[test]
    fn an_answer_that_is_cut_long_or_lies_is_none() {
        let bounds = DrawLimits::default();
        let whole = told(Ok(page()));
        for length in 0..whole.len() {
            assert_eq!(answer(whole[..length].to_vec(), &bounds), None, "{length}");
        }
        assert_eq!(answer([whole.as_slice(), &[0]].concat(), &bounds), None);
        assert_eq!(answer(b"hello, this is not an answer".to_vec(), &bounds), None);
        let mut flat = page();
        flat.to_page = Affine::scale(0.0, 0.0);
        assert_eq!(answer(told(Ok(flat)), &bounds), None);
        let wordy = Refusal::new(RefusalCode::Corrupt, "a\nb".repeat(1000), "none");
        let wordy = answer(told(Err(wordy)), &bounds).expect("an answer").expect_err("a refusal");
        assert!(wordy.says.chars().count() < 200 && !wordy.says.contains('\n'), "{wordy}");
        let small = DrawLimits { pixels: 1, edge: 1, ..bounds };
        assert_eq!(answer(whole, &small), None);
    }
}
