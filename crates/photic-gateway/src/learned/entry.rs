//! A lesson with its endpoint, teacher and evidence, and lists of them.

use std::collections::BTreeMap;

use photic::profile::{Confidence, Fact};
use photic::{Profile, Wire};
use serde::{Deserialize, Serialize};

use super::evidence::Evidence;
use crate::tenant::Identity;
use photic::lesson::Lesson;

/// Maximum number of quarantined media of one teacher at one endpoint. The oldest are dropped.
pub(super) const MAX_REFUSED: usize = 64;
/// Maximum number of lessons of one teacher. Its own oldest ones are dropped.
pub(super) const MAX_OF_ONE: usize = 400;
/// Maximum number of lessons in total.
pub(super) const MAX_ENTRIES: usize = 1000;
/// Maximum length of a model name in a lesson. Callers choose the names.
pub(super) const MAX_NAME_LENGTH: usize = 200;

/// A lesson about an endpoint and a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The host, with its port if the URL has one.
    pub host: String,
    /// The model, as callers name it. Empty if they name none.
    pub model: String,
    /// The wire that it applies to, or all wires if unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
    /// The lesson.
    pub lesson: Lesson,
    /// The caller whose request was rejected. It applies to others only if enough teachers agree.
    #[serde(default)]
    pub teacher: Identity,
    /// The reply that taught it.
    pub evidence: Evidence,
}

/// Applies lessons to a profile, and attributes the changed facts to their evidence.
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

/// Adds a lesson to a list.
///
/// Of two lessons of one teacher about the same thing, the stricter is kept with the newer evidence.
/// Of two that contradict each other, the newer is kept.
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

/// Drops the oldest lessons if there are too many: first those of teachers above their own maximum,
/// then those of the teacher with the most. Lessons of the operator are dropped last.
pub(super) fn bound(entries: &mut Vec<Entry>) {
    // Newest first. The order is reversed at the end, so that the file reads like a log.
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
