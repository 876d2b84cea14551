//! `SplitMix64`: random numbers for tests, the same for the same seed on every machine.
//!
//! The charts of `photic-pixels` have a generator of their own, because a shipped crate cannot
//! depend on this one, and because the numbers behind a chart are a contract that no test may
//! change.

/// A generator after Steele, Lea and Flood (2014).
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl SplitMix64 {
    /// Creates a generator from a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Creates a generator from two numbers, such as a session and a turn.
    pub const fn of_pair(one: u64, other: u64) -> Self {
        Self(one.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(other))
    }

    /// Returns the number at a position of a seed's sequence, counted from one.
    pub const fn at(seed: u64, position: u64) -> u64 {
        let mut z = seed.wrapping_add(position.wrapping_mul(STEP));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns the next number of 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        let number = Self::at(self.0, 1);
        self.0 = self.0.wrapping_add(STEP);
        number
    }

    /// Returns the next number below a limit.
    ///
    /// # Panics
    ///
    /// Panics if the limit is 0.
    pub const fn below(&mut self, limit: usize) -> usize {
        (self.next_u64() % limit as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::SplitMix64;

    #[test]
    fn gives_the_published_numbers() {
        let mut random = SplitMix64::new(1_234_567);
        let numbers: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(
            numbers,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
        assert_eq!(SplitMix64::at(1_234_567, 3), numbers[2]);
    }
}
