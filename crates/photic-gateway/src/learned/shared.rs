//! What many gateways learned, as one document in their database: whoever learns something adds to
//! its newest version, and everybody looks at it every few seconds, so that soon the same request
//! goes out as the same bytes from each of them.

use std::sync::Mutex;

use photic_fleet::{Documents as _, LESSONS, Postgres};
use photic_store::{Error, wait};

use super::entry::Entry;
use super::file;

/// Everything that the gateways of a fleet learned.
pub async fn read_shared(record: &Postgres) -> Result<Vec<Entry>, Error> {
    let document = record.document(LESSONS).await?;
    Ok(file::parse(document.text.as_bytes()).unwrap_or_default())
}

/// Forgets what the gateways of a fleet learned, as far as it is meant; how many lessons that were.
/// Each gateway follows within seconds.
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
        // What nothing is taken from stays as it is.
        if count == 0 { text.to_owned() } else { file::text(&entries) }
    });
    changing.await?;
    Ok(gone.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// Changes the document; what it says then, or nothing if that is not possible now. Waits.
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
