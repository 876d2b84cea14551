//! Segments of a body as the record stores them: text without media, and the positions of the
//! media.

use std::borrow::Cow;
use std::ops::Range;

use photic::Form;
use photic::transcript::MediaId;

use crate::blobs::BlobId;
use crate::error::Error;

/// A segment of a body to store.
#[derive(Clone, Debug)]
pub struct NewSegment<'a> {
    /// The bytes of the segment.
    pub raw: &'a [u8],
    /// Ranges that are stored as blobs instead, in order.
    pub cuts: Vec<(Range<usize>, CutMedia)>,
}

/// A segment as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredSegment {
    /// The text without media.
    pub text: Vec<u8>,
    /// Offsets of media in the text, in order.
    pub pieces: Vec<(usize, CutMedia)>,
}

/// A medium that was cut out of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutMedia {
    /// Encoding of its bytes in the body.
    pub form: Form,
    /// Its number in the transcript.
    pub media: MediaId,
    /// The blob of its bytes.
    pub blob: BlobId,
}

impl NewSegment<'_> {
    /// Returns the text without media.
    pub fn text(&self) -> Cow<'_, [u8]> {
        if self.cuts.is_empty() {
            return Cow::Borrowed(self.raw);
        }
        let mut text = Vec::new();
        let mut end = 0;
        for (range, _) in &self.cuts {
            text.extend_from_slice(&self.raw[end..range.start]);
            end = range.end;
        }
        text.extend_from_slice(&self.raw[end..]);
        Cow::Owned(text)
    }

    /// Serializes the positions of media for [`StoredSegment::read`]. Empty if there are none.
    pub fn places(&self) -> Vec<u8> {
        let mut places = Vec::with_capacity(self.cuts.len() * PLACE);
        let mut cut = 0;
        for (range, piece) in &self.cuts {
            let at = (range.start - cut) as u32;
            cut += range.len();
            places.extend_from_slice(&at.to_le_bytes());
            places.extend_from_slice(&(piece.media.index() as u32).to_le_bytes());
            places.push(match piece.form {
                Form::Base64 => 0,
                Form::Text => 1,
            });
            places.extend_from_slice(piece.blob.as_bytes());
        }
        places
    }

    /// Adds the segment to a hash: its text and the blobs of its media. The numbers of media are
    /// left out, because they depend on the rest of the request.
    pub(crate) fn hash(&self, hasher: &mut blake3::Hasher) {
        let mut add = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        let mut end = 0;
        for (range, piece) in &self.cuts {
            add(&self.raw[end..range.start]);
            add(piece.blob.as_bytes());
            end = range.end;
        }
        add(&self.raw[end..]);
    }
}

/// Size of a serialized position in bytes.
const PLACE: usize = 4 + 4 + 1 + 32;

impl StoredSegment {
    /// Returns the numbers and blobs of the media in the result of [`NewSegment::places`].
    pub fn media(places: &[u8]) -> Result<Vec<(u32, BlobId)>, Error> {
        let damaged = || Error::Damaged("places of media");
        let (each, rest) = places.as_chunks::<PLACE>();
        if !rest.is_empty() {
            return Err(damaged());
        }
        let media = each.iter().map(|place| {
            let blob: [u8; 32] = place[9..].try_into().map_err(|_| damaged())?;
            Ok((u32::from_le_bytes([place[4], place[5], place[6], place[7]]), blob.into()))
        });
        media.collect()
    }

    /// Parses the results of [`NewSegment::text`] and [`NewSegment::places`].
    pub fn read(text: Vec<u8>, places: &[u8]) -> Result<Self, Error> {
        let damaged = || Error::Damaged("places of media");
        let (each, rest) = places.as_chunks::<PLACE>();
        if !rest.is_empty() {
            return Err(damaged());
        }
        let mut pieces = Vec::with_capacity(each.len());
        let mut last = 0;
        for place in each {
            let number = |at: usize| {
                let bytes = [place[at], place[at + 1], place[at + 2], place[at + 3]];
                u32::from_le_bytes(bytes) as usize
            };
            let form = match place[8] {
                0 => Form::Base64,
                1 => Form::Text,
                _ => return Err(damaged()),
            };
            let blob: [u8; 32] = place[9..].try_into().map_err(|_| damaged())?;
            let at = number(0);
            if at < last || at > text.len() {
                return Err(damaged());
            }
            last = at;
            pieces.push((at, CutMedia { form, media: MediaId::new(number(4)), blob: blob.into() }));
        }
        Ok(Self { text, pieces })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_comes_apart_and_reads_back() {
        let piece = |media: usize, form| CutMedia {
            form,
            media: MediaId::new(media),
            blob: BlobId::of(&[media as u8]),
        };
        let stretch = NewSegment {
            raw: b"one<AAAA>two<BB>three",
            cuts: vec![(4..8, piece(3, Form::Base64)), (13..15, piece(70_000, Form::Text))],
        };
        let kept = StoredSegment::read(stretch.text().into_owned(), &stretch.places()).unwrap();
        assert_eq!(kept.text, b"one<>two<>three");
        let at: Vec<usize> = kept.pieces.iter().map(|(at, _)| *at).collect();
        assert_eq!(at, [4, 9]);
        assert_eq!(kept.pieces[1].1, piece(70_000, Form::Text));
        let media = StoredSegment::media(&stretch.places()).unwrap();
        assert_eq!(media, [(3, BlobId::of(&[3])), (70_000, BlobId::of(&[112]))]);
    }

    #[test]
    fn places_that_cannot_be_are_an_error() {
        let places = |at: u32| [&at.to_le_bytes()[..], &[0; 37]].concat();
        assert!(StoredSegment::read(b"text".to_vec(), &places(4)).is_ok());
        let backwards = [places(3), places(2)].concat();
        let mut form = places(0);
        form[8] = 9;
        for bad in [places(5), backwards, form, vec![0; 40]] {
            assert!(StoredSegment::read(b"text".to_vec(), &bad).is_err());
        }
        for bad in [vec![0; 40], vec![0; 1]] {
            assert!(StoredSegment::media(&bad).is_err());
        }
    }
}
