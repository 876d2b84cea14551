//! JPEG headers, segment by segment.

use std::borrow::Cow;

use super::bytes::{be16, u8_at};
use super::{Color, Format, Header, Profile, exif};

const SEGMENTS_MOST: usize = 4096;

/// The ICC profile in pieces may not be longer.
const ICC_MOST: usize = 4 << 20;

/// What the frame segment says; what a decoder must hold follows from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Bytes of all coefficients, when the decoder must keep them.
    pub(crate) coefficients: u64,
    /// Whether the pixels come in several scans.
    pub(crate) several: bool,
    /// Components.
    pub(crate) components: u8,
    /// Bits a sample.
    pub(crate) bits: u8,
    /// Arithmetic coding.
    pub(crate) arithmetic: bool,
}

struct Segments<'a> {
    bytes: &'a [u8],
    at: usize,
    left: usize,
}

/// The segments in front of the first scan, which is the last one given.
impl<'a> Iterator for Segments<'a> {
    type Item = (u8, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        // Real files have stray bytes and fill bytes between segments.
        let mut slack = 64;
        let marker = loop {
            let pair = (u8_at(self.bytes, self.at)?, u8_at(self.bytes, self.at + 1)?);
            if let (0xff, marker @ (0x01 | 0xc0..=0xcf | 0xd9..=0xfe)) = pair {
                break marker;
            }
            slack -= 1;
            if slack == 0 {
                return None;
            }
            self.at += 1;
        };
        if marker == 0xd9 {
            return None;
        }
        if marker == 0x01 {
            self.at += 2;
            return self.next();
        }
        let length = usize::from(be16(self.bytes, self.at + 2)?).checked_sub(2)?;
        let start = self.at + 4;
        let body = self.bytes.get(start..start + length)?;
        self.at = start + length;
        if marker == 0xda {
            self.left = 0;
        }
        Some((marker, body))
    }
}

fn segments(bytes: &[u8]) -> Segments<'_> {
    Segments { bytes, at: 2, left: SEGMENTS_MOST }
}

const fn is_frame(marker: u8) -> bool {
    matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc)
}

pub(super) fn probe(bytes: &[u8]) -> Option<Header> {
    let mut header = None;
    let mut orientation = None;
    let mut profile = None;
    for (marker, body) in segments(bytes) {
        match marker {
            0xe1 if orientation.is_none() && body.starts_with(b"Exif\0\0") => {
                orientation = Some(exif::orientation(body));
            }
            0xe2 if body.starts_with(b"ICC_PROFILE\0") => profile = Some(Profile::Icc),
            marker if is_frame(marker) && header.is_none() => header = Some(frame(marker, body)?),
            _ => {}
        }
    }
    let mut header: Header = header?;
    header.profile = profile;
    Some(header.oriented(orientation.unwrap_or(1)))
}

fn frame(marker: u8, body: &[u8]) -> Option<Header> {
    let mut header = Header::plain(Format::Jpeg, be16(body, 3)?.into(), be16(body, 1)?.into());
    header.bits = u8_at(body, 0)?;
    header.color = match u8_at(body, 5)? {
        1 => Color::Gray,
        3 => Color::Rgb,
        4 => Color::Cmyk,
        _ => Color::Unknown,
    };
    header.passes = matches!(marker, 0xc2 | 0xc6 | 0xca | 0xce);
    Some(header)
}

impl Frame {
    /// Reads it again for the decoder.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let mut found = None;
        for (marker, body) in segments(bytes) {
            if is_frame(marker) && found.is_none() {
                found = Some(Self::read(marker, body)?);
            } else if marker == 0xda
                && let (Some(frame), Some(&scan)) = (found.as_mut(), body.first())
            {
                frame.several |= scan < frame.components;
            }
        }
        found
    }

    fn read(marker: u8, body: &[u8]) -> Option<Self> {
        let (height, width) = (u64::from(be16(body, 1)?), u64::from(be16(body, 3)?));
        let components = u8_at(body, 5)?;
        let sampling: Vec<(u64, u64)> = (0..usize::from(components))
            .map(|n| {
                let packed = u8_at(body, 7 + n * 3)?;
                Some((u64::from(packed >> 4).max(1), u64::from(packed & 15).max(1)))
            })
            .collect::<Option<_>>()?;
        let most =
            sampling.iter().fold((1, 1), |most, each| (most.0.max(each.0), most.1.max(each.1)));
        let mcus = width.div_ceil(8 * most.0) * height.div_ceil(8 * most.1);
        let blocks: u64 = sampling.iter().map(|(across, down)| across * down * mcus).sum();
        Some(Self {
            coefficients: blocks * 128,
            several: matches!(marker, 0xc2 | 0xc6 | 0xca | 0xce),
            components,
            bits: u8_at(body, 0)?,
            arithmetic: marker >= 0xc9,
        })
    }
}

/// How many scans the file holds, counted without decoding, and whether it has its end marker.
pub(crate) fn scans(bytes: &[u8]) -> (u64, bool) {
    let mut walk = segments(bytes);
    walk.by_ref().for_each(drop);
    let (mut scans, mut ended) = (1, false);
    let data = bytes.get(walk.at..).unwrap_or_default();
    for at in memchr::memchr_iter(0xff, data) {
        match data.get(at + 1) {
            Some(0xda) => scans += 1,
            Some(0xd9) => ended = true,
            _ => {}
        }
    }
    (scans, ended)
}

/// The largest width and height that any frame says, also one behind a scan.
pub(crate) fn largest(bytes: &[u8]) -> (u32, u32) {
    let mut walk = segments(bytes);
    let mut largest = (0, 0);
    let mut see = |body: &[u8]| {
        let (height, width) = (be16(body, 1).unwrap_or(0), be16(body, 3).unwrap_or(0));
        largest = (largest.0.max(width.into()), largest.1.max(height.into()));
    };
    walk.by_ref().filter(|(marker, _)| is_frame(*marker)).for_each(|(_, body)| see(body));
    let data = bytes.get(walk.at..).unwrap_or_default();
    for at in memchr::memchr_iter(0xff, data) {
        if data.get(at + 1).is_some_and(|marker| is_frame(*marker)) {
            see(data.get(at + 4..).unwrap_or_default());
        }
    }
    largest
}

/// The ICC profile put together from its pieces. `Err` says that there is one that cannot be used.
pub(crate) fn icc(bytes: &[u8]) -> Result<Option<Cow<'_, [u8]>>, ()> {
    let mut pieces: Vec<(u8, &[u8])> = segments(bytes)
        .filter(|(marker, _)| *marker == 0xe2)
        .filter_map(|(_, body)| body.strip_prefix(b"ICC_PROFILE\0"))
        .filter_map(|piece| Some((*piece.first()?, piece.get(2..)?)))
        .collect();
    match pieces.as_mut_slice() {
        [] => Ok(None),
        [(_, whole)] if whole.len() <= ICC_MOST => Ok(Some(Cow::Borrowed(whole))),
        pieces => {
            let total: usize = pieces.iter().map(|(_, piece)| piece.len()).sum();
            if total > ICC_MOST {
                return Err(());
            }
            pieces.sort_by_key(|(number, _)| *number);
            Ok(Some(Cow::Owned(
                pieces.iter().flat_map(|(_, piece)| piece.iter().copied()).collect(),
            )))
        }
    }
}

/// Whether the file bears Adobe's mark.
pub(crate) fn adobe(bytes: &[u8]) -> bool {
    segments(bytes).any(|(marker, body)| marker == 0xee && body.starts_with(b"Adobe"))
}
