//! `SplitMix64`, a small generator that gives the same numbers on every machine.

/// The state of the generator, which is its seed at first.
pub(super) struct SplitMix64(pub(super) u64);

impl SplitMix64 {
    /// The next number below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }
}
