//! Measures how far a slice is base64. This is the one loop that reads every byte of every image.
//!
//! It is written so that the compiler turns it into vector code on any target, without `unsafe`. On
//! x86, a longer run is read with the wider vectors of the processor, which is asked at run time.

/// Returns the number of leading bytes in the standard base64 alphabet, padding excluded.
pub(crate) fn base64_run(bytes: &[u8]) -> usize {
    // Most calls end here: the run is a word of prose, and any longer check would cost more.
    let Some((first, rest)) = bytes.split_first_chunk::<FIRST>() else { return one_by_one(bytes) };
    if !is_clean(first) {
        return one_by_one(first);
    }
    let Some((second, _)) = rest.split_first_chunk::<BLOCK>() else {
        return FIRST + one_by_one(rest);
    };
    if !is_clean(second) {
        return FIRST + one_by_one(second);
    }
    let length = FIRST + BLOCK;
    let length = length + wide::blocks(&bytes[length..]);
    length + narrow(&bytes[length..])
}

/// Returns `true` if a byte belongs to the standard base64 alphabet, padding excluded.
pub(crate) fn is_base64(byte: u8) -> bool {
    ALPHABET[byte as usize]
}

static ALPHABET: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = outside(byte as u8) == 0;
        byte += 1;
    }
    table
};

const FIRST: usize = 16;
const BLOCK: usize = 128;

/// Measures a run with the vectors that every processor of the target has.
fn narrow(bytes: &[u8]) -> usize {
    let blocks = bytes.as_chunks::<BLOCK>().0;
    let length = blocks.iter().take_while(|block| is_clean(block)).count() * BLOCK;
    length + one_by_one(&bytes[length..])
}

fn one_by_one(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|&&byte| is_base64(byte)).count()
}

/// Returns `true` if every byte belongs to the alphabet. There is no early exit, so that the compiler
/// can vectorize it.
#[inline]
fn is_clean<const LENGTH: usize>(block: &[u8; LENGTH]) -> bool {
    block.iter().fold(0, |seen, &byte| seen | outside(byte)) == 0
}

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

/// Reads blocks with vectors that only some processors have.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod wide {
    use fearless_simd::prelude::*;
    use fearless_simd::{Level, kernel, u8x32, u8x64};

    use super::{BLOCK, outside};

    /// Returns the length of the leading blocks that are base64.
    pub(super) fn blocks(bytes: &[u8]) -> usize {
        let level = Level::new();
        if let Some(avx512) = level.as_avx512() {
            avx512_blocks(avx512, bytes)
        } else if let Some(avx2) = level.as_avx2() {
            avx2_blocks(avx2, bytes)
        } else {
            0
        }
    }

    /// A way to read blocks.
    #[cfg(test)]
    type Reader = Box<dyn Fn(&[u8]) -> usize>;

    /// Returns the ways that this machine has, each with the length of its blocks.
    #[cfg(test)]
    pub(super) fn readers() -> Vec<(usize, Reader)> {
        let level = Level::new();
        let mut readers: Vec<(usize, Reader)> = Vec::new();
        if let Some(avx2) = level.as_avx2() {
            readers.push((BLOCK, Box::new(move |bytes| avx2_blocks(avx2, bytes))));
        }
        if let Some(avx512) = level.as_avx512() {
            readers.push((2 * BLOCK, Box::new(move |bytes| avx512_blocks(avx512, bytes))));
        }
        readers
    }

    /// The highest bit is set for an ASCII byte outside of the alphabet.
    static OUTSIDERS: [u8; 128] = {
        let mut table = [0; 128];
        let mut byte = 0;
        while byte < 128 {
            table[byte] = if outside(byte as u8) == 0 { 0 } else { 0x80 };
            byte += 1;
        }
        table
    };

    kernel!(
        /// Looks up each byte in a table of all ASCII bytes.
        pub(super) fn avx512_blocks(avx512: Avx512, bytes: &[u8]) -> usize {
            let low = u8x64::from_slice(avx512, &OUTSIDERS[..64]);
            let high = u8x64::from_slice(avx512, &OUTSIDERS[64..]);
            let zero = u8x64::splat(avx512, 0);
            let mut length = 0;
            for block in bytes.as_chunks::<{ 2 * BLOCK }>().0 {
                let mut seen = zero;
                for part in block.as_chunks::<64>().0 {
                    let part = u8x64::from_slice(avx512, part);
                    // For a byte that is not ASCII the lookup means nothing, but its own highest bit
                    // is set.
                    seen = seen | part | low.concat_swizzle_dyn(high, part);
                }
                if (seen & 0x80).simd_eq(zero).any_false() {
                    break;
                }
                length += block.len();
            }
            length
        }
    );

    /// By the lower half of a byte: a bit for every class of upper halves with which it is outside
    /// of the alphabet.
    static LOWER: [u8; 32] = {
        let mut table = [0; 32];
        let mut byte = 0;
        while byte < 256 {
            if outside(byte as u8) != 0 {
                table[byte % 16] |= class(byte / 16);
                table[byte % 16 + 16] |= class(byte / 16);
            }
            byte += 1;
        }
        table
    };

    /// By the upper half of a byte: the bit of its class.
    static UPPER: [u8; 32] = {
        let mut table = [0; 32];
        let mut half = 0;
        while half < 32 {
            table[half] = class(half % 16);
            half += 1;
        }
        table
    };

    /// Returns the bit for an upper half of a byte. Those that no byte of the alphabet has share one.
    const fn class(upper: usize) -> u8 {
        if upper < 2 || upper > 7 { 1 } else { 1 << (upper - 1) }
    }

    kernel!(
        /// Looks up each half of a byte in a table of its own.
        pub(super) fn avx2_blocks(avx2: Avx2, bytes: &[u8]) -> usize {
            let lower = u8x32::from_slice(avx2, &LOWER);
            let upper = u8x32::from_slice(avx2, &UPPER);
            let zero = u8x32::splat(avx2, 0);
            let mut length = 0;
            for block in bytes.as_chunks::<BLOCK>().0 {
                let mut seen = zero;
                for part in block.as_chunks::<32>().0 {
                    let part = u8x32::from_slice(avx2, part);
                    seen |= lower.swizzle_dyn_within_blocks(part & 0x0f)
                        & upper.swizzle_dyn_within_blocks(part >> 4);
                }
                if seen.simd_eq(zero).any_false() {
                    break;
                }
                length += block.len();
            }
            length
        }
    );
}

/// Other targets have no wider vectors than those that the compiler uses by itself.
#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
mod wide {
    pub(super) const fn blocks(_: &[u8]) -> usize {
        0
    }

    #[cfg(test)]
    pub(super) fn readers() -> Vec<(usize, fn(&[u8]) -> usize)> {
        Vec::new()
    }
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

    /// Every byte at every position of runs of up to 600 bytes, with everything that can read them.
    #[test]
    fn all_vectors_agree_for_every_byte_at_every_position() {
        for outsider in 0..=255u8 {
            let stops = !is_base64(outsider);
            let mut bytes: Vec<u8> = LETTERS.iter().copied().cycle().take(600).collect();
            for position in 0..600 {
                let letter = std::mem::replace(&mut bytes[position], outsider);
                let length = if stops { position } else { bytes.len() };
                assert_eq!(base64_run(&bytes), length, "{outsider:#x} at {position}");
                assert_eq!(narrow(&bytes), length, "{outsider:#x} at {position}");
                for (block, blocks) in wide::readers() {
                    let length = length / block * block;
                    assert_eq!(blocks(&bytes), length, "{outsider:#x} at {position}, {block}");
                }
                bytes[position] = letter;
            }
        }
        for length in 0..600 {
            let bytes = vec![b'+'; length];
            assert_eq!(base64_run(&bytes), length);
            for (block, blocks) in wide::readers() {
                assert_eq!(blocks(&bytes), length / block * block);
            }
        }
    }

    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    #[test]
    fn alphabet_is_exactly_the_standard_one() {
        let standard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        for byte in 0..=255u8 {
            assert_eq!(outside(byte) == 0, standard.as_bytes().contains(&byte), "{byte:#x}");
        }
    }
}
