//! The settings of an openwop host.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use photic_net::fetch::{Fetch, Resolve, Resolving, Rules, System};
use photic_openwop::{HostError, Limits, Modality, TrustBasis};
use tokio::sync::Semaphore;

use super::objects::{MAX_OBJECT_BYTES, Objects, RETRY_AFTER_S};
use crate::config::{Config, ConfigError, FetchMode};
use crate::http::Failure;

/// Number of URLs that are fetched at once, for all calls together.
const AT_ONCE: usize = 8;

/// The settings of an openwop host, as they are used.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) modalities: Vec<Modality>,
    pub(super) limits: Limits,
    pub(super) providers: Vec<String>,
    pub(super) model: Option<String>,
    pub(super) basis: TrustBasis,
    /// The rules for fetching, or `None` if nothing may be fetched.
    pub(super) fetch: Option<(Rules, Fetch)>,
    pub(super) fetches: Semaphore,
    pub(super) objects: Option<Objects>,
}

/// Resolves every name to one address.
#[derive(Debug)]
pub(super) struct FixedAddress(pub(super) IpAddr);

impl Resolve for FixedAddress {
    fn resolve<'a>(&'a self, _: &'a str) -> Resolving<'a> {
        Box::pin(async move { Ok(vec![self.0]) })
    }
}

impl Settings {
    /// Creates the settings, or returns `None` if the host is not enabled.
    ///
    /// # Errors
    ///
    /// Fails if a modality is unknown.
    pub(super) fn new(
        config: &Config,
        objects: Option<Objects>,
    ) -> Result<Option<Self>, ConfigError> {
        let (own, fetch) = (&config.openwop, &config.fetch);
        if !own.enabled {
            return Ok(None);
        }
        let known = [Modality::Image, Modality::Audio, Modality::Document];
        let mut modalities = Vec::new();
        for name in &own.modalities {
            let found = known.into_iter().find(|known| known.name() == name);
            modalities.push(found.ok_or_else(|| ConfigError::Value {
                key: "openwop.modalities".to_owned(),
                problem: format!("unknown modality `{name}`; use `image`, `audio` or `document`"),
            })?);
        }
        let mib = |mib: u32| (mib.max(1) as usize) << 20;
        let rules = Rules {
            hosts: fetch.hosts.clone(),
            not_hosts: fetch.not_hosts.clone(),
            private: fetch.private.clone(),
            max_bytes: mib(fetch.max_mib),
            total: Duration::from_secs(fetch.timeout_s.into()),
            // The type of the bytes is checked where they are used.
            ..Rules::new(|_| true)
        };
        let guarded = Fetch::new(rules.clone(), Arc::new(System));
        Ok(Some(Self {
            modalities,
            limits: Limits {
                part: mib(own.part_mib),
                // The limit is in bytes, while a body contains base64.
                call: mib(config.limits.body_mib) / 4 * 3,
                object: objects.as_ref().map(|_| MAX_OBJECT_BYTES),
                fetched: mib(fetch.max_mib),
                fetch_ms: fetch.timeout_s.saturating_mul(1000),
            },
            providers: own.providers.clone(),
            model: own.model.clone(),
            basis: if own.trust_callers { TrustBasis::Caller } else { TrustBasis::Nobody },
            fetch: (fetch.mode != FetchMode::Never).then_some((rules, guarded)),
            fetches: Semaphore::new(AT_ONCE),
            objects,
        }))
    }
}

/// Translates a failure of the gateway for the protocol.
pub(super) fn of_store(failure: &Failure) -> HostError {
    match failure {
        Failure::OverQuota(over) => {
            let seconds = over.retry_after.map(|after| after.as_secs().max(1));
            let retry_after_s = seconds.and_then(|seconds| u32::try_from(seconds).ok());
            HostError::Quota { retry_after_s: retry_after_s.unwrap_or(RETRY_AFTER_S) }
        }
        Failure::OverBudget(over) => {
            let retry_after_s = u32::try_from(over.retry_after.as_secs().max(1));
            HostError::Quota { retry_after_s: retry_after_s.unwrap_or(RETRY_AFTER_S) }
        }
        Failure::NoRoom => HostError::Busy,
        Failure::NoStore => HostError::NoStore,
        Failure::NotAPicture => HostError::NotTaken,
        _ => HostError::Unavailable,
    }
}
