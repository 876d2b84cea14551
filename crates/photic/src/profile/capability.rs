//! Reads what an endpoint says about its models: the documents to request, and the facts in them,
//! each of which is yes, no or unknown.
//!
//! Owns the field names of servers and routers, as data about documents and never as names of
//! providers: a document is recognized by its members. Does no I/O: a host sends the requests. A
//! missing member means unknown. Only a list of what a model takes says no by leaving something
//! out.

use serde::Serialize;
use serde_json::Value;

use super::{Capability, Confidence, Fact, Profile};
use crate::wire::Wire;

/// A request for a document that may describe a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The URL to send it to.
    pub address: String,
    /// The body to post. `None` means a GET request.
    pub body: Option<String>,
}

/// Returns the requests for documents that may describe a model, the most likely first. `base` is
/// the base URL that SDKs of the wire take. Send a later request only if the earlier ones gave no
/// answer.
pub fn questions(wire: Wire, base: &str, model: &str) -> Vec<Question> {
    let base = base.trim_end_matches('/');
    let root = ["/v1beta", "/v1", "/api"].iter().find_map(|end| base.strip_suffix(end));
    let root = root.unwrap_or(base);
    wire.model_documents(base, root, model)
}

impl Question {
    pub(crate) const fn get(address: String) -> Self {
        Self { address, body: None }
    }

    /// Creates Ollama's request for the description of a model, which other servers answer, too.
    pub(crate) fn show(root: &str, model: &str) -> Self {
        let body = serde_json::json!({ "model": model }).to_string();
        Self { address: format!("{root}/api/show"), body: Some(body) }
    }
}

/// One fact that a document states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// The section of a profile that it belongs to.
    pub section: &'static str,
    /// The field of that section.
    pub field: &'static str,
    /// The stated value.
    pub value: Stated,
    /// The member of the document that states it.
    pub said_by: String,
}

/// The value of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Stated {
    /// A capability; never [`Capability::Unknown`].
    Sight(Capability),
    /// A number of tokens.
    Tokens(u64),
}

/// Returns the facts that a document states about a model. Returns none if the document does not
/// list the model or is of another kind.
pub fn statements(model: &str, document: &[u8]) -> Vec<Statement> {
    let Ok(root) = serde_json::from_slice::<Value>(document) else { return Vec::new() };
    let Some(about) = entry(&root, model) else { return Vec::new() };
    let mut said = Said::default();
    listed(about, &mut said);
    flagged(about, &mut said);
    kind(about, &mut said);
    context(about, &mut said);
    said.0
}

/// The statements so far. The first about a field stays.
#[derive(Default)]
struct Said(Vec<Statement>);

impl Said {
    fn add(&mut self, section: &'static str, field: &'static str, value: Stated, said_by: &str) {
        if !self.0.iter().any(|one| (one.section, one.field) == (section, field)) {
            self.0.push(Statement { section, field, value, said_by: said_by.to_owned() });
        }
    }

    fn sight(&mut self, field: &'static str, perceives: bool, said_by: &str) {
        let value = if perceives { Capability::Yes } else { Capability::No };
        self.add("sight", field, Stated::Sight(value), said_by);
    }
}

/// Returns the part of a document that describes a model: an element of its list, or all of it.
fn entry<'v>(root: &'v Value, model: &str) -> Option<&'v Value> {
    const NAMES: [&str; 7] =
        ["id", "name", "key", "model", "model_name", "canonical_slug", "identifier"];
    let list = [&root["data"], &root["models"], root].into_iter().find_map(Value::as_array);
    let Some(list) = list else { return root.is_object().then_some(root) };
    let is_it = |name: &Value| {
        name.as_str().is_some_and(|name| {
            name == model
                || name.strip_prefix("models/") == Some(model)
                || name.strip_suffix(":latest") == Some(model)
        })
    };
    list.iter().find(|entry| {
        NAMES.iter().any(|name| is_it(&entry[name]))
            || entry["aliases"].as_array().is_some_and(|aliases| aliases.iter().any(is_it))
    })
}

/// Reads lists of what a model takes. A model does not take what is missing from such a list.
fn listed(about: &Value, said: &mut Said) {
    let words = |list: &Value| -> Option<Vec<String>> {
        let list = list.as_array()?.iter();
        Some(list.filter_map(|word| Some(word.as_str()?.to_lowercase())).collect())
    };
    // `text+image->text`, as routers wrote it before they had lists.
    let summed = about["architecture"]["modality"].as_str().map(|sum| {
        let taken = sum.split("->").next().unwrap_or_default();
        taken.split('+').map(str::to_lowercase).collect()
    });
    let lists = [
        ("architecture.input_modalities", words(&about["architecture"]["input_modalities"])),
        ("input_modalities", words(&about["input_modalities"])),
        ("architecture.modality", summed),
    ];
    for (name, list) in lists.into_iter().filter_map(|(name, list)| Some((name, list?))) {
        let has = |words: &[&str]| list.iter().any(|taken| words.contains(&taken.as_str()));
        if !has(&["text"]) {
            continue;
        }
        said.sight("images", has(&["image", "images"]), name);
        said.sight("audio", has(&["audio"]), name);
        // Routers read documents for models that cannot.
        if has(&["file", "pdf", "document"]) {
            said.sight("documents", true, name);
        }
    }
    // The abilities of a server with a model. A list that contains `completion` is complete.
    if let Some(list) = words(&about["capabilities"]) {
        let has = |word: &str| list.iter().any(|one| one == word);
        if has("vision") || (has("completion") && !has("multimodal")) {
            said.sight("images", has("vision"), "capabilities");
        }
        if has("audio") {
            said.sight("audio", true, "capabilities");
        }
    }
}

/// Reads flags, each about one kind of media.
fn flagged(about: &Value, said: &mut Said) {
    const FLAGS: [(&str, &str); 15] = [
        ("images", "capabilities.vision"),
        ("images", "capabilities.image_input.supported"),
        ("images", "capabilities.supports.vision"),
        ("images", "modalities.vision"),
        ("images", "model_info.supports_vision"),
        ("images", "supports_vision"),
        ("documents", "capabilities.pdf_input.supported"),
        ("documents", "model_info.supports_pdf_input"),
        ("documents", "supports_pdf_input"),
        ("audio", "capabilities.audio"),
        ("audio", "capabilities.audio_input.supported"),
        ("audio", "modalities.audio"),
        ("audio", "model_info.supports_audio_input"),
        ("audio", "supports_audio_input"),
        ("images", "supports_image_in"),
    ];
    for (field, path) in FLAGS {
        if let Some(flag) = member(about, path).as_bool() {
            said.sight(field, flag, path);
        }
    }
}

/// Reads the kind of a model, if the server has a word for those that see.
fn kind(about: &Value, said: &mut Said) {
    match about["type"].as_str() {
        Some("vlm") => said.sight("images", true, "type"),
        // Newer lists use one word for all models and have flags; older ones name an `arch`.
        Some("llm") if about["arch"].is_string() => said.sight("images", false, "type"),
        _ => {}
    }
}

/// Reads the context length of a model. A loaded length takes precedence over a possible one.
fn context(about: &Value, said: &mut Said) {
    const PATHS: [&str; 10] = [
        "loaded_context_length",
        "default_generation_settings.n_ctx",
        "top_provider.context_length",
        "context_length",
        "context_window",
        "max_model_len",
        "max_input_tokens",
        "max_context_length",
        "model_info.max_input_tokens",
        "inputTokenLimit",
    ];
    for path in PATHS {
        if let Some(tokens) = member(about, path).as_u64().filter(|tokens| *tokens > 0) {
            said.add("limits", "context_tokens", Stated::Tokens(tokens), path);
        }
    }
}

fn member<'v>(value: &'v Value, path: &str) -> &'v Value {
    path.split('.').fold(value, |value, step| &value[step])
}

/// The effect of a statement on a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Heard {
    /// The statement.
    #[serde(flatten)]
    pub statement: Statement,
    /// The value known before, if there was one.
    pub before: Option<Stated>,
    /// `true` if the stated value holds from now on.
    pub wins: bool,
    /// The reason why it holds or not.
    pub why: &'static str,
}

impl Profile {
    /// Lays the statements of an endpoint about itself over a profile. They override shipped facts,
    /// because they are newer and about this very endpoint. They do not override what requests and
    /// probes taught, because that was observed. `source` says where they were read, `as_of` when.
    pub fn hear(&mut self, statements: &[Statement], source: &str, as_of: &str) -> Vec<Heard> {
        statements.iter().map(|one| self.hear_one(one, source, as_of)).collect()
    }

    fn hear_one(&mut self, statement: &Statement, source: &str, as_of: &str) -> Heard {
        let Statement { section, field, value, said_by } = statement;
        let before = self.stated(section, field);
        let is_learned = self.facts.iter().any(|fact| {
            fact.profile == "learned"
                && fact.section == *section
                && fact.fields.iter().any(|one| one == field)
        });
        let (wins, why) = if before == Some(*value) {
            (true, "it says what was known")
        } else if is_learned {
            (false, "what requests and probes taught was seen, this is only said")
        } else if before.is_none() {
            (true, "nothing was known")
        } else {
            (true, "it is about this endpoint, and newer than what was shipped")
        };
        if wins {
            self.state(section, field, *value);
            self.attribute(Fact {
                section: (*section).to_owned(),
                fields: vec![(*field).to_owned()],
                as_of: as_of.to_owned(),
                source: format!("{source}: {said_by}"),
                confidence: Confidence::High,
                profile: "endpoint".to_owned(),
            });
        }
        Heard { statement: statement.clone(), before, wins, why }
    }

    fn stated(&self, section: &str, field: &str) -> Option<Stated> {
        let sight = |capability: Capability| {
            (capability != Capability::Unknown).then_some(Stated::Sight(capability))
        };
        match (section, field) {
            ("sight", "images") => sight(self.sight.images),
            ("sight", "documents") => sight(self.sight.documents),
            ("sight", "audio") => sight(self.sight.audio),
            ("limits", "context_tokens") => self.limits.context_tokens.map(Stated::Tokens),
            _ => None,
        }
    }

    fn state(&mut self, section: &str, field: &str, value: Stated) {
        match (section, field, value) {
            ("sight", "images", Stated::Sight(seen)) => self.sight.images = seen,
            ("sight", "documents", Stated::Sight(seen)) => self.sight.documents = seen,
            ("sight", "audio", Stated::Sight(heard)) => self.sight.audio = heard,
            ("limits", "context_tokens", Stated::Tokens(most)) => {
                self.limits.context_tokens = Some(most);
            }
            _ => {}
        }
    }
}

impl std::fmt::Display for Stated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sight(Capability::Yes) => f.write_str("yes"),
            Self::Sight(Capability::No) => f.write_str("no"),
            Self::Sight(Capability::Unknown) => f.write_str("unknown"),
            Self::Tokens(tokens) => write!(f, "{tokens}"),
        }
    }
}
