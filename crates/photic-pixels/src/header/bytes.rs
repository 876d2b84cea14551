//! Bounded reads from a slice. Each returns `None` past the end; none panics.

/// Largest number of bytes that a probe reads.
pub const MAX_PROBE_BYTES: usize = 256 << 10;

/// The byte at an offset.
pub(super) fn u8_at(bytes: &[u8], at: usize) -> Option<u8> {
    bytes.get(at).copied()
}

/// A big-endian 16-bit number.
pub(super) fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

/// A big-endian 32-bit number.
pub(super) fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// A little-endian 16-bit number.
pub(super) fn le16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

/// A little-endian 24-bit number.
pub(super) fn le24(bytes: &[u8], at: usize) -> Option<u32> {
    let part = bytes.get(at..at.checked_add(3)?)?;
    Some(u32::from(part[0]) | u32::from(part[1]) << 8 | u32::from(part[2]) << 16)
}

/// A little-endian 32-bit number.
pub(super) fn le32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// The part of a file that a probe may read.
pub(super) fn head(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(MAX_PROBE_BYTES)]
}
