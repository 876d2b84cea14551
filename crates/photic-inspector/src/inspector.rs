//! The inspector: recorded sessions as views, computed on demand and kept within a bound.

use std::net::SocketAddr;
use std::sync::Arc;

use photic_pixels::legibility::MIN_READABLE_X_HEIGHT;
use photic_store::{BodySide, Events, History, PlannedTurn, SessionId, Tenant};
use serde_json::Value;

use crate::api::object::Object;
use crate::cache::Cache;
use crate::failure::Failure;
use crate::pixels::PixelMemory;

/// Most bytes of computed values that are kept.
const MAX_CACHE: usize = 256 << 20;
/// Most bytes of a body that a view reads whole.
pub(crate) const MAX_BODY: u64 = 64 << 20;

/// The program that shows the inspector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServedBy {
    /// `photic ui`.
    Command,
    /// A gateway.
    Gateway,
    /// An exported file.
    File,
}

/// Views of recorded sessions.
#[derive(Debug)]
pub struct Inspector {
    pub(crate) history: Arc<dyn History>,
    pub(crate) cache: Cache,
    pub(crate) pixels: PixelMemory,
    /// The news of a gateway in this process, and the tenant whose sessions are shown.
    pub(crate) published: Option<(Events, Tenant)>,
    served_by: ServedBy,
    address: Option<SocketAddr>,
}

impl Inspector {
    /// Creates the views of a record.
    pub fn new(history: Arc<dyn History>, served_by: ServedBy) -> Self {
        Self {
            history,
            cache: Cache::new(MAX_CACHE),
            pixels: PixelMemory::new(),
            published: None,
            served_by,
            address: None,
        }
    }

    /// Uses the news of a gateway in this process about the sessions of a tenant. Without them the
    /// record is read again at short intervals.
    #[must_use]
    pub fn with_events(mut self, events: Events, tenant: Tenant) -> Self {
        self.published = Some((events, tenant));
        self
    }

    /// Names the address that it is served at.
    #[must_use]
    pub const fn at(mut self, address: SocketAddr) -> Self {
        self.address = Some(address);
        self
    }

    /// Returns the facts about this inspector.
    pub(crate) fn about(&self) -> Value {
        self.about_as(self.served_by)
    }

    /// Returns the facts about this inspector as another program shows it.
    pub(crate) fn about_as(&self, served_by: ServedBy) -> Value {
        let (door, is_live) = match served_by {
            ServedBy::Command => ("command", true),
            ServedBy::Gateway => ("gateway", true),
            ServedBy::File => ("file", false),
        };
        Object::new()
            .with("version", env!("CARGO_PKG_VERSION"))
            .with("door", door)
            .maybe("address", self.address.filter(|_| is_live).map(|address| address.to_string()))
            .with("choices", is_live)
            .with("events", is_live)
            .with("min_x_height", MIN_READABLE_X_HEIGHT)
            .value()
    }

    /// Plans a turn again, as it was.
    pub(crate) async fn planned(
        &self,
        id: &SessionId,
        number: u64,
    ) -> Result<Arc<PlannedTurn>, Failure> {
        let key = format!("planned/{id}/{number}");
        if let Some(found) = self.cache.get::<PlannedTurn>(&key) {
            return Ok(found);
        }
        let planned = self.history.planned(id, number).await?;
        let weight = planned.client.len()
            + planned.model.len()
            + planned.turn.profile.len() * 4
            + planned.media.len() * 512;
        Ok(self.cache.put(key, planned, weight))
    }

    /// Returns a body of a turn, byte for byte.
    pub(crate) async fn body(
        &self,
        id: &SessionId,
        number: u64,
        side: BodySide,
    ) -> Result<Arc<Vec<u8>>, Failure> {
        let name = match side {
            BodySide::Client => "client",
            BodySide::Model => "model",
        };
        let key = format!("body/{id}/{number}/{name}");
        if let Some(found) = self.cache.get::<Vec<u8>>(&key) {
            return Ok(found);
        }
        let planned = self.planned(id, number).await?;
        let bytes = match side {
            BodySide::Client => planned.client_bytes,
            BodySide::Model => planned.turn.length,
        };
        if bytes > MAX_BODY {
            return Err(Failure::too_large(bytes));
        }
        let body = self.history.body(id, number, side).await?;
        let weight = body.len();
        Ok(self.cache.put(key, body, weight))
    }

    /// Returns whether this version of photic makes the sent body again, byte for byte. Larger bodies
    /// than a view reads are not tried.
    pub(crate) async fn is_reproduced(
        &self,
        id: &SessionId,
        number: u64,
    ) -> Result<Option<bool>, Failure> {
        let key = format!("reproduced/{id}/{number}");
        if let Some(found) = self.cache.get::<bool>(&key) {
            return Ok(Some(*found));
        }
        let is_same = match self.body(id, number, BodySide::Model).await {
            Ok(_) => true,
            Err(failure) if failure.code() == "not_reproduced" => false,
            Err(failure) if matches!(failure.code(), "picture_gone" | "too_large") => {
                return Ok(None);
            }
            Err(failure) => return Err(failure),
        };
        self.cache.put(key, is_same, 1);
        Ok(Some(is_same))
    }
}
