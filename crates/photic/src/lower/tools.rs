//! Writes the offered functions for another wire: names, schemas, and which may be called.

use std::borrow::Cow;

use super::decision::{Because, Did, Field};
use super::schema::{self, NO_ARGUMENTS};
use super::write::Writer;
use crate::json::{NodeId, Str};
use crate::profile::{Capability, Taken};
use crate::settings::{Function, ToolChoice};
use crate::wire::AllowedTools;

/// A function in the form that an endpoint takes.
pub(crate) struct Offer<'a> {
    pub(crate) name: Str<'a>,
    pub(crate) description: Option<Str<'a>>,
    pub(crate) schema: Option<Cow<'a, [u8]>>,
    pub(crate) strict: Option<bool>,
}

impl<'a> Writer<'_, 'a> {
    /// Returns the offered functions, with the names and schemas that the endpoint takes.
    pub(crate) fn offers(&mut self) -> Vec<Offer<'a>> {
        let settings = &self.transcript.settings;
        settings
            .functions()
            .map(|tool| {
                let name = self.tool_name(tool);
                let schema = tool.schema.clone().map(|schema| self.tool_schema(schema, tool.node));
                let strict = tool
                    .strict
                    .filter(|strict| self.takes_strict(*strict, schema.as_ref(), tool.node));
                Offer { name, description: tool.description.clone(), schema, strict }
            })
            .collect()
    }

    /// Notes the settings about calls that a request without functions has.
    pub(crate) fn no_tools(&mut self) {
        if self.transcript.settings.tool_choice.is_some() {
            self.no_word("tool_choice");
        }
        if self.transcript.settings.parallel_calls.is_some() {
            self.no_word("parallel_tool_calls");
        }
    }

    /// Notes that functions are not offered because none may be called.
    pub(crate) fn withhold_tools(&mut self) {
        let because = || Because::Contradicts("tool_choice".to_owned());
        let nodes: Vec<_> = self.transcript.settings.functions().map(|tool| tool.node).collect();
        for node in nodes {
            self.omit("tools", node, because());
        }
    }

    /// Returns the name by which the endpoint knows a tool.
    fn tool_name(&mut self, tool: &Function<'a>) -> Str<'a> {
        let Some(new) = self.names.sent(tool.namespace.as_ref(), &tool.name) else {
            return tool.name.clone();
        };
        let node = self.member(tool.node, &["name"]);
        self.change("name", node, Because::Renamed(new.clone()));
        Str::plain(new)
    }

    fn tool_schema(&mut self, raw: Cow<'a, [u8]>, node: Option<NodeId>) -> Cow<'a, [u8]> {
        let takes = self.plan.profile.settings.schema_alternatives == Taken::Taken;
        let Some(mended) = schema::mended(&raw, takes) else { return raw };
        let names = ["parameters", "input_schema", "parametersJsonSchema", "json"];
        let schema = self.member(node, &names);
        if mended.schema == NO_ARGUMENTS {
            self.change("parameters", schema, Because::Demanded);
        } else if mended.typed {
            let old = self.member(schema, &["type"]);
            match old {
                Some(_) => self.change("type", old, Because::Nearest("object".to_owned())),
                None => self.decide(
                    Did::AddedField(Field { field: "type".to_owned(), because: Because::Demanded }),
                    schema,
                ),
            }
        }
        for name in mended.left_out {
            let source = self.plan.profile.setting_source("schema_alternatives");
            let node = self.member(schema, &[name]);
            self.omit(name, node, Because::Refused(source));
        }
        Cow::Owned(mended.schema)
    }

    fn takes_strict(
        &mut self,
        strict: bool,
        schema: Option<&Cow<'a, [u8]>>,
        node: Option<NodeId>,
    ) -> bool {
        let has_word = self.rules().strict_tools;
        let source = || self.plan.profile.setting_source("strict_tools");
        let because = match (has_word, strict, self.plan.profile.settings.strict_tools) {
            (_, false, Capability::No | Capability::Unknown) | (false, false, _) => {
                Because::Implied
            }
            (false, true, _) => Because::NoWord,
            (true, true, Capability::No) => Because::Refused(source()),
            (true, true, Capability::Unknown) => Because::Unproven,
            (true, false, Capability::Yes) => return true,
            (true, true, Capability::Yes) => {
                if schema.is_some_and(|schema| schema::is_strict(schema)) {
                    return true;
                }
                Because::Refused(source())
            }
        };
        let node = self.member(node, &["strict"]);
        self.omit("strict", node, because);
        false
    }

    /// Returns the choice of tools, if the tools it names are offered and the wire can express it.
    pub(crate) fn tool_choice(&mut self) -> Option<ToolChoice<'a>> {
        let settings = &self.transcript.settings;
        let choice = settings.tool_choice.as_ref()?;
        let offered = |wanted: &Str<'a>| settings.functions().find(|tool| tool.name == *wanted);
        let is_offered = |wanted: &Str<'a>| offered(wanted).is_some();
        let node = settings.node("tool_choice");
        let renamed = |name: &Str<'a>, writer: &mut Self| {
            let group = offered(name).and_then(|tool| tool.namespace.as_ref());
            let new = writer.names.sent(group, name);
            new.map_or_else(
                || name.clone(),
                |new| {
                    writer.change("tool_choice", node, Because::Renamed(new.clone()));
                    Str::plain(new)
                },
            )
        };
        let choice = match choice {
            ToolChoice::Named(name) if !is_offered(name) => {
                self.omit_setting("tool_choice", Because::NoWord);
                return None;
            }
            ToolChoice::Named(name) => ToolChoice::Named(renamed(name, self)),
            ToolChoice::Among(names, forced) => {
                let offered: Vec<_> = names.iter().filter(|name| is_offered(name)).collect();
                if offered.len() < names.len() {
                    self.change("tool_choice", node, Because::NoWord);
                }
                let offered = offered.into_iter().map(|name| renamed(name, self)).collect();
                self.among(offered, *forced)
            }
            other @ (ToolChoice::Auto | ToolChoice::None | ToolChoice::Any) => other.clone(),
        };
        let is_forced =
            matches!(choice, ToolChoice::Any | ToolChoice::Named(_) | ToolChoice::Among(_, true));
        if is_forced && self.plan.profile.settings.forced_calls == Taken::Refused {
            let source = self.plan.profile.setting_source("forced_calls");
            self.change("tool_choice", node, Because::Refused(source));
            return Some(ToolChoice::Auto);
        }
        Some(choice)
    }

    /// Returns a choice among some of the tools, in the form that the wire has for it.
    fn among(&mut self, names: Vec<Str<'a>>, forced: bool) -> ToolChoice<'a> {
        let has_word = match self.rules().allowed_tools {
            AllowedTools::Yes => true,
            AllowedTools::IfForced => forced,
            AllowedTools::No => false,
        };
        if has_word && !names.is_empty() {
            return ToolChoice::Among(names, forced);
        }
        if let ([only], true) = (names.as_slice(), forced) {
            return ToolChoice::Named(only.clone());
        }
        let node = self.transcript.settings.node("tool_choice");
        self.change("tool_choice", node, Because::Widened);
        if forced { ToolChoice::Any } else { ToolChoice::Auto }
    }

    /// Notes the setting about parallel calls as left out, on a wire that has no field for it.
    pub(crate) fn no_parallel(&mut self) {
        if let Some(parallel) = self.transcript.settings.parallel_calls {
            let because = if parallel { Because::Implied } else { Because::NoWord };
            self.omit_setting("parallel_tool_calls", because);
        }
    }
}
