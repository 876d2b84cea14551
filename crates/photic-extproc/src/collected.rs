//! A body that arrives in chunks.

use bytes::{Bytes, BytesMut};

use crate::memory::Charge;

/// The chunks of a body, and the memory that they are charged to.
#[derive(Debug, Default)]
pub(crate) struct CollectedBody {
    chunks: Vec<Bytes>,
    charges: Vec<Charge>,
    length: usize,
}

impl CollectedBody {
    /// Adds a chunk.
    pub(crate) fn push(&mut self, chunk: Bytes, charge: Charge) {
        self.length += chunk.len();
        self.chunks.push(chunk);
        self.charges.push(charge);
    }

    /// Returns the length of all chunks.
    pub(crate) const fn len(&self) -> usize {
        self.length
    }

    /// Returns `true` if no chunk has arrived.
    pub(crate) const fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Returns the chunks.
    pub(crate) fn chunks(self) -> Vec<Bytes> {
        self.chunks
    }

    /// Returns the body in one piece, and its charges. A single chunk is not copied.
    pub(crate) fn whole(mut self) -> (Bytes, Vec<Charge>) {
        let only = if self.chunks.len() == 1 { self.chunks.pop() } else { None };
        let whole = only.unwrap_or_else(|| {
            let mut whole = BytesMut::with_capacity(self.length);
            for chunk in &self.chunks {
                whole.extend_from_slice(chunk);
            }
            whole.freeze()
        });
        (whole, self.charges)
    }
}
