//! `photic fleet limits`.

use std::process::ExitCode;

use photic_fleet::{Fleet, Limits};
use photic_store::Tenant;

use crate::arguments::LimitOptions;
use crate::output::print_line;

/// Runs the command.
pub(super) async fn run(
    fleet: &Fleet,
    tenant: &Tenant,
    set: LimitOptions,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let LimitOptions { requests, in_flight, megapixels, stored, default } = set;
    let limits = Limits {
        requests_per_minute: requests,
        bytes_in_flight: in_flight.map(|mib| mib << 20),
        megapixels_per_minute: megapixels,
        stored_bytes: stored.map(|mib| mib << 20),
    };
    if default || limits != Limits::default() {
        fleet.record.set_limits(tenant, &limits).await?;
    }
    let limits = fleet.record.limits(tenant).await?;
    if json {
        return print_line(&serde_json::to_string(&limits)?);
    }
    for (name, limit) in [
        ("requests per minute", limits.requests_per_minute),
        ("bytes in flight", limits.bytes_in_flight),
        ("megapixels per minute", limits.megapixels_per_minute),
        ("stored bytes", limits.stored_bytes),
    ] {
        let limit =
            limit.map_or_else(|| "default of the settings".to_owned(), crate::style::grouped);
        anstream::println!("{name:<22} {limit}");
    }
    Ok(ExitCode::SUCCESS)
}
