//! JPEG headers, read segment by segment.

use std::borrow::Cow;

use super::bytes::{be16, u8_at};
use super::exif;
use super::types::{Color, Format, Header, Profile};

/// Largest number of segments that are read.
const MAX_SEGMENTS: usize = 4096;

/// Largest total size of an ICC profile, which may come in pieces.
const MAX_ICC_BYTES: usize = 4 << 20;

/// Facts from the frame segment that determine a decoder's memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Bytes of all coefficients, if the decoder must keep them.
    pub(crate) coefficients: u64,
    /// `true` if the pixels come in several scans.
    pub(crate) several: bool,
    /// Number of components.
    pub(crate) components: u8,
    /// Bits of a sample.
    pub(crate) bits: u8,
    /// `true` for arithmetic coding.
    pub(crate) arithmetic: bool,
    /// `true` if the samples are predicted from their neighbors, without a transform.
    pub(crate) is_lossless: bool,
}

/// An iterator over the segments up to and including the first scan.
struct Segments<'a> {
    bytes: &'a [u8],
    at: usize,
    left: usize,
}

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

/// The segments up to and including the first scan.
fn segments(bytes: &[u8]) -> Segments<'_> {
    Segments { bytes, at: 2, left: MAX_SEGMENTS }
}

/// Returns `true` for markers of frame segments.
const fn is_frame(marker: u8) -> bool {
    matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc)
}

/// Reads the header.
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

/// Reads the header from a frame segment.
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
    /// Reads the frame segment of a file.
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

    /// Reads the body of a frame segment.
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
            is_lossless: matches!(marker, 0xc3 | 0xc7 | 0xcb | 0xcf),
        })
    }
}

/// Counts the scans without decoding them; `true` if the file has its end marker.
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

/// The largest width and height of any frame segment, including those after a scan.
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

/// The ICC profile, assembled from its pieces. `Err` means that there is one that cannot be used.
pub(crate) fn icc(bytes: &[u8]) -> Result<Option<Cow<'_, [u8]>>, ()> {
    let mut pieces: Vec<(u8, &[u8])> = segments(bytes)
        .filter(|(marker, _)| *marker == 0xe2)
        .filter_map(|(_, body)| body.strip_prefix(b"ICC_PROFILE\0"))
        .filter_map(|piece| Some((*piece.first()?, piece.get(2..)?)))
        .collect();
    match pieces.as_mut_slice() {
        [] => Ok(None),
        [(_, whole)] if whole.len() <= MAX_ICC_BYTES => Ok(Some(Cow::Borrowed(whole))),
        pieces => {
            let total: usize = pieces.iter().map(|(_, piece)| piece.len()).sum();
            if total > MAX_ICC_BYTES {
                return Err(());
            }
            pieces.sort_by_key(|(number, _)| *number);
            Ok(Some(Cow::Owned(
                pieces.iter().flat_map(|(_, piece)| piece.iter().copied()).collect(),
            )))
        }
    }
}

/// Returns `true` if the file has Adobe's marker.
pub(crate) fn adobe(bytes: &[u8]) -> bool {
    segments(bytes).any(|(marker, body)| marker == 0xee && body.starts_with(b"Adobe"))
}
