//! What endpoints taught us by refusing, or when they were probed: facts by host and model, each
//! with its evidence and with whoever was taught it, for whom alone it holds until others agree.
//!
//! Lessons are laid over the shipped profile before anything is planned, so the planner knows
//! nothing of them, and the same file gives the same bytes after a restart. They expire, so that
//! an endpoint that became more generous gets another chance.

mod agreed;
mod evidence;
mod file;
mod lesson;
mod quarantine;
mod shared;
#[cfg(test)]
mod teachers;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use photic::profile::{Confidence, Fact};
use photic::{Profile, Wire};
use photic_fleet::Postgres;
use serde::{Deserialize, Serialize};

use agreed::{Endpoint, lay};
pub use evidence::Evidence;
pub use lesson::Lesson;
pub(crate) use lesson::MANY;
pub(crate) use quarantine::{Quarantine, refused};
pub use shared::{forget_shared, read_shared};

pub use crate::identity::{Identity, NoIdentity};
use crate::profiles::ResolvedProfile;

/// Most media that one endpoint has in quarantine for one teacher; the oldest are let go.
const MOST_REFUSED: usize = 64;
/// Most lessons of one teacher; the oldest are let go, and never somebody else's.
const MOST_OF_ONE: usize = 400;
/// Longest name of a model that something is learned about; callers make them up.
const LONGEST_NAME: usize = 200;
const DAY: u64 = 24 * 60 * 60;

/// One thing that was learned about an endpoint and a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The host, with its port if one was named.
    pub host: String,
    /// The model, as callers name it; empty where they name none.
    pub model: String,
    /// The wire on which it holds; on all of them if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
    /// What.
    pub lesson: Lesson,
    /// Who was taught it. For others it holds only when enough of them were.
    #[serde(default)]
    pub teacher: Identity,
    /// How.
    pub evidence: Evidence,
}

/// The file in which the `photic` command keeps what was learned, if this system says where.
pub fn usual_file() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    Some(state.join("photic/learned.json"))
}

/// What a file holds; nothing if it is not there.
pub fn read(path: &Path) -> io::Result<Vec<Entry>> {
    file::look(path)?.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Forgets what was learned about a host, or about one model of it; how many things that were.
pub fn forget(path: &Path, host: &str, model: Option<&str>) -> io::Result<usize> {
    if !path.exists() {
        return Ok(0);
    }
    file::change(path, |entries| {
        let before = entries.len();
        let is_meant =
            |entry: &Entry| entry.host == host && model.is_none_or(|model| entry.model == model);
        entries.retain(|entry| !is_meant(entry));
        before - entries.len()
    })
}

/// Remembers lessons in a file, for gateways that are started later. They are the operator's, and
/// hold for everybody.
pub fn teach(path: &Path, lessons: &[Entry]) -> io::Result<()> {
    file::change(path, |entries| {
        for lesson in lessons.iter().filter(|entry| entry.model.len() <= LONGEST_NAME) {
            add(entries, Entry { teacher: Identity::Operator, ..lesson.clone() });
        }
        bound(entries);
    })
}

/// Lays lessons over a profile, with their evidence as its source.
pub fn tighten<'e>(profile: &mut Profile, entries: impl IntoIterator<Item = &'e Entry>) {
    let wire = profile.wire;
    let holds = |entry: &&Entry| entry.wire.is_none_or(|on| on == wire);
    let mut entries: Vec<&Entry> = entries.into_iter().filter(holds).collect();
    entries.sort_by(|one, other| one.lesson.cmp(&other.lesson));
    for Entry { lesson, evidence, .. } in entries {
        if let Some((section, field)) = lesson.apply(profile) {
            profile.attribute(Fact {
                section: section.to_owned(),
                fields: vec![field.to_owned()],
                as_of: evidence.day(),
                source: evidence.source(),
                confidence: Confidence::High,
                profile: "learned".to_owned(),
            });
        }
    }
}

/// Everything that was learned.
#[derive(Debug)]
pub(crate) struct Learned {
    /// Where it is kept; nowhere, and it is known until the gateway ends.
    path: Option<PathBuf>,
    /// How long a lesson holds, in seconds.
    keep: u64,
    /// Most gateways never learn anything: then this is all that a request looks at.
    any: AtomicBool,
    known: RwLock<Endpoints>,
    /// Held by whoever remembers: what is known must not fall behind what is kept.
    remembering: Mutex<()>,
    /// Where many gateways keep it together, instead of in a file.
    shared: Option<Postgres>,
}

/// Lessons by host and model.
type Endpoints = BTreeMap<String, BTreeMap<String, Arc<Endpoint>>>;

/// What holds for somebody at one endpoint and model.
#[derive(Debug, Default)]
pub(crate) struct Lessons {
    entries: Vec<Entry>,
    pub(crate) quarantine: Quarantine,
    /// Profiles under these lessons: before, after.
    over: Mutex<Vec<(Arc<ResolvedProfile>, Arc<ResolvedProfile>)>>,
}

impl Learned {
    /// Reads what is known; what cannot be read or written is not kept, and that is said.
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
        let (held, word) = match file::read(&path) {
            Ok(file::Held { entries, set_aside: None }) => (entries, None),
            Ok(file::Held { set_aside: Some(aside), .. }) => {
                let aside = aside.display();
                let word = format!("`{shown}` cannot be read and was set aside as `{aside}`");
                (Vec::new(), Some(word))
            }
            Err(error) => (Vec::new(), Some(format!("`{shown}` cannot be read: {error}"))),
        };
        if !file::is_writable(&path) {
            let word = format!("`{shown}` cannot be written: what is learned is not kept");
            let learned = learned(None);
            learned.hold(&held, evidence::now());
            return (learned, Some(word));
        }
        let learned = learned(Some(path));
        learned.hold(&held, evidence::now());
        (learned, word)
    }

    /// What holds for somebody at a model of a host, and what is being tried beside it.
    pub(crate) fn of(
        &self,
        host: &str,
        model: Option<&str>,
        who: &Identity,
        tried: &[Entry],
    ) -> Option<Arc<Lessons>> {
        if tried.is_empty() {
            if !self.any.load(Ordering::Relaxed) {
                return None;
            }
            return self.of_at(host, model, who, evidence::now());
        }
        let known = self.of_at(host, model, who, evidence::now());
        let mut entries = known.map(|known| known.entries.clone()).unwrap_or_default();
        for entry in tried {
            lay(&mut entries, entry);
        }
        Some(Arc::new(Lessons::new(entries)))
    }

    fn of_at(
        &self,
        host: &str,
        model: Option<&str>,
        who: &Identity,
        now: u64,
    ) -> Option<Arc<Lessons>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let found = Arc::clone(known.get(host)?.get(model.unwrap_or_default())?);
        drop(known);
        if found.entries.iter().all(|entry| self.holds(entry, now)) {
            return found.of(who);
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
        left.of(who)
    }

    /// Remembers lessons, on disk before anything else. Waits for the disk.
    pub(crate) fn remember(&self, lessons: &[Entry]) {
        let lessons: Vec<&Entry> =
            lessons.iter().filter(|entry| entry.model.len() <= LONGEST_NAME).collect();
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
            (Some(shared), _) => shared::change(shared, &merge),
            (None, Some(path)) => file::change(path, merge).ok(),
            (None, None) => None,
        };
        // Not kept, but known as long as the gateway runs.
        let entries = kept.unwrap_or_else(|| merge(&mut self.all()));
        self.hold(&entries, now);
    }

    /// Everything that is known.
    fn all(&self) -> Vec<Entry> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.values().flat_map(BTreeMap::values).flat_map(|one| one.entries.clone()).collect()
    }

    /// Knows these and nothing else.
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

    /// A lesson from the future was written by a clock that was wrong; it holds as if new.
    fn holds(&self, entry: &Entry, now: u64) -> bool {
        now.saturating_sub(entry.evidence.at) < self.keep
    }
}

impl Lessons {
    fn new(entries: Vec<Entry>) -> Self {
        let quarantine = Quarantine::of(entries.iter().map(|entry| &entry.lesson));
        Self { entries, quarantine, over: Mutex::default() }
    }

    /// A profile under these lessons.
    pub(crate) fn over(&self, known: &Arc<ResolvedProfile>) -> Arc<ResolvedProfile> {
        let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, after)) = over.iter().find(|(before, _)| Arc::ptr_eq(before, known)) {
            return Arc::clone(after);
        }
        let mut profile = known.profile.clone();
        tighten(&mut profile, &self.entries);
        let after = Arc::new(ResolvedProfile::new(profile));
        // One for each wire; more only if the list of profiles started over.
        over.truncate(7);
        over.insert(0, (Arc::clone(known), Arc::clone(&after)));
        after
    }
}

/// Adds a lesson to those of its teacher; of two about the same thing the stricter is kept, with the
/// newer evidence, and of two that contradict each other the newer one.
fn add(entries: &mut Vec<Entry>, entry: Entry) {
    let meets = |other: &Entry| {
        let on_one_wire = other.wire == entry.wire || other.wire.is_none() || entry.wire.is_none();
        let is_its = other.teacher == entry.teacher;
        other.host == entry.host && other.model == entry.model && on_one_wire && is_its
    };
    let undone = |other: &Entry| meets(other) && other.lesson.contradicts(&entry.lesson);
    if entries.iter().any(|other| undone(other) && other.evidence.at > entry.evidence.at) {
        return;
    }
    entries.retain(|other| !undone(other));
    let same = |other: &Entry| {
        meets(other) && other.wire == entry.wire && other.lesson.is_about(&entry.lesson)
    };
    match entries.iter().position(same) {
        None => entries.push(entry),
        Some(at) => {
            let lesson = entry.lesson.clone().or_stricter(&entries[at].lesson);
            let is_newer = entry.evidence.at >= entries[at].evidence.at;
            let evidence = if is_newer { entry.evidence } else { entries[at].evidence.clone() };
            entries[at] = Entry { lesson, evidence, ..entry };
        }
    }
}

/// Lets go of the oldest where there are too many: first of whoever has more than one may have, then
/// of whoever has most. What the operator taught goes last.
fn bound(entries: &mut Vec<Entry>) {
    // Newest first, and back at the end: the file reads as a log.
    entries.reverse();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.evidence.at));
    let mut refused: BTreeMap<(Identity, String, String), usize> = BTreeMap::new();
    let mut counts: BTreeMap<Identity, usize> = BTreeMap::new();
    entries.retain(|entry| {
        let teacher = &entry.teacher;
        if matches!(entry.lesson, Lesson::Quarantine { .. }) {
            let key = (teacher.clone(), entry.host.clone(), entry.model.clone());
            let count = refused.entry(key).or_default();
            *count += 1;
            if *count > MOST_REFUSED {
                return false;
            }
        }
        let count = counts.entry(teacher.clone()).or_default();
        let has_room = *teacher == Identity::Operator || *count < MOST_OF_ONE;
        *count += usize::from(has_room);
        has_room
    });
    while entries.len() > file::MOST {
        let others = counts.iter().filter(|(teacher, _)| **teacher != Identity::Operator);
        let most = others.max_by_key(|(_, count)| **count).map(|(teacher, _)| teacher.clone());
        let most = most.unwrap_or(Identity::Operator);
        let Some(oldest) = entries.iter().rposition(|entry| entry.teacher == most) else { break };
        entries.remove(oldest);
        match counts.get_mut(&most) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(counts.remove(&most)),
        }
    }
    entries.reverse();
}
