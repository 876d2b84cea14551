//! What was done for a tenant, written into its audit: names and counts, never content.
//!
//! Entries of a turn that is acknowledged are written before its reply. All others follow it; while
//! the database is away they wait, as many as there is room for, and what is lost is counted.

use std::sync::Arc;
use std::time::Duration;

use photic_fleet::{Audit, AuditAction, Entry, Subject};
use tokio::sync::Semaphore;

use crate::account::RequestLog;
use crate::record::Turn;
use crate::telemetry::Counter;
use crate::tenancy::Caller;

/// How many requests' entries may wait.
const ROOM: usize = 10_000;
/// How often, and how far apart, they are tried again.
const TRIES: u32 = 120;
const APART: Duration = Duration::from_secs(1);
/// How long a reply waits for its entries.
const PATIENCE: Duration = Duration::from_secs(5);

/// Writes entries.
#[derive(Clone, Debug)]
pub(crate) struct Auditing {
    audit: Audit,
    room: Arc<Semaphore>,
    lost: Arc<Counter>,
}

impl Auditing {
    pub(crate) fn new(audit: Audit) -> Self {
        Self { audit, room: Arc::new(Semaphore::new(ROOM)), lost: Arc::default() }
    }

    /// Entries that could not be written.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.get()
    }

    /// Writes entries down, sooner or later.
    pub(crate) fn note(&self, caller: &Caller, entries: Vec<Entry>) {
        if entries.is_empty() {
            return;
        }
        let Ok(place) = Arc::clone(&self.room).try_acquire_owned() else {
            return self.lost.add(entries.len() as u64);
        };
        let (this, tenant) = (self.clone(), caller.tenant.clone());
        tokio::spawn(async move {
            for _ in 0..TRIES {
                if this.audit.write(&tenant, entries.clone()).await.is_ok() {
                    return;
                }
                tokio::time::sleep(APART).await;
            }
            this.lost.add(entries.len() as u64);
            drop(place);
        });
    }

    /// Writes entries down now; whether they are.
    pub(crate) async fn write(&self, caller: &Caller, entries: Vec<Entry>) -> bool {
        let writing = self.audit.write(&caller.tenant, entries);
        tokio::time::timeout(PATIENCE, writing).await.is_ok_and(|written| written.is_ok())
    }
}

/// What was done with a conversation.
pub(crate) fn of_turn(caller: &Caller, account: &RequestLog, turn: Option<&Turn>) -> Vec<Entry> {
    let host = account.host().and_then(|host| Subject::host(host).ok());
    let subject = match turn {
        Some(turn) => Subject::turn(&turn.session, turn.number),
        None => host.unwrap_or_else(Subject::tenant),
    };
    let entry = |what, decision| Entry {
        key: caller.key.clone(),
        what,
        subject: subject.clone(),
        decision,
        bytes_in: account.bytes_in,
        bytes_out: account.bytes_sent,
    };
    let images = &account.facts.images;
    let mut entries = Vec::new();
    entries.extend((images.shown() > 0).then(|| entry(AuditAction::View, "shown")));
    entries.extend((images.refused > 0).then(|| entry(AuditAction::Refusal, "not_shown")));
    entries.extend(account.fixes.iter().map(|(did, _)| match did {
        "fetched" => entry(AuditAction::Fetch, did),
        _ => entry(AuditAction::Fix, did),
    }));
    entries
}

/// Something that was refused, or done, beside conversations.
pub(crate) fn of(
    caller: &Caller,
    what: AuditAction,
    subject: Subject,
    decision: &'static str,
    bytes: u64,
) -> Vec<Entry> {
    let key = caller.key.clone();
    vec![Entry { key, what, subject, decision, bytes_in: bytes, bytes_out: 0 }]
}
