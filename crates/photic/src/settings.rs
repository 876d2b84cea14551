//! The settings of a request, everything beside its messages, in a form that all wires share.
//!
//! On its own wire a body keeps these fields unchanged. This form is for the other wires.

use std::borrow::Cow;

use crate::json::{NodeId, Out, Str, Value};
use crate::lower::Because;
use crate::tokens::Detail;

/// The neutral settings of a request.
#[derive(Clone, Debug, Default)]
pub struct Settings<'a> {
    /// The model asked for.
    pub model: Option<Str<'a>>,
    /// Maximum number of tokens in the answer.
    pub max_tokens: Option<&'a [u8]>,
    /// Strings that end the answer.
    pub stop: Vec<Str<'a>>,
    /// The tools offered.
    pub tools: Vec<Tool<'a>>,
    /// The tool that must be called, or the tools that may be.
    pub tool_choice: Option<ToolChoice<'a>>,
    /// `true` if several calls may be made at once.
    pub parallel_calls: Option<bool>,
    /// The form the answer must have.
    pub format: Option<Format<'a>>,
    /// The reasoning effort.
    pub effort: Option<Str<'a>>,
    /// The detail of media that do not state their own.
    pub detail: Option<Detail>,
    /// `true` if a stream should end with its token usage, on wires where a client must ask for
    /// that.
    pub usage_in_stream: bool,
    /// Fields whose value and meaning are the same on every wire that has them, by neutral name.
    pub shared: Vec<(&'static str, &'a [u8])>,
    /// `true` if the provider keeps part of the conversation.
    pub continues_elsewhere: bool,
    /// Values of the source wire that no other wire can carry.
    pub(crate) losses: Vec<Loss<'a>>,
    /// Unknown fields.
    pub(crate) unknown: Vec<(Str<'a>, Found<'a>)>,
    /// The nodes that the neutral settings were read from.
    nodes: Vec<(&'static str, NodeId)>,
}

/// The bytes of a value, and its node.
pub(crate) type Found<'a> = (&'a [u8], NodeId);

/// A value that no other wire can carry.
#[derive(Clone, Debug)]
pub(crate) struct Loss<'a> {
    pub(crate) field: Str<'a>,
    pub(crate) node: NodeId,
    pub(crate) because: Because,
}

impl<'a> Settings<'a> {
    /// Returns the value of a field that several wires share.
    pub(crate) fn shared(&self, name: &str) -> Option<&'a [u8]> {
        self.shared.iter().find(|(shared, _)| *shared == name).map(|(_, raw)| *raw)
    }

    /// Returns the tools that every wire can offer.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &Function<'a>> {
        self.tools.iter().filter_map(|tool| match tool {
            Tool::Function(function) => Some(function),
            Tool::Foreign(_) => None,
        })
    }

    /// Returns the node that a neutral setting was read from.
    pub(crate) fn node(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().rev().find(|(known, _)| *known == name).map(|(_, node)| *node)
    }

    /// Records the node of a neutral setting.
    pub(crate) fn read_at(&mut self, name: &'static str, value: Value<'_, '_>) {
        self.nodes.push((name, value.id()));
    }

    /// Takes a shared field. `null` counts as absent.
    pub(crate) fn share(&mut self, name: &'static str, value: Value<'_, 'a>) {
        if !value.is_null() {
            self.shared.push((name, value.raw()));
            self.read_at(name, value);
        }
    }

    /// Takes the maximum number of tokens in the answer. A second such field contradicts the
    /// first.
    pub(crate) fn limit_answer(&mut self, key: &Str<'a>, value: Value<'_, 'a>) {
        if value.is_null() {
            return;
        }
        if let (Some(_), Some(node)) = (self.max_tokens, self.node("max_tokens")) {
            let because = Because::Contradicts(key.decode().into_owned());
            self.losses.push(Loss { field: Str::plain("max_tokens"), node, because });
        }
        self.max_tokens = Some(value.raw());
        self.read_at("max_tokens", value);
    }

    /// Takes the strings that end the answer.
    pub(crate) fn take_stops(&mut self, value: Value<'_, 'a>) {
        self.stop = strings(value);
        self.read_at("stop", value);
    }

    /// Takes the reasoning effort.
    pub(crate) fn take_effort(&mut self, value: Value<'_, 'a>) {
        self.effort = value.str();
        self.read_at("effort", value);
    }

    /// Takes the setting for parallel calls.
    pub(crate) fn take_parallel_calls(&mut self, value: Value<'_, 'a>) {
        self.parallel_calls = value.bool();
        self.read_at("parallel_tool_calls", value);
    }

    /// Takes the choice of tools. It is a loss if it was not understood.
    pub(crate) fn take_choice(
        &mut self,
        field: Str<'a>,
        value: Value<'_, 'a>,
        choice: Option<ToolChoice<'a>>,
    ) {
        if choice.is_none() {
            return self.lose(field, value);
        }
        self.tool_choice = choice;
        self.read_at("tool_choice", value);
    }

    /// Takes the format of the answer.
    pub(crate) fn take_format(&mut self, format: Format<'a>, value: Value<'_, 'a>) {
        self.format = Some(format);
        self.read_at("format", value);
    }

    /// Takes a field that has the same name on several wires, or records it as lost or unknown.
    ///
    /// `own` lists the fields that the source wire defines. Any other field is unknown.
    pub(crate) fn other_field(&mut self, key: Str<'a>, value: Value<'_, 'a>, own: &[&str]) {
        let name = key.decode();
        if let Some(shared) = SHARED.iter().find(|shared| **shared == name) {
            self.share(shared, value);
        } else if own.contains(&&*name) {
            self.lose(key, value);
        } else if !value.is_null() {
            self.unknown.push((key, (value.raw(), value.id())));
        }
    }

    /// Notes a value that no other wire can carry.
    pub(crate) fn lose(&mut self, field: Str<'a>, value: Value<'_, 'a>) {
        self.lose_because(field, value, Because::NoWord);
    }

    /// Notes a value that is not sent, and the reason. `null` counts as absent.
    pub(crate) fn lose_because(&mut self, field: Str<'a>, value: Value<'_, 'a>, because: Because) {
        if !value.is_null() {
            self.losses.push(Loss { field, node: value.id(), because });
        }
    }

    /// Notes the members of an object that were not read.
    pub(crate) fn lose_others(&mut self, value: Value<'_, 'a>, read: &[&str]) {
        for (key, member) in value.entries() {
            if !read.iter().any(|name| key.is(name)) {
                self.lose(key, member);
            }
        }
    }
}

/// An offered tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Tool<'a> {
    /// A function with a schema.
    Function(Function<'a>),
    /// A tool that only its own wire knows.
    Foreign(Foreign),
}

/// An offered function.
#[derive(Clone, Debug)]
pub struct Function<'a> {
    /// Its name.
    pub name: Str<'a>,
    /// The description of its purpose.
    pub description: Option<Str<'a>>,
    /// The JSON schema of its arguments.
    pub schema: Option<Cow<'a, [u8]>>,
    /// `true` if arguments must match the schema exactly.
    pub strict: Option<bool>,
    /// The group that it belongs to, on the wire that has groups.
    pub namespace: Option<Str<'a>>,
    /// `true` if its own wire gives it free text instead of arguments.
    pub free_text: bool,
    /// The object that holds the name and the other members.
    pub(crate) node: Option<NodeId>,
}

impl<'a> Function<'a> {
    /// Reads the function that an object describes, with the schema that the caller read.
    pub(crate) fn read(object: Value<'_, 'a>, schema: Option<Cow<'a, [u8]>>) -> Self {
        let text = |name: &str| object.get(name).and_then(|text| text.str());
        Self {
            name: text("name").unwrap_or(Str::plain("")),
            description: text("description"),
            schema,
            strict: object.get("strict").and_then(|strict| strict.bool()),
            namespace: None,
            free_text: false,
            node: Some(object.id()),
        }
    }
}

/// A tool that only its own wire knows.
#[derive(Clone, Copy, Debug)]
pub struct Foreign {
    pub(crate) node: NodeId,
}

impl<'a> Tool<'a> {
    pub(crate) fn foreign(value: Value<'_, 'a>) -> Self {
        Self::Foreign(Foreign { node: value.id() })
    }

    /// Reads a tool that takes free text, as a function with one string argument. The grammar of
    /// the text, if there is one, describes the argument.
    pub(crate) fn custom(value: Value<'_, 'a>, settings: &mut Settings<'a>) -> Self {
        settings.lose_others(value, &["type", "name", "description", "format"]);
        let schema = match value.get("format") {
            None => Cow::Borrowed(FREE_TEXT),
            Some(format) => {
                let schema = grammar(format, settings);
                if schema.is_none() {
                    settings.lose(Str::plain("format"), format);
                }
                schema.map_or(Cow::Borrowed(FREE_TEXT), Cow::Owned)
            }
        };
        let function = Function::read(value, Some(schema));
        Self::Function(Function { strict: None, free_text: true, ..function })
    }
}

/// The schema of a function that takes free text.
const FREE_TEXT: &[u8] =
    br#"{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}"#;

/// Returns the schema of a function that takes text of a grammar.
fn grammar<'a>(format: Value<'_, 'a>, settings: &mut Settings<'a>) -> Option<Vec<u8>> {
    format.get("type").filter(|kind| kind.is("grammar"))?;
    let inner = format.get("grammar").unwrap_or(format);
    let text = |name: &str| inner.get(name).and_then(|text| text.str());
    let (syntax, definition) = (text("syntax")?, text("definition")?);
    settings.lose_others(format, &["type", "grammar", "syntax", "definition"]);
    if inner.id() != format.id() {
        settings.lose_others(inner, &["syntax", "definition"]);
    }
    let mut out = Out::new();
    out.json(
        "{\"type\":\"object\",\"properties\":{\"input\":{\"type\":\"string\",\"description\":",
    );
    let (syntax, definition) = (syntax.decode(), definition.decode());
    out.quoted(&format!("Text of this grammar ({syntax}):\n{definition}"));
    out.json("}},\"required\":[\"input\"]}");
    Some(out.finish().to_vec())
}

/// The choice of tools that must or may be called.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ToolChoice<'a> {
    /// The model chooses.
    Auto,
    /// No tool may be called.
    None,
    /// At least one tool must be called.
    Any,
    /// This tool must be called.
    Named(Str<'a>),
    /// Some of the offered tools; the flag says that one of them must be called.
    Among(Vec<Str<'a>>, bool),
}

/// The format of an answer.
#[derive(Clone, Debug)]
pub enum Format<'a> {
    /// Some JSON object.
    Json,
    /// JSON of a schema: its name, the schema, and the `strict` flag.
    Schema(Option<Str<'a>>, Cow<'a, [u8]>, Option<bool>),
}

/// The way a wire expresses a shared field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// As a field of the body, under this name.
    Field(&'static str),
    /// As a member of the section that the wire's writer knows, under this name.
    Member(&'static str),
    /// In the path of the request, or by a field that is always written.
    Elsewhere,
    /// Not at all.
    Absent,
}

/// Names of fields that keep value and meaning between the wires.
pub(crate) const SHARED: [&str; 22] = [
    "temperature",
    "top_p",
    "stream",
    "metadata",
    "store",
    "service_tier",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "prompt_cache_options",
    "logprobs",
    "top_logprobs",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "logit_bias",
    "n",
    "verbosity",
    "top_k",
    "min_p",
    "repetition_penalty",
];

/// The shared fields that only servers of other vendors know. They are sent to endpoints that
/// ignore unknown fields.
pub(crate) const EXTRA: [&str; 3] = ["top_k", "min_p", "repetition_penalty"];

/// Returns the strings of a list, or a single string as a list.
pub(crate) fn strings<'a>(value: Value<'_, 'a>) -> Vec<Str<'a>> {
    value
        .str()
        .map_or_else(|| value.items().filter_map(|item| item.str()).collect(), |one| vec![one])
}
