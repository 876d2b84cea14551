//! Simulates the cost of a session: the same turns under different retention policies, with the
//! prompt cache of an endpoint played out request by request.
//!
//! Costs are in tokens at the base input price. Only input is counted, because output is the same
//! under every policy. photic's own policies run through [`Keeper`](crate::retention::Keeper), the
//! code that the planner uses, so none of them knows how long the session will last.
//!
//! Owns the model of a session and of a cache. Must never know a provider: the differences between
//! them come as [`Cache`] and [`MaxLoad`].

mod cache;
mod optimum;
mod policies;
mod session;

pub use cache::{Cache, Charge, Rule};
pub use optimum::optimum;
pub use policies::Contender;
pub use session::Session;

use crate::retention::MaxLoad;
use cache::Till;
use policies::Player;
use session::Request;

/// A session, and the endpoint it runs on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// The turns.
    pub session: Session,
    /// The number of newest views that the price never retires.
    pub floor: usize,
    /// The endpoint's cache.
    pub cache: Cache,
    /// The maximum load of a request. Only photic's own policies respect it.
    pub room: MaxLoad,
}

/// The result of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The total cost after each step, in tokens at the base input price.
    pub paid: Vec<f64>,
    /// The steps at which views were retired.
    pub edits: Vec<usize>,
    /// Tokens by the price paid for them.
    pub charge: Charge,
    /// Tokens of the longest request.
    pub peak: u64,
}

impl Outcome {
    /// Returns the cost of the session, in tokens at the base input price.
    pub fn cost(&self) -> f64 {
        self.paid.last().copied().unwrap_or(0.0)
    }

    fn add(&mut self, request: Request, charge: Charge, setting: &Setting) {
        let before = self.cost();
        self.paid.push(before + charge.cost(setting.cache.prices));
        self.charge.read += charge.read;
        self.charge.written += charge.written;
        self.charge.plain += charge.plain;
        self.peak = self.peak.max(setting.session.tokens(request));
    }
}

/// Runs the session under one retention policy.
pub fn run(setting: &Setting, contender: Contender) -> Outcome {
    let session = &setting.session;
    let mut player = Player::new(setting, contender);
    let mut till = Till::new(session, setting.cache);
    let mut outcome = Outcome::default();
    let mut before = Request::default();
    for step in 1..=session.steps {
        let request = Request { step, retired: player.retired(step) };
        let charge = till.charge(request, &player.marks(request, before));
        if request.retired > before.retired {
            outcome.edits.push(step);
        }
        outcome.add(request, charge, setting);
        before = request;
    }
    outcome
}
