//! Exact amounts of money: whole billionths of a US dollar.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

/// Billionths in a dollar.
const BILLION: f64 = 1e9;

/// A non-negative amount of US dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Usd(u64);

impl Usd {
    /// Zero dollars.
    pub const ZERO: Self = Self(0);

    /// Converts from dollars. Rounds up, so that rounding never exceeds a cap.
    pub fn dollars(dollars: f64) -> Self {
        // NaN and negative amounts become zero; too large ones saturate.
        Self((dollars * BILLION).ceil() as u64)
    }

    /// Converts from billionths. Negative amounts become zero.
    pub fn billionths(billionths: i64) -> Self {
        Self(u64::try_from(billionths).unwrap_or_default())
    }

    /// Returns the amount in billionths, for databases with signed integers.
    pub fn as_billionths(self) -> i64 {
        i64::try_from(self.0).unwrap_or(i64::MAX)
    }

    /// Returns the amount in dollars, for display.
    pub fn as_dollars(self) -> f64 {
        self.0 as f64 / BILLION
    }
}

impl Add for Usd {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Usd {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Usd {
    /// Formats as cents, or with more digits for small amounts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dollars = self.as_dollars();
        match self.0 {
            0 | 100_000_000.. => write!(f, "${dollars:.2}"),
            1_000_000.. => write!(f, "${dollars:.4}"),
            _ => write!(f, "${dollars:.6}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_add_up_and_are_seen() {
        let tenth = Usd::dollars(0.1);
        assert_eq!((0..10).map(|_| tenth).sum::<Usd>(), Usd::dollars(1.0));
        assert_eq!(Usd::dollars(-1.0), Usd::ZERO);
        assert_eq!(Usd::dollars(f64::NAN), Usd::ZERO);
        assert_eq!(Usd::billionths(Usd::dollars(2.5).as_billionths()), Usd::dollars(2.5));
        let shown = [0.0, 0.000_012, 0.0123, 12.345].map(|sum| Usd::dollars(sum).to_string());
        assert_eq!(shown, ["$0.00", "$0.000012", "$0.0123", "$12.35"]);
    }
}
