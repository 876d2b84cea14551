//! The lessons of a fleet, as one document in its database.
//!
//! A gateway adds lessons to the newest version of the document, and reads it every few seconds. So
//! all gateways soon send identical bytes for identical requests.

use std::sync::Mutex;

use photic_fleet::{Documents as _, LESSONS, Postgres};
use photic_store::{Error, wait};

use super::entry::Entry;
use super::file;

/// Reads the lessons of a fleet.
///
/// # Errors
///
/// Fails if the database is unavailable.
pub async fn read_shared(record: &Postgres) -> Result<Vec<Entry>, Error> {
    let document = record.document(LESSONS).await?;
    Ok(file::parse(document.text.as_bytes()).unwrap_or_default())
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
        let mut entries = file::parse(text.as_bytes()).unwrap_or_default();
        let before = entries.len();
        entries.retain(|entry| !is_meant(entry));
        let count = before - entries.len();
        *gone.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = count;
        // Without a removal the text stays as it is, byte by byte.
        if count == 0 { text.to_owned() } else { file::text(&entries) }
    });
    changing.await?;
    Ok(gone.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// Changes the document. Returns its new lessons, or `None` if the database is unavailable. Blocks.
pub(super) fn change(
    record: &Postgres,
    merge: &(impl Fn(&mut Vec<Entry>) -> Vec<Entry> + Sync),
) -> Option<Vec<Entry>> {
    let merged: Mutex<Option<Vec<Entry>>> = Mutex::default();
    let changing = record.change_document(LESSONS, |text| {
        let mut entries = file::parse(text.as_bytes()).unwrap_or_default();
        let entries = merge(&mut entries);
        let text = file::text(&entries);
        *merged.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(entries);
        text
    });
    wait(changing).ok()?;
    merged.into_inner().ok().flatten()
}
