//! Writing: all that wait for a tenant are written together, so many entries cost one commit.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use photic_store::{Error, Tenant};
use tokio::sync::oneshot;

use super::Entry;
use crate::Postgres;

/// Entries that are written in one go; more than one caller's worth is never split off a caller.
const MOST: usize = 1000;

/// The audit of all tenants, as one replica writes it. Clones share what waits.
#[derive(Clone, Debug)]
pub struct Audit {
    record: Postgres,
    waiting: Arc<Mutex<BTreeMap<Tenant, Vec<Waiting>>>>,
}

/// A caller's entries, and how it learns that they are written.
#[derive(Debug)]
struct Waiting {
    entries: Vec<Entry>,
    written: oneshot::Sender<Result<(), Arc<Error>>>,
}

impl Audit {
    /// Writes to this database.
    pub fn new(record: Postgres) -> Self {
        Self { record, waiting: Arc::default() }
    }

    /// Writes entries down, in order and next to each other; they are on the server's disk when this
    /// is done. After an error they may be, or not. Whoever stops waiting does not stop the writing.
    pub async fn write(&self, tenant: &Tenant, entries: Vec<Entry>) -> Result<(), Error> {
        if entries.is_empty() {
            return Ok(());
        }
        let (written, done) = oneshot::channel();
        let is_first = {
            let mut waiting = self.waiting();
            let is_first = !waiting.contains_key(tenant);
            waiting.entry(tenant.clone()).or_default().push(Waiting { entries, written });
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
            Err(_) => Err(Error::Unavailable("nobody writes the audit any more".into())),
        }
    }

    /// Writes until nobody waits for this tenant.
    async fn write_waiting(self, tenant: Tenant) {
        while let Some(group) = self.next_group(&tenant) {
            let entries: Vec<&Entry> = group.iter().flat_map(|one| &one.entries).collect();
            let result = self.record.write_audit(&tenant, &entries).await.map_err(Arc::new);
            for one in group {
                // Whoever does not wait any more does not want to know.
                let _ = one.written.send(result.clone());
            }
        }
    }

    /// Who is written next. An empty list says that somebody is writing; none, that nobody is.
    fn next_group(&self, tenant: &Tenant) -> Option<Vec<Waiting>> {
        let mut waiting = self.waiting();
        let all = waiting.get_mut(tenant)?;
        let mut sum = 0;
        let fits = |one: &&Waiting| {
            sum += one.entries.len();
            sum <= MOST
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

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<Tenant, Vec<Waiting>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
