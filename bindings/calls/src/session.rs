//! A session: what is known of conversations, kept from one turn to the next.
//!
//! A request that goes on with a known conversation is read without the turns that need nothing
//! (see [`photic::KnownPrefix`]). The result is the same: the bytes and the report of a call that
//! reads the whole request. Where that is not certain, the whole request is read.

use std::sync::{Mutex, MutexGuard, PoisonError};

use photic::json::Segments;
use photic::{KnownPrefix, Profile, ReadRequest, ShortenedBody, SurveyedMessages, Wire};
use serde::Serialize;

use crate::CallError;
use crate::format::BodyFormat;
use crate::options::Options;
use crate::report::findings;
use crate::request::{Lowered, Target, planned, repair_and_see, wire_of};

/// Maximum number of conversations that are kept. Branches and sub-agents are conversations, too.
const MAX_CONVERSATIONS: usize = 8;
/// Maximum number of bytes that all of them take.
const MAX_KEPT_BYTES: usize = 64 << 20;
/// Requests below this size are read whole, which costs little.
const MIN_BYTES: usize = 4 << 10;
/// Maximum number of turns that a conversation loses to a request that goes on without them. Beyond
/// it, the request becomes a conversation of its own.
const MAX_ABANDONED_TURNS: usize = 4;

/// Repairs the requests of conversations, turn by turn. Several threads may call it.
#[derive(Debug, Default)]
pub struct Session {
    options: Options,
    kept: Mutex<SessionState>,
}

/// The figures of a session: what it did so far, and what it keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SessionFigures {
    /// Requests that were read without their known turns.
    pub continued: u64,
    /// Requests that were read whole.
    pub read_whole: u64,
    /// Bytes of known turns that were not read again.
    pub known_bytes: u64,
    /// Conversations that are kept.
    pub conversations: usize,
    /// Bytes of memory that they take.
    pub kept_bytes: usize,
}

/// The conversations of a session. The one that was used last is at the end.
#[derive(Debug, Default)]
struct SessionState {
    conversations: Vec<Known>,
    figures: SessionFigures,
}

/// A conversation.
#[derive(Clone, Debug)]
struct Known {
    wire: Wire,
    profile: Profile,
    prefix: KnownPrefix,
    surveyed: SurveyedMessages,
}

/// A request that went on with a conversation.
struct Continued<'b> {
    body: Segments<'b>,
    report: String,
    known: Known,
}

impl Session {
    /// Creates a session. The options hold for all of its requests.
    pub fn new(options: Options) -> Self {
        Self { options, kept: Mutex::default() }
    }

    /// Repairs a request, as [`repair`](crate::repair) does.
    pub fn repair<T>(
        &self,
        body: &[u8],
        write: impl FnOnce(&Segments<'_>) -> T,
    ) -> Result<Lowered<T>, CallError> {
        let wire = wire_of(body, &self.options).filter(|_| body.len() >= MIN_BYTES);
        if let Some((shortened, known)) = wire.and_then(|wire| self.take(wire, body))
            && let Some(turn) = continued(body, &shortened, &self.options, known)
        {
            let mut kept = self.lock();
            kept.figures.continued += 1;
            kept.figures.known_bytes += shortened.left_out().bytes() as u64;
            kept.add(turn.known);
            drop(kept);
            let body = (!turn.body.is(body)).then(|| write(&turn.body));
            return Ok(Lowered { body, report: turn.report });
        }
        let mut known = None;
        let see = |read: &ReadRequest<'_>| {
            if wire.is_some() {
                known = Known::of(read);
            }
        };
        let done = repair_and_see(body, &self.options, &[], write, see)?;
        let mut kept = self.lock();
        kept.figures.read_whole += 1;
        if let Some(known) = known {
            kept.add(known);
        }
        drop(kept);
        Ok(done)
    }

    /// Returns what was done so far.
    pub fn figures(&self) -> SessionFigures {
        let kept = self.lock();
        SessionFigures {
            conversations: kept.conversations.len(),
            kept_bytes: kept.bytes(),
            ..kept.figures
        }
    }

    /// Returns what was done so far, as JSON.
    pub fn figures_json(&self) -> Result<String, CallError> {
        serde_json::to_string(&self.figures())
            .map_err(|error| CallError::new("internal", error.to_string(), "please report this"))
    }

    /// Takes the conversation that a request goes on with: the one that leaves the least to read. A
    /// request that goes on with it meanwhile is read whole.
    fn take(&self, wire: Wire, body: &[u8]) -> Option<(ShortenedBody, Known)> {
        let mut kept = self.lock();
        let same_wire =
            kept.conversations.iter().enumerate().filter(|(_, known)| known.wire == wire);
        let found = same_wire.filter_map(|(at, one)| Some((at, one.prefix.left_out_of(body)?)));
        let (at, left_out) = found.max_by_key(|(_, left_out)| left_out.bytes())?;
        let shortened = left_out.cut_out_of(body);
        let abandoned = kept.conversations[at].prefix.abandoned_turns(&shortened);
        let known = if abandoned > MAX_ABANDONED_TURNS {
            kept.conversations[at].clone()
        } else {
            kept.conversations.remove(at)
        };
        drop(kept);
        Some((shortened, known))
    }

    fn lock(&self) -> MutexGuard<'_, SessionState> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionState {
    /// Adds a conversation, in place of those that it goes on with.
    fn add(&mut self, known: Known) {
        self.conversations.retain(|one| !known.prefix.begins_with(&one.prefix));
        self.conversations.push(known);
        while self.conversations.len() > MAX_CONVERSATIONS
            || (self.bytes() > MAX_KEPT_BYTES && !self.conversations.is_empty())
        {
            self.conversations.remove(0);
        }
    }

    fn bytes(&self) -> usize {
        self.conversations.iter().map(|one| one.prefix.bytes() + one.surveyed.bytes()).sum()
    }
}

impl Known {
    /// Returns what is known after a request that was read whole, if it is of use.
    fn of(read: &ReadRequest<'_>) -> Option<Self> {
        Some(Self {
            wire: read.transcript.wire,
            profile: read.plan.profile.clone(),
            prefix: KnownPrefix::of(read)?,
            surveyed: SurveyedMessages::of(&read.plan.survey),
        })
    }
}

/// Repairs a request that goes on with a conversation. Returns `None` if it has to be read whole.
fn continued<'b>(
    body: &'b [u8],
    shortened: &ShortenedBody,
    options: &Options,
    mut known: Known,
) -> Option<Continued<'b>> {
    let (transcript, lifted) = photic::lift(known.wire, &shortened.body);
    if !transcript.is_readable() {
        return None;
    }
    let target = Target::of(options, &transcript, known.wire);
    // Which turns need nothing depends on the endpoint.
    if target.profile != known.profile {
        return None;
    }
    let plan = planned(&transcript, &target.profile, &options.policy);
    if !plan.recipes.is_empty() {
        return None;
    }
    let found = photic::check(&transcript, &lifted, &plan);
    let lowered = photic::lower(&transcript, &plan);
    let read = ReadRequest {
        transcript: &transcript,
        findings: &found,
        policy: &options.policy,
        plan: &plan,
        lowered: &lowered,
    };
    if !known.prefix.extend(body, shortened, &read) {
        return None;
    }
    let left_out = shortened.left_out();
    known.surveyed = known.surveyed.extended(&plan.survey, left_out)?;
    // The report is about the whole request.
    let mut survey = photic::survey(&transcript);
    known.surveyed.put_into(&mut survey, left_out);
    let whole = photic::plan(survey, &target.profile, &options.policy);
    let (lowered, found) = shortened.put_back(&read, body);
    let from = BodyFormat::Wire(known.wire);
    let report = target.report_of(options, from, &whole, &lowered, findings(&found));
    Some(Continued { report: report.json().ok()?, body: lowered.body, known })
}
