//! Keeps the bytes of a reply for the record, as they pass.

use photic_store::record::StoredReply;

use crate::memory::{Charge, Share, Use};

/// Maximum number of bytes that are kept of a reply. A streamed answer of ten thousand tokens has about
/// as many.
const MAX_REPLY: usize = 1 << 20;
/// Bytes that are charged at once.
const STEP: u64 = 64 << 10;

/// The bytes of a reply, up to a limit.
#[derive(Debug)]
pub(super) struct KeptReply {
    media_type: String,
    bytes: Vec<u8>,
    /// Bytes of the whole reply.
    length: u64,
    charge: Charge,
}

impl KeptReply {
    /// Begins to keep a reply of this type.
    pub(super) fn new(media_type: String, share: &Share) -> Self {
        let charge = share.nothing(Use::Replies);
        Self { media_type, bytes: Vec::new(), length: 0, charge }
    }

    /// Keeps a piece. Once something had no room, nothing behind it is kept.
    pub(super) fn add(&mut self, piece: &[u8]) {
        let is_whole = self.bytes.len() as u64 == self.length;
        self.length += piece.len() as u64;
        let room = MAX_REPLY.saturating_sub(self.bytes.len()).min(piece.len());
        let wanted = ((self.bytes.len() + room) as u64).next_multiple_of(STEP);
        if is_whole && room > 0 && self.charge.try_reach(wanted) {
            self.bytes.extend_from_slice(&piece[..room]);
        }
    }

    /// Returns the reply for the record, if it had any bytes.
    pub(super) fn finish(self) -> Option<StoredReply> {
        let Self { media_type, bytes, length, .. } = self;
        (!bytes.is_empty()).then_some(StoredReply { media_type, bytes, length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{CallerIds, MemoryBudget};

    #[test]
    fn a_reply_is_kept_up_to_a_limit_and_charged() {
        let budget = MemoryBudget::new(0);
        let share = budget.share(CallerIds::default().of("one"));
        let mut kept = KeptReply::new("text/event-stream".to_owned(), &share);
        kept.add(b"data: 1\n\n");
        kept.add(b"data: 2\n\n");
        assert_eq!(budget.used()[Use::Replies as usize], STEP);
        let reply = kept.finish().unwrap();
        assert_eq!((reply.bytes.as_slice(), reply.length), (&b"data: 1\n\ndata: 2\n\n"[..], 18));
        assert_eq!(budget.used()[Use::Replies as usize], 0);

        let mut long = KeptReply::new(String::new(), &share);
        (0..40).for_each(|_| long.add(&b"x".repeat(60_000)));
        let reply = long.finish().unwrap();
        assert_eq!((reply.bytes.len(), reply.length), (MAX_REPLY, 2_400_000));
        assert_eq!(KeptReply::new(String::new(), &share).finish(), None);
    }

    #[test]
    fn without_memory_nothing_behind_a_gap_is_kept() {
        let budget = MemoryBudget::new(0);
        let share = budget.share(CallerIds::default().of("one"));
        let mut kept = KeptReply::new(String::new(), &share);
        kept.add(b"first");
        let mut all = share.nothing(Use::Bodies);
        assert!(all.try_grow(share.most() - STEP));
        kept.add(&b"x".repeat(STEP as usize));
        drop(all);
        kept.add(b"last");
        let reply = kept.finish().unwrap();
        assert_eq!((reply.bytes.as_slice(), reply.length), (&b"first"[..], 9 + STEP));
    }
}
