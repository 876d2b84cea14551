//! For whom a lesson holds: for whoever taught it at once, and for others when enough callers that
//! have nothing to do with each other were taught the same.
//!
//! An endpoint refuses things to one account that it takes from others, and a caller can have itself
//! refused on purpose. So nobody's request is changed for what one other caller met with.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::entry::{Entry, add};
use super::lesson::Lesson;
use super::lessons::Lessons;
use crate::tenant::Identity;

/// How many have to agree. Several keys of one tenant are one of them.
pub(super) const ENOUGH: usize = 3;

/// What is known about an endpoint and a model.
#[derive(Debug, Default)]
pub(super) struct Endpoint {
    /// Everything that anybody was taught.
    pub(super) entries: Vec<Entry>,
    /// What holds for everybody.
    common: Option<Arc<Lessons>>,
    /// What holds for those who taught something.
    own: BTreeMap<Identity, Arc<Lessons>>,
}

impl Endpoint {
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

    /// What holds for somebody.
    pub(super) fn of(&self, who: &Identity) -> Option<Arc<Lessons>> {
        self.own.get(who).or(self.common.as_ref()).cloned()
    }
}

/// Lays a lesson over others, whoever taught them.
pub(super) fn lay(lessons: &mut Vec<Entry>, entry: &Entry) {
    add(lessons, Entry { teacher: Identity::default(), ..entry.clone() });
}

/// What holds for everybody: what the operator taught, and what enough others were.
fn agreed(entries: &[Entry]) -> Vec<Entry> {
    let mut common = Vec::new();
    for entry in entries.iter().filter(|entry| entry.teacher == Identity::Operator) {
        lay(&mut common, entry);
    }
    let is_tenant = |entry: &&Entry| matches!(entry.teacher, Identity::Tenant(_));
    // A key counts because the endpoint took a request with it. Whoever has none is not counted.
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
            // Each teacher has one about the same thing. So many were taught at least this much.
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
