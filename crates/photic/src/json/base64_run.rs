//! How far a slice is base64: the one loop that sees every byte of every image.
//!
//! Written so that the compiler turns it into vector code on any target, without `unsafe`.

/// The number of leading bytes that belong to the standard base64 alphabet, padding excluded.
pub(crate) fn base64_run(bytes: &[u8]) -> usize {
    let mut length = 0;
    for block in bytes.chunks_exact(BLOCK) {
        // No early exit inside the block: that is what lets it vectorize.
        let outsiders = block.iter().fold(0u8, |seen, &byte| seen | u8::from(!in_alphabet(byte)));
        if outsiders != 0 {
            break;
        }
        length += BLOCK;
    }
    length + bytes[length..].iter().take_while(|&&byte| in_alphabet(byte)).count()
}

const BLOCK: usize = 64;

/// Bitwise `|` instead of `||`: branches would keep the loop scalar.
const fn in_alphabet(byte: u8) -> bool {
    ((byte | 0x20).wrapping_sub(b'a') < 26)
        | (byte.wrapping_sub(b'0') < 10)
        | (byte == b'+')
        | (byte == b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_up_to_the_first_outsider_at_every_offset() {
        for length in 0..200 {
            let mut bytes = vec![b'A'; length];
            bytes.extend_from_slice(b"\"tail of anything");
            assert_eq!(base64_run(&bytes), length);
        }
    }

    #[test]
    fn alphabet_is_exactly_the_standard_one() {
        let standard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        for byte in 0..=255u8 {
            assert_eq!(in_alphabet(byte), standard.as_bytes().contains(&byte), "{byte:#x}");
        }
    }
}
