//! Cost of questions: estimated by the planner at first, corrected by the usage in replies.

use photic::reply::Usage;
use photic_store::Usd;

/// Prices of tokens in US dollars per million.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenPrice {
    /// Input tokens.
    pub input: f64,
    /// Output tokens.
    pub output: f64,
}

/// Assumed tokens of an answer before the first one arrived.
const ASSUMED_ANSWER_TOKENS: u64 = 500;

#[derive(Clone, Copy, Debug)]
pub(super) struct Bill {
    price: Option<TokenPrice>,
    /// Largest ratio of actual to estimated input tokens, at least 1.
    larger: f64,
    /// Tokens of the longest answer so far.
    longest: Option<u64>,
}

impl Bill {
    pub(super) const fn new(price: Option<TokenPrice>) -> Self {
        Self { price, larger: 1.0, longest: None }
    }

    /// Estimates the cost of a request with this many estimated tokens. The estimate is an upper
    /// bound.
    pub(super) fn estimate(&self, tokens: u64) -> Usd {
        self.cost(tokens as f64 * self.larger, self.longest.unwrap_or(ASSUMED_ANSWER_TOKENS))
    }

    /// Returns the actual cost and adjusts later estimates.
    pub(super) fn charge(&mut self, tokens: u64, usage: Option<Usage>) -> Usd {
        let Some(usage) = usage else { return self.estimate(tokens) };
        self.larger = self.larger.max(usage.input as f64 / tokens.max(1) as f64);
        self.longest = self.longest.max(Some(usage.output));
        self.cost(usage.input as f64, usage.output)
    }

    fn cost(&self, input: f64, output: u64) -> Usd {
        let Some(price) = self.price else { return Usd::ZERO };
        Usd::dollars((input * price.input + output as f64 * price.output) / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_learn_from_replies_and_never_shrink_below_the_planner() {
        let mut bill = Bill::new(Some(TokenPrice { input: 1.0, output: 10.0 }));
        assert_eq!(bill.estimate(1000), Usd::dollars(0.001 + 0.005));
        let said = |input, output| Some(Usage { input, output, ..Usage::default() });
        assert_eq!(bill.charge(1000, said(800, 20)), Usd::dollars(0.0008 + 0.0002));
        assert_eq!(bill.estimate(1000), Usd::dollars(0.001 + 0.0002));
        bill.charge(1000, said(2000, 10));
        assert_eq!(bill.estimate(500), Usd::dollars(0.001 + 0.0002));
        assert_eq!(bill.charge(500, None), bill.estimate(500));
        assert_eq!(Bill::new(None).estimate(1000), Usd::ZERO);
    }
}
