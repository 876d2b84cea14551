//! The arguments of `photic extproc`.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use photic_extproc::TooLarge;

use super::RetentionOptions;

/// Run an external processor for Envoy: a gateway that you have repairs the requests it forwards
///
/// Envoy's filter `ext_proc` calls it over gRPC, without TLS. Requests with a conversation come back
/// repaired, all others pass. The response headers `x-photic-fixes` and `x-photic-passed` say what
/// was done. docs/howto/envoy.md shows Envoy's configuration.
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  photic extproc                                 beside an Envoy on this machine
  photic extproc --listen 0.0.0.0:4143           for others in a private network
  photic extproc --max-body 16 --too-large refuse   status 413 for bodies above 16 MiB
")]
pub(crate) struct ExtprocOptions {
    /// Address to listen on
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:4143")]
    pub(crate) listen: String,
    /// Maximum MiB of a body
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 64,
        value_parser = clap::value_parser!(u16).range(1..=1024),
    )]
    pub(crate) max_body: u16,
    /// Maximum MiB of the bodies of all requests; further ones pass as they are
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 1024,
        value_parser = clap::value_parser!(u32).range(1..=1_048_576),
    )]
    pub(crate) memory: u32,
    /// Treatment of a larger body: it passes as it is, or the client gets status 413
    #[arg(long, value_name = "WAY", default_value = "pass", value_parser = too_large())]
    pub(crate) too_large: TooLarge,
    #[command(flatten)]
    pub(crate) retention: RetentionOptions,
}

/// Parses the option `--too-large`.
fn too_large() -> impl TypedValueParser<Value = TooLarge> {
    PossibleValuesParser::new(TooLarge::ALL.map(TooLarge::name))
        .map(|name| TooLarge::from_name(&name).unwrap_or_default())
}
