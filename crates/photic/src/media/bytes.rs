//! Bytes of a base64 text, decoded only where they are read.

use base64::Engine as _;

use super::payload::{FORGIVING, Payload};

/// The bytes that a base64 text encodes, decoded a few at a time.
pub(super) struct Bytes<'p> {
    base64: &'p [u8],
    pub(super) len: usize,
}

impl<'p> Bytes<'p> {
    pub(super) fn of(payload: &'p Payload<'_>) -> Self {
        Self { base64: payload.base64(), len: payload.decoded_len() }
    }

    /// Reads `N` bytes from an offset, at most sixteen.
    pub(super) fn read<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        let end = at.checked_add(N).filter(|&end| end <= self.len && N <= 16)?;
        let groups = at / 3 * 4..(end.div_ceil(3) * 4).min(self.base64.len());
        let mut buffer = [0; 24];
        FORGIVING.decode_slice(self.base64.get(groups)?, &mut buffer).ok()?;
        buffer.get(at % 3..at % 3 + N)?.try_into().ok()
    }

    /// Returns the first `N` bytes.
    pub(super) fn first<const N: usize>(&self) -> Option<[u8; N]> {
        let mut first = [0; N];
        for (at, byte) in first.iter_mut().enumerate() {
            *byte = self.byte(at)?;
        }
        Some(first)
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.read::<1>(at).map(|[byte]| byte)
    }

    /// Returns the first twelve bytes, or zeros if there are fewer.
    pub(super) fn start(&self) -> [u8; 12] {
        self.read(0).unwrap_or_default()
    }

    pub(super) fn le32(&self, at: usize) -> Option<usize> {
        self.read(at).map(|bytes| u32::from_le_bytes(bytes) as usize)
    }
}
