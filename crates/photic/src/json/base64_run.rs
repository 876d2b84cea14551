//! Measures how far a slice is base64. This is the one loop that reads every byte of every image.
//!
//! It is written so that the compiler turns it into vector code on any target, without `unsafe`.

/// Returns the number of leading bytes in the standard base64 alphabet, padding excluded.
pub(crate) fn base64_run(bytes: &[u8]) -> usize {
    let mut length = 0;
    for block in bytes.chunks_exact(BLOCK) {
        // No early exit inside the block, so that the compiler can vectorize it.
        if block.iter().fold(0, |seen, &byte| seen | outside(byte)) != 0 {
            break;
        }
        length += BLOCK;
    }
    length + bytes[length..].iter().take_while(|&&byte| outside(byte) == 0).count()
}

/// Returns `true` if a byte belongs to the standard base64 alphabet, padding excluded.
pub(crate) const fn is_base64(byte: u8) -> bool {
    outside(byte) == 0
}

const BLOCK: usize = 128;

/// Returns zero for a byte of the alphabet, else its distance from the nearest part of it.
///
/// Subtractions and minima only, no comparisons: nine vector instructions for sixteen bytes.
const fn outside(byte: u8) -> u8 {
    let letter = (byte | 0x20).wrapping_sub(b'a').saturating_sub(25);
    // The slash comes right before the digits in ASCII.
    let digit_or_slash = byte.wrapping_sub(b'/').saturating_sub(10);
    let plus = byte ^ b'+';
    least(least(letter, digit_or_slash), plus)
}

const fn least(left: u8, right: u8) -> u8 {
    if left < right { left } else { right }
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
            assert_eq!(outside(byte) == 0, standard.as_bytes().contains(&byte), "{byte:#x}");
        }
    }
}
