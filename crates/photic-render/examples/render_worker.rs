//! The smallest worker there is; the tests draw with it.

use std::process::ExitCode;

fn main() -> ExitCode {
    photic_render::serve(std::env::args_os().skip(1))
}
