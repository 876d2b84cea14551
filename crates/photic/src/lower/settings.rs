//! Writes settings for another wire, and records a decision for each one that is not sent.

use std::borrow::Cow;

use super::decision::{Because, Decision, Did, Field};
use super::write::{Writer, list_of_strings};
use crate::json::{NodeId, Out, Str};
use crate::profile::{Taken, UnknownFields};
use crate::settings::{EXTRA, Format, Tool, Word};

/// Shared settings that belong in a section of the body: the name there, and the value.
pub(crate) type Members<'a> = Vec<(Cow<'static, str>, &'a [u8])>;

/// The levels of reasoning effort, lowest first.
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

impl<'a> Writer<'_, 'a> {
    pub(super) fn decide(&mut self, did: Did, node: Option<NodeId>) {
        let at = node.map(|node| self.transcript.position_of(node, None));
        self.decisions.push(Decision { did, at, media: None });
    }

    /// Notes that a member was left out.
    pub(crate) fn omit(&mut self, field: &str, node: Option<NodeId>, because: Because) {
        self.decide(Did::LeftOutField(Field { field: field.to_owned(), because }), node);
    }

    /// Notes that a member was changed.
    pub(crate) fn change(&mut self, field: &str, node: Option<NodeId>, because: Because) {
        self.decide(Did::ChangedField(Field { field: field.to_owned(), because }), node);
    }

    /// Notes that a setting was added.
    pub(crate) fn add(&mut self, field: &str) {
        let field = Field { field: field.to_owned(), because: Because::Demanded };
        self.decide(Did::AddedField(field), None);
    }

    /// Notes that a setting was left out.
    pub(crate) fn omit_setting(&mut self, name: &'static str, because: Because) {
        let node = self.transcript.settings.node(name);
        self.omit(name, node, because);
    }

    /// Notes that the wire has no field for a setting.
    pub(crate) fn no_word(&mut self, name: &'static str) {
        self.omit_setting(name, Because::NoWord);
    }

    /// Returns `true` if the model refuses a setting.
    fn is_refused(&self, name: &str) -> bool {
        self.plan.profile.settings.refuses.iter().any(|refused| refused == name)
    }

    fn refused(&self) -> Because {
        Because::Refused(self.plan.profile.setting_source("refuses"))
    }

    /// Writes the settings that every wire spells alike, and the unknown fields, unless they are
    /// among the `fields` of this wire. Returns the settings that belong in a section of their
    /// own.
    pub(crate) fn common_settings(&mut self, out: &mut Out<'a>, fields: &[&str]) -> Members<'a> {
        let settings = &self.transcript.settings;
        if let Some(model) = settings.model.as_ref().filter(|_| self.rules().names_model) {
            out.comma().key("model").string(model);
        }
        let mut members = Vec::new();
        for (index, &(name, raw)) in settings.shared.iter().enumerate() {
            if settings.shared[..index].iter().any(|(before, _)| *before == name) {
                continue;
            }
            if let Some(because) = self.why_not(name, raw) {
                self.omit_setting(name, because);
                continue;
            }
            match self.wire().protocol().setting(name) {
                Word::Field("seed") => {
                    let other = self.plan.profile.settings.seed_name.as_deref();
                    out.comma().key(other.unwrap_or("seed")).raw(raw);
                }
                Word::Field(word) => {
                    out.comma().key(word).raw(raw);
                }
                Word::Member(word) => members.push((Cow::Borrowed(word), raw)),
                Word::Elsewhere | Word::Absent => {}
            }
        }
        for loss in &settings.losses {
            self.lost(&loss.field.decode(), loss.node, loss.because.clone());
        }
        for tool in &settings.tools {
            if let Tool::Foreign(foreign) = tool {
                self.omit("tools", Some(foreign.node), Because::NoWord);
            }
        }
        let refuses = self.plan.profile.settings.unknown_fields == UnknownFields::Refused;
        for (name, (raw, node)) in &settings.unknown {
            // A name that has a meaning here had none on the wire it comes from.
            if refuses || fields.iter().any(|field| name.is(field)) {
                self.omit(&name.decode(), Some(*node), Because::UnknownField);
            } else {
                out.comma().string(name).json(":").raw(raw);
            }
        }
        if settings.usage_in_stream && !self.rules().usage_on_request {
            self.omit_setting("stream_options", Because::Implied);
        }
        members
    }

    fn lost(&mut self, field: &str, node: NodeId, because: Because) {
        match because {
            Because::Widened | Because::Nearest(_) | Because::Renamed(_) => {
                self.change(field, Some(node), because);
            }
            _ => self.omit(field, Some(node), because),
        }
    }

    /// Returns the reason why a shared setting is not sent.
    fn why_not(&self, name: &str, raw: &[u8]) -> Option<Because> {
        let rules = &self.plan.profile.settings;
        if self.wire().protocol().setting(name) == Word::Absent {
            return Some(Because::NoWord);
        }
        // Fields of servers that extend the wire.
        let extends = self.rules().extended && EXTRA.contains(&name);
        if extends && rules.unknown_fields == UnknownFields::Refused {
            return Some(Because::UnknownField);
        }
        if self.is_refused(name) {
            return Some(self.refused());
        }
        let number = std::str::from_utf8(raw).ok().and_then(|raw| raw.parse::<f64>().ok());
        let is_too_high = |most: f64| number.is_some_and(|number| number > most);
        if name == "temperature" && rules.most_temperature.is_some_and(is_too_high) {
            return Some(Because::OutOfRange);
        }
        let group = rules.only_one_of.iter().find(|group| group.iter().any(|one| one == name))?;
        let first = group
            .iter()
            .find(|one| self.transcript.settings.shared(one).is_some() && !self.is_refused(one))?;
        (first != name).then(|| Because::Contradicts(first.clone()))
    }

    /// Writes the strings that end an answer, as far as the wire takes them.
    pub(crate) fn stops(&mut self, out: &mut Out<'a>, key: &str) {
        let stops = self.taken_stops();
        if !stops.is_empty() {
            out.comma().key(key);
            list_of_strings(out, &stops);
        }
    }

    fn taken_stops(&mut self) -> Vec<Str<'a>> {
        let settings = &self.transcript.settings;
        if settings.stop.is_empty() {
            return Vec::new();
        }
        if self.is_refused("stop") {
            self.omit_setting("stop", self.refused());
            return Vec::new();
        }
        let rules = &self.plan.profile.settings;
        let node = settings.node("stop");
        let mut kept = Vec::new();
        for (index, stop) in settings.stop.iter().enumerate() {
            let item = node.map(|node| {
                let list = self.transcript.doc.value(node);
                list.items().nth(index).unwrap_or(list).id()
            });
            let is_blank = stop.decode().trim().is_empty();
            if is_blank && rules.blank_stops == Taken::Refused {
                let source = self.plan.profile.setting_source("blank_stops");
                self.omit("stop", item, Because::Refused(source));
            } else if rules.most_stops.is_some_and(|most| kept.len() >= most) {
                self.omit("stop", item, Because::OutOfRange);
            } else {
                kept.push(stop.clone());
            }
        }
        kept
    }

    /// Finds a member of one of these names, in an object or in a member of it.
    pub(crate) fn member(&self, node: Option<NodeId>, names: &[&str]) -> Option<NodeId> {
        let value = self.transcript.doc.value(node?);
        let direct = names.iter().find_map(|name| value.get(name));
        direct
            .or_else(|| {
                let mut inner = value.entries().map(|(_, inner)| inner);
                inner.find_map(|inner| names.iter().find_map(|name| inner.get(name)))
            })
            .map(|value| value.id())
    }

    /// Returns the reasoning effort, in a value that the model takes.
    pub(crate) fn effort(&mut self) -> Option<Str<'a>> {
        let wanted = self.transcript.settings.effort.as_ref()?;
        let node = self.transcript.settings.node("effort");
        let taken = &self.plan.profile.settings.efforts;
        let has_word = self.rules().effort;
        if !has_word || taken.is_empty() {
            let because = match has_word {
                false => Because::NoWord,
                true if self.plan.profile.setting_source("efforts").is_empty() => Because::Unproven,
                true => Because::Refused(self.plan.profile.setting_source("efforts")),
            };
            self.omit("effort", node, because);
            return None;
        }
        if taken.iter().any(|word| wanted.is(word)) {
            return Some(wanted.clone());
        }
        let rank = |word: &str| EFFORTS.iter().position(|known| *known == word);
        let Some(rank_wanted) = rank(&wanted.decode()) else {
            self.omit("effort", node, Because::NoWord);
            return None;
        };
        let distance = |word: &&String| rank(word).map_or(usize::MAX, |r| r.abs_diff(rank_wanted));
        let nearest = taken.iter().min_by_key(distance)?;
        self.change("effort", node, Because::Nearest(nearest.clone()));
        Some(Str::plain(nearest.clone()))
    }

    /// Notes the parts of the answer's format that a wire cannot express beside its schema.
    pub(crate) fn bare_format(&mut self) {
        if let Some(Format::Schema(name, _, strict)) = &self.transcript.settings.format {
            let node = self.transcript.settings.node("format");
            if name.is_some() {
                let node = self.member(node, &["name"]);
                self.omit("response_format.name", node, Because::NoWord);
            }
            if strict.is_some() {
                let node = self.member(node, &["strict"]);
                self.omit("response_format.strict", node, Because::NoWord);
            }
        }
    }
}

/// Writes the members of a section.
pub(crate) fn members<'a>(out: &mut Out<'a>, members: &Members<'a>) {
    for (name, raw) in members {
        out.comma().key(name).raw(raw);
    }
}
