//! The mask of frames that a client sends.

/// Applies the mask of a frame to bytes that begin at an offset in its payload.
pub(super) fn apply(bytes: &mut [u8], mask: [u8; 4], offset: usize) {
    let mut mask = mask;
    mask.rotate_left(offset % 4);
    let word = u64::from_ne_bytes([
        mask[0], mask[1], mask[2], mask[3], mask[0], mask[1], mask[2], mask[3],
    ]);
    let (words, rest) = bytes.as_chunks_mut::<8>();
    for bytes in words {
        *bytes = (u64::from_ne_bytes(*bytes) ^ word).to_ne_bytes();
    }
    for (byte, mask) in rest.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_part_of_a_payload_is_masked_as_in_the_whole() {
        let mask = [1, 2, 4, 8];
        let plain: Vec<u8> = (0..100).collect();
        let expected: Vec<u8> = (0..100).map(|at| at as u8 ^ mask[at % 4]).collect();
        for cut in 0..plain.len() {
            let mut bytes = plain.clone();
            let (left, right) = bytes.split_at_mut(cut);
            apply(left, mask, 0);
            apply(right, mask, cut);
            assert_eq!(bytes, expected, "{cut}");
        }
    }
}
