//! The lessons of a fleet, as one document in its database.
//!
//! A gateway adds lessons to the newest version of the document, and reads it every few seconds. So
//! all gateways soon send identical bytes for identical requests.

use std::sync::{Mutex, PoisonError};

use photic_fleet::{Documents as _, LESSONS, Postgres};
use photic_store::Error;

use crate::future::BoxFuture;
use crate::learned::{Entry, SharedLessons, parse_entries, write_entries};

/// Reads the lessons of a fleet.
///
/// # Errors
///
/// Fails if the database is unavailable.
pub async fn read_shared(record: &Postgres) -> Result<Vec<Entry>, Error> {
    let document = record.document(LESSONS).await?;
    Ok(parse_entries(document.text.as_bytes()).unwrap_or_default())
}

/// Removes the lessons of a fleet for which `is_meant` returns `true`. Returns their number. Each
/// gateway follows within seconds.
///
/// # Errors
///
/// Fails if the database is unavailable.
pub async fn forget_shared(
    record: &Postgres,
    is_meant: impl Fn(&Entry) -> bool + Send + Sync,
) -> Result<usize, Error> {
    let gone = Mutex::new(0);
    let changing = record.change_document(LESSONS, |text| {
        let mut entries = parse_entries(text.as_bytes()).unwrap_or_default();
        let before = entries.len();
        entries.retain(|entry| !is_meant(entry));
        let count = before - entries.len();
        *gone.lock().unwrap_or_else(PoisonError::into_inner) = count;
        // Without a removal the text stays as it is, byte by byte.
        if count == 0 { text.to_owned() } else { write_entries(&entries) }
    });
    changing.await?;
    Ok(gone.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// The lessons of a fleet, as a document in its database.
#[derive(Debug)]
pub(crate) struct FleetLessons(pub(crate) Postgres);

impl SharedLessons for FleetLessons {
    fn read(&self) -> BoxFuture<'_, Option<(u64, String)>> {
        Box::pin(async move {
            let document = self.0.document(LESSONS).await.ok()?;
            Some((document.version, document.text))
        })
    }

    fn change<'a>(
        &'a self,
        change: &'a (dyn Fn(&str) -> String + Send + Sync),
    ) -> BoxFuture<'a, bool> {
        Box::pin(async move { self.0.change_document(LESSONS, change).await.is_ok() })
    }
}
