//! Diagnoses a session: gathers facts record by record, then makes one plan for each conversation.
//!
//! At most one record is held at a time.

use std::collections::{BTreeMap, BTreeSet};

use photic::json::Doc;
use photic::media::{MediaKind, Source};
use photic::{MediaId, Profile, Sighting, Slot, Survey, Wire};

use super::cut;
use super::diagnosis::{Diagnosis, MediaPosition, Medium};
use super::problem::{ailment, planned};
use super::target::{DiagnosisTarget, profile};
use crate::format::SessionName;
use crate::format::kind::SessionFormat;
use crate::format::record::{HistoryEffect, MediaUse};
use crate::media_in_record::{LocatedMedia, fingerprint, located_media};
use crate::{blob_name, truncation};

/// The facts about a session, gathered record by record.
pub(super) struct SessionScan {
    format: SessionFormat,
    records: usize,
    media: Vec<(Medium, Sighting, SentState)>,
    /// The facts about each conversation.
    conversations: BTreeMap<Option<String>, Conversation>,
    known: BTreeSet<(usize, u64)>,
    unreadable: cut::UnreadableLines,
    session: Option<SessionName>,
}

/// The facts about one conversation.
#[derive(Default)]
struct Conversation {
    model: Option<String>,
    /// The range of media of each record that others may refer to.
    records: BTreeMap<String, (usize, usize)>,
    /// Bytes of its records without media.
    words: usize,
    has_main: bool,
}

/// Tells whether the agent sends a medium.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SentState {
    /// It does.
    Sent,
    /// Only if the session has no main conversation.
    Aside,
    /// It does not.
    No,
}

impl SessionScan {
    pub(super) fn new(format: SessionFormat) -> Self {
        Self {
            format,
            records: 0,
            media: Vec::new(),
            conversations: BTreeMap::new(),
            known: BTreeSet::new(),
            unreadable: cut::UnreadableLines::default(),
            session: None,
        }
    }

    /// Sets the model of a conversation.
    pub(super) fn model(&mut self, conversation: &str, model: Option<String>) {
        if model.is_some() {
            self.conversations.entry(Some(conversation.to_owned())).or_default().model = model;
        }
    }

    /// Adds one record.
    pub(super) fn record(&mut self, text: &[u8], row: Option<(&str, usize)>) {
        self.records += 1;
        let conversation = row.map(|(name, _)| name.to_owned());
        let number = row.map_or(self.records, |(_, number)| number);
        let doc = Doc::read(text);
        let Some((doc, root)) = doc.as_ref().and_then(|doc| Some((doc, doc.root()?))) else {
            if row.is_none() {
                self.unreadable.add(self.records, text);
            }
            return;
        };
        self.unreadable.sound(self.records);
        if self.session.is_none() {
            self.session = SessionName::of_record(self.format, root);
        }
        let entry = self.format.read(root);
        let about = self.conversations.entry(conversation.clone()).or_default();
        discard(&entry.history, about, &mut self.media, conversation.as_deref());
        let first = self.media.len();
        let mut words = text.len();
        for spot in located_media(&entry) {
            let (sighting, bytes, print) = sighting_of(&spot);
            let is_moved = blob_name::is_moved(spot.block.data);
            words = words.saturating_sub(bytes as usize);
            let at = MediaPosition {
                record: number,
                conversation: conversation.clone(),
                pointer: doc.pointer_to(spot.block.value),
            };
            let medium = Medium {
                at,
                media_type: sighting.header.media_type,
                size: sighting.header.size,
                bytes,
                is_sent: false,
                is_repeated: bytes > 0 && !self.known.insert((bytes as usize, print)),
                is_moved,
                tokens: 0,
                ailment: None,
            };
            let kept = match spot.place {
                // There is nothing to judge before it is put back.
                _ if is_moved => SentState::No,
                MediaUse::Sent(_) => SentState::Sent,
                MediaUse::Aside(_) => SentState::Aside,
                MediaUse::Copy => SentState::No,
            };
            self.media.push((medium, sighting, kept));
        }
        if let Some(id) = entry.id {
            let range = (first, self.media.len());
            // A record that is written again replaces the earlier one.
            if let Some((start, end)) = about.records.insert(id, range) {
                self.media[start..end].iter_mut().for_each(|(.., kept)| *kept = SentState::No);
            }
        }
        about.has_main |= entry.is_main;
        about.model = entry.model.or_else(|| about.model.take());
        about.words += words;
    }

    /// Plans each conversation and reports what its endpoint would reject.
    pub(super) fn judge(mut self, question: &DiagnosisTarget, bytes: u64) -> Diagnosis {
        let mut profiles = BTreeMap::new();
        for (name, about) in &self.conversations {
            let named = profile(self.format, question, about.model.as_deref());
            let ids: Vec<usize> = (0..self.media.len())
                .filter(|&id| self.media[id].0.at.conversation == *name)
                .filter(|&id| match self.media[id].2 {
                    SentState::Sent => true,
                    SentState::Aside => !about.has_main,
                    SentState::No => false,
                })
                .collect();
            let survey = self.survey(&ids, named.wire, about.words);
            let plan = planned(survey, &named);
            for (sighting, &id) in plan.survey.sightings.iter().zip(&ids) {
                let medium = &mut self.media[id].0;
                medium.is_sent = true;
                medium.ailment = ailment(&plan, sighting);
                medium.tokens = match (sighting.kind, sighting.header.size) {
                    (MediaKind::Image, Some((width, height))) => {
                        named.image_tokens(width, height, sighting.detail)
                    }
                    _ => 0,
                };
            }
            drop(plan);
            profiles.insert(name.clone(), named);
        }
        let last = profiles.values().last().map(|profile: &Profile| profile.id.clone());
        let session = self.session.take().or_else(|| self.session_in_database());
        let (cut_line, unreadable_lines) = self.unreadable.divided();
        Diagnosis {
            format: self.format,
            profile: last.unwrap_or_else(|| profile(self.format, question, None).id),
            bytes,
            records: self.records,
            conversations: self.conversations.len(),
            media: self.media.into_iter().map(|(medium, ..)| medium).collect(),
            findings: Vec::new(),
            cut_line,
            unreadable_lines,
            session,
            profiles,
        }
    }

    /// The first session of a database with a problem, or the only one.
    fn session_in_database(&self) -> Option<SessionName> {
        let sick = self.media.iter().find(|(medium, ..)| medium.ailment.is_some());
        let id = match sick {
            Some((medium, ..)) => medium.at.conversation.clone()?,
            None if self.conversations.len() == 1 => self.conversations.keys().next()?.clone()?,
            None => return None,
        };
        Some(SessionName { id, folder: None })
    }

    /// The media of a conversation as a survey, each in a message of its own.
    fn survey(&self, ids: &[usize], wire: Wire, words: usize) -> Survey {
        let sightings = ids.iter().enumerate().map(|(index, &id)| Sighting {
            media: MediaId::new(index),
            message: index,
            ..self.media[id].1.clone()
        });
        let count = ids.len();
        let mut sizes = vec![0; count];
        if let Some(first) = sizes.first_mut() {
            *first = words;
        }
        // The newest medium is in the current turn; all others are in the past.
        let requests = if count > 1 { vec![count - 1, count] } else { vec![count] };
        Survey {
            is_marked: false,
            former: None,
            notes: Vec::new(),
            clearing: None,
            wire: Some(wire),
            sightings: sightings.collect(),
            requests,
            words: sizes,
            settings: 0,
        }
    }
}

/// Applies what a record says about earlier records.
fn discard(
    history: &HistoryEffect,
    about: &Conversation,
    media: &mut [(Medium, Sighting, SentState)],
    conversation: Option<&str>,
) {
    let known = |id: &String, side: fn(&(usize, usize)) -> usize| about.records.get(id).map(side);
    let gone = match history {
        HistoryEffect::Unchanged => return,
        HistoryEffect::Discards => 0..media.len(),
        HistoryEffect::KeepsFrom(id) => 0..known(id, |range| range.0).unwrap_or(0),
        HistoryEffect::RewindsTo(id) => known(id, |range| range.0).unwrap_or(0)..media.len(),
    };
    let gone = media[gone]
        .iter_mut()
        .filter(|(medium, ..)| medium.at.conversation.as_deref() == conversation);
    gone.for_each(|(.., kept)| *kept = SentState::No);
}

/// The sighting of a medium, its bytes in the file, and their fingerprint.
fn sighting_of(spot: &LocatedMedia<'_, '_>) -> (Sighting, u64, u64) {
    let media = spot.block.media();
    let slot = match spot.place {
        MediaUse::Sent(slot) | MediaUse::Aside(slot) => slot,
        MediaUse::Copy => Slot::Message(photic::transcript::Role::User),
    };
    let mut sighting = Sighting::of(&media, MediaId::default(), 0, slot);
    let mut print = 0;
    if let Source::Data(payload) = &media.source {
        print = fingerprint(payload.base64());
        if sighting.kind == MediaKind::Image && !truncation::is_whole(payload, &sighting.header) {
            sighting.header.media_type = None;
        }
    }
    (sighting, spot.block.data.raw().len() as u64, print)
}
