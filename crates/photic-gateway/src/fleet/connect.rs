//! The parts of a gateway that a fleet provides.

use std::sync::Arc;

use photic_fleet::{Audit, QuotaOptions, Quotas};
use photic_store::Error;

use super::audit::FleetAudit;
use super::keys::FleetKeys;
use super::lessons::FleetLessons;
use super::quotas::FleetQuotas;
use super::servers::limits;
use super::store::FleetBackend;
use crate::config::{Config, ConfigError};
use crate::learned::SharedLessons;
use crate::record::StoreBackend;
use crate::tenant::{Auditing, Callers, Quota};

/// The parts of a gateway that a fleet provides.
#[derive(Debug)]
pub(crate) struct FleetParts {
    pub(crate) callers: Callers,
    pub(crate) quotas: Arc<dyn Quota>,
    pub(crate) auditing: Auditing,
    pub(crate) lessons: Arc<dyn SharedLessons>,
    pub(crate) backend: Arc<dyn StoreBackend>,
}

/// An error of the settings or of the servers.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Store(#[from] Error),
}

/// Opens the servers of a fleet, which need not answer yet. Returns `None` if none are configured.
pub(crate) fn connect(config: &Config) -> Result<Option<FleetParts>, ConnectError> {
    let Some(fleet) = config.fleet.open()? else { return Ok(None) };
    let record = &fleet.record;
    let callers = if config.fleet.keys {
        Callers::by_key(Box::new(FleetKeys::new(record.clone())))
    } else {
        Callers::default()
    };
    let options = QuotaOptions { defaults: limits(config.quota), ..QuotaOptions::default() };
    Ok(Some(FleetParts {
        callers,
        quotas: Arc::new(FleetQuotas(Quotas::new(record.clone(), options)?)),
        auditing: Auditing::new(Arc::new(FleetAudit(Audit::new(record.clone())))),
        lessons: Arc::new(FleetLessons(record.clone())),
        backend: Arc::new(FleetBackend::new(fleet)),
    }))
}
