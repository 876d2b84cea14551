//! The audit of a fleet's tenants.

use photic_fleet::{Audit, Entry, Subject};
use photic_store::Tenant;

use crate::future::BoxFuture;
use crate::tenant::{AuditAction, AuditEntry, AuditLog, AuditSubject};

/// The audit of a fleet's tenants, in its database.
#[derive(Debug)]
pub(super) struct FleetAudit(pub(super) Audit);

impl AuditLog for FleetAudit {
    fn write<'a>(&'a self, tenant: &'a Tenant, entries: Vec<AuditEntry>) -> BoxFuture<'a, bool> {
        let entries = entries.into_iter().map(entry).collect();
        Box::pin(async move { self.0.write(tenant, entries).await.is_ok() })
    }
}

fn entry(entry: AuditEntry) -> Entry {
    Entry {
        key: entry.key.and_then(|key| key.parse().ok()),
        what: match entry.action {
            AuditAction::Fetch => photic_fleet::AuditAction::Fetch,
            AuditAction::View => photic_fleet::AuditAction::View,
            AuditAction::Fix => photic_fleet::AuditAction::Fix,
            AuditAction::Refusal => photic_fleet::AuditAction::Refusal,
            AuditAction::Upload => photic_fleet::AuditAction::Upload,
        },
        subject: match &entry.subject {
            AuditSubject::Tenant => Subject::tenant(),
            AuditSubject::Turn(session, number) => Subject::turn(session, *number),
            AuditSubject::Host(host) => Subject::host(host).unwrap_or_else(|_| Subject::tenant()),
            AuditSubject::Media(reference) => Subject::from(reference),
        },
        decision: entry.decision,
        bytes_in: entry.bytes_in,
        bytes_out: entry.bytes_out,
    }
}
