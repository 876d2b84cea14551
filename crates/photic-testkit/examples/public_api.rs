//! Prints the public API of a crate, one item to a line, from the JSON that rustdoc writes about it.
//!
//! `.ci/api` runs it and compares the lines with the `public-api.txt` of the crate.

use std::error::Error;
use std::io::Write as _;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: public_api RUSTDOC.json")?;
    // Implementations that the compiler or a `derive` adds say nothing that the type does not.
    let api = public_api::Builder::from_rustdoc_json(path)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    write!(std::io::stdout(), "{api}")?;
    Ok(())
}
