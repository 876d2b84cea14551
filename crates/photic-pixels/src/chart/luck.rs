//! How likely hits are for somebody who guesses: exact, not approximated.

/// The chance of at least so many hits in tries that are each a hit with the given chance,
/// independently of the others.
///
/// Everything that is added is positive, so no digit is lost, however small the result.
pub fn at_least(hits: u32, chances: impl IntoIterator<Item = f64>) -> f64 {
    // exactly[k]: the chance of k hits so far.
    let mut exactly = vec![1.0];
    for chance in chances {
        exactly.push(0.0);
        for count in (0..exactly.len()).rev() {
            let one_less = count.checked_sub(1).map_or(0.0, |less| exactly[less]);
            exactly[count] = exactly[count] * (1.0 - chance) + one_less * chance;
        }
    }
    // From the far end, where terms are smallest.
    exactly.iter().skip(hits as usize).rev().sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same tail in whole numbers: out of `sides` to the power of `tries`, so many.
    fn counted(least: u32, tries: u32, sides: u128) -> u128 {
        let ways = |hits: u32| {
            (0..hits).fold(1_u128, |w, t| w * u128::from(tries - t) / u128::from(t + 1))
        };
        (least..=tries).map(|hits| ways(hits) * (sides - 1).pow(tries - hits)).sum()
    }

    #[test]
    fn tails_are_exact() {
        for (sides, tries) in [(10_u32, 16_u32), (16, 18), (32, 20)] {
            for least in 0..=tries {
                let all = f64::from(sides).powi(tries.cast_signed());
                let exact = counted(least, tries, u128::from(sides)) as f64 / all;
                let chance = 1.0 / f64::from(sides);
                let tail = at_least(least, std::iter::repeat_n(chance, tries as usize));
                assert!((tail - exact).abs() <= exact * 1e-12, "{least}: {tail} is not {exact}");
            }
        }
    }

    #[test]
    fn tries_may_differ() {
        let both = at_least(2, [0.5, 0.25]);
        let any = at_least(1, [0.5, 0.25]);
        assert!((both - 0.125).abs() < 1e-15 && (any - 0.625).abs() < 1e-15);
        assert!((at_least(0, [0.5]) - 1.0).abs() < 1e-15);
        assert!(at_least(2, [0.5]) < 1e-15);
    }
}
