//! The settings of an openwop host.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use photic_net::fetch::{Fetch, Resolve, Resolving, Rules, System};
use photic_openwop::{Basis, HostError, Limits, Modality};
use tokio::sync::Semaphore;

use super::objects::{LARGEST, LATER_S, Objects};
use crate::config::{Config, ConfigError, FetchMode};
use crate::http::Failure;

/// How many addresses are fetched at once, for all calls together.
const AT_ONCE: usize = 8;

/// The settings of an openwop host, as they are used.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) modalities: Vec<Modality>,
    pub(super) limits: Limits,
    pub(super) providers: Vec<String>,
    pub(super) model: Option<String>,
    pub(super) basis: Basis,
    /// Nothing, where nothing may be fetched.
    pub(super) fetch: Option<(Rules, Fetch)>,
    pub(super) fetches: Semaphore,
    pub(super) objects: Option<Objects>,
}

/// A name that goes by one address, whatever it is called.
#[derive(Debug)]
pub(super) struct Only(pub(super) IpAddr);

impl Resolve for Only {
    fn resolve<'a>(&'a self, _: &'a str) -> Resolving<'a> {
        Box::pin(async move { Ok(vec![self.0]) })
    }
}

impl Settings {
    /// The host, where one is wanted; with objects, if they are still there on the next request.
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
                problem: format!("`{name}` is none of `image`, `audio` and `document`"),
            })?);
        }
        let mib = |mib: u32| (mib.max(1) as usize) << 20;
        let rules = Rules {
            hosts: fetch.hosts.clone(),
            not_hosts: fetch.not_hosts.clone(),
            private: fetch.private.clone(),
            most_bytes: mib(fetch.max_mib),
            total: Duration::from_secs(fetch.timeout_s.into()),
            // What bytes are is looked at where they are used.
            ..Rules::new(|_| true)
        };
        let guarded = Fetch::new(rules.clone(), Arc::new(System));
        Ok(Some(Self {
            modalities,
            limits: Limits {
                part: mib(own.part_mib),
                // As bytes; in a body they would be base64.
                call: mib(config.limits.body_mib) / 4 * 3,
                object: objects.as_ref().map(|_| LARGEST),
                fetched: mib(fetch.max_mib),
                fetch_ms: fetch.timeout_s.saturating_mul(1000),
            },
            providers: own.providers.clone(),
            model: own.model.clone(),
            basis: if own.trust_callers { Basis::Caller } else { Basis::Nobody },
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
            HostError::Quota { retry_after_s: retry_after_s.unwrap_or(LATER_S) }
        }
        Failure::NoRoom => HostError::Busy,
        Failure::NoStore => HostError::NoStore,
        Failure::NotAPicture => HostError::NotTaken,
        _ => HostError::Unavailable,
    }
}
