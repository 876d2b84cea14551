//! Decides which views stay in sight, as a fold over the turns of a conversation.
//!
//! A *view* is an image that a tool returned, or that the host keeps under a name. The state after
//! a turn depends only on the turns up to it. Given the same conversation, a restart or another
//! replica therefore retires the same views, and the bytes before them stay the same from turn to
//! turn.
//!
//! Owns the policies and their arithmetic. Must never know a wire, a message or a byte of media:
//! the planner and the simulator run the same code.

mod keeper;
mod load;
mod over;
mod price;

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::name::UnknownName;

pub use keeper::{Keeper, Retired};
pub use load::{Load, MaxLoad, NOTICE, Rank, Turn, View};
pub use over::Cause;

/// A policy for keeping views in sight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Retention {
    /// Keeps views as long as re-reading them from the cache is cheaper than the re-write that
    /// retiring them causes.
    Priced,
    /// Keeps the views of this turn and of this many turns before it.
    Turns(usize),
    /// Keeps this many of the newest views, and at least one.
    Newest(usize),
    /// Keeps views until a limit of the endpoint is met. Only views that the model can ask for by
    /// an exact reference are retired to save cost, as [`Retention::Priced`] does.
    #[default]
    All,
}

impl Retention {
    /// The names of the policies, as [`Retention::from_name`] reads them.
    pub const NAMES: [&str; 4] = ["priced", "turns(K)", "newest(N)", "all"];

    /// Returns the policy of that name: `priced`, `turns(2)`, `newest(4)` or `all`.
    pub fn from_name(name: &str) -> Option<Self> {
        let number = |of: &str| {
            let inside = name.strip_prefix(of)?.strip_prefix('(')?.strip_suffix(')')?;
            inside.trim().parse().ok()
        };
        match name {
            "priced" => Some(Self::Priced),
            "all" => Some(Self::All),
            _ => number("turns").map(Self::Turns).or_else(|| number("newest").map(Self::Newest)),
        }
    }
}

impl FromStr for Retention {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let expected = ["priced", "turns(2)", "newest(4)", "all"];
        Self::from_name(name).ok_or_else(|| UnknownName::new("retention", name, expected))
    }
}

impl std::fmt::Display for Retention {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Priced => f.write_str("priced"),
            Self::Turns(before) => write!(f, "turns({before})"),
            Self::Newest(most) => write!(f, "newest({most})"),
            Self::All => f.write_str("all"),
        }
    }
}

/// The prices of a token, as ratios of the base input price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// A token read from the cache.
    pub read: f64,
    /// A token written to the cache.
    pub write: f64,
}

/// The conditions under which views are retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor {
    /// The number of newest views that the price never retires.
    pub views: usize,
    /// The number of newest turns whose views the price never retires.
    pub turns: usize,
    /// Minimum saving for which the price retires views, in tokens at the base input price. It is
    /// what the batch would save if the session went on for as long as it has lasted.
    pub saving: u64,
    /// The number of turns for which a retirement should last. The price never acts twice within
    /// this many turns. A limit retires as many views as the next turns are expected to need. With
    /// 0, a limit retires no more than it must.
    pub interval: usize,
}

impl Default for Floor {
    fn default() -> Self {
        Self { views: 3, turns: 3, saving: 1000, interval: 8 }
    }
}
