//! What is wrong with a session: one pass, record by record, then one plan for each conversation.
//!
//! Owns what is remembered of a medium once its record is gone. Must never hold two records, and
//! never know a limit: what an endpoint rejects is the planner's to say.

mod why;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use photic::json::Doc;
use photic::media::{Found, MediaKind, Source};
use photic::{Code, Fate, Plan, Policy, Profile, Reason, Recipe, Sighting, Slot, Survey, Wire};
use serde::Serialize;

use crate::error::Error;
use crate::format::{Container, Format, History, Place, contained};
use crate::measure::{Spot, fingerprint, spots};
use crate::text::Lines;
use crate::{replace, request, table, truncation};

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The model that the session is to go on with; without it, the one it names.
    pub model: Option<String>,
    /// The wire; without it, that of the agent, or of the model's maker.
    pub wire: Option<Wire>,
}

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// Whose session it is.
    #[serde(serialize_with = "by_name")]
    pub format: Format,
    /// The name of the profile it was held against; the last one where conversations differ.
    pub profile: String,
    /// The size of the file, with the log of a database.
    pub bytes: u64,
    /// How many records it has: lines, or rows.
    pub records: usize,
    /// How many conversations.
    pub conversations: usize,
    /// Every medium, in order.
    pub media: Vec<Medium>,
    /// What else is wrong, where the file is a request.
    pub findings: Vec<photic::Finding>,
    /// The facts that each conversation was held against.
    #[serde(skip)]
    pub(crate) profiles: BTreeMap<Option<String>, Profile>,
}

/// A medium in a session.
#[derive(Clone, Debug, Serialize)]
pub struct Medium {
    /// Where it stands.
    #[serde(serialize_with = "in_words")]
    pub at: At,
    /// Its type, as its bytes tell.
    pub media_type: Option<&'static str>,
    /// Its width and height.
    pub size: Option<(u32, u32)>,
    /// Bytes it takes in the file.
    pub bytes: u64,
    /// Whether the agent sends it; if not, it is a copy, or was compacted.
    pub is_sent: bool,
    /// Whether the same bytes stood in the file before.
    pub is_repeated: bool,
    /// What it costs each time it is sent.
    pub tokens: u64,
    /// Why the endpoint rejects it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ailment: Option<Ailment>,
}

/// A place in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    /// Line or row, from 1; 0 where the file is one request.
    pub record: usize,
    /// The conversation, where a file holds several.
    pub conversation: Option<String>,
    /// A JSON pointer into the record.
    pub pointer: String,
}

/// Why an endpoint rejects a medium, and what helps.
#[derive(Clone, Debug, Serialize)]
pub struct Ailment {
    /// The kind of problem.
    pub code: Code,
    /// In words, with numbers.
    pub why: String,
    /// What a repair does.
    pub remedy: Remedy,
}

/// What a repair does with a medium.
#[derive(Clone, Debug)]
pub enum Remedy {
    /// Names its type as it is; where a line may not grow for it, these words take its place.
    Relabel(String),
    /// Writes the same bytes as they should be written.
    Respell,
    /// Makes another picture of it: smaller, lighter, or of another type. If it cannot be made,
    /// these words take its place.
    Remake(Recipe, String),
    /// Puts these words in its place.
    Notice(String),
}

impl Remedy {
    /// Its name.
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
    /// What the endpoint would reject.
    pub fn sick(&self) -> impl Iterator<Item = &Medium> {
        self.media.iter().filter(|medium| medium.ailment.is_some())
    }

    /// Whether the session would be rejected.
    pub fn is_sick(&self) -> bool {
        self.sick().next().is_some() || !self.findings.is_empty()
    }

    /// Bytes of the file that are media.
    pub fn media_bytes(&self) -> u64 {
        self.media.iter().map(|medium| medium.bytes).sum()
    }

    /// Bytes of the file that are media which stand in it before.
    pub fn repeated_bytes(&self) -> u64 {
        self.media.iter().filter(|medium| medium.is_repeated).map(|medium| medium.bytes).sum()
    }

    /// What the media cost each time the session is sent.
    pub fn tokens(&self) -> u64 {
        self.media.iter().filter(|medium| medium.is_sent).map(|medium| medium.tokens).sum()
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.conversation, self.record) {
            (Some(name), row) => write!(f, "session {name} row {row} ")?,
            (None, 0) => {}
            (None, line) => write!(f, "line {line} ")?,
        }
        // A medium may be all of its record.
        f.write_str(if self.pointer.is_empty() { "/" } else { &self.pointer })
    }
}

/// Says what is wrong with a session; `progress` is told how many bytes were read.
pub fn diagnose(
    path: &Path,
    question: &Question,
    progress: &mut dyn FnMut(u64),
) -> Result<Diagnosis, Error> {
    let (format, container) = contained(path)?;
    let read = |error| Error::Read(path.to_owned(), error);
    let log = replace::log_of(path).map_or(0, |data| data.len());
    let bytes = std::fs::metadata(path).map_err(read)?.len() + log;
    if let Format::Request(wire) = format {
        let body = std::fs::read(path).map_err(read)?;
        return Ok(of_request(wire, &body, question));
    }
    let mut gathered = Gathered::new(format);
    match container {
        Container::Lines => {
            let mut lines = Lines::open(path)?;
            let mut done = 0;
            while let Some(line) = lines.next_line()? {
                gathered.record(line, None);
                done += line.len() as u64;
                progress(done);
            }
        }
        Container::Document => gathered.record(&std::fs::read(path).map_err(read)?, None),
        Container::Table(table) => {
            let mut done = 0;
            table::each(path, table, &mut |row| {
                gathered.model(&row.conversation, row.model.clone());
                let number = usize::try_from(row.number).unwrap_or_default();
                gathered.record(row.text, Some((&row.conversation, number)));
                done += row.text.len() as u64;
                progress(done);
                Ok(())
            })?;
        }
    }
    Ok(gathered.judge(question, bytes))
}

/// The facts about the endpoint that a session goes to.
pub fn profile(format: Format, question: &Question, named: Option<&str>) -> Profile {
    let model = question.model.as_deref().or(named);
    let mut profile = match question.wire.or(format.wire()) {
        Some(wire) => photic::profile::resolve(wire, model, None),
        None => of_its_maker(model),
    };
    // Agents compact what grows too long. Pictures are not to blame for it.
    profile.limits.context_tokens = None;
    profile
}

/// A model is best described on the wire of its own maker; chat is where everybody else speaks.
fn of_its_maker(model: Option<&str>) -> Profile {
    [Wire::Anthropic, Wire::OpenAiResponses, Wire::Gemini, Wire::OpenAiChat]
        .into_iter()
        .map(|wire| photic::profile::resolve(wire, model, None))
        .find(|profile| profile.id != Profile::generic(profile.wire).id)
        .unwrap_or_else(|| Profile::generic(Wire::OpenAiChat))
}

/// What is remembered while records pass.
struct Gathered {
    format: Format,
    records: usize,
    media: Vec<(Medium, Sighting, Kept)>,
    /// What each conversation is about.
    conversations: BTreeMap<Option<String>, Conversation>,
    known: BTreeSet<(usize, u64)>,
}

#[derive(Default)]
struct Conversation {
    model: Option<String>,
    /// The media of each record that others may refer to.
    records: BTreeMap<String, (usize, usize)>,
    /// Bytes of its records that are no media.
    words: usize,
    has_main: bool,
}

/// Whether the agent sends a medium.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Sent,
    Aside,
    No,
}

impl Gathered {
    fn new(format: Format) -> Self {
        Self {
            format,
            records: 0,
            media: Vec::new(),
            conversations: BTreeMap::new(),
            known: BTreeSet::new(),
        }
    }

    fn model(&mut self, conversation: &str, model: Option<String>) {
        if model.is_some() {
            self.conversations.entry(Some(conversation.to_owned())).or_default().model = model;
        }
    }

    fn record(&mut self, text: &[u8], row: Option<(&str, usize)>) {
        self.records += 1;
        let conversation = row.map(|(name, _)| name.to_owned());
        let number = row.map_or(self.records, |(_, number)| number);
        let doc = Doc::read(text);
        let Some((doc, root)) = doc.as_ref().and_then(|doc| Some((doc, doc.root()?))) else {
            return;
        };
        let entry = self.format.read(root);
        let about = self.conversations.entry(conversation.clone()).or_default();
        forget(&entry.history, about, &mut self.media, conversation.as_deref());
        let first = self.media.len();
        let mut words = text.len();
        for spot in spots(&entry) {
            let (sighting, bytes, print) = look(&spot);
            words = words.saturating_sub(bytes as usize);
            let at = At {
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
                tokens: 0,
                ailment: None,
            };
            let kept = match spot.place {
                Place::Sent(_) => Kept::Sent,
                Place::Aside(_) => Kept::Aside,
                Place::Copy => Kept::No,
            };
            self.media.push((medium, sighting, kept));
        }
        if let Some(id) = entry.id {
            let range = (first, self.media.len());
            // What is written again takes the place of what was there.
            if let Some((start, end)) = about.records.insert(id, range) {
                self.media[start..end].iter_mut().for_each(|(.., kept)| *kept = Kept::No);
            }
        }
        about.has_main |= entry.is_main;
        about.model = entry.model.or_else(|| about.model.take());
        about.words += words;
    }

    fn judge(mut self, question: &Question, bytes: u64) -> Diagnosis {
        let mut profiles = BTreeMap::new();
        for (name, about) in &self.conversations {
            let named = profile(self.format, question, about.model.as_deref());
            let ids: Vec<usize> = (0..self.media.len())
                .filter(|&id| self.media[id].0.at.conversation == *name)
                .filter(|&id| match self.media[id].2 {
                    Kept::Sent => true,
                    Kept::Aside => !about.has_main,
                    Kept::No => false,
                })
                .collect();
            let survey = self.survey(&ids, named.wire, about.words);
            let plan = planned(survey, &named);
            for (index, &id) in ids.iter().enumerate() {
                let medium = &mut self.media[id].0;
                medium.is_sent = true;
                medium.ailment = ailment(&plan, index);
                let sighting = &plan.survey.sightings[index];
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
        Diagnosis {
            format: self.format,
            profile: last.unwrap_or_else(|| profile(self.format, question, None).id),
            bytes,
            records: self.records,
            conversations: self.conversations.len(),
            media: self.media.into_iter().map(|(medium, ..)| medium).collect(),
            findings: Vec::new(),
            profiles,
        }
    }

    /// The media of a conversation as the planner wants them: each in a message of its own.
    fn survey(&self, ids: &[usize], wire: Wire, words: usize) -> Survey {
        let sightings = ids.iter().enumerate().map(|(index, &id)| Sighting {
            media: index,
            message: index,
            ..self.media[id].1.clone()
        });
        let count = ids.len();
        let mut sizes = vec![0; count];
        if let Some(first) = sizes.first_mut() {
            *first = words;
        }
        // The newest stands alone in the turn that goes on; everything else is past.
        let requests = if count > 1 { vec![count - 1, count] } else { vec![count] };
        Survey {
            is_marked: false,
            former: None,
            wire: Some(wire),
            sightings: sightings.collect(),
            requests,
            words: sizes,
            settings: 0,
        }
    }
}

/// Applies what a record says about those before it.
fn forget(
    history: &History,
    about: &Conversation,
    media: &mut [(Medium, Sighting, Kept)],
    conversation: Option<&str>,
) {
    let known = |id: &String, side: fn(&(usize, usize)) -> usize| about.records.get(id).map(side);
    let gone = match history {
        History::Goes => return,
        History::Forgets => 0..media.len(),
        History::KeepsFrom(id) => 0..known(id, |range| range.0).unwrap_or(0),
        History::RewindsTo(id) => known(id, |range| range.0).unwrap_or(0)..media.len(),
    };
    let gone = media[gone]
        .iter_mut()
        .filter(|(medium, ..)| medium.at.conversation.as_deref() == conversation);
    gone.for_each(|(.., kept)| *kept = Kept::No);
}

/// What the planner has to know of a medium, its bytes in the file, and a number for them.
fn look(spot: &Spot<'_, '_>) -> (Sighting, u64, u64) {
    let media = spot.block.media();
    let slot = match spot.place {
        Place::Sent(slot) | Place::Aside(slot) => slot,
        Place::Copy => Slot::Message(photic::transcript::Role::User),
    };
    let mut sighting = Sighting::of(&media, 0, 0, slot);
    let mut print = 0;
    if let Source::Data(payload) = &media.source {
        print = fingerprint(payload.base64());
        if sighting.kind == MediaKind::Image && !truncation::is_whole(payload, &sighting.header) {
            sighting.header.media_type = None;
        }
    }
    (sighting, spot.block.data.raw().len() as u64, print)
}

/// The plan of the endpoint, without what only a living request could do.
pub(crate) fn planned(survey: Survey, profile: &Profile) -> Plan<'_> {
    let mut policy = Policy::hands_off();
    policy.pixels = true;
    let mut plan = photic::plan(survey, profile, &policy);
    let sheets: Vec<usize> = plan
        .recipes
        .iter()
        .filter(|(_, recipe)| matches!(recipe, Recipe::Sheet { .. }))
        .map(|(&id, _)| id)
        .collect();
    // Pictures of several records cannot share a sheet: each stands in its own.
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

/// What is wrong with one medium of a plan. Where it is shown is the agent's to choose.
fn ailment(plan: &Plan<'_>, id: usize) -> Option<Ailment> {
    let sighting = &plan.survey.sightings[id];
    let fate = plan.fates[id];
    let why = |code: Code| why::why(code, sighting, plan);
    if let Some(words) = plan.notice(id) {
        let code = why::code(fate.reason());
        return Some(Ailment { code, why: why(code), remedy: Remedy::Notice(words) });
    }
    if let Some(recipe) = plan.recipes.get(&id) {
        let media_type = sighting.header.media_type.unwrap_or_default();
        let is_taken = plan.profile.accepts_type(sighting.kind, media_type);
        let code = if is_taken { Code::OverLimit } else { Code::UnsupportedType };
        let reason = if is_taken { Reason::OverLimit } else { Reason::TypeNotAccepted };
        let remedy = Remedy::Remake(recipe.clone(), sighting.notice(reason));
        return Some(Ailment { code, why: why(code), remedy });
    }
    if sighting.found == Found::Mended {
        let code = Code::MalformedDataUrl;
        return Some(Ailment { code, why: why(code), remedy: Remedy::Respell });
    }
    sighting.mislabeled.then(|| {
        let code = Code::WrongLabel;
        let remedy = Remedy::Relabel(sighting.notice(Reason::TypeNotAccepted));
        Ailment { code, why: why(code), remedy }
    })
}

/// A request is judged as `photic check` judges it.
fn of_request(wire: Wire, body: &[u8], question: &Question) -> Diagnosis {
    let (transcript, lifted) = photic::lift(wire, body);
    let named = transcript.settings.model.as_ref().map(|model| model.decode().into_owned());
    let profile = profile(Format::Request(wire), question, named.as_deref());
    let plan = photic::plan(request::survey(&transcript), &profile, &Policy::hands_off());
    let findings = photic::check(&transcript, &lifted, &plan);
    let mut media: Vec<Medium> =
        plan.survey
            .sightings
            .iter()
            .map(|sighting| Medium {
                at: At {
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
            media[id].ailment = Some(Ailment { code: finding.code, why, remedy });
        }
    }
    Diagnosis {
        format: Format::Request(wire),
        profile: profile.id.clone(),
        bytes: body.len() as u64,
        records: 1,
        conversations: 1,
        media,
        findings,
        profiles: BTreeMap::from([(None, profile.clone())]),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn by_name<S: serde::Serializer>(format: &Format, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(format.name())
}

fn in_words<S: serde::Serializer>(at: &At, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}
