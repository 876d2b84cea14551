//! A stretch of a body as the record keeps it: the text without its media, and where they stood.

use std::borrow::Cow;
use std::ops::Range;

use photic::Form;
use photic::transcript::MediaId;

use crate::blobs::BlobId;
use crate::error::Error;

/// A stretch of a body that is about to be kept.
#[derive(Clone, Debug)]
pub struct Stretch<'a> {
    /// As it stands.
    pub raw: &'a [u8],
    /// What is kept as blobs instead, in order.
    pub cuts: Vec<(Range<usize>, Piece)>,
}

/// A stretch as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The text without media.
    pub text: Vec<u8>,
    /// Where media stood in the text, in order.
    pub pieces: Vec<(usize, Piece)>,
}

/// A medium that was cut out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// How its bytes are written.
    pub form: Form,
    /// Which medium of the transcript it was.
    pub media: MediaId,
    /// Its bytes.
    pub blob: BlobId,
}

impl Stretch<'_> {
    /// The text without media.
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

    /// Where media stood, as [`Kept::read`] reads it; empty where there are none.
    pub fn places(&self) -> Vec<u8> {
        let mut places = Vec::with_capacity(self.cuts.len() * PLACE);
        let mut cut = 0;
        for (range, piece) in &self.cuts {
            let at = (range.start - cut) as u32;
            cut += range.len();
            places.extend_from_slice(&at.to_le_bytes());
            places.extend_from_slice(&(piece.media as u32).to_le_bytes());
            places.push(match piece.form {
                Form::Base64 => 0,
                Form::Text => 1,
            });
            places.extend_from_slice(piece.blob.as_bytes());
        }
        places
    }

    /// Adds the stretch to a hash: its text with the names of its media in it. Their numbers are
    /// left out: they depend on what else the request says.
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

/// Bytes that a place takes.
const PLACE: usize = 4 + 4 + 1 + 32;

impl Kept {
    /// Reads what [`Stretch::text`] and [`Stretch::places`] gave.
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
            pieces.push((at, Piece { form, media: number(4), blob: blob.into() }));
        }
        Ok(Self { text, pieces })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_comes_apart_and_reads_back() {
        let piece = |media, form| Piece { form, media, blob: BlobId::of(&[media as u8]) };
        let stretch = Stretch {
            raw: b"one<AAAA>two<BB>three",
            cuts: vec![(4..8, piece(3, Form::Base64)), (13..15, piece(70_000, Form::Text))],
        };
        let kept = Kept::read(stretch.text().into_owned(), &stretch.places()).unwrap();
        assert_eq!(kept.text, b"one<>two<>three");
        let at: Vec<usize> = kept.pieces.iter().map(|(at, _)| *at).collect();
        assert_eq!(at, [4, 9]);
        assert_eq!(kept.pieces[1].1, piece(70_000, Form::Text));
    }

    #[test]
    fn places_that_cannot_be_are_an_error() {
        let places = |at: u32| [&at.to_le_bytes()[..], &[0; 37]].concat();
        assert!(Kept::read(b"text".to_vec(), &places(4)).is_ok());
        let backwards = [places(3), places(2)].concat();
        let mut form = places(0);
        form[8] = 9;
        for bad in [places(5), backwards, form, vec![0; 40]] {
            assert!(Kept::read(b"text".to_vec(), &bad).is_err());
        }
    }
}
