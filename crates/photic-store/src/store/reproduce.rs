//! Reproduces what a model saw. The record holds all inputs of the plan, so the lowered body is
//! identical. Only blobs that are shown are read.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic::media::Payload;
use photic::retention::Retention;
use photic::transcript::MediaId;
use photic::{
    Digest, FetchResult, Former, Gone, Made, MediaStub, Plan, Policy, Prepared, Profile, Reason,
    Survey, Transcript,
};
use serde::{Deserialize, Serialize};

use super::append::sources;
use super::restore::Parts;
use super::{Store, keys};
use crate::blobs::{BlobId, Blobs};
use crate::error::Error;
use crate::handle::{Handle, Secret};
use crate::record::{Record, SessionId, StoredTurn};

/// A reproduced request.
#[derive(Clone, Debug)]
pub struct View {
    /// The lowered body, byte for byte.
    pub body: Vec<u8>,
    /// The blobs that were read for it.
    pub read: Vec<BlobId>,
}

/// Inputs of a plan besides body, profile and policy, and its outcome.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Circumstances {
    /// Fetched media.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) supplied: BTreeMap<MediaId, BlobId>,
    /// Media withheld by the host.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) withheld: BTreeMap<MediaId, Reason>,
    /// Set if every picture was named by its handle.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    handles: bool,
    /// Names for looking at pictures again, if they are not the handles.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) names: BTreeMap<MediaId, String>,
    /// Fates of the media, for comparison with the next turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sent: Option<Former>,
    /// Media retired in this turn, besides those that the policy lists as retired before.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) gone: BTreeMap<MediaId, Gone>,
    /// The input in US dollars by the ledger of the plan. The provider's charge is in the cost of
    /// the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) estimated_usd: Option<f64>,
}

/// Facts about a turn that the next turn of the session needs.
#[derive(Clone, Debug)]
pub struct PreviousTurn {
    /// The request as it was sent; unknown for turns of older versions.
    pub sent: Option<Former>,
    /// All media retired by then.
    pub retired: BTreeMap<MediaId, Gone>,
    /// The retention mode.
    pub retention: Retention,
    /// Estimated cost of the turn in US dollars.
    pub estimated_usd: Option<f64>,
}

impl PreviousTurn {
    /// Reads these facts from a stored turn.
    pub fn of(turn: &StoredTurn) -> Result<Self, Error> {
        let circumstances: Circumstances = serde_json::from_str(&turn.circumstances)
            .map_err(|_| Error::Damaged("circumstances"))?;
        let policy: Policy =
            serde_json::from_str(&turn.policy).map_err(|_| Error::Damaged("a policy"))?;
        let mut retired = policy.retired;
        retired.extend(circumstances.gone);
        let Circumstances { sent, estimated_usd, .. } = circumstances;
        Ok(Self { sent, retired, retention: policy.retention, estimated_usd })
    }
}

impl Circumstances {
    /// Replaces the names by a flag if every picture is named by its handle.
    pub(super) fn forget_usual_names(&mut self, digests: &[Option<Digest>], secret: &Secret) {
        if !self.names.is_empty() && self.names == usual_names(digests, secret) {
            self.names.clear();
            self.handles = true;
        }
    }
}

fn usual_names(digests: &[Option<Digest>], secret: &Secret) -> BTreeMap<MediaId, String> {
    let handle = |digest: &Digest| Handle::of(secret, &BlobId::from(*digest)).as_str().to_owned();
    let each = MediaId::first(digests.len()).zip(digests);
    each.filter_map(|(id, digest)| Some((id, handle(digest.as_ref()?)))).collect()
}

/// Inputs to plan a turn again.
#[derive(Debug)]
pub(super) struct PlanInputs {
    pub(super) profile: Profile,
    pub(super) policy: Policy,
    circumstances: Circumstances,
    pub(super) secret: Secret,
    /// Stubs of fetched media.
    fetched: BTreeMap<BlobId, MediaStub>,
}

impl<R: Record, B: Blobs> Store<R, B> {
    /// Reproduces the body that a turn sent to the model, byte for byte. Fails with
    /// [`Error::NotReproduced`] if the digest differs.
    pub async fn lower(&self, id: &SessionId, number: u64) -> Result<View, Error> {
        let turn = self.turn(id, number).await?;
        let terms = self.terms(&turn).await?;
        let parts = self.parts(&turn).await?;
        let mut bytes = self.read(parts.needed()).await?;
        // First without pictures, to find out which are shown …
        let body = parts.body(&bytes)?;
        let wanted = terms.wanted(&turn, &body, &parts, &bytes);
        let wanted = wanted.unwrap_or_else(|| {
            let fetched = terms.circumstances.supplied.values().copied();
            parts.pieces().map(|piece| piece.blob).chain(fetched).collect()
        });
        bytes.extend(self.read(wanted.into_iter().filter(|one| !bytes.contains_key(one))).await?);
        // … then with those.
        let body = parts.body(&bytes)?;
        let mut transcript = photic::lift(turn.wire, &body).0;
        terms.put_fetched(&mut transcript, &bytes);
        let survey = terms.survey(&transcript, &parts, &bytes);
        let plan = photic::plan(survey, &terms.profile, &terms.policy);
        let mut read: Vec<BlobId> = bytes.keys().copied().collect();
        let prepared = self.prepared(&turn, &plan, &transcript, &mut read).await?;
        let body = photic::lower_prepared(&transcript, &plan, &prepared).body.to_vec();
        if blake3::hash(&body) != turn.digest {
            return Err(Error::NotReproduced(number));
        }
        Ok(View { body, read })
    }

    pub(super) async fn terms(&self, turn: &StoredTurn) -> Result<PlanInputs, Error> {
        let circumstances: Circumstances = serde_json::from_str(&turn.circumstances)
            .map_err(|_| Error::Damaged("circumstances"))?;
        let fetched = circumstances.supplied.values().copied().collect();
        Ok(PlanInputs {
            profile: serde_json::from_str(&turn.profile)
                .map_err(|_| Error::Damaged("a profile"))?,
            policy: serde_json::from_str(&turn.policy).map_err(|_| Error::Damaged("a policy"))?,
            fetched: self.record.memories(turn, &fetched).await?,
            circumstances,
            secret: self.record.secret(&self.tenant).await?,
        })
    }

    /// Returns the pictures that were made for the plan.
    async fn prepared(
        &self,
        turn: &StoredTurn,
        plan: &Plan<'_>,
        transcript: &Transcript<'_>,
        read: &mut Vec<BlobId>,
    ) -> Result<Prepared, Error> {
        let mut prepared = Prepared::new();
        if plan.recipes.is_empty() {
            return Ok(prepared);
        }
        let mut survey = plan.survey.clone();
        survey.identify(transcript);
        for (&id, recipe) in &plan.recipes {
            let sources: Option<Vec<Digest>> = sources(id, recipe)
                .into_iter()
                .map(|id| survey.sightings.get(id.index())?.digest)
                .collect();
            let Some(sources) = sources else { continue };
            let key = keys::made(&sources, recipe);
            if let Some(made) = self.record.made(turn, &key).await? {
                let base64 = STANDARD.encode(self.blobs.get(&made.blob).await?);
                read.push(made.blob);
                prepared.insert(id, Made { media_type: made.media_type, base64, size: made.size });
            }
        }
        Ok(prepared)
    }
}

impl PlanInputs {
    /// Returns the blobs of media that are shown unchanged; `None` if this cannot be told without
    /// all bytes.
    fn wanted(
        &self,
        turn: &StoredTurn,
        body: &[u8],
        parts: &Parts,
        bytes: &BTreeMap<BlobId, Vec<u8>>,
    ) -> Option<Vec<BlobId>> {
        let mut transcript = photic::lift(turn.wire, body).0;
        self.put_fetched(&mut transcript, bytes);
        parts.recall(&transcript, bytes)?;
        let survey = self.survey(&transcript, parts, bytes);
        let plan = photic::plan(survey, &self.profile, &self.policy);
        // A prepared picture is read in its prepared form.
        let is_wanted = |id: MediaId| {
            plan.fates.get(id.index()).is_some_and(|fate| fate.is_shown())
                && !plan.recipes.contains_key(&id)
        };
        let pieces = parts.pieces().filter(|piece| is_wanted(piece.media));
        let fetched = self.circumstances.supplied.iter();
        let fetched = fetched.filter(|(id, _)| is_wanted(**id)).map(|(_, blob)| *blob);
        Some(pieces.map(|piece| piece.blob).chain(fetched).collect())
    }

    /// Iterates over the fetched media and their stubs.
    pub(super) fn fetched_stubs(&self) -> impl Iterator<Item = (MediaId, &MediaStub)> {
        let fetched = self.circumstances.supplied.iter();
        fetched.filter_map(|(id, blob)| Some((*id, self.fetched.get(blob)?)))
    }

    /// Puts in the fetched media, or their stand-ins.
    pub(super) fn put_fetched<'t>(
        &'t self,
        transcript: &mut Transcript<'t>,
        bytes: &BTreeMap<BlobId, Vec<u8>>,
    ) {
        for (&id, blob) in &self.circumstances.supplied {
            let result = match (bytes.get(blob), self.fetched.get(blob)) {
                (Some(bytes), _) => FetchResult::Bytes(Payload::encode(bytes)),
                (None, Some(memory)) => FetchResult::Bytes(memory.stand_in()),
                (None, None) => continue,
            };
            transcript.put_fetched(id, result);
        }
        for (&id, &reason) in &self.circumstances.withheld {
            transcript.put_fetched(id, FetchResult::Withheld(reason));
        }
    }

    /// Repeats the survey of the turn.
    pub(super) fn survey(
        &self,
        transcript: &Transcript<'_>,
        parts: &Parts,
        bytes: &BTreeMap<BlobId, Vec<u8>>,
    ) -> Survey {
        let mut survey = photic::survey(transcript);
        let fetched = self.circumstances.supplied.iter();
        let fetched = fetched.filter_map(|(id, blob)| Some((*id, self.fetched.get(blob)?)));
        let mut memories = parts.recall(transcript, bytes).unwrap_or_default();
        memories.extend(fetched);
        survey.recall(transcript, &memories);
        let by_digest = !self.policy.choices.is_empty() || !self.policy.retired.is_empty();
        if by_digest || self.circumstances.handles {
            survey.identify(transcript);
        }
        for (&id, &reason) in &self.circumstances.withheld {
            if let Some(sighting) = survey.sightings.get_mut(id.index()) {
                sighting.withheld = Some(reason);
            }
        }
        let digests: Vec<_> = survey.sightings.iter().map(|one| one.digest).collect();
        let names = if self.circumstances.handles {
            usual_names(&digests, &self.secret)
        } else {
            self.circumstances.names.clone()
        };
        for (id, name) in names {
            if let Some(sighting) = survey.sightings.get_mut(id.index()) {
                sighting.reference = Some(name);
            }
        }
        survey
    }
}
