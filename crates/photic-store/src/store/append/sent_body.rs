//! The digest of a sent body, of which a known beginning is not hashed again.

use photic::Digest;
use photic::json::Segments;

/// Digest and length of a sent body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentBody {
    /// BLAKE3 of the body.
    pub digest: Digest,
    /// Length in bytes.
    pub length: u64,
}

/// The hash of the beginning of a sent body, for a later body that begins with the same bytes.
#[derive(Clone, Debug)]
pub struct SentPrefix {
    /// The number of bytes that were hashed.
    pub bytes: usize,
    hash: blake3::Hasher,
}

impl SentBody {
    /// Computes digest and length of a lowered body.
    pub fn of(body: &Segments<'_>) -> Self {
        Self::after(body, None, None).0
    }

    /// Computes digest and length of a lowered body, of which only what follows after `prefix` is
    /// hashed. Returns the hash of its first `keep` bytes, too, if there are more than the prefix has.
    pub fn after(
        body: &Segments<'_>,
        prefix: Option<SentPrefix>,
        keep: Option<usize>,
    ) -> (Self, Option<SentPrefix>) {
        let prefix = prefix.filter(|prefix| prefix.bytes <= body.len());
        let (mut known, mut hash) =
            prefix.map_or_else(|| (0, blake3::Hasher::new()), |one| (one.bytes, one.hash));
        let (mut start, mut kept) = (0, None);
        for piece in body.iter() {
            let end = start + piece.len();
            let mut new = piece.get(known.saturating_sub(start)..).unwrap_or_default();
            if let Some(keep) = keep.filter(|keep| (known.max(start)..end).contains(keep)) {
                let (before, behind) = new.split_at(keep - known.max(start));
                hash.update(before);
                kept = Some(SentPrefix { bytes: keep, hash: hash.clone() });
                new = behind;
            }
            hash.update(new);
            known = known.max(end);
            start = end;
        }
        let digest = *hash.finalize().as_bytes();
        (Self { digest, length: body.len() as u64 }, kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_hashed_from_any_place_on() {
        let body: Vec<u8> = (0..9000_u32).map(|number| number as u8).collect();
        let segments = Segments::whole(&body);
        let whole = SentBody::of(&segments);
        assert_eq!(whole.digest, *blake3::hash(&body).as_bytes());
        for keep in [0, 1, 1023, 1024, 5000, 8999] {
            let (sent, kept) = SentBody::after(&segments, None, Some(keep));
            assert_eq!(sent, whole);
            let kept = kept.unwrap();
            assert_eq!(kept.bytes, keep);
            for next in [keep, 8998.max(keep)] {
                let (sent, last) = SentBody::after(&segments, Some(kept.clone()), Some(next));
                assert_eq!(sent, whole);
                assert_eq!(SentBody::after(&segments, last, None).0, whole);
            }
        }
        // What is longer than the body is not its beginning.
        let (_, kept) = SentBody::after(&segments, None, Some(8999));
        let short = Segments::whole(&body[..10]);
        assert_eq!(SentBody::after(&short, kept, None).0, SentBody::of(&short));
    }
}
