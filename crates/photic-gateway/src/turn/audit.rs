//! The entries of a turn in the audit of its tenant.

use photic_fleet::{Entry, Subject, What};

use crate::observe::RequestLog;
use crate::record::Turn;
use crate::tenant::Caller;

/// Returns what was done with a turn, one entry for each kind.
pub(super) fn entries(caller: &Caller, log: &RequestLog, turn: Option<&Turn>) -> Vec<Entry> {
    let host = log.host().and_then(|host| Subject::host(host).ok());
    let subject = match turn {
        Some(turn) => Subject::turn(&turn.session, turn.number),
        None => host.unwrap_or_else(Subject::tenant),
    };
    let entry = |what, decision| Entry {
        key: caller.key.clone(),
        what,
        subject: subject.clone(),
        decision,
        bytes_in: log.bytes_in,
        bytes_out: log.bytes_sent,
    };
    let images = &log.facts.images;
    let mut entries = Vec::new();
    entries.extend((images.shown() > 0).then(|| entry(What::View, "shown")));
    entries.extend((images.refused > 0).then(|| entry(What::Refusal, "not_shown")));
    entries.extend(log.fixes.iter().map(|(did, _)| match did {
        "fetched" => entry(What::Fetch, did),
        _ => entry(What::Fix, did),
    }));
    entries
}
