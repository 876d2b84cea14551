//! Stage **lower**: writes a request in the wire of its target.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use bytes::Bytes;
use photic::json::{Segments, Str};
use photic::media::Source;
use photic::transcript::MediaId;
use photic::wire::PathParams;
use photic::{Finding, Lowered, Profile, ReadRequest, RenamedTool, Transcript, Wire};
use photic_store::record::Attempt;
use photic_store::{SentBody, SentHashes};

use super::known_messages::{KnownMessages, RecordedPart};
use super::picking::rename_model;
use super::plan::Target;
use super::prepare::PreparedRequest;
use super::read::InboundRequest;
use super::sent_media::SentMedia;
use super::server_state;
use crate::http::pieces;
use crate::media::MissingInputs;
use crate::memory::Charge;
use crate::observe::{Facts, Fixes};
use crate::upstream::{ResolvedProfile, Upstream};

/// A request in the wire of its target, and the prepared request that it was made from.
#[derive(Debug)]
pub(super) struct LoweredRequest<'p, 'w> {
    pub(super) prepared: &'p PreparedRequest<'w>,
    pub(super) lowered: Lowered<'p>,
}

/// A request that is ready to be sent. It borrows nothing.
#[derive(Debug)]
pub(super) struct OutboundRequest {
    pub(super) upstream: Arc<Upstream>,
    /// The wire of its body.
    pub(super) wire: Wire,
    pub(super) pieces: Vec<Bytes>,
    pub(super) fixes: Fixes,
    pub(super) facts: Facts,
    /// The most images that its endpoint accepts, if that is known.
    pub(super) max_images: Option<u32>,
    /// The profile that it was planned with. `None` if it was not planned.
    pub(super) profile: Option<Arc<ResolvedProfile>>,
    /// The estimated price of reading it, in tokens.
    pub(super) tokens: u64,
    /// The model and the kind of reply, on wires whose path names them.
    pub(super) params: PathParams,
    /// The name of the model in the path of the client, and the one to write there, if they differ.
    pub(super) renamed_in_path: Option<(String, String)>,
    /// Set if a streamed reply should end with its usage.
    pub(super) usage_in_stream: bool,
    /// The tools that the endpoint knows by another name, or in another form.
    pub(super) renamed: Vec<RenamedTool>,
    /// The most tokens of its reply, if it says so and could be read.
    pub(super) max_tokens: Option<u64>,
    /// The media in it, if it was planned and shows any.
    pub(super) media: Option<Box<SentMedia>>,
    /// Set if turns are recorded.
    pub(super) record: Option<RequestToRecord>,
    /// The inputs that it was made with. They are not held while the model answers.
    pub(super) missing: MissingInputs,
    /// Set if it is sent as the client wrote it, because it could not be read.
    pub(super) is_unread: bool,
    /// The memory of the pieces that are not slices of the client's body.
    pub(super) charges: Vec<Charge>,
    /// The times that it, and those before it, were sent.
    pub(super) attempts: Vec<Attempt>,
}

/// The values that are needed to record a request once it is answered.
#[derive(Debug)]
pub(super) struct RequestToRecord {
    /// The bytes that were sent.
    pub(super) sent: SentBody,
    /// The hashes of the messages that were sent: of all, or of those that were not left out.
    pub(super) hashes: Option<Box<SentHashes>>,
    /// The target at that time. Lessons that were learned since would give another request.
    pub(super) target: Target,
    /// Set if it follows from its body and its session alone, so that no image has to be prepared
    /// again to record it.
    pub(super) is_settled: bool,
    /// Media that did not fit into the body.
    pub(super) shed: Vec<MediaId>,
    /// Its messages as they are kept for the next turn, if its conversation is kept.
    pub(super) messages: Option<Arc<KnownMessages>>,
    /// The messages that were left out when it was made, if it goes on with a conversation.
    pub(super) part: Option<RecordedPart>,
}

/// Selects the facts that are kept of a request beside its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep {
    /// Details of every fix, for logs and traces.
    pub(super) details: bool,
    /// The values that the record needs.
    pub(super) record: bool,
    /// The images that were made visible, to count each once.
    pub(super) visible: bool,
}

/// Bytes at both ends of an image that tell it from others.
const END_BYTES: usize = 1 << 10;

/// Returns hashes of the images that repairs made visible.
fn made_visible(transcript: &Transcript<'_>, lowered: &Lowered<'_>) -> BTreeSet<u64> {
    let shown = lowered
        .decisions
        .iter()
        .filter(|decision| Fixes::MADE_VISIBLE.contains(&decision.did.name()));
    let media = shown.filter_map(|decision| transcript.media.get(decision.media?.index()));
    let hashes = media.map(|media| {
        let mut hasher = DefaultHasher::new();
        match &media.source {
            Source::Data(payload) => {
                let base64 = payload.base64();
                let end = base64.len().min(END_BYTES);
                (base64.len(), &base64[..end], &base64[base64.len() - end..]).hash(&mut hasher);
            }
            Source::Text(text) | Source::Url(text) | Source::File(text) => {
                text.decode().hash(&mut hasher);
            }
            Source::Missing => {}
        }
        hasher.finish()
    });
    hashes.collect()
}

/// Writes a prepared request.
pub(super) fn lower<'p, 'w>(prepared: &'p PreparedRequest<'w>) -> LoweredRequest<'p, 'w> {
    let lowered = photic::lower_prepared(&prepared.transcript, &prepared.plan, &prepared.prepared);
    LoweredRequest { prepared, lowered }
}

impl LoweredRequest<'_, '_> {
    /// Returns the request with everything that was found out about it.
    pub(super) fn read<'r>(&'r self, findings: &'r [Finding]) -> ReadRequest<'r> {
        let PreparedRequest { transcript, policy, plan, .. } = self.prepared;
        ReadRequest { transcript, findings, policy, plan, lowered: &self.lowered }
    }

    /// Returns the hashes of the messages as they are sent, if turns are recorded.
    pub(super) fn hashes(&self, keep: Keep) -> Option<Box<SentHashes>> {
        let PreparedRequest { transcript, plan, .. } = self.prepared;
        let wire = plan.profile.wire;
        keep.record.then(|| Box::new(SentHashes::of(transcript, &self.lowered, wire)))
    }

    /// Returns the hashes like [`LoweredRequest::hashes`], unless the request is translated. Then the
    /// whole body would be read again, so they are computed when the turn is recorded.
    pub(super) fn hashes_before_sending(&self, keep: Keep) -> Option<Box<SentHashes>> {
        let PreparedRequest { transcript, plan, .. } = self.prepared;
        if transcript.wire == plan.profile.wire { self.hashes(keep) } else { None }
    }

    /// Converts to a request that borrows nothing. `sent` hashes the body, if turns are recorded.
    pub(super) fn into_outbound(
        self,
        inbound: &InboundRequest,
        findings: &[Finding],
        keep: Keep,
        sent: impl FnOnce(&Segments<'_>) -> SentBody,
    ) -> OutboundRequest {
        let Self { prepared, lowered } = self;
        let PreparedRequest { target, transcript, plan, .. } = prepared;
        let model = transcript.settings.model.as_ref().map(Str::decode);
        let model = model.as_deref();
        let mut facts = Facts::of(plan, &prepared.prepared, &lowered, findings, keep.details);
        if keep.visible {
            facts.made_visible = made_visible(transcript, &lowered);
        }
        OutboundRequest {
            media: SentMedia::of(plan, &prepared.prepared, model),
            record: keep.record.then(|| RequestToRecord {
                sent: sent(&lowered.body),
                hashes: None,
                target: (*target).clone(),
                is_settled: prepared.is_settled,
                shed: lowered.retired.clone(),
                messages: None,
                part: None,
            }),
            wire: target.upstream.speaks(inbound.endpoint),
            facts: facts.named(model).beside(server_state::unplanned(&plan.survey)),
            fixes: Fixes::of(&lowered.decisions),
            max_images: target.profile.profile.limits.images,
            profile: Some(Arc::clone(&target.profile)),
            tokens: plan.ledger.tokens,
            usage_in_stream: transcript.settings.usage_in_stream,
            max_tokens: transcript.settings.max_tokens.and_then(number),
            renamed: renamed(transcript, plan.profile),
            params: PathParams { model: model.map(str::to_owned), stream: streams(transcript) },
            renamed_in_path: renamed_in_path(inbound, target.model.as_deref()),
            pieces: {
                let mut pieces = pieces(lowered.body, &inbound.body.bytes);
                if target.upstream.speaks(inbound.endpoint) == inbound.endpoint.wire {
                    rename(&mut pieces, inbound, target.model.as_deref());
                }
                pieces
            },
            upstream: Arc::clone(&target.upstream),
            missing: prepared.missing.clone(),
            is_unread: false,
            charges: Vec::new(),
            attempts: Vec::new(),
        }
    }
}

impl OutboundRequest {
    /// Creates a request that is sent unchanged, apart from the name of its model if the upstream has
    /// another one.
    pub(super) fn unchanged(
        inbound: &InboundRequest,
        (upstream, other): (Arc<Upstream>, Option<Arc<str>>),
        model: Option<&str>,
    ) -> Self {
        let other = other.as_deref();
        let mut pieces = vec![inbound.body.bytes.clone()];
        rename(&mut pieces, inbound, other);
        let mut params = inbound.params.clone();
        if let Some(other) = other {
            params.model = params.model.map(|_| other.to_owned());
        }
        let model = other.or(model);
        Self {
            upstream,
            wire: inbound.endpoint.wire,
            pieces,
            renamed_in_path: renamed_in_path(inbound, other),
            fixes: Fixes::default(),
            facts: Facts::default().named(model),
            max_images: None,
            profile: None,
            tokens: 0,
            usage_in_stream: false,
            max_tokens: None,
            renamed: Vec::new(),
            params,
            media: None,
            record: None,
            missing: MissingInputs::default(),
            is_unread: true,
            charges: Vec::new(),
            attempts: Vec::new(),
        }
    }

    /// Returns the length of the body.
    pub(super) fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.len() as u64).sum()
    }

    /// Drops the body, after it was sent for the last time.
    pub(super) fn drop_body(&mut self) {
        self.pieces = Vec::new();
        self.charges = Vec::new();
    }
}

/// Writes the name of the model that the upstream has into a body of its own wire.
fn rename(pieces: &mut Vec<Bytes>, inbound: &InboundRequest, model: Option<&str>) {
    if let (Some(model), Some(at)) = (model, inbound.picking.name()) {
        rename_model(pieces, &inbound.body.bytes, at, model);
    }
}

/// Returns the name of the model in the path, and the one that the upstream has.
fn renamed_in_path(inbound: &InboundRequest, model: Option<&str>) -> Option<(String, String)> {
    Some((inbound.params.model.clone()?, model?.to_owned()))
}

/// Returns the tools that the endpoint knows by another name or in another form, if the request is
/// translated.
fn renamed(transcript: &Transcript<'_>, profile: &Profile) -> Vec<RenamedTool> {
    if transcript.wire == profile.wire {
        return Vec::new();
    }
    photic::renamed_tools(transcript, profile)
}

fn number(json: &[u8]) -> Option<u64> {
    std::str::from_utf8(json).ok()?.parse().ok()
}

fn streams(transcript: &Transcript<'_>) -> bool {
    let shared = &transcript.settings.shared;
    shared.iter().any(|(name, value)| *name == "stream" && *value == b"true")
}
