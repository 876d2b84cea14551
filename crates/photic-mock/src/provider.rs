//! The provider: takes a request and produces a reply, without sockets.
//!
//! Checks come in this order: misbehavior, key, model, rules of the wire, pixels, script, tokens.
//! No media are kept; the journal gets sizes and verdicts.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use photic::{Profile, Wire};
use photic_testkit::oracle::{self, Image, Seen, Slot, Violation};
use serde_json::{Value, json};

use crate::busy::Overload;
use crate::envelope::Envelope;
use crate::journal::{Entry, Journal, SeenImage, units};
use crate::misbehave::Misbehavior;
use crate::options::Options;
use crate::rejection::Rejection;
use crate::reply::{Reply, ReplyContent, Usage};
use crate::route::without_version;
use crate::rules::rules;
use crate::script::{self, ImageDescription};
use crate::service::{self, service};
use crate::stored::{ExpandedBody, StoredConversations};
use crate::token_count::{self, Billing, PrefixCache};

/// The answer of the misbehavior `constant`.
pub(crate) const CONSTANT: &str = "The picture shows a bar chart with rising values.";

/// A request that was read from its connection.
pub(crate) struct IncomingRequest {
    pub(crate) wire: Wire,
    pub(crate) envelope: Envelope,
    /// `true` if only tokens are counted.
    pub(crate) count_only: bool,
    pub(crate) path: String,
    pub(crate) key: Option<String>,
    /// A required header that is missing.
    pub(crate) missing_header: Option<&'static str>,
    pub(crate) misbehave: Vec<Misbehavior>,
    /// The body; `None` if it was too large to read.
    pub(crate) body: Option<bytes::Bytes>,
}

/// The reply to a request.
pub(crate) enum ReplyOutcome {
    /// A status and a document.
    Whole { status: u16, number: u64, body: Value },
    /// Status 200 and server-sent events.
    Events { number: u64, events: Vec<Vec<u8>> },
    /// Status 200 and an empty body.
    Empty,
    /// No reply at all.
    Hang,
    /// The connection is closed.
    Close,
}

/// The provider and its state.
#[derive(Debug)]
pub(crate) struct Provider {
    options: Options,
    state: Mutex<ProviderState>,
}

/// The state of a provider.
#[derive(Debug, Default)]
struct ProviderState {
    number: u64,
    busy: Overload,
    journal: Journal,
    cache: PrefixCache,
    stored: StoredConversations,
}

/// An accepted request and what the model sees in it.
struct AcceptedRequest {
    body: Value,
    seen: Seen,
    profile: Profile,
    /// Descriptions of the images that reach the model, by their index among all.
    sights: Vec<(usize, String)>,
    /// `true` if the service keeps the conversation.
    keep: bool,
}

impl Provider {
    pub(crate) fn new(options: Options) -> Self {
        Self { options, state: Mutex::default() }
    }

    /// Answers a request. Decodes pictures, so it must not run on a thread that serves connections.
    pub(crate) fn answer(&self, mut incoming: IncomingRequest) -> ReplyOutcome {
        incoming.misbehave.extend(&self.options.misbehave);
        let number = {
            let mut state = self.state();
            state.number += 1;
            state.number
        };
        let mut entry = Entry {
            number,
            path: incoming.path.clone(),
            misbehaved: incoming.misbehave.iter().map(|kind| kind.name()).collect(),
            ..Entry::default()
        };
        let outcome = match self.outcome(&incoming, &mut entry) {
            Ok(outcome) => outcome,
            Err(no) => {
                let body = no.body(incoming.wire, number);
                let says = ["/error/message", "/message", "/error"];
                let says = says.iter().find_map(|at| body.pointer(at)?.as_str());
                let says = says.unwrap_or_default();
                says.clone_into(&mut entry.said);
                ReplyOutcome::Whole { status: no.status, number, body }
            }
        };
        entry.status = match &outcome {
            ReplyOutcome::Whole { status, .. } => *status,
            ReplyOutcome::Events { .. } | ReplyOutcome::Empty => 200,
            ReplyOutcome::Hang | ReplyOutcome::Close => 0,
        };
        self.state().journal.record(entry);
        outcome
    }

    /// The requests so far.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.state().journal.entries()
    }

    /// The requests so far, as a document.
    pub(crate) fn journal(&self) -> Value {
        serde_json::to_value(self.state().journal.pages()).unwrap_or_default()
    }

    /// Empties the journal.
    pub(crate) fn forget_journal(&self) {
        self.state().journal.forget();
    }

    /// The models that were configured.
    pub(crate) fn models(&self) -> &[String] {
        &self.options.models
    }

    /// Returns `true` if the provider serves a model.
    pub(crate) fn has_model(&self, model: &str) -> bool {
        let models = &self.options.models;
        models.is_empty() || models.iter().any(|one| one == model)
    }

    /// Returns `true` if the provider serves a wire.
    pub(crate) fn speaks(&self, wire: Wire) -> bool {
        self.options.wires.is_empty() || self.options.wires.contains(&wire)
    }

    /// Returns `true` if it grants WebSockets.
    pub(crate) const fn has_sockets(&self) -> bool {
        !self.options.without_sockets
    }

    /// Returns `true` if it misbehaves so on every request.
    pub(crate) fn misbehaves(&self, kind: Misbehavior) -> bool {
        self.options.misbehave.contains(&kind)
    }

    fn state(&self) -> MutexGuard<'_, ProviderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks a request and decides the reply.
    fn outcome(
        &self,
        incoming: &IncomingRequest,
        entry: &mut Entry,
    ) -> Result<ReplyOutcome, Rejection> {
        let (wire, number) = (incoming.wire, entry.number);
        let does = |kind| incoming.misbehave.contains(&kind);
        let bytes = incoming.body.as_ref().ok_or_else(|| Rejection::too_large(wire))?;
        entry.bytes = bytes.len();
        entry.units = units(bytes);
        if does(Misbehavior::Hang) {
            return Ok(ReplyOutcome::Hang);
        }
        if does(Misbehavior::Close) {
            return Ok(ReplyOutcome::Close);
        }
        if does(Misbehavior::Empty) {
            return Ok(ReplyOutcome::Empty);
        }
        // A local server needs no key.
        let wants_key = service(wire).facts().wants_key && incoming.envelope.wants_key();
        let open = (!wants_key).then_some("");
        let key = incoming.key.as_deref().or(open).ok_or_else(|| Rejection::no_key(wire))?;
        if let Some(name) = incoming.missing_header {
            return Err(Rejection::no_header(wire, name));
        }
        let read = self.read(incoming, bytes, entry)?;
        let usage = self.charge(incoming, key, &read, entry)?;
        if incoming.count_only {
            let body = json!({"input_tokens": usage.input});
            return Ok(ReplyOutcome::Whole { status: 200, number, body });
        }
        let closer = || {
            let (_, words) = read.sights.last()?;
            script::closer(wire, &read.body, &read.seen, words, number)
        };
        let said = match script::calls(wire, &read.body, &read.seen, number).or_else(closer) {
            _ if does(Misbehavior::Constant) => ReplyContent::Text(CONSTANT.to_owned()),
            _ if does(Misbehavior::Guess) => {
                ReplyContent::Text(script::invented(&read.seen, number))
            }
            Some(calls) => calls,
            None => {
                let words: Vec<String> = read.sights.iter().map(|(_, w)| w.clone()).collect();
                ReplyContent::Text(script::answer(&words))
            }
        };
        entry.said = match &said {
            ReplyContent::Text(text) => text.clone(),
            ReplyContent::Calls(calls) => {
                let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
                format!("calls {}", names.join(", "))
            }
        };
        let usage = Usage { output: said.tokens(), ..usage };
        Ok(self.reply(incoming, entry, read, said, usage))
    }

    /// Reads the body as the API would, and looks at its pictures.
    fn read(
        &self,
        incoming: &IncomingRequest,
        bytes: &[u8],
        entry: &mut Entry,
    ) -> Result<AcceptedRequest, Rejection> {
        let wire = incoming.wire;
        let does = |kind| incoming.misbehave.contains(&kind);
        let mut body: Value = serde_json::from_slice(bytes).unwrap_or_default();
        let unwrapped = incoming.envelope.open(&mut body)?;
        let asked = wire.parse_path(without_version(&incoming.path)).unwrap_or_default();
        let unasked = service(wire).facts().streams_unasked && body["stream"].is_null();
        let (model, stream) = match asked.model {
            Some(model) => (model, asked.stream),
            None => (named(&body), unasked || body["stream"] == true),
        };
        model.clone_into(&mut entry.model);
        entry.stream = stream;
        if does(Misbehavior::Busy) && self.state().busy.refuses(entry) {
            return Err(Rejection::rate_limit(wire, &model));
        }
        if does(Misbehavior::RateLimit) {
            return Err(Rejection::rate_limit(wire, &model));
        }
        if does(Misbehavior::ServerError) {
            return Err(Rejection::server_error(wire));
        }
        if body.is_object() && model.is_empty() {
            return Err(Rejection::model_missing(wire));
        }
        if body.is_object() && !self.has_model(&model) {
            return Err(Rejection::no_model(wire, &model));
        }
        let judged = self.options.judge_as.as_deref().unwrap_or(&model);
        let mut profile = photic::profile::resolve(wire, Some(judged), None);
        profile.limits = self.options.limits.unwrap_or(profile.limits);
        let mut rules = rules(&profile);
        if does(Misbehavior::IgnoreToolImages) {
            (rules.tool_images, rules.result_images) = (true, true);
        }
        if rules.limits.body.is_some_and(|most| bytes.len() > most) {
            entry.violations.push("body_too_large".to_owned());
            return Err(Rejection::too_large(wire));
        }
        let ExpandedBody { mut rewritten, keep } =
            service(wire).expand(&self.state().stored, &mut body)?;
        rewritten |= unwrapped;
        if incoming.count_only && body.is_object() {
            // Counting takes the same body without this required field.
            body["max_tokens"] = json!(1);
            rewritten = true;
        }
        let (seen, mut violations) = if rewritten {
            oracle::look(wire.name(), body.to_string().as_bytes(), &rules)
        } else {
            oracle::look(wire.name(), bytes, &rules)
        };
        violations.retain(|violation| !is_tolerated(wire, violation));
        entry.images_sent = seen.images.len();
        entry.results = seen.results.len();
        entry.violations = violations.iter().map(|violation| violation.code.to_owned()).collect();
        if let Some(first) = violations.first() {
            return Err(service::reject(wire, first));
        }
        let sights = sights(incoming, &body, &seen)?;
        entry.images = sights.iter().map(|(at, words)| image(&seen.images[*at], words)).collect();
        Ok(AcceptedRequest { body, seen, profile, sights, keep })
    }

    /// Counts the tokens and checks the context size.
    fn charge(
        &self,
        incoming: &IncomingRequest,
        key: &str,
        read: &AcceptedRequest,
        entry: &mut Entry,
    ) -> Result<Usage, Rejection> {
        let as_text = incoming.misbehave.contains(&Misbehavior::BillAsText);
        let visible: Vec<&Image> =
            read.sights.iter().map(|(at, _)| &read.seen.images[*at]).collect();
        let request = token_count::CountedRequest {
            wire: incoming.wire,
            profile: &read.profile,
            key,
            body: &read.body,
            seen: &read.seen,
            visible: &visible,
            billing: if as_text { Billing::AsText } else { Billing::AsPixels },
        };
        let count = token_count::count(&request).input;
        entry.input_tokens = count;
        if let Some(most) = read.profile.limits.context_tokens.filter(|most| count > *most)
            && !incoming.count_only
        {
            return Err(Rejection::too_long(incoming.wire, count, most));
        }
        if incoming.count_only {
            return Ok(Usage { input: count, ..Usage::default() });
        }
        let usage = self.state().cache.charge(&request);
        entry.cached_tokens = usage.cached;
        Ok(usage)
    }

    /// Writes the reply for the wire.
    fn reply(
        &self,
        incoming: &IncomingRequest,
        entry: &Entry,
        read: AcceptedRequest,
        said: ReplyContent,
        usage: Usage,
    ) -> ReplyOutcome {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let reply = Reply {
            wire: incoming.wire,
            model: entry.model.clone(),
            number: entry.number,
            created: now.map_or(0, |now| now.as_secs()),
            said,
            usage,
            stream: entry.stream,
            asked: read.body,
        };
        if read.keep {
            let (id, output) = service(reply.wire).kept(&reply);
            self.state().stored.keep(id, reply.asked.clone(), &output, entry.bytes);
        }
        if reply.stream {
            ReplyOutcome::Events {
                number: reply.number,
                events: incoming.envelope.seal(service(reply.wire).events(&reply)),
            }
        } else {
            ReplyOutcome::Whole {
                status: 200,
                number: reply.number,
                body: service(reply.wire).whole(&reply),
            }
        }
    }
}

/// Descriptions of the images that reach the model. All images are decoded, including those that a
/// misbehaving provider does not see: it is blind, not lenient.
fn sights(
    incoming: &IncomingRequest,
    body: &Value,
    seen: &Seen,
) -> Result<Vec<(usize, String)>, Rejection> {
    let does = |kind| incoming.misbehave.contains(&kind);
    let spoke = last_assistant(incoming.wire, body);
    let hidden = |image: &Image| {
        does(Misbehavior::DropImages)
            || (does(Misbehavior::IgnoreToolImages) && image.slot == Slot::ToolResult)
            || (does(Misbehavior::Late) && script::unit(&image.pointer) > spoke)
    };
    let mut sights = Vec::new();
    for (at, image) in seen.images.iter().enumerate() {
        match script::describe(image) {
            ImageDescription::Unreadable => {
                return Err(service::reject_undecodable(incoming.wire, &image.pointer));
            }
            ImageDescription::Words(words) if !hidden(image) => sights.push((at, words)),
            ImageDescription::Words(_) => {}
        }
    }
    Ok(sights)
}

/// Returns `true` for fields that streaming helpers of SDKs add to messages (`parsed`) and send
/// back; the Chat service accepts them.
fn is_tolerated(wire: Wire, violation: &Violation) -> bool {
    let mut steps = violation.pointer.split('/').skip(1);
    service(wire).facts().lenient_messages
        && violation.code == "unknown_field"
        && steps.next() == Some("messages")
        && steps.count() == 2
}

/// The model that a body names.
fn named(body: &Value) -> String {
    body["model"].as_str().unwrap_or_default().to_owned()
}

/// The index of the assistant's last message.
fn last_assistant(wire: Wire, body: &Value) -> Option<usize> {
    let list = service(wire).facts().list;
    let spoke = |unit: &Value| {
        let kind = unit["type"].as_str().unwrap_or_default();
        unit["role"] == "assistant"
            || unit["role"] == "model"
            || kind.ends_with("_call")
            || kind == "reasoning"
    };
    body[list].as_array()?.iter().rposition(spoke)
}

/// The journal entry of an image.
fn image(image: &Image, words: &str) -> SeenImage {
    let slot = if image.slot == Slot::ToolResult { "tool_result" } else { "user" };
    let bytes = image.bytes().map_or(0, <[u8]>::len);
    SeenImage { slot, bytes, pixels: image.pixels, words: words.to_owned() }
}
