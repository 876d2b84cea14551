//! What was done for a tenant, written into its audit: names and counts, never content.
//!
//! Entries of a turn that is acknowledged are written before its reply. All others follow it; while
//! the database is away they wait, as many as there is room for, and what is lost is counted.

use std::sync::Arc;
use std::time::Duration;

use photic_store::{MediaRef, SessionId, Tenant};
use tokio::sync::Semaphore;

use super::callers::Caller;
use crate::counter::Counter;
use crate::future::BoxFuture;

/// How many requests' entries may wait.
const MAX_WAITING: usize = 10_000;
/// How often, and how far apart, they are tried again.
const TRIES: u32 = 120;
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// How long a reply waits for its entries.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// The audit of all tenants.
pub(crate) trait AuditLog: std::fmt::Debug + Send + Sync {
    /// Writes entries of a tenant. Returns `true` if they are written.
    fn write<'a>(&'a self, tenant: &'a Tenant, entries: Vec<AuditEntry>) -> BoxFuture<'a, bool>;
}

/// An entry of the audit: names and counts, never content.
#[derive(Clone, Debug)]
pub(crate) struct AuditEntry {
    /// The public name of the caller's key.
    pub(crate) key: Option<String>,
    pub(crate) action: AuditAction,
    pub(crate) subject: AuditSubject,
    /// The decision, in a word of the gateway.
    pub(crate) decision: &'static str,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
}

/// An action that is audited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AuditAction {
    /// A picture was fetched from an address.
    Fetch,
    /// A picture was shown to the model.
    View,
    /// A request was changed so that the model can see.
    Fix,
    /// A request or a picture was refused.
    Refusal,
    /// A picture was uploaded.
    Upload,
}

/// The subject of an action.
#[derive(Clone, Debug)]
pub(crate) enum AuditSubject {
    /// The tenant itself.
    Tenant,
    /// A turn of a session.
    Turn(SessionId, u64),
    /// A host that a request was sent to.
    Host(String),
    /// Uploaded media.
    Media(MediaRef),
}

/// Writes entries, beside replies or before them.
#[derive(Clone, Debug)]
pub(crate) struct Auditing {
    audit: Arc<dyn AuditLog>,
    room: Arc<Semaphore>,
    lost: Arc<Counter>,
}

impl Auditing {
    #[cfg_attr(not(feature = "fleet"), expect(dead_code, reason = "only a fleet has an audit"))]
    pub(crate) fn new(audit: Arc<dyn AuditLog>) -> Self {
        Self { audit, room: Arc::new(Semaphore::new(MAX_WAITING)), lost: Arc::default() }
    }

    /// Entries that could not be written.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.get()
    }

    /// Writes entries down, sooner or later.
    pub(crate) fn note(&self, caller: &Caller, entries: Vec<AuditEntry>) {
        if entries.is_empty() {
            return;
        }
        let Ok(place) = Arc::clone(&self.room).try_acquire_owned() else {
            return self.lost.add(entries.len() as u64);
        };
        let (this, tenant) = (self.clone(), caller.tenant.clone());
        tokio::spawn(async move {
            for _ in 0..TRIES {
                if this.audit.write(&tenant, entries.clone()).await {
                    return;
                }
                tokio::time::sleep(RETRY_AFTER).await;
            }
            this.lost.add(entries.len() as u64);
            drop(place);
        });
    }

    /// Writes entries down now; whether they are.
    pub(crate) async fn write(&self, caller: &Caller, entries: Vec<AuditEntry>) -> bool {
        let writing = self.audit.write(&caller.tenant, entries);
        tokio::time::timeout(WRITE_TIMEOUT, writing).await.unwrap_or(false)
    }
}

/// Returns an entry for something beside a turn.
pub(crate) fn entry(
    caller: &Caller,
    action: AuditAction,
    subject: AuditSubject,
    decision: &'static str,
    bytes: u64,
) -> Vec<AuditEntry> {
    let key = caller.key.clone();
    vec![AuditEntry { key, action, subject, decision, bytes_in: bytes, bytes_out: 0 }]
}
