//! Does nothing: a package without a build script has no build dependencies, and Cargo.toml says what the one is for.

fn main() {}
