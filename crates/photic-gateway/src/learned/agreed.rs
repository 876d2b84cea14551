//! Decides which callers a lesson applies to.
//!
//! A lesson applies to its teacher, the caller whose request was rejected, at once. It applies to
//! all callers when [`ENOUGH`] independent teachers were taught the same.
//!
//! An endpoint may refuse to one account what it accepts from others, and a caller can cause
//! rejections on purpose. So the experience of one caller never changes the requests of others.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::entry::{Entry, add};
use super::lessons::Lessons;
use crate::tenant::Identity;
use photic::lesson::Lesson;

/// Number of teachers that have to agree. A tenant counts once, whatever number of keys it has.
pub(super) const ENOUGH: usize = 3;

/// The lessons about one endpoint and model.
#[derive(Debug, Default)]
pub(super) struct Endpoint {
    /// The lessons of all teachers.
    pub(super) entries: Vec<Entry>,
    /// The lessons that apply to all callers.
    common: Option<Arc<Lessons>>,
    /// The lessons that apply to each teacher: the common ones and its own.
    own: BTreeMap<Identity, Arc<Lessons>>,
}

impl Endpoint {
    /// Computes the lessons of each caller.
    pub(super) fn new(entries: Vec<Entry>) -> Self {
        let common = agreed(&entries);
        let teachers: BTreeSet<&Identity> = entries.iter().map(|entry| &entry.teacher).collect();
        let own = teachers.into_iter().filter(|teacher| **teacher != Identity::Operator);
        let own = own.map(|teacher| {
            let mut lessons = common.clone();
            for entry in entries.iter().filter(|entry| entry.teacher == *teacher) {
                lay(&mut lessons, entry);
            }
            (teacher.clone(), Arc::new(Lessons::new(lessons)))
        });
        let own = own.collect();
        let common = (!common.is_empty()).then(|| Arc::new(Lessons::new(common)));
        Self { entries, common, own }
    }

    /// Returns the lessons that apply to a caller.
    pub(super) fn of(&self, caller: &Identity) -> Option<Arc<Lessons>> {
        self.own.get(caller).or(self.common.as_ref()).cloned()
    }
}

/// Adds a lesson to others, ignoring their teachers.
pub(super) fn lay(lessons: &mut Vec<Entry>, entry: &Entry) {
    add(lessons, Entry { teacher: Identity::default(), ..entry.clone() });
}

/// Returns the lessons that apply to all callers: those of the operator, and those that
/// [`ENOUGH`] other teachers agree on.
fn agreed(entries: &[Entry]) -> Vec<Entry> {
    let mut common = Vec::new();
    for entry in entries.iter().filter(|entry| entry.teacher == Identity::Operator) {
        lay(&mut common, entry);
    }
    let is_tenant = |entry: &&Entry| matches!(entry.teacher, Identity::Tenant(_));
    // A key counts because the endpoint accepted a request with it. Callers without one do not.
    let is_key = |entry: &&Entry| matches!(entry.teacher, Identity::Key(_));
    let tenants: Vec<&Entry> = entries.iter().filter(is_tenant).collect();
    let keys: Vec<&Entry> = entries.iter().filter(is_key).collect();
    for mut left in [tenants, keys] {
        while let Some(first) = left.first().copied() {
            let is_same =
                |other: &Entry| other.wire == first.wire && other.lesson.is_about(&first.lesson);
            let (mut same, others): (Vec<&Entry>, Vec<&Entry>) =
                left.into_iter().partition(|other| is_same(other));
            left = others;
            same.sort_by(|one, other| stricter_first(&one.lesson, &other.lesson));
            // Each teacher has one lesson about the same thing. `ENOUGH` of them are at least as
            // strict as this one.
            if let Some(least) = same.get(ENOUGH - 1) {
                lay(&mut common, least);
            }
        }
    }
    common
}

fn stricter_first(one: &Lesson, other: &Lesson) -> Ordering {
    if one == other {
        Ordering::Equal
    } else if one.clone().or_stricter(other) == *one {
        Ordering::Less
    } else {
        Ordering::Greater
    }
}
