//! `photic fleet audit`.

use std::process::ExitCode;

use photic_fleet::{Audit, Fleet, Verdict};

use super::tenant::named;
use crate::arguments::AuditCommand;
use crate::output::print_line;
use crate::style::{GREEN, RED};

/// Runs the command.
pub(super) async fn run(
    fleet: &Fleet,
    command: &AuditCommand,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let audit = Audit::new(fleet.record.clone());
    match command {
        AuditCommand::Verify { tenant } => tell(&audit.verify(&named(tenant)?).await?, json),
        AuditCommand::Export { tenant, after } => {
            let (tenant, mut after) = (named(tenant)?, *after);
            loop {
                let page = audit.export(&tenant, after).await?;
                let Some(last) = page.last() else { return Ok(ExitCode::SUCCESS) };
                after = last.number;
                for row in &page {
                    print_line(&serde_json::to_string(row)?)?;
                }
            }
        }
    }
}

/// Prints the verdict.
fn tell(verdict: &Verdict, json: bool) -> anyhow::Result<ExitCode> {
    if json {
        print_line(&serde_json::to_string(verdict)?)?;
    }
    match verdict {
        Verdict::Whole(whole) => {
            if !json {
                let hash = photic_store::BlobId::from(whole.hash);
                anstream::println!("{GREEN}intact{GREEN:#}: {} rows", whole.rows);
                anstream::println!("last row: number {}, hash {hash}", whole.last);
            }
            Ok(ExitCode::SUCCESS)
        }
        Verdict::Broken { at } => {
            if !json {
                anstream::println!("{RED}broken{RED:#} at row {at}: not as photic wrote it");
            }
            Ok(ExitCode::FAILURE)
        }
    }
}
