//! `photic fleet`: manages tenants, keys and stored data.
//!
//! Every change is made in the database, where running gateways see it.

mod audit;
mod keys;
mod lessons;
mod limits;
mod tenant;

use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use photic_fleet::Fleet;
use photic_store::Tenant;
use serde_json::json;

use crate::arguments::{FleetCommand, FleetOptions};
use crate::output::print_line;
use crate::style::{GREEN, Hint, YELLOW, counted};
use tenant::named;

/// Runs the command.
pub(crate) fn run(options: &FleetOptions) -> anyhow::Result<ExitCode> {
    let settings = crate::settings::load(options.config.as_deref())?.config;
    let runtime = photic_gateway::runtime().context("cannot start the runtime")?;
    runtime.block_on(async {
        let fleet = settings.fleet.open()?.ok_or_else(|| {
            anyhow!("the settings name no fleet servers").context(Hint(
                "pass the gateways' settings with `--config`; they set `postgres` and `bucket` in \
                 `[fleet]`",
            ))
        })?;
        match &options.command {
            FleetCommand::Status => status(&fleet, options.json).await,
            FleetCommand::Keys(command) => keys::run(&fleet, command, options.json).await,
            FleetCommand::Limits { tenant, set } => {
                limits::run(&fleet, &named(tenant)?, *set, options.json).await
            }
            FleetCommand::Audit(command) => audit::run(&fleet, command, options.json).await,
            FleetCommand::Lessons(set) => {
                lessons::run(&fleet, set, settings.learned.days, options.json).await
            }
            FleetCommand::Forget { tenant, .. } => {
                forget(&fleet, &named(tenant)?, options.json).await
            }
            FleetCommand::Retire { days } => {
                retire(&fleet, days.unwrap_or(settings.fleet.days), options.json).await
            }
        }
    })
}

/// Checks the database and the bucket.
async fn status(fleet: &Fleet, json: bool) -> anyhow::Result<ExitCode> {
    let (record, blobs) = tokio::join!(fleet.record.is_there(), fleet.bucket.is_there());
    if json {
        print_line(&json!({"record": record, "blobs": blobs}).to_string())?;
    } else {
        for (name, there) in [("the database", record), ("the bucket", blobs)] {
            let (style, word) = if there { (GREEN, "up") } else { (YELLOW, "down") };
            anstream::println!("{style}{word:>6}{style:#}  {name}");
        }
        if !blobs {
            anstream::println!("\nrun `photic doctor --store BUCKET` to test the bucket");
        }
    }
    Ok(ExitCode::from(u8::from(!(record && blobs))))
}

/// Deletes past days.
async fn retire(fleet: &Fleet, days: u16, json: bool) -> anyhow::Result<ExitCode> {
    let retired = fleet.retire(days).await.context("not everything could be deleted")?;
    if json {
        print_line(&serde_json::to_string(&retired)?)?;
    } else {
        let (gone, objects) =
            (counted(retired.days.len(), "day"), counted(retired.objects, "object"));
        anstream::println!("deleted {gone} and {objects}; kept {} pinned", retired.kept);
    }
    Ok(ExitCode::SUCCESS)
}

/// Deletes a tenant.
async fn forget(fleet: &Fleet, tenant: &Tenant, json: bool) -> anyhow::Result<ExitCode> {
    if !json {
        anstream::eprintln!("access is revoked; data is deleted once open requests have ended");
    }
    let gone = fleet
        .forget_tenant(tenant)
        .await
        .context(Hint("run the same command again to delete the rest"))?;
    if json {
        print_line(&serde_json::to_string(&gone)?)?;
    } else {
        print_line(&format!("deleted {} rows and {} objects", gone.rows, gone.objects))?;
        for (table, count) in &gone.left.rows {
            print_line(&format!(
                "remaining: {} of `{table}`",
                counted(usize::try_from(*count).unwrap_or_default(), "row")
            ))?;
        }
        for object in &gone.left.objects {
            print_line(&format!("remaining: `{object}` in the bucket"))?;
        }
        if gone.left.is_empty() {
            print_line("everything but the audit log is deleted")?;
        } else {
            anstream::eprintln!("run the same command again to delete the rest");
        }
    }
    Ok(ExitCode::from(u8::from(!gone.left.is_empty())))
}
