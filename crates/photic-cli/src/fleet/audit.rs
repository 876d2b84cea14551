//! `photic fleet audit`.

use std::process::ExitCode;

use photic_fleet::{Audit, Fleet, Verdict};

use super::{named, print};
use crate::arguments::AuditCommand;
use crate::style::{GREEN, RED};

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
                    print(&serde_json::to_string(row)?)?;
                }
            }
        }
    }
}

fn tell(verdict: &Verdict, json: bool) -> anyhow::Result<ExitCode> {
    if json {
        print(&serde_json::to_string(verdict)?)?;
    }
    match verdict {
        Verdict::Whole(whole) => {
            if !json {
                let hash = photic_store::BlobId::from(whole.hash);
                anstream::println!("{GREEN}whole{GREEN:#}: {} rows", whole.rows);
                anstream::println!("the last is number {}, with hash {hash}", whole.last);
            }
            Ok(ExitCode::SUCCESS)
        }
        Verdict::Broken { at } => {
            if !json {
                anstream::println!("{RED}broken{RED:#} at row {at}: photic did not write it so");
            }
            Ok(ExitCode::FAILURE)
        }
    }
}
