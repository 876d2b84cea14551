//! Numbers that look drawn, and are the same for the same seed.

/// `SplitMix64`: small, and the same everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// The numbers of a thing with two numbers.
    pub(crate) const fn of(one: u64, other: u64) -> Self {
        Self(one.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(other))
    }

    /// The next number, whole.
    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The next number, below a limit.
    pub(crate) const fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
