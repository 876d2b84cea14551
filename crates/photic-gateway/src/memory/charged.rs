//! Bytes that carry their charge.

use bytes::Bytes;

use super::budget::Charge;

struct Charged {
    bytes: Bytes,
    _charge: Charge,
}

impl AsRef<[u8]> for Charged {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Attaches a charge to bytes. It is returned when the last slice of the bytes is dropped.
pub(crate) fn charged(bytes: Bytes, charge: Charge) -> Bytes {
    if charge.bytes() == 0 {
        return bytes;
    }
    Bytes::from_owner(Charged { bytes, _charge: charge })
}
