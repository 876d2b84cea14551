//! The letters of names: base 32 without letters that are easily confused.

/// Letters and digits that are not easily confused.
pub(crate) const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Number of letters of a name that [`spell`] writes.
pub(crate) const NAME_LETTERS: usize = 16;

/// Encodes the first 80 bits as sixteen letters.
pub(crate) fn spell(bytes: &[u8; 32]) -> String {
    let letter = |at: usize| {
        let (byte, bit) = (at * 5 / 8, at * 5 % 8);
        let window = u16::from_be_bytes([bytes[byte], bytes[byte + 1]]);
        char::from(LETTERS[usize::from(window >> (11 - bit) & 31)])
    };
    (0..NAME_LETTERS).map(letter).collect()
}
