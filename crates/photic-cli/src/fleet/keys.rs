//! `photic fleet keys`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use photic_fleet::{ApiKey, Audit, AuditAction, Entry, Fleet, KeyFacts, KeyId, Keys as _, Subject};
use photic_store::Tenant;
use serde_json::json;

use super::tenant::named;
use crate::arguments::KeysCommand;
use crate::output::print_line;
use crate::style::{DIM, Hint};

/// Runs the command.
pub(super) async fn run(
    fleet: &Fleet,
    command: &KeysCommand,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let keys = &fleet.record;
    match command {
        KeysCommand::Issue { tenant, label, days } => {
            let lasting = days.map(|days| Duration::from_hours(24 * u64::from(days)));
            let tenant = named(tenant)?;
            let key = keys.issue_key(&tenant, label, lasting).await?;
            note(fleet, &tenant, key.id(), "issued").await?;
            show(&key, json)
        }
        KeysCommand::List { tenant } => {
            let found = keys.keys(&named(tenant)?).await?;
            if json {
                return print_line(&serde_json::to_string(&found)?);
            }
            list(&found);
            Ok(ExitCode::SUCCESS)
        }
        KeysCommand::Rotate { tenant, key, overlap } => {
            let overlap = Duration::from_mins(u64::from(*overlap));
            let tenant = named(tenant)?;
            let made = keys.rotate_key(&tenant, &id(key)?, overlap).await?.ok_or_else(none)?;
            note(fleet, &tenant, made.id(), "rotated").await?;
            show(&made, json)
        }
        KeysCommand::Revoke { tenant, key } => {
            let (tenant, key) = (named(tenant)?, id(key)?);
            if !keys.revoke_key(&tenant, &key).await? {
                return Err(none());
            }
            note(fleet, &tenant, &key, "revoked").await?;
            print_line(if json {
                "{\"revoked\":true}"
            } else {
                "revoked; gateways follow within 20 seconds"
            })
        }
    }
}

/// Writes an audit entry about a key.
async fn note(
    fleet: &Fleet,
    tenant: &Tenant,
    key: &KeyId,
    decision: &'static str,
) -> anyhow::Result<()> {
    let (what, subject) = (AuditAction::Key, Subject::from(key));
    let entry = Entry { key: None, what, subject, decision, bytes_in: 0, bytes_out: 0 };
    let audit = Audit::new(fleet.record.clone());
    audit
        .write(tenant, vec![entry])
        .await
        .context("the change was made, but is missing in the audit log")
}

/// Prints a new key; its secret is shown only here.
fn show(key: &ApiKey, json: bool) -> anyhow::Result<ExitCode> {
    if json {
        return print_line(&json!({"id": key.id().as_str(), "key": key.reveal()}).to_string());
    }
    anstream::eprintln!(
        "{DIM}clients send it as `x-photic-key`; it is shown only once; its ID is {}{DIM:#}",
        key.id()
    );
    print_line(&key.reveal())
}

/// Prints the keys of a tenant.
fn list(found: &[KeyFacts]) {
    for key in found {
        let state = match (key.revoked, key.expires) {
            (Some(_), _) => "revoked",
            (None, Some(_)) => "expires",
            (None, None) => "active",
        };
        anstream::println!("{}  {state:<8} {}", key.id, key.label);
    }
}

/// Parses the ID of a key.
fn id(text: &str) -> anyhow::Result<KeyId> {
    // The whole key may be pasted; its secret is ignored.
    let name = text.strip_prefix("pk_").and_then(|rest| rest.split('_').next()).unwrap_or(text);
    name.parse().context("the ID of a key has 12 letters and digits")
}

/// The error for a key that does not exist.
fn none() -> anyhow::Error {
    anyhow!("the tenant has no such active key")
        .context(Hint("run `photic fleet keys list TENANT` to list them"))
}
