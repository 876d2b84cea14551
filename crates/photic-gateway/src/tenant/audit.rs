//! Writes the audit of a tenant: names and counts of what was done for it, never content.
//!
//! Entries of an acknowledged turn are written before its reply. All others are written later. While
//! the database is unavailable they wait, up to [`MAX_WAITING`] requests, and lost entries are
//! counted.

use std::sync::Arc;
use std::time::Duration;

use photic_store::{MediaRef, SessionId, Tenant};
use tokio::sync::Semaphore;

use super::callers::Caller;
use crate::counter::Counter;
use crate::future::BoxFuture;

/// Maximum number of requests whose entries may wait.
const MAX_WAITING: usize = 10_000;
/// Number of attempts to write an entry.
const TRIES: u32 = 120;
/// Time between two attempts.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Time for which a reply waits until its entries are written.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// The audit of all tenants.
pub(crate) trait AuditLog: std::fmt::Debug + Send + Sync {
    /// Writes entries of a tenant. Returns `true` if they are written.
    fn write<'a>(&'a self, tenant: &'a Tenant, entries: Vec<AuditEntry>) -> BoxFuture<'a, bool>;
}

/// An entry of the audit: names and counts, never content.
#[cfg_attr(not(feature = "fleet"), expect(dead_code, reason = "only a fleet has an audit"))]
#[derive(Clone, Debug)]
pub(crate) struct AuditEntry {
    /// The public name of the caller's key.
    pub(crate) key: Option<String>,
    pub(crate) action: AuditAction,
    pub(crate) subject: AuditSubject,
    /// The decision, by a name of the gateway.
    pub(crate) decision: &'static str,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
}

/// An action that is audited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AuditAction {
    /// An image was fetched from a URL.
    Fetch,
    /// An image was shown to the model.
    View,
    /// A request was changed so that the model can see.
    Fix,
    /// A request or an image was refused.
    Refusal,
    /// An image was uploaded.
    Upload,
}

/// The subject of an action.
#[cfg_attr(not(feature = "fleet"), expect(dead_code, reason = "only a fleet has an audit"))]
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

/// Writes entries, before replies or in the background.
#[derive(Clone, Debug)]
pub(crate) struct Auditing {
    audit: Arc<dyn AuditLog>,
    waiting: Arc<Semaphore>,
    lost: Arc<Counter>,
}

impl Auditing {
    #[cfg_attr(not(feature = "fleet"), expect(dead_code, reason = "only a fleet has an audit"))]
    pub(crate) fn new(audit: Arc<dyn AuditLog>) -> Self {
        Self { audit, waiting: Arc::new(Semaphore::new(MAX_WAITING)), lost: Arc::default() }
    }

    /// Returns the number of entries that could not be written.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.get()
    }

    /// Writes entries in the background, with retries.
    pub(crate) fn note(&self, caller: &Caller, entries: Vec<AuditEntry>) {
        if entries.is_empty() {
            return;
        }
        let Ok(permit) = Arc::clone(&self.waiting).try_acquire_owned() else {
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
            drop(permit);
        });
    }

    /// Writes entries now. Returns `true` if they are written within [`WRITE_TIMEOUT`].
    pub(crate) async fn write(&self, caller: &Caller, entries: Vec<AuditEntry>) -> bool {
        let writing = self.audit.write(&caller.tenant, entries);
        tokio::time::timeout(WRITE_TIMEOUT, writing).await.unwrap_or(false)
    }
}

/// Returns an entry for something that is not part of a turn.
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
