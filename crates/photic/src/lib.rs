//! photic's pure part.

mod check;
pub mod finding;
pub mod json;
mod lift;
mod lower;
pub mod media;
mod notice;
mod plan;
pub mod profile;
pub mod rejection;
pub mod reply;
mod rescue;
mod settings;
mod structure;
mod survey;
pub mod tokens;
pub mod transcript;
pub mod wire;

pub use check::check;
pub use finding::{Code, Cost, Finding, Position};
pub use lift::lift;
pub use lower::{Decision, Did, Lowered, lower};
pub use plan::{Fate, Ledger, Plan, Policy, Reason, plan};
pub use profile::Profile;
pub use reply::{lift_reply, lower_reply};
pub use survey::{Sighting, Slot, Survey, survey};
pub use transcript::Transcript;
pub use wire::{Wire, detect};
