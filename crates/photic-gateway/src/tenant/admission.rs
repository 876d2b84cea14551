//! Admits requests: finds out the caller, takes from its quota, and opens its share of the memory.

use std::net::IpAddr;
use std::sync::Arc;

use http::request::Parts;
use http::{HeaderMap, Method, Request};

use super::audit::{self, AuditAction, AuditSubject, Auditing};
use super::budget::{Budgets, Meter};
use super::callers::{Caller, Callers, KeyPlace, NamedCaller};
use super::identity::Identity;
use super::quota::{Quota, QuotaGuard};
use super::spending::{Cost, Spending};
use crate::http::{Failure, NotMetered, OverQuota, declared_length, is_upload};
use crate::memory::{CallerIds, MemoryBudget, Share};

/// Bytes that a request counts for in its tenant's quota if it does not declare a length.
const UNDECLARED: u64 = 1 << 20;

/// Checks the caller and the quota of a request before its body is read.
#[derive(Debug)]
pub(crate) struct Admission {
    callers: Callers,
    quotas: Option<Arc<dyn Quota>>,
    auditing: Option<Auditing>,
    memory: Arc<MemoryBudget>,
    ids: Arc<CallerIds>,
    /// The accounts of callers with limits of their own.
    budgets: Arc<Budgets>,
}

/// A request that was admitted: its caller, and what it may use.
pub(crate) struct Admitted {
    pub(crate) caller: Caller,
    /// The memory that the request is charged to.
    pub(crate) share: Share,
    /// The part of its tenant's quota that it holds until it is dropped.
    pub(crate) _quota: Option<QuotaGuard>,
}

impl std::fmt::Debug for Admitted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Admitted").field("caller", &self.caller).finish_non_exhaustive()
    }
}

impl Admission {
    /// Creates the admission of a gateway. Without `quotas`, callers may use what they like.
    pub(crate) fn new(
        callers: Callers,
        quotas: Option<Arc<dyn Quota>>,
        auditing: Option<Auditing>,
        memory: Arc<MemoryBudget>,
        budgets: Arc<Budgets>,
    ) -> Self {
        Self { callers, quotas, auditing, memory, ids: Arc::default(), budgets }
    }

    /// Returns an admission that differs only in the callers that it knows.
    pub(crate) fn with_callers(&self, callers: Callers) -> Self {
        Self {
            callers,
            quotas: self.quotas.clone(),
            auditing: self.auditing.clone(),
            memory: Arc::clone(&self.memory),
            ids: Arc::clone(&self.ids),
            budgets: Arc::clone(&self.budgets),
        }
    }

    /// Moves the key of a caller to the header that no upstream gets.
    pub(crate) fn move_key<B>(&self, request: &mut Request<B>) {
        self.callers.move_key(request);
    }

    /// Returns `true` if callers have to show a key of their tenant.
    pub(crate) const fn requires_keys(&self) -> bool {
        self.callers.requires_keys()
    }

    /// Admits a request.
    ///
    /// # Errors
    ///
    /// Fails if its caller shows no valid key where one is required, or has used up its quota.
    pub(crate) async fn admit(
        &self,
        headers: &HeaderMap,
        query: Option<&str>,
        peer: IpAddr,
        key_place: KeyPlace,
    ) -> Result<Admitted, Failure> {
        let bytes = declared_length(headers).unwrap_or(UNDECLARED);
        self.admit_bytes(headers, query, peer, key_place, bytes).await
    }

    /// Admits a request of so many bytes, whatever length its headers declare. Fails like
    /// [`Admission::admit`].
    pub(crate) async fn admit_bytes(
        &self,
        headers: &HeaderMap,
        query: Option<&str>,
        peer: IpAddr,
        key_place: KeyPlace,
        bytes: u64,
    ) -> Result<Admitted, Failure> {
        let caller = self.callers.caller(headers, query, key_place).await?;
        let quota = match &self.quotas {
            None => None,
            Some(quotas) => {
                let admitted = quotas.admit(&caller.tenant, bytes).await;
                Some(admitted.map_err(|over| self.over_quota(&caller, over))?)
            }
        };
        if let Some(named) = &caller.named {
            Box::pin(self.count(named, bytes)).await?;
        }
        let share = self.share(&caller.identity, peer);
        Ok(Admitted { caller, share, _quota: quota })
    }

    /// Counts a request of a caller in the limits of a minute.
    async fn count(&self, caller: &NamedCaller, bytes: u64) -> Result<(), Failure> {
        for (meter, amount) in [(Meter::Requests, 1), (Meter::Bytes, bytes)] {
            let Some(limit) = meter.limit(&caller.limits) else { continue };
            let account = self.budgets.account(&caller.name);
            self.budgets.reserve(&account, meter, limit, amount).await?;
            self.budgets.settle(&account, meter, limit, amount, amount).await;
        }
        Ok(())
    }

    /// Reserves what a turn may cost. Returns `None` if nothing limits that.
    ///
    /// # Errors
    ///
    /// Fails if its caller has reached a limit.
    pub(crate) async fn reserve(
        &self,
        caller: &NamedCaller,
        bound: Cost,
    ) -> Result<Option<Spending>, Failure> {
        Spending::reserve(&self.budgets, caller, bound).await
    }

    /// Checks that a caller may send a request that is passed on unread.
    ///
    /// # Errors
    ///
    /// Fails if the request could be that of a model, and its caller has a budget or a list of models.
    pub(crate) fn check_unread(caller: &Caller, head: &Parts) -> Result<(), Failure> {
        let Some(NamedCaller { limits, .. }) = &caller.named else { return Ok(()) };
        let is_limited = limits.meters_turns() || limits.models.is_some();
        let is_harmless = matches!(head.method, Method::GET | Method::HEAD | Method::DELETE)
            || is_upload(head.uri.path(), &head.headers);
        if is_limited && !is_harmless {
            return Err(Failure::NotMetered(NotMetered::Unread));
        }
        Ok(())
    }

    /// Checks that a caller may use a model.
    ///
    /// # Errors
    ///
    /// Fails if it may not.
    pub(crate) fn check_model(caller: &Caller, model: Option<&str>) -> Result<(), Failure> {
        let Some(NamedCaller { limits, .. }) = &caller.named else { return Ok(()) };
        if limits.allows(model) {
            return Ok(());
        }
        let models = limits.models.iter().flatten().map(|glob| format!("`{glob}`"));
        Err(Failure::ModelNotAllowed { models: models.collect::<Vec<_>>().join(" or ") })
    }

    /// Returns the share of the memory of a caller, by its identity or else by its address.
    pub(crate) fn share(&self, identity: &Identity, peer: IpAddr) -> Share {
        self.memory.share(match identity {
            Identity::Nobody => self.ids.of(("peer", peer)),
            known => self.ids.of(known),
        })
    }

    /// Takes stored bytes from the quota of a caller.
    pub(crate) async fn reserve_storage(&self, caller: &Caller, bytes: u64) -> Result<(), Failure> {
        let Some(quotas) = &self.quotas else { return Ok(()) };
        let stored = quotas.store(&caller.tenant, bytes).await;
        stored.map_err(|over| self.over_quota(caller, over))
    }

    /// Returns stored bytes to the quota of a caller.
    pub(crate) async fn release_storage(&self, caller: &Caller, bytes: u64) {
        if let Some(quotas) = &self.quotas {
            quotas.release(&caller.tenant, bytes).await;
        }
    }

    /// Takes pixels from the quota of a caller.
    pub(crate) async fn spend_pixels(&self, caller: &Caller, pixels: u64) -> Result<(), Failure> {
        let Some(quotas) = self.quotas.as_ref().filter(|_| pixels > 0) else { return Ok(()) };
        let spent = quotas.spend_pixels(&caller.tenant, pixels).await;
        spent.map_err(|over| self.over_quota(caller, over))
    }

    /// Writes to the audit that a caller is over its quota, and returns the failure.
    pub(crate) fn over_quota(&self, caller: &Caller, over: OverQuota) -> Failure {
        self.note(caller, AuditAction::Refusal, AuditSubject::Tenant, over.quota, 0);
        Failure::OverQuota(over)
    }

    /// Writes an entry to the audit of a caller's tenant.
    pub(crate) fn note(
        &self,
        caller: &Caller,
        action: AuditAction,
        subject: AuditSubject,
        decision: &'static str,
        bytes: u64,
    ) {
        if let Some(auditing) = &self.auditing {
            auditing.note(caller, audit::entry(caller, action, subject, decision, bytes));
        }
    }

    /// Returns the audit, if there is one.
    pub(crate) const fn auditing(&self) -> Option<&Auditing> {
        self.auditing.as_ref()
    }

    /// Returns the memory budget that all requests share.
    pub(crate) const fn memory(&self) -> &Arc<MemoryBudget> {
        &self.memory
    }
}

#[cfg(test)]
mod tests {
    use photic_store::Tenant;

    use super::*;
    use crate::memory::Use;

    #[tokio::test]
    async fn callers_without_a_name_are_told_apart_by_their_address() {
        let memory = MemoryBudget::new(0);
        let budgets = Arc::new(Budgets::open(None).unwrap());
        let admission = Admission::new(Callers::default(), None, None, memory, budgets);
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let tenant = |name: &str| Identity::Tenant(Tenant::new(name));
        // A caller alone may hold 42 of 48 MiB, and half of them beside another.
        let is_same = async |first: (&Identity, IpAddr), second: (&Identity, IpAddr)| {
            let _held = admission.share(first.0, first.1).charge(Use::Bodies, 1).await.unwrap();
            let more = admission.share(second.0, second.1).charge(Use::Bodies, 25 << 20).await;
            more.is_ok()
        };
        assert!(is_same((&tenant("a"), one), (&tenant("a"), other)).await);
        assert!(!is_same((&tenant("a"), one), (&tenant("b"), one)).await);
        assert!(!is_same((&Identity::Nobody, one), (&Identity::Nobody, other)).await);
        assert!(is_same((&Identity::Nobody, one), (&Identity::Nobody, one)).await);
    }
}
