//! A turn planned again, for views of it: what was decided about each medium, and both bodies with
//! a numbered stand-in for each medium. Reads no blobs unless their stubs are not enough.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic::media::Source;
use photic::profile::Detail;
use photic::transcript::MediaId;
use photic::{
    Decision, Digest, Fate, FetchResult, Finding, Former, Ledger, Made, MediaStub, Plan, Policy,
    Prepared, Profile, Reason, Sighting, Transcript,
};

use super::append::sources;
use super::images::Image;
use super::reproduce::{PlanInputs, PreviousTurn};
use super::restore::Parts;
use super::{Store, keys};
use crate::blobs::{BlobId, Blobs};
use crate::error::Error;
use crate::record::{MadeBlob, Record, SessionId, StoredTurn};

/// Bytes before the number in a numbered stand-in.
const SIGN: [u8; 2] = [0xf7, 0x1c];
/// Length of the base64 of [`SIGN`] and a number.
const SUFFIX: usize = 8;

/// A turn planned again.
#[derive(Clone, Debug)]
pub struct PlannedTurn {
    /// The turn.
    pub turn: StoredTurn,
    /// Its profile.
    pub profile: Profile,
    /// Its policy.
    pub policy: Policy,
    /// The cost of the plan.
    pub ledger: Ledger,
    /// The problems of the client's body.
    pub findings: Vec<Finding>,
    /// The changes that lowering makes, in the order of the conversation.
    pub decisions: Vec<Decision>,
    /// The media of the client's body, by their number in its transcript.
    pub media: Vec<PlannedMedia>,
    /// The client's body, with a numbered stand-in for each medium ([`numbered_media`]).
    pub client: Vec<u8>,
    /// The body that the model was sent, with the same stand-ins.
    pub model: Vec<u8>,
    /// Length in bytes of the body that the client sent.
    pub client_bytes: u64,
    /// Bytes of each message of the client, without media.
    pub words: Vec<usize>,
    /// Bytes of the client's body outside of messages: settings and tools.
    pub settings: usize,
    /// Number of messages of the request before, if the conversation holds one.
    pub previous_end: Option<usize>,
    /// The input in US dollars that was expected when the turn was sent.
    pub expected_usd: Option<f64>,
}

/// A medium of a turn, and its fate in that turn.
#[derive(Clone, Debug)]
pub struct PlannedMedia {
    /// The facts about it.
    pub image: Image,
    /// The text that the model reads in its place, if it is not shown.
    pub notice: Option<String>,
    /// The picture that was made of it, if one was sent instead.
    pub made: Option<MadeBlob>,
    /// Tokens that it or its notice costs in this request.
    pub tokens: u64,
    /// Price of each of these tokens, as a ratio of the base input price.
    pub token_price: f64,
    /// The detail that its part states when it is sent.
    pub detail: Option<Detail>,
}

/// Returns the number of the medium that a numbered stand-in stands for.
pub fn numbered_media(base64: &[u8]) -> Option<MediaId> {
    let suffix = base64.get(base64.len().checked_sub(SUFFIX)?..)?;
    let bytes = STANDARD.decode(suffix).ok()?;
    let number = bytes.strip_prefix(&SIGN)?;
    let number = u32::from_le_bytes(number.try_into().ok()?);
    MediaId::first(usize::try_from(number).ok()?.checked_add(1)?).next_back()
}

/// Adds a number to base64.
fn numbered(base64: &str, id: MediaId) -> String {
    // Padding may only be at the end. What is cut is not needed to tell type and size.
    let whole = base64.trim_end_matches('=').len() / 4 * 4;
    let mut bytes = SIGN.to_vec();
    bytes.extend_from_slice(&(id.index() as u32).to_le_bytes());
    base64[..whole].to_owned() + &STANDARD.encode(bytes)
}

impl<R: Record, B: Blobs> Store<R, B> {
    /// Plans a turn again, as it was.
    pub async fn planned(&self, id: &SessionId, number: u64) -> Result<PlannedTurn, Error> {
        let turn = self.turn(id, number).await?;
        let inputs = self.terms(&turn).await?;
        let parts = self.parts(&turn).await?;
        let mut bytes = self.read(parts.needed()).await?;
        let mut body = parts.body(&bytes)?;
        if parts.recall(&photic::lift(turn.wire, &body).0, &bytes).is_none() {
            bytes = self.read(parts.pieces().map(|piece| piece.blob)).await?;
            body = parts.body(&bytes)?;
        }
        let (mut transcript, lifted) = photic::lift(turn.wire, &body);
        inputs.put_fetched(&mut transcript, &bytes);
        let survey = inputs.survey(&transcript, &parts, &bytes);
        let mut identified = survey.clone();
        identified.identify(&transcript);
        let mut plan = photic::plan(survey, &inputs.profile, &inputs.policy);
        let recorded = PreviousTurn::of(&turn)?;
        if let Some(sent) = &recorded.sent {
            leave_out_shed(&mut plan, sent);
        }
        let digests: Vec<Option<Digest>> =
            identified.sightings.iter().map(|sighting| sighting.digest).collect();
        let made = self.made_for(&turn, &plan, &digests).await?;
        let sightings = identified.sightings.iter();
        let media = sightings.map(|one| planned_media(&inputs, &transcript, &plan, one, &made));
        let media = media.collect();
        let findings = photic::check(&transcript, &lifted, &plan);
        let client_bytes = parts.whole_len(&bytes);
        let bodies = bodies(&inputs, &turn, &parts, (&body, &bytes), &plan, &made);
        let (client, model, decisions) = bodies?;
        let ledger = plan.ledger.clone();
        let requests = &plan.survey.requests;
        let previous_end = requests.len().checked_sub(2).and_then(|at| requests.get(at)).copied();
        let (words, settings) = (plan.survey.words.clone(), plan.survey.settings);
        drop(plan);
        drop(transcript);
        let PlanInputs { profile, policy, .. } = inputs;
        Ok(PlannedTurn {
            turn,
            profile,
            policy,
            findings,
            decisions,
            media,
            client,
            model,
            client_bytes,
            words,
            settings,
            previous_end,
            expected_usd: recorded.estimated_usd.or(ledger.usd),
            ledger,
        })
    }

    /// Returns the pictures that were made for the plan.
    async fn made_for(
        &self,
        turn: &StoredTurn,
        plan: &Plan<'_>,
        digests: &[Option<Digest>],
    ) -> Result<BTreeMap<MediaId, MadeBlob>, Error> {
        let mut found = BTreeMap::new();
        for (&id, recipe) in &plan.recipes {
            let of = sources(id, recipe).into_iter();
            let of: Option<Vec<Digest>> =
                of.map(|id| digests.get(id.index()).copied().flatten()).collect();
            let Some(of) = of else { continue };
            if let Some(made) = self.record.made(turn, &keys::made(&of, recipe)).await? {
                found.insert(id, made);
            }
        }
        Ok(found)
    }
}

/// Hides the media that were planned but did not fit into the written body.
fn leave_out_shed(plan: &mut Plan<'_>, sent: &Former) {
    for (reason, first, last) in &sent.hidden {
        if *reason != Reason::OverBudget {
            continue;
        }
        for index in first.index()..=last.index() {
            if let Some(fate) = plan.fates.get_mut(index).filter(|fate| fate.is_shown()) {
                *fate = Fate::Elide(Reason::OverBudget);
            }
        }
    }
}

fn planned_media(
    inputs: &PlanInputs,
    transcript: &Transcript<'_>,
    plan: &Plan<'_>,
    sighting: &Sighting,
    made: &BTreeMap<MediaId, MadeBlob>,
) -> PlannedMedia {
    let id = sighting.media;
    let mut image = inputs.image(transcript, plan, sighting);
    let made = made.get(&id).cloned();
    if let Some(made) = &made {
        image.sent = Some(made.size);
    }
    PlannedMedia {
        notice: plan.notice(id),
        made,
        tokens: plan.tokens(id),
        token_price: plan.ledger.token_price(plan.profile, image.message),
        detail: plan.survey.sightings.get(id.index()).and_then(|one| one.detail),
        image,
    }
}

type Bodies = (Vec<u8>, Vec<u8>, Vec<Decision>);

/// Writes both bodies with numbered stand-ins. Keeps plain stand-ins if the numbers change the
/// media that are found.
fn bodies(
    inputs: &PlanInputs,
    turn: &StoredTurn,
    parts: &Parts,
    (plain, bytes): (&[u8], &BTreeMap<BlobId, Vec<u8>>),
    plan: &Plan<'_>,
    made: &BTreeMap<MediaId, MadeBlob>,
) -> Result<Bodies, Error> {
    let with_numbers = parts.numbered_body(bytes, numbered)?;
    let count = photic::lift(turn.wire, plain).0.media.len();
    let is_alike = photic::lift(turn.wire, &with_numbers).0.media.len() == count;
    let client = if is_alike { with_numbers } else { plain.to_vec() };
    let fetched: BTreeMap<MediaId, MediaStub> = inputs
        .fetched_stubs()
        .map(|(id, stub)| (id, MediaStub { head: numbered(&stub.head, id), ..stub.clone() }))
        .collect();
    let prepared: Prepared = made
        .iter()
        .map(|(&id, made)| {
            let base64 = numbered(&STANDARD.encode(b"photic"), id);
            (id, Made { media_type: made.media_type.clone(), base64, size: made.size })
        })
        .collect();
    let mut transcript = photic::lift(turn.wire, &client).0;
    inputs.put_fetched(&mut transcript, bytes);
    for (&id, stub) in &fetched {
        transcript.put_fetched(id, FetchResult::Bytes(stub.stand_in()));
    }
    let lowered = photic::lower_prepared(&transcript, plan, &prepared);
    let (model, decisions) = (lowered.body.to_vec(), lowered.decisions);
    drop(transcript);
    Ok((client, model, decisions))
}

/// Returns the number of the medium of a transcript of a body with numbered stand-ins.
pub fn numbered_source(source: &Source<'_>) -> Option<MediaId> {
    match source {
        Source::Data(payload) => numbered_media(payload.base64()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_tells_its_number_and_keeps_its_head() {
        for (number, head) in [(0, "iVBORw0KGgo="), (7, "iVBORw0KGgoAAAA="), (70_000, "")] {
            let id = MediaId::first(number + 1).next_back().unwrap();
            let text = numbered(head, id);
            assert_eq!(numbered_media(text.as_bytes()), Some(id));
            assert!(STANDARD.decode(&text).is_ok(), "{text}");
        }
        assert_eq!(numbered_media(b"iVBORw0KGgo="), None);
        assert_eq!(numbered_media(b""), None);
    }
}
