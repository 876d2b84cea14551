//! Prints the public API of a crate, one item to a line, from the JSON that rustdoc writes about it.
//!
//! `.ci/api` runs it and compares the lines with the `public-api.txt` of the crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: public_api RUSTDOC.json");
        return ExitCode::from(2);
    };
    // Implementations that the compiler or a `derive` adds say nothing that the type does not.
    let api = public_api::Builder::from_rustdoc_json(path)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build();
    match api {
        Ok(api) => {
            print!("{api}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
