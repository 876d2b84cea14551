//! The pictures of a session: what each costs, and what becomes of it now.

use photic::media::MediaKind;
use photic::transcript::MediaId;
use photic::{Choice, Digest, Fate, Position};

use super::Store;
use crate::blobs::Blobs;
use crate::error::Error;
use crate::handle::Handle;
use crate::record::{Record, SessionId};

/// A picture, document or sound where it stands in the last turn of a session.
#[derive(Clone, Debug)]
pub struct Image {
    /// Its number in the request, from 0.
    pub media: MediaId,
    /// Picture, document or sound.
    pub kind: MediaKind,
    /// How it is named; `None` for what is not in the record, such as an address.
    pub handle: Option<Handle>,
    /// What it is.
    pub digest: Option<Digest>,
    /// Where it stands in the body.
    pub position: Option<Position>,
    /// The message it stands in, from 0.
    pub message: usize,
    /// The tool that returned it.
    pub tool: Option<String>,
    /// Its type.
    pub media_type: Option<String>,
    /// Width and height.
    pub size: Option<(u32, u32)>,
    /// How many bytes it has.
    pub bytes: u64,
    /// What it costs each time it is shown, by the profile of the last turn.
    pub tokens: Option<u64>,
    /// The same in US dollars, at list price.
    pub usd: Option<f64>,
    /// What becomes of it in the next request, with the choices as they are now.
    pub fate: Fate,
    /// What the user wants done with it.
    pub choice: Option<Choice>,
}

impl<R: Record, B: Blobs> Store<R, B> {
    /// The media of the last turn, in order. No blob is read for it but where there is no other way.
    pub async fn images(&self, id: &SessionId) -> Result<Vec<Image>, Error> {
        let (_, Some(turn)) = self.open_session(id).await? else { return Ok(Vec::new()) };
        let mut terms = self.terms(&turn).await?;
        terms.policy.choices = self.choices(id).await?;
        let parts = self.parts(&turn).await?;
        let mut bytes = self.read(parts.needed()).await?;
        let mut body = parts.body(&bytes)?;
        if parts.recall(&photic::lift(turn.wire, &body).0, &bytes).is_none() {
            bytes = self.read(parts.pieces().map(|piece| piece.blob)).await?;
            body = parts.body(&bytes)?;
        }
        let mut transcript = photic::lift(turn.wire, &body).0;
        terms.supply(&mut transcript, &bytes);
        let mut survey = terms.survey(&transcript, &parts, &bytes);
        survey.identify(&transcript);
        let plan = photic::plan(survey, &terms.profile, &terms.policy);
        let secret = self.record.secret(&self.tenant).await?;
        let images = plan.survey.sightings.iter().zip(&plan.fates).map(|(sighting, fate)| {
            let made = plan.recipes.get(&sighting.media);
            let size = sighting.header.size;
            let sent = size.map(|size| made.map_or(size, |recipe| recipe.fit().size(size)));
            let tokens = sent
                .filter(|_| sighting.kind == MediaKind::Image)
                .map(|(width, height)| terms.profile.image_tokens(width, height, sighting.detail));
            Image {
                media: sighting.media,
                kind: sighting.kind,
                handle: sighting.digest.map(|digest| Handle::of(&secret, &digest.into())),
                digest: sighting.digest,
                position: transcript.position(sighting.media),
                message: sighting.message,
                tool: sighting.tool.clone(),
                media_type: sighting.header.media_type.map(str::to_owned),
                size,
                bytes: sighting.header.bytes as u64,
                tokens,
                usd: terms.profile.price.zip(tokens).map(|(price, tokens)| price.of(tokens as f64)),
                fate: *fate,
                choice: sighting.digest.and_then(|one| terms.policy.choices.get(&one).copied()),
            }
        });
        Ok(images.collect())
    }
}
