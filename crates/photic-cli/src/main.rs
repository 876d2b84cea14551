//! photic.
fn main() {}
