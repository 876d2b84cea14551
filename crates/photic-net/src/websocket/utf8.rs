//! Checks that a text which arrives in pieces is UTF-8.

/// Checks a text piece by piece.
#[derive(Debug, Default)]
pub(super) struct Utf8Check {
    /// The beginning of a character whose rest has not arrived.
    begun: [u8; 4],
    length: usize,
}

impl Utf8Check {
    /// Checks the next piece. Returns `false` if the text is not UTF-8.
    pub(super) fn feed(&mut self, mut piece: &[u8]) -> bool {
        while self.length > 0 {
            let Some((&byte, rest)) = piece.split_first() else { return true };
            self.begun[self.length] = byte;
            self.length += 1;
            piece = rest;
            match std::str::from_utf8(&self.begun[..self.length]) {
                Ok(_) => self.length = 0,
                // Only the end is missing.
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return false,
            }
        }
        match std::str::from_utf8(piece) {
            Ok(_) => true,
            Err(error) if error.error_len().is_none() => {
                let rest = &piece[error.valid_up_to()..];
                self.begun[..rest.len()].copy_from_slice(rest);
                self.length = rest.len();
                true
            }
            Err(_) => false,
        }
    }

    /// Returns `true` if the text may end here.
    pub(super) const fn may_end(&self) -> bool {
        self.length == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_judged_alike_however_it_is_cut() {
        let texts: [&[u8]; 7] = [
            "plain".as_bytes(),
            "grün 日本 😀".as_bytes(),
            b"\xed\xa0\x80",
            b"ab\xff",
            b"\xf0\x9f\x98",
            b"\xc0\x80",
            b"\xf4\x90\x80\x80",
        ];
        for text in texts {
            let expected = std::str::from_utf8(text).is_ok();
            for first in 0..=text.len() {
                for second in first..=text.len() {
                    let mut check = Utf8Check::default();
                    let pieces = [&text[..first], &text[first..second], &text[second..]];
                    let is_good = pieces.iter().all(|piece| check.feed(piece)) && check.may_end();
                    assert_eq!(is_good, expected, "{text:?} at {first} and {second}");
                }
            }
        }
    }
}
