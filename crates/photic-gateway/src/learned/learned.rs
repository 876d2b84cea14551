//! All lessons of a gateway, in memory and in their file or database.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use super::agreed::{Endpoint, lay};
use super::entry::{Entry, MAX_NAME_LENGTH, add, bound};
use super::lessons::Lessons;
use super::{evidence, file};
use crate::future::BoxFuture;
use crate::tenant::Identity;

/// Time between two reads of the shared lessons.
const POLL_INTERVAL: Duration = Duration::from_secs(3);
/// Seconds of a day.
pub(super) const DAY: u64 = 24 * 60 * 60;

/// A document of lessons that several gateways share.
pub(crate) trait SharedLessons: std::fmt::Debug + Send + Sync {
    /// Reads the document and its version. Returns `None` if that is not possible now.
    fn read(&self) -> BoxFuture<'_, Option<(u64, String)>>;

    /// Replaces the document by the result of `change`, which is called again if another gateway
    /// changed the document in the meantime. Returns `true` on success.
    fn change<'a>(
        &'a self,
        change: &'a (dyn Fn(&str) -> String + Send + Sync),
    ) -> BoxFuture<'a, bool>;
}

/// All lessons of a gateway.
#[derive(Debug)]
pub(crate) struct Learned {
    /// The file of the lessons. If unset, they are lost when the gateway stops.
    path: Option<PathBuf>,
    /// Seconds after which a lesson expires.
    keep: u64,
    /// Set if there are lessons. Most gateways have none, and requests then look only at this.
    any: AtomicBool,
    known: RwLock<Endpoints>,
    /// Held while lessons are added, so that memory and storage change in the same order.
    remembering: Mutex<()>,
    /// The document that gateways of a fleet share, used instead of the file.
    shared: Option<Arc<dyn SharedLessons>>,
}

/// Lessons by host and model.
type Endpoints = BTreeMap<String, BTreeMap<String, Arc<Endpoint>>>;

impl Learned {
    /// Loads the lessons of a file. Also returns a warning if it cannot be read or written.
    pub(crate) fn open(path: Option<PathBuf>, days: u32) -> (Self, Option<String>) {
        let keep = u64::from(days) * DAY;
        let learned = |path| Self {
            path,
            keep,
            any: AtomicBool::new(false),
            known: RwLock::default(),
            remembering: Mutex::default(),
            shared: None,
        };
        let Some(path) = path else { return (learned(None), None) };
        let shown = path.display().to_string();
        let (entries, warning) = match file::read(&path) {
            Ok(file::Loaded { entries, set_aside: None }) => (entries, None),
            Ok(file::Loaded { set_aside: Some(aside), .. }) => {
                let aside = aside.display();
                let warning = format!("`{shown}` cannot be parsed and was renamed to `{aside}`");
                (Vec::new(), Some(warning))
            }
            Err(error) => (Vec::new(), Some(format!("`{shown}` cannot be read: {error}"))),
        };
        if !file::is_writable(&path) {
            let warning =
                format!("`{shown}` cannot be written; lessons are lost when the gateway stops");
            let learned = learned(None);
            learned.hold(&entries, evidence::now());
            return (learned, Some(warning));
        }
        let learned = learned(Some(path));
        learned.hold(&entries, evidence::now());
        (learned, warning)
    }

    /// Returns the lessons that apply to a caller at a host and a model, and those that are being
    /// tried for this request.
    pub(crate) fn of(
        &self,
        host: &str,
        model: Option<&str>,
        caller: &Identity,
        tried: &[Entry],
    ) -> Option<Arc<Lessons>> {
        if tried.is_empty() {
            if !self.any.load(Ordering::Relaxed) {
                return None;
            }
            return self.of_at(host, model, caller, evidence::now());
        }
        let known = self.of_at(host, model, caller, evidence::now());
        let mut entries = known.map(|known| known.entries.clone()).unwrap_or_default();
        for entry in tried {
            lay(&mut entries, entry);
        }
        Some(Arc::new(Lessons::new(entries)))
    }

    pub(super) fn of_at(
        &self,
        host: &str,
        model: Option<&str>,
        caller: &Identity,
        now: u64,
    ) -> Option<Arc<Lessons>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let found = Arc::clone(known.get(host)?.get(model.unwrap_or_default())?);
        drop(known);
        if found.entries.iter().all(|entry| self.holds(entry, now)) {
            return found.of(caller);
        }
        let entries = found.entries.iter().filter(|entry| self.holds(entry, now));
        let entries: Vec<Entry> = entries.cloned().collect();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let models = known.get_mut(host)?;
        if entries.is_empty() {
            models.remove(model.unwrap_or_default());
            return None;
        }
        let left = Arc::new(Endpoint::new(entries));
        models.insert(model.unwrap_or_default().to_owned(), Arc::clone(&left));
        left.of(caller)
    }

    /// Adds lessons, first to the file or database, then in memory. Blocks until they are written.
    pub(crate) fn remember(&self, lessons: &[Entry]) {
        let lessons: Vec<&Entry> =
            lessons.iter().filter(|entry| entry.model.len() <= MAX_NAME_LENGTH).collect();
        if lessons.is_empty() {
            return;
        }
        let _remembering = self.remembering.lock().unwrap_or_else(PoisonError::into_inner);
        let now = evidence::now();
        let merge = |entries: &mut Vec<Entry>| {
            entries.retain(|entry| self.holds(entry, now));
            for entry in &lessons {
                add(entries, Entry::clone(entry));
            }
            bound(entries);
            entries.clone()
        };
        let kept = match (&self.shared, self.path.as_deref()) {
            (Some(shared), _) => change(&**shared, &merge),
            (None, Some(path)) => file::change(path, merge).ok(),
            (None, None) => None,
        };
        // If they cannot be written, they are known until the gateway stops.
        let entries = kept.unwrap_or_else(|| merge(&mut self.all()));
        self.hold(&entries, now);
    }

    /// Returns all lessons.
    fn all(&self) -> Vec<Entry> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.values().flat_map(BTreeMap::values).flat_map(|one| one.entries.clone()).collect()
    }

    /// Replaces all lessons in memory.
    fn hold(&self, entries: &[Entry], now: u64) {
        let mut grouped: BTreeMap<String, BTreeMap<String, Vec<Entry>>> = BTreeMap::new();
        for entry in entries.iter().filter(|entry| self.holds(entry, now)) {
            let models = grouped.entry(entry.host.clone()).or_default();
            add(models.entry(entry.model.clone()).or_default(), entry.clone());
        }
        let endpoint = |(model, entries)| (model, Arc::new(Endpoint::new(entries)));
        let endpoints: Endpoints = grouped
            .into_iter()
            .map(|(host, models)| (host, models.into_iter().map(endpoint).collect()))
            .collect();
        self.any.store(!endpoints.is_empty(), Ordering::Relaxed);
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = endpoints;
    }

    /// Returns `true` if a lesson has not expired. One from the future, written by a wrong clock,
    /// counts as new.
    fn holds(&self, entry: &Entry, now: u64) -> bool {
        now.saturating_sub(entry.evidence.at) < self.keep
    }
}

impl Learned {
    /// Shares lessons with other gateways.
    #[cfg_attr(not(feature = "fleet"), expect(dead_code, reason = "only a fleet shares lessons"))]
    #[must_use]
    pub(crate) fn shared_in(mut self, shared: Arc<dyn SharedLessons>) -> Self {
        self.path = None;
        self.shared = Some(shared);
        self
    }

    /// Loads the lessons of other gateways every few seconds. Never returns if lessons are shared.
    pub(crate) async fn keep_up(&self) {
        let Some(shared) = &self.shared else { return };
        let mut seen = 0;
        loop {
            // While the database is unavailable, the lessons in memory apply.
            if let Some((version, text)) = shared.read().await
                && version != seen
            {
                seen = version;
                let entries = file::parse(text.as_bytes()).unwrap_or_default();
                self.hold(&entries, evidence::now());
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

/// Changes the shared document. Returns the entries that it holds then, or `None` if that is not
/// possible now. Blocks.
fn change(
    shared: &dyn SharedLessons,
    merge: &(impl Fn(&mut Vec<Entry>) -> Vec<Entry> + Sync),
) -> Option<Vec<Entry>> {
    let merged: Mutex<Option<Vec<Entry>>> = Mutex::default();
    let write = |text: &str| {
        let mut entries = file::parse(text.as_bytes()).unwrap_or_default();
        let entries = merge(&mut entries);
        let text = file::text(&entries);
        *merged.lock().unwrap_or_else(PoisonError::into_inner) = Some(entries);
        text
    };
    if !photic_store::wait(shared.change(&write)) {
        return None;
    }
    merged.into_inner().ok().flatten()
}
