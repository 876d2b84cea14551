//! The pictures of a session: the cost of each, and its fate in the next request.

use std::collections::BTreeMap;

use photic::media::MediaKind;
use photic::transcript::{MediaId, Transcript};
use photic::{Choice, Digest, Fate, Plan, Position, Sighting};

use super::Store;
use super::reproduce::{PlanInputs, PreviousTurn};
use crate::blobs::Blobs;
use crate::error::Error;
use crate::handle::Handle;
use crate::record::{Record, SessionId, StoredTurn};

/// A picture, document or sound in the last turn of a session.
#[derive(Clone, Debug)]
pub struct Image {
    /// Its number in the request, from 0.
    pub media: MediaId,
    /// Picture, document or sound.
    pub kind: MediaKind,
    /// Its handle; `None` if it is not in the record, such as a URL.
    pub handle: Option<Handle>,
    /// Its digest.
    pub digest: Option<Digest>,
    /// Its position in the body.
    pub position: Option<Position>,
    /// Number of its message, from 0.
    pub message: usize,
    /// The tool that returned it.
    pub tool: Option<String>,
    /// Its media type.
    pub media_type: Option<String>,
    /// Width and height.
    pub size: Option<(u32, u32)>,
    /// Width and height as shown, if it is shown.
    pub sent: Option<(u32, u32)>,
    /// Size in bytes.
    pub bytes: u64,
    /// Tokens each time it is shown, by the profile of the last turn.
    pub tokens: Option<u64>,
    /// US dollars each time it is shown, at list price.
    pub usd: Option<f64>,
    /// Its fate in the next request, with the current choices.
    pub fate: Fate,
    /// The choice of the user.
    pub choice: Option<Choice>,
}

/// A turn without most of its bytes: its body with stand-ins for media, and the fate of each.
#[derive(Clone, Debug)]
pub struct TurnDetails {
    /// The turn.
    pub turn: StoredTurn,
    /// A body that lifts to the same conversation as the client's.
    pub body: Vec<u8>,
    /// The media, by their number in the transcript.
    pub images: Vec<Image>,
}

impl<R: Record, B: Blobs> Store<R, B> {
    /// Returns the media of the last turn, with their fates in the next one.
    pub async fn images(&self, id: &SessionId) -> Result<Vec<Image>, Error> {
        let (_, Some(turn)) = self.open_session(id).await? else { return Ok(Vec::new()) };
        let choices = self.choices(id).await?;
        Ok(self.look_at(turn, Some(choices)).await?.images)
    }

    /// Returns a turn as it was. Reads blobs only if their stubs are not enough.
    pub async fn look(&self, id: &SessionId, number: u64) -> Result<TurnDetails, Error> {
        self.look_at(self.turn(id, number).await?, None).await
    }

    async fn look_at(
        &self,
        turn: StoredTurn,
        choices: Option<BTreeMap<Digest, Choice>>,
    ) -> Result<TurnDetails, Error> {
        let mut terms = self.terms(&turn).await?;
        if let Some(choices) = choices {
            terms.policy.choices = choices;
            terms.policy.retired = PreviousTurn::of(&turn)?.retired;
        }
        let parts = self.parts(&turn).await?;
        let mut bytes = self.read(parts.needed()).await?;
        let mut body = parts.body(&bytes)?;
        if parts.recall(&photic::lift(turn.wire, &body).0, &bytes).is_none() {
            bytes = self.read(parts.pieces().map(|piece| piece.blob)).await?;
            body = parts.body(&bytes)?;
        }
        let images = {
            let mut transcript = photic::lift(turn.wire, &body).0;
            terms.put_fetched(&mut transcript, &bytes);
            let mut survey = terms.survey(&transcript, &parts, &bytes);
            survey.identify(&transcript);
            let plan = photic::plan(survey, &terms.profile, &terms.policy);
            let sightings = plan.survey.sightings.iter();
            sightings.map(|sighting| terms.image(&transcript, &plan, sighting)).collect()
        };
        Ok(TurnDetails { turn, body, images })
    }
}

impl PlanInputs {
    pub(super) fn image(
        &self,
        transcript: &Transcript<'_>,
        plan: &Plan<'_>,
        sighting: &Sighting,
    ) -> Image {
        let id = sighting.media;
        let size = sighting.header.size;
        let recipe = plan.recipes.get(&id);
        let sent = size.map(|size| recipe.map_or(size, |recipe| recipe.fit().size(size)));
        let tokens = sent
            .filter(|_| sighting.kind == MediaKind::Image)
            .map(|(width, height)| self.profile.image_tokens(width, height, sighting.detail));
        let digest = sighting.digest;
        Image {
            media: id,
            kind: sighting.kind,
            handle: digest.map(|digest| Handle::of(&self.secret, &digest.into())),
            digest,
            position: transcript.position(id),
            message: sighting.message,
            tool: sighting.tool.clone(),
            media_type: sighting.header.media_type.map(str::to_owned),
            size,
            sent,
            bytes: sighting.header.bytes as u64,
            tokens,
            usd: self.profile.price.zip(tokens).map(|(price, tokens)| price.of(tokens as f64)),
            fate: plan.fates[id],
            choice: digest.and_then(|digest| self.policy.choices.get(&digest).copied()),
        }
    }
}
