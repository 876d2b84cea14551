//! The chains of the audits are complete, whichever writers were killed.

use photic_fleet::{Audit, Verdict};
use photic_store::Tenant;

use super::Findings;
use crate::tenants;

/// Verifies the audit of every tenant.
pub async fn audits(audit: &Audit, tenants: &[tenants::Tenant]) -> Findings {
    let mut findings = Findings::default();
    for tenant in tenants {
        let name = &tenant.name;
        match audit.verify(&Tenant::new(name)).await {
            Ok(Verdict::Whole(verified)) => findings.audited += verified.rows,
            Ok(Verdict::Broken { at }) => {
                findings.complain(format!("the audit of {name} is broken at {at}"));
            }
            Err(error) => findings.complain(format!("the audit of {name}: {error}")),
        }
    }
    findings
}
