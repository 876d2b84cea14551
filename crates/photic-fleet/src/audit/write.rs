//! Writes audit entries in groups: all waiting entries of a tenant are written in one commit.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use photic_store::{Error, Tenant};
use tokio::sync::oneshot;

use super::Entry;
use crate::Postgres;

/// Largest number of entries in a group. The entries of one caller are never split.
const MAX_GROUP_ENTRIES: usize = 1000;

/// The audit of all tenants, as written by one replica. Clones share the queue.
#[derive(Clone, Debug)]
pub struct Audit {
    record: Postgres,
    waiting: Arc<Mutex<BTreeMap<Tenant, Vec<QueuedEntries>>>>,
}

/// Entries of a caller, and the channel that reports their completion.
#[derive(Debug)]
struct QueuedEntries {
    entries: Vec<Entry>,
    written: oneshot::Sender<Result<(), Arc<Error>>>,
}

impl Audit {
    /// Creates an audit in this database.
    pub fn new(record: Postgres) -> Self {
        Self { record, waiting: Arc::default() }
    }

    /// Writes entries in order and without gaps. When this returns, they are on the disk of the
    /// server; after an error they may or may not be. Dropping the future does not stop the
    /// writing.
    pub async fn write(&self, tenant: &Tenant, entries: Vec<Entry>) -> Result<(), Error> {
        if entries.is_empty() {
            return Ok(());
        }
        let (written, done) = oneshot::channel();
        let is_first = {
            let mut waiting = self.waiting();
            let is_first = !waiting.contains_key(tenant);
            waiting.entry(tenant.clone()).or_default().push(QueuedEntries { entries, written });
            is_first
        };
        if is_first {
            tokio::spawn(self.clone().write_waiting(tenant.clone()));
        }
        match done.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) if matches!(*error, Error::Unavailable(_)) => {
                Err(Error::Unavailable(error.into()))
            }
            Ok(Err(error)) => Err(Error::Refused(error.into())),
            Err(_) => Err(Error::Unavailable("the audit writer has stopped".into())),
        }
    }

    /// Writes until no entries wait for this tenant.
    async fn write_waiting(self, tenant: Tenant) {
        while let Some(group) = self.next_group(&tenant) {
            let entries: Vec<&Entry> = group.iter().flat_map(|one| &one.entries).collect();
            let result = self.record.write_audit(&tenant, &entries).await.map_err(Arc::new);
            for one in group {
                // The caller may have stopped waiting.
                let _ = one.written.send(result.clone());
            }
        }
    }

    /// Takes the next group. An empty list in the map means that a writer is running; no list means
    /// that none is.
    fn next_group(&self, tenant: &Tenant) -> Option<Vec<QueuedEntries>> {
        let mut waiting = self.waiting();
        let all = waiting.get_mut(tenant)?;
        let mut sum = 0;
        let fits = |one: &&QueuedEntries| {
            sum += one.entries.len();
            sum <= MAX_GROUP_ENTRIES
        };
        let count = all.iter().take_while(fits).count().max(1).min(all.len());
        if count == 0 {
            waiting.remove(tenant);
            return None;
        }
        Some(all.drain(..count).collect())
    }

    pub(super) const fn record(&self) -> &Postgres {
        &self.record
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<Tenant, Vec<QueuedEntries>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
