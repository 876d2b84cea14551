//! The cost of a running turn of a caller: reserved before, and settled at its end.

use std::sync::Arc;

use super::budget::{Account, Budgets, Meter, micro_usd};
use super::callers::NamedCaller;
use crate::http::Failure;

/// Tokens, and the dollars that they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    pub(crate) tokens: u64,
    pub(crate) usd: f64,
}

/// The part of a caller's limits that a running turn holds. It is returned when this is dropped.
#[derive(Debug)]
pub(crate) struct Spending {
    budgets: Arc<Budgets>,
    account: Arc<Account>,
    /// Each meter with its limit and the amount that is reserved.
    reserved: Vec<(Meter, u64, u64)>,
    used: Cost,
}

impl Spending {
    /// Reserves what a turn of a caller may cost. Returns `None` if nothing limits that.
    ///
    /// # Errors
    ///
    /// Fails if a limit is reached, or if the meters cannot be used.
    pub(super) async fn reserve(
        budgets: &Arc<Budgets>,
        caller: &NamedCaller,
        bound: Cost,
    ) -> Result<Option<Self>, Failure> {
        if !caller.limits.meters_turns() {
            return Ok(None);
        }
        let account = budgets.account(&caller.name);
        let used = Cost::default();
        let mut this = Self { budgets: Arc::clone(budgets), account, reserved: Vec::new(), used };
        for meter in [Meter::Tokens, Meter::MicroUsd] {
            let Some(limit) = meter.limit(&caller.limits) else { continue };
            let amount = bound.of(meter);
            this.budgets.reserve(&this.account, meter, limit, amount).await?;
            this.reserved.push((meter, limit, amount));
        }
        Ok(Some(this))
    }

    /// Replaces the reservation by what the turn cost, or by all of it if that is not known.
    pub(crate) fn settle(mut self, cost: Option<Cost>) {
        self.used = cost.unwrap_or_else(|| {
            let of = |meter: Meter| self.reserved.iter().find(|(own, ..)| *own == meter);
            let amount = |meter| of(meter).map_or(0, |(.., amount)| *amount);
            Cost { tokens: amount(Meter::Tokens), usd: amount(Meter::MicroUsd) as f64 / 1e6 }
        });
    }
}

impl Cost {
    fn of(self, meter: Meter) -> u64 {
        match meter {
            Meter::Tokens => self.tokens,
            Meter::MicroUsd => micro_usd(self.usd),
            Meter::Requests | Meter::Bytes => 0,
        }
    }
}

impl Drop for Spending {
    fn drop(&mut self) {
        let reserved = std::mem::take(&mut self.reserved);
        // Without a runtime the gateway has ended, and the meters count the reservation as spent.
        let Some(runtime) =
            tokio::runtime::Handle::try_current().ok().filter(|_| !reserved.is_empty())
        else {
            return;
        };
        let (budgets, account, used) =
            (Arc::clone(&self.budgets), Arc::clone(&self.account), self.used);
        runtime.spawn(async move {
            for (meter, limit, amount) in reserved {
                budgets.settle(&account, meter, limit, amount, used.of(meter)).await;
            }
        });
    }
}
