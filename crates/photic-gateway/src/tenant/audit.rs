//! Writes the audit of a tenant: names and counts of what was done for it, never content.
//!
//! Entries of an acknowledged turn are written before its reply. All others are written later. While
//! the database is unavailable they wait, up to [`MAX_WAITING`] requests, and lost entries are
//! counted.

use std::sync::Arc;
use std::time::Duration;

use photic_fleet::{Audit, Entry, Subject, What};
use tokio::sync::Semaphore;

use super::callers::Caller;
use crate::counter::Counter;

/// Maximum number of requests whose entries may wait.
const MAX_WAITING: usize = 10_000;
/// Number of attempts to write an entry.
const TRIES: u32 = 120;
/// Time between two attempts.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Time for which a reply waits until its entries are written.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// Writes entries to the audit.
#[derive(Clone, Debug)]
pub(crate) struct Auditing {
    audit: Audit,
    waiting: Arc<Semaphore>,
    lost: Arc<Counter>,
}

impl Auditing {
    pub(crate) fn new(audit: Audit) -> Self {
        Self { audit, waiting: Arc::new(Semaphore::new(MAX_WAITING)), lost: Arc::default() }
    }

    /// Returns the number of entries that could not be written.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.get()
    }

    /// Writes entries in the background, with retries.
    pub(crate) fn note(&self, caller: &Caller, entries: Vec<Entry>) {
        if entries.is_empty() {
            return;
        }
        let Ok(permit) = Arc::clone(&self.waiting).try_acquire_owned() else {
            return self.lost.add(entries.len() as u64);
        };
        let (this, tenant) = (self.clone(), caller.tenant.clone());
        tokio::spawn(async move {
            for _ in 0..TRIES {
                if this.audit.write(&tenant, entries.clone()).await.is_ok() {
                    return;
                }
                tokio::time::sleep(RETRY_AFTER).await;
            }
            this.lost.add(entries.len() as u64);
            drop(permit);
        });
    }

    /// Writes entries now. Returns `true` if they are written within [`WRITE_TIMEOUT`].
    pub(crate) async fn write(&self, caller: &Caller, entries: Vec<Entry>) -> bool {
        let writing = self.audit.write(&caller.tenant, entries);
        tokio::time::timeout(WRITE_TIMEOUT, writing).await.is_ok_and(|written| written.is_ok())
    }
}

/// Creates an entry for something that is not part of a turn.
pub(crate) fn entry(
    caller: &Caller,
    what: What,
    subject: Subject,
    decision: &'static str,
    bytes: u64,
) -> Vec<Entry> {
    let key = caller.key.clone();
    vec![Entry { key, what, subject, decision, bytes_in: bytes, bytes_out: 0 }]
}
