//! One lesson with its evidence, and lists of them.

use std::collections::BTreeMap;

use photic::profile::{Confidence, Fact};
use photic::{Profile, Wire};
use serde::{Deserialize, Serialize};

use super::evidence::Evidence;
use super::lesson::Lesson;
use crate::tenant::Identity;

/// Most media that one endpoint has in quarantine for one teacher; the oldest are dropped.
pub(super) const MAX_REFUSED: usize = 64;
/// Most lessons of one teacher; its oldest are dropped, never another teacher's.
pub(super) const MAX_OF_ONE: usize = 400;
/// Most lessons in all.
pub(super) const MAX_ENTRIES: usize = 1000;
/// Longest name of a model that something is learned about; callers make them up.
pub(super) const MAX_NAME_LENGTH: usize = 200;

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

/// Adds a lesson to those of its teacher; of two about the same thing the stricter is kept, with the
/// newer evidence, and of two that contradict each other the newer one.
pub(super) fn add(entries: &mut Vec<Entry>, entry: Entry) {
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
pub(super) fn bound(entries: &mut Vec<Entry>) {
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
            if *count > MAX_REFUSED {
                return false;
            }
        }
        let count = counts.entry(teacher.clone()).or_default();
        let has_room = *teacher == Identity::Operator || *count < MAX_OF_ONE;
        *count += usize::from(has_room);
        has_room
    });
    while entries.len() > MAX_ENTRIES {
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
