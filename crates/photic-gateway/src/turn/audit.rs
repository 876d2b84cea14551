//! The entries of a turn in the audit of its tenant.

use crate::observe::RequestLog;
use crate::record::Turn;
use crate::tenant::{AuditAction, AuditEntry, AuditSubject, Caller};

/// Returns what was done with a turn, one entry for each kind.
pub(super) fn entries(caller: &Caller, log: &RequestLog, turn: Option<&Turn>) -> Vec<AuditEntry> {
    let host = || log.host().map(|host| AuditSubject::Host(host.to_owned()));
    let subject = match turn {
        Some(turn) => AuditSubject::Turn(turn.session.clone(), turn.number),
        None => host().unwrap_or(AuditSubject::Tenant),
    };
    let entry = |action, decision| AuditEntry {
        key: caller.key.clone(),
        action,
        subject: subject.clone(),
        decision,
        bytes_in: log.bytes_in,
        bytes_out: log.bytes_sent,
    };
    let images = &log.facts.images;
    let mut entries = Vec::new();
    entries.extend((images.shown() > 0).then(|| entry(AuditAction::View, "shown")));
    entries.extend((images.refused > 0).then(|| entry(AuditAction::Refusal, "not_shown")));
    entries.extend(log.fixes.iter().map(|(did, _)| match did {
        "fetched" => entry(AuditAction::Fetch, did),
        _ => entry(AuditAction::Fix, did),
    }));
    entries
}
