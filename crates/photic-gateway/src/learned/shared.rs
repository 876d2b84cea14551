//! What many gateways learned, as one document in their database: whoever learns something adds to
//! its newest version, and everybody looks at it every few seconds, so that soon the same request
//! goes out as the same bytes from each of them.

use std::sync::Mutex;
use std::time::Duration;

use photic_fleet::{Documents as _, Postgres};
use photic_store::wait;

use super::{Entry, Learned, evidence, file};

/// The name of the document.
const NAME: &str = "learned";
/// How often it is looked at.
const EVERY: Duration = Duration::from_secs(3);

impl Learned {
    /// Keeps what is learned together with other gateways.
    #[must_use]
    pub(crate) fn shared_in(mut self, record: Postgres) -> Self {
        self.path = None;
        self.shared = Some(record);
        self
    }

    /// Learns what others do, for as long as it is let.
    pub(crate) async fn keep_up(&self) {
        let Some(record) = &self.shared else { return };
        let mut seen = 0;
        loop {
            // While nobody can be asked, what is known holds.
            if let Ok(document) = record.document(NAME).await
                && document.version != seen
            {
                seen = document.version;
                let entries = file::parse(document.text.as_bytes()).unwrap_or_default();
                self.hold(&entries, evidence::now());
            }
            tokio::time::sleep(EVERY).await;
        }
    }
}

/// Changes the document; what it says then, or nothing if that is not possible now. Waits.
pub(super) fn change(
    record: &Postgres,
    merge: &(impl Fn(&mut Vec<Entry>) -> Vec<Entry> + Sync),
) -> Option<Vec<Entry>> {
    let merged: Mutex<Option<Vec<Entry>>> = Mutex::default();
    let changing = record.change_document(NAME, |text| {
        let mut entries = file::parse(text.as_bytes()).unwrap_or_default();
        let entries = merge(&mut entries);
        let text = file::text(&entries);
        *merged.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(entries);
        text
    });
    wait(changing).ok()?;
    merged.into_inner().ok().flatten()
}
