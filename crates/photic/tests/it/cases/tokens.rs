//! Cases of token estimates.
