//! `photic fleet`: tenants and keys, and what operators do by hand. Gateways need none of it while
//! they run: every change is in the database, and they see it there.

mod audit;
mod keys;
mod lessons;
mod limits;

use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use photic_fleet::Fleet;
use photic_store::Tenant;
use serde_json::json;

use crate::arguments::{FleetCommand, FleetOptions};
use crate::style::{GREEN, Hint, YELLOW, counted};

pub(crate) fn run(options: &FleetOptions) -> anyhow::Result<ExitCode> {
    let settings = crate::settings::load(options.config.as_deref())?.config;
    let runtime = photic_gateway::runtime().context("cannot start the runtime")?;
    runtime.block_on(async {
        let fleet = settings.fleet.open()?.ok_or_else(|| {
            anyhow!("the settings name no servers").context(Hint(
                "name the gateways' file with `--config`: it has `postgres` and `bucket` below \
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

async fn status(fleet: &Fleet, json: bool) -> anyhow::Result<ExitCode> {
    let (record, blobs) = tokio::join!(fleet.record.is_there(), fleet.bucket.is_there());
    if json {
        print(&json!({"record": record, "blobs": blobs}).to_string())?;
    } else {
        for (name, there) in [("the database", record), ("the bucket", blobs)] {
            let (style, word) = if there { (GREEN, "there") } else { (YELLOW, "away") };
            anstream::println!("{style}{word:>6}{style:#}  {name}");
        }
        if !blobs {
            anstream::println!("\n`photic doctor --store BUCKET` says what a bucket can do");
        }
    }
    Ok(ExitCode::from(u8::from(!(record && blobs))))
}

async fn retire(fleet: &Fleet, days: u16, json: bool) -> anyhow::Result<ExitCode> {
    let retired = fleet.retire(days).await.context("not everything could be forgotten")?;
    if json {
        print(&serde_json::to_string(&retired)?)?;
    } else {
        let (gone, objects) =
            (counted(retired.days.len(), "day"), counted(retired.objects, "object"));
        anstream::println!("{gone} and {objects} are gone, {} kept for pins", retired.kept);
    }
    Ok(ExitCode::SUCCESS)
}

async fn forget(fleet: &Fleet, tenant: &Tenant, json: bool) -> anyhow::Result<ExitCode> {
    if !json {
        anstream::eprintln!("nobody comes in any more; the rest goes when nobody is under way");
    }
    let gone = fleet.forget_tenant(tenant).await.context(Hint("the same command does the rest"))?;
    if json {
        print(&serde_json::to_string(&gone)?)?;
    } else {
        print(&format!("{} rows and {} objects are gone", gone.rows, gone.objects))?;
        for (table, count) in &gone.left.rows {
            print(&format!(
                "still there: {} of `{table}`",
                counted(usize::try_from(*count).unwrap_or_default(), "row")
            ))?;
        }
        for object in &gone.left.objects {
            print(&format!("still there: `{object}` of the bucket"))?;
        }
        if gone.left.is_empty() {
            print("nothing is left of it but its audit")?;
        } else {
            anstream::eprintln!("the same command does the rest");
        }
    }
    Ok(ExitCode::from(u8::from(!gone.left.is_empty())))
}

/// A tenant by its name.
fn named(tenant: &str) -> anyhow::Result<Tenant> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if tenant.is_empty() || tenant.len() > 64 || !tenant.chars().all(is_name) {
        return Err(anyhow!("a tenant is named by up to 64 letters, digits, `-`, `_` and `.`"));
    }
    Ok(Tenant::new(tenant))
}

fn print(line: &str) -> anyhow::Result<ExitCode> {
    crate::print(format!("{line}\n").as_bytes())
}
