//! Exact probabilities of hits by chance.

/// The probability of at least `hits` hits in independent tries, given each try's chance of a hit.
///
/// The sum has only positive terms, so even a very small result is exact to the last digits.
pub fn chance_of_at_least(hits: u32, chances: impl IntoIterator<Item = f64>) -> f64 {
    // `exactly[k]` is the probability of k hits so far.
    let mut exactly = vec![1.0];
    for chance in chances {
        exactly.push(0.0);
        for count in (0..exactly.len()).rev() {
            let one_less = count.checked_sub(1).map_or(0.0, |less| exactly[less]);
            exactly[count] = exactly[count] * (1.0 - chance) + one_less * chance;
        }
    }
    // Summed from the far end, where terms are smallest.
    exactly.iter().skip(hits as usize).rev().sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of outcomes with at least `least` hits, of `sides` to the power of `tries`.
    fn counted(least: u32, tries: u32, sides: u128) -> u128 {
        let combinations = |hits: u32| {
            (0..hits).fold(1_u128, |w, t| w * u128::from(tries - t) / u128::from(t + 1))
        };
        (least..=tries).map(|hits| combinations(hits) * (sides - 1).pow(tries - hits)).sum()
    }

    #[test]
    fn tails_are_exact() {
        for (sides, tries) in [(10_u32, 16_u32), (16, 18), (32, 20)] {
            for least in 0..=tries {
                let all = f64::from(sides).powi(tries.cast_signed());
                let exact = counted(least, tries, u128::from(sides)) as f64 / all;
                let chance = 1.0 / f64::from(sides);
                let tail = chance_of_at_least(least, std::iter::repeat_n(chance, tries as usize));
                assert!((tail - exact).abs() <= exact * 1e-12, "{least}: {tail} is not {exact}");
            }
        }
    }

    #[test]
    fn tries_may_differ() {
        let both = chance_of_at_least(2, [0.5, 0.25]);
        let any = chance_of_at_least(1, [0.5, 0.25]);
        assert!((both - 0.125).abs() < 1e-15 && (any - 0.625).abs() < 1e-15);
        assert!((chance_of_at_least(0, [0.5]) - 1.0).abs() < 1e-15);
        assert!(chance_of_at_least(2, [0.5]) < 1e-15);
    }
}
