//! Bytes that are charged for as long as anybody reads them.

use bytes::Bytes;

use super::Charge;

struct Charged {
    bytes: Bytes,
    _charge: Charge,
}

impl AsRef<[u8]> for Charged {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Ties a charge to bytes: it is given back with the last slice of them.
pub(crate) fn charged(bytes: Bytes, charge: Charge) -> Bytes {
    if charge.bytes() == 0 {
        return bytes;
    }
    Bytes::from_owner(Charged { bytes, _charge: charge })
}
