//! Diagnoses a session: one pass over its records, then one plan for each conversation.
//!
//! At most one record is held at a time. This module knows no limits: the planner
//! decides what an endpoint rejects.

mod cut;
mod explain;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use photic::json::Doc;
use photic::media::{Found, MediaKind, Source};
use photic::{
    Code, Fate, MediaId, Plan, Policy, Profile, Reason, Recipe, Sighting, Slot, Survey, Wire,
};
use serde::Serialize;

pub use cut::CutLine;

use crate::error::Error;
use crate::format::kind::SessionFormat;
use crate::format::record::{HistoryEffect, MediaUse};
use crate::format::{Container, SessionName, contained};
use crate::lines::Lines;
use crate::media_in_record::{LocatedMedia, fingerprint, located_media};
use crate::{blob_name, replace, request, sqlite, truncation};

/// The endpoint that a session is diagnosed for.
#[derive(Clone, Debug, Default)]
pub struct DiagnosisTarget {
    /// The model that the session will continue with; the one it names if `None`.
    pub model: Option<String>,
    /// The wire; that of the agent or of the model's maker if `None`.
    pub wire: Option<Wire>,
}

/// The result of a diagnosis.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// The format of the session.
    #[serde(serialize_with = "by_name")]
    pub format: SessionFormat,
    /// The name of the profile that was used; the last one if conversations have different ones.
    pub profile: String,
    /// The size of the file, including the log of a database.
    pub bytes: u64,
    /// The number of records: lines or rows.
    pub records: usize,
    /// The number of conversations.
    pub conversations: usize,
    /// All media, in order.
    pub media: Vec<Medium>,
    /// Other problems, if the file is a request.
    pub findings: Vec<photic::Finding>,
    /// The last line, if it was cut off while it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_line: Option<CutLine>,
    /// Numbers of other lines that are not JSON; a repair leaves them as they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable_lines: Vec<usize>,
    /// The name by which the agent resumes the session: in a database, that of the first session
    /// with a problem, or of the only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionName>,
    /// The profile of each conversation.
    #[serde(skip)]
    pub(crate) profiles: BTreeMap<Option<String>, Profile>,
}

/// An image, document or sound in a session.
#[derive(Clone, Debug, Serialize)]
pub struct Medium {
    /// Its position.
    #[serde(serialize_with = "in_words")]
    pub at: MediaPosition,
    /// Its media type, detected from its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_type: Option<&'static str>,
    /// Its width and height.
    #[serde(rename = "source_size", skip_serializing_if = "Option::is_none")]
    pub size: Option<(u32, u32)>,
    /// The number of bytes that it takes in the file.
    pub bytes: u64,
    /// `true` if the agent sends it; otherwise it is a copy, or was compacted.
    pub is_sent: bool,
    /// `true` if the same bytes occur earlier in the file.
    pub is_repeated: bool,
    /// `true` if its bytes were moved to a blob store, and its place holds their name.
    pub is_moved: bool,
    /// The price in tokens each time it is sent.
    pub tokens: u64,
    /// The reason why the endpoint rejects it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ailment: Option<Problem>,
}

/// A position in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaPosition {
    /// Line or row, from 1; 0 if the file is one request.
    pub record: usize,
    /// The conversation, if a file holds several.
    pub conversation: Option<String>,
    /// A JSON pointer into the record.
    pub pointer: String,
}

/// The reason why an endpoint rejects a medium, and the remedy.
#[derive(Clone, Debug, Serialize)]
pub struct Problem {
    /// The kind of problem.
    pub code: Code,
    /// A sentence with the numbers.
    pub why: String,
    /// The repair.
    pub remedy: Remedy,
}

/// The repair of a medium.
#[derive(Clone, Debug)]
pub enum Remedy {
    /// Corrects its media type. If the line must not grow, this notice replaces it.
    Relabel(String),
    /// Writes the same bytes in the form that the endpoint expects.
    Respell,
    /// Converts it to a picture that is smaller or of another type. If that fails, this notice
    /// replaces it.
    Remake(Recipe, String),
    /// Replaces it by this notice.
    Notice(String),
}

impl Remedy {
    /// The name of the remedy.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Relabel(_) => "relabel",
            Self::Respell => "respell",
            Self::Remake(..) => "remake",
            Self::Notice(_) => "notice",
        }
    }
}

impl Serialize for Remedy {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Diagnosis {
    /// The media that the endpoint would reject.
    pub fn broken(&self) -> impl Iterator<Item = &Medium> {
        self.media.iter().filter(|medium| medium.ailment.is_some())
    }

    /// Returns `true` if the endpoint would reject the session.
    pub fn is_broken(&self) -> bool {
        self.broken().next().is_some() || !self.findings.is_empty() || self.cut_line.is_some()
    }

    /// The number of media that were moved to a blob store. No agent can continue the session before
    /// they are put back.
    pub fn moved(&self) -> usize {
        self.media.iter().filter(|medium| medium.is_moved).count()
    }

    /// The number of bytes of media in the file.
    pub fn media_bytes(&self) -> u64 {
        self.media.iter().map(|medium| medium.bytes).sum()
    }

    /// The number of bytes of repeated media in the file.
    pub fn repeated_bytes(&self) -> u64 {
        self.media.iter().filter(|medium| medium.is_repeated).map(|medium| medium.bytes).sum()
    }

    /// The price of the media in tokens each time the session is sent.
    pub fn tokens(&self) -> u64 {
        self.media.iter().filter(|medium| medium.is_sent).map(|medium| medium.tokens).sum()
    }
}

impl fmt::Display for MediaPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.conversation, self.record) {
            (Some(name), row) => write!(f, "session {name} row {row} ")?,
            (None, 0) => {}
            (None, line) => write!(f, "line {line} ")?,
        }
        // A medium may be its whole record.
        f.write_str(if self.pointer.is_empty() { "/" } else { &self.pointer })
    }
}

/// Diagnoses a session. `progress` is called with the number of bytes read.
///
/// # Errors
///
/// Fails if the file cannot be read or has an unknown format.
pub fn diagnose(
    path: &Path,
    question: &DiagnosisTarget,
    progress: &mut dyn FnMut(u64),
) -> Result<Diagnosis, Error> {
    let (format, container) = contained(path)?;
    let read = |error| Error::Read(path.to_owned(), error);
    let log = replace::log_of(path).map_or(0, |data| data.len());
    let bytes = std::fs::metadata(path).map_err(read)?.len() + log;
    if let SessionFormat::Request(wire) = format {
        let body = std::fs::read(path).map_err(read)?;
        return Ok(of_request(wire, &body, question));
    }
    let mut scan = SessionScan::new(format);
    match container {
        Container::Lines => {
            let mut lines = Lines::open(path)?;
            let mut done = 0;
            while let Some(line) = lines.next_line()? {
                scan.record(line, None);
                done += line.len() as u64;
                progress(done);
            }
        }
        Container::Document => scan.record(&std::fs::read(path).map_err(read)?, None),
        Container::SessionTable(table) => {
            let mut done = 0;
            sqlite::each(path, table, &mut |row| {
                scan.model(&row.conversation, row.model.clone());
                let number = usize::try_from(row.number).unwrap_or_default();
                scan.record(row.text, Some((&row.conversation, number)));
                done += row.text.len() as u64;
                progress(done);
                Ok(())
            })?;
        }
    }
    let mut found = scan.judge(question, bytes);
    found.session = found.session.map(|name| name.corrected(format, path));
    Ok(found)
}

/// The profile of the endpoint that a session goes to.
pub fn profile(format: SessionFormat, question: &DiagnosisTarget, named: Option<&str>) -> Profile {
    let model = question.model.as_deref().or(named);
    let is_asked = question.model.is_some() && question.wire.is_none();
    let mut profile = match question.wire.or(format.wire()) {
        Some(wire) => photic::profile::resolve(wire, model, None),
        None => profile_of_maker(model),
    };
    // A model of another maker is judged as its maker's endpoint does. A request stays on its wire.
    let is_generic = profile.id == Profile::generic(profile.wire).id;
    if is_asked && is_generic && !matches!(format, SessionFormat::Request(_)) {
        let own = profile_of_maker(model);
        if own.id != Profile::generic(own.wire).id {
            profile = own;
        }
    }
    // Agents compact what grows too long; that is not a fault of pictures.
    profile.limits.context_tokens = None;
    profile
}

/// The profile of a model on its maker's wire, or on Chat Completions.
fn profile_of_maker(model: Option<&str>) -> Profile {
    [Wire::Anthropic, Wire::OpenAiResponses, Wire::Gemini, Wire::OpenAiChat]
        .into_iter()
        .map(|wire| photic::profile::resolve(wire, model, None))
        .find(|profile| profile.id != Profile::generic(profile.wire).id)
        .unwrap_or_else(|| Profile::generic(Wire::OpenAiChat))
}

/// The facts about a session, gathered record by record.
struct SessionScan {
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
    fn new(format: SessionFormat) -> Self {
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
    fn model(&mut self, conversation: &str, model: Option<String>) {
        if model.is_some() {
            self.conversations.entry(Some(conversation.to_owned())).or_default().model = model;
        }
    }

    /// Adds one record.
    fn record(&mut self, text: &[u8], row: Option<(&str, usize)>) {
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
    fn judge(mut self, question: &DiagnosisTarget, bytes: u64) -> Diagnosis {
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

/// The plan for an endpoint, without repairs that only a live request allows.
pub(crate) fn planned(survey: Survey, profile: &Profile) -> Plan<'_> {
    let mut policy = Policy::hands_off();
    policy.pixels = true;
    let mut plan = photic::plan(survey, profile, &policy);
    let sheets: Vec<MediaId> = plan
        .recipes
        .iter()
        .filter(|(_, recipe)| matches!(recipe, Recipe::Sheet { .. }))
        .map(|(&id, _)| id)
        .collect();
    // Pictures of several records cannot share a sheet.
    for id in sheets {
        if let Some(Recipe::Sheet { members, .. }) = plan.recipes.remove(&id) {
            for member in members {
                plan.fates[member] = Fate::Elide(Reason::OverCount);
            }
        }
    }
    for fate in &mut plan.fates {
        if *fate == Fate::Hoist(Reason::ErrorResult) {
            *fate = Fate::Elide(Reason::ErrorResult);
        }
    }
    plan
}

/// The problem of one medium of a plan. The position of a shown picture is the agent's choice.
fn ailment(plan: &Plan<'_>, sighting: &Sighting) -> Option<Problem> {
    let id = sighting.media;
    let fate = plan.fates[id];
    let why = |code: Code| explain::why(code, sighting, plan);
    if let Some(words) = plan.notice(id) {
        let code = explain::code(fate.reason());
        return Some(Problem { code, why: why(code), remedy: Remedy::Notice(words) });
    }
    if let Some(recipe) = plan.recipes.get(&id) {
        let media_type = sighting.header.media_type.unwrap_or_default();
        let is_taken = plan.profile.accepts_type(sighting.kind, media_type);
        let code = if is_taken { Code::OverLimit } else { Code::UnsupportedType };
        let reason = if is_taken { Reason::OverLimit } else { Reason::TypeNotAccepted };
        let remedy = Remedy::Remake(recipe.clone(), sighting.notice(reason));
        return Some(Problem { code, why: why(code), remedy });
    }
    if sighting.found == Found::Mended {
        let code = Code::MalformedDataUrl;
        return Some(Problem { code, why: why(code), remedy: Remedy::Respell });
    }
    sighting.mislabeled.then(|| {
        let code = Code::WrongLabel;
        let remedy = Remedy::Relabel(sighting.notice(Reason::TypeNotAccepted));
        Problem { code, why: why(code), remedy }
    })
}

/// Diagnoses a request as `photic check` does.
fn of_request(wire: Wire, body: &[u8], question: &DiagnosisTarget) -> Diagnosis {
    let (transcript, lifted) = photic::lift(wire, body);
    let named = transcript.settings.model.as_ref().map(|model| model.decode().into_owned());
    let profile = profile(SessionFormat::Request(wire), question, named.as_deref());
    let plan = photic::plan(request::survey(&transcript), &profile, &Policy::hands_off());
    let findings = photic::check(&transcript, &lifted, &plan);
    let mut media: Vec<Medium> =
        plan.survey
            .sightings
            .iter()
            .map(|sighting| Medium {
                at: MediaPosition {
                    record: 0,
                    conversation: None,
                    pointer: transcript
                        .position(sighting.media)
                        .map(|at| at.to_string())
                        .unwrap_or_default(),
                },
                media_type: sighting.header.media_type,
                size: sighting.header.size,
                bytes: sighting.wire_bytes as u64,
                is_sent: true,
                is_repeated: sighting.twin.is_some(),
                is_moved: false,
                tokens: sighting.header.size.map_or(0, |(width, height)| {
                    profile.image_tokens(width, height, sighting.detail)
                }),
                ailment: None,
            })
            .collect();
    for finding in &findings {
        if let Some(id) = finding.media {
            let why = finding.code.says().to_owned();
            let remedy = Remedy::Respell;
            media[id.index()].ailment = Some(Problem { code: finding.code, why, remedy });
        }
    }
    Diagnosis {
        format: SessionFormat::Request(wire),
        profile: profile.id.clone(),
        bytes: body.len() as u64,
        records: 1,
        conversations: 1,
        media,
        findings,
        cut_line: None,
        unreadable_lines: Vec::new(),
        session: None,
        profiles: BTreeMap::from([(None, profile.clone())]),
    }
}

/// Serializes a format as its name.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn by_name<S: serde::Serializer>(format: &SessionFormat, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(format.name())
}

/// Serializes a position as text.
fn in_words<S: serde::Serializer>(at: &MediaPosition, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}
