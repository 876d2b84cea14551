//! The JSON API: each address and the view that answers it. The shapes are in `viewer/api.ts`.

mod changes;
mod choice;
mod compare;
mod cost;
mod costs;
mod extras;
pub(crate) mod findings;
mod forecast;
pub(crate) mod index;
mod labels;
mod layout;
mod letters;
pub(crate) mod messages;
pub(crate) mod object;
mod pictures;
mod reply;
mod search;
pub(crate) mod sessions;
mod spans;
mod timeline;
mod turn;
mod why;

use photic::Digest;
use photic_store::SessionId;

use crate::failure::Failure;
use crate::images::Picture;
use crate::inspector::Inspector;
use crate::request::{Answer, ApiRequest, ServedFile};

/// A stage of a picture on its way to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// As it was sent.
    Sent,
    /// As the provider resizes that.
    Seen,
}

impl Inspector {
    /// Answers a request.
    pub(crate) async fn answer(&self, ask: &ApiRequest) -> Result<Answer, Failure> {
        let path: Vec<&str> = ask.path.iter().map(String::as_str).collect();
        if let Some(body) = &ask.post {
            return match path.as_slice() {
                ["sessions", id, "pictures", picture, "choice"] => {
                    let chosen = self.choose(&session(id)?, number(picture)?, body).await?;
                    Answer::json(&chosen)
                }
                _ => Err(Failure::method()),
            };
        }
        match path.as_slice() {
            ["about"] => Answer::json(&self.about()),
            ["sessions"] => Answer::json(&self.sessions(ask).await?),
            ["sessions", id, rest @ ..] => self.answer_session(&session(id)?, rest, ask).await,
            _ => Err(Failure::not_found("this address")),
        }
    }

    async fn answer_session(
        &self,
        id: &SessionId,
        path: &[&str],
        ask: &ApiRequest,
    ) -> Result<Answer, Failure> {
        match path {
            [] => Answer::json(&self.session(id).await?),
            ["turns"] => Answer::json(&self.turns(id, ask).await?),
            ["turns", turn] => Answer::json(&self.turn(id, number(turn)?).await?),
            ["turns", turn, "messages"] => {
                Answer::json(&self.messages(id, number(turn)?, ask).await?)
            }
            ["turns", turn, "changes"] => {
                Answer::json(&self.changes(id, number(turn)?, ask).await?)
            }
            ["turns", turn, "text"] => {
                let text = self.text(id, number(turn)?, ask).await?;
                let name = format!("{id}-turn-{turn}.txt");
                Ok(file("text/plain; charset=utf-8", text.into_bytes(), name))
            }
            ["turns", turn, "body"] => {
                let body = self.body_file(id, number(turn)?, ask).await?;
                let side = ask.parameter("side").unwrap_or("model");
                let name = format!("{id}-turn-{turn}-{side}.json");
                Ok(file("application/octet-stream", body, name))
            }
            ["pictures"] => Answer::json(&self.pictures(id, ask).await?),
            ["pictures", picture] => {
                let turn = ask.number("turn")?;
                Answer::json(&self.picture(id, number(picture)?, turn).await?)
            }
            ["pictures", picture, kind] => self.image(id, number(picture)?, kind, ask).await,
            ["compare"] => Answer::json(&self.compare(id, ask).await?),
            ["cost"] => Answer::json(&self.cost(id).await?),
            ["findings"] => Answer::json(&self.findings(id).await?),
            ["search"] => Answer::json(&self.search(id, ask).await?),
            ["export"] => self.export_file(id, ask).await,
            ["export", "forecast"] => Answer::json(&self.export_forecast(id, ask).await?),
            _ => Err(Failure::not_found("this address")),
        }
    }

    /// Answers with the bytes of a picture.
    async fn image(
        &self,
        id: &SessionId,
        picture: u32,
        kind: &str,
        ask: &ApiRequest,
    ) -> Result<Answer, Failure> {
        let index = self.index(id).await?;
        let digest = index.picture(picture)?.digest;
        let turn = ask.number("turn")?;
        let made = match kind {
            "thumb" => self.thumb(id, &digest).await?,
            "original" => self.checked(id, &digest).await?,
            "sent" | "seen" => {
                let turn = turn.unwrap_or_else(|| index.last());
                self.shown(
                    id,
                    picture,
                    turn,
                    if kind == "seen" { Stage::Seen } else { Stage::Sent },
                )
                .await?
            }
            _ => return Err(Failure::not_found("this address")),
        };
        // The address names its content.
        let is_immutable = ask.parameter("h").is_some();
        let extension = made.media_type.trim_start_matches("image/");
        let name = format!("{id}-{picture}.{extension}");
        let attachment = ask.parameter("download").map(|_| name);
        let Picture { media_type, bytes } = made;
        Ok(Answer::File(ServedFile { media_type, bytes, is_immutable, attachment }))
    }

    /// Returns a picture as it was sent in a turn, or as the provider resizes that.
    pub(crate) async fn shown(
        &self,
        id: &SessionId,
        picture: u32,
        turn: u64,
        stage: Stage,
    ) -> Result<Picture, Failure> {
        let (digest, seen) = self.sent(id, picture, turn).await?;
        match seen.filter(|_| stage == Stage::Seen) {
            Some(size) => self.resized(id, &digest, size).await,
            None => self.checked(id, &digest).await,
        }
    }

    /// Returns the bytes that were sent for a picture in a turn, and the size that the provider
    /// resizes them to.
    pub(crate) async fn sent(
        &self,
        id: &SessionId,
        picture: u32,
        turn: u64,
    ) -> Result<(Digest, Option<(u32, u32)>), Failure> {
        let index = self.index(id).await?;
        self.sent_of(&index, picture, turn).await
    }

    /// Returns the same with an index that was read before.
    pub(crate) async fn sent_of(
        &self,
        index: &index::SessionIndex,
        picture: u32,
        turn: u64,
    ) -> Result<(Digest, Option<(u32, u32)>), Failure> {
        let facts = index.turn(turn)?;
        let absent = || Failure::not_found(&format!("picture #{picture} in turn {turn}"));
        if !letters::is_shown(facts.letter(picture)) {
            return Err(absent());
        }
        let planned = self.planned(&index.id, turn).await?;
        let one = pictures::planned_media(&planned, facts, picture).ok_or_else(absent)?;
        let digest = match &one.made {
            Some(made) => *made.blob.as_bytes(),
            None => one.image.digest.ok_or_else(absent)?,
        };
        let seen = one.image.sent.map(|(width, height)| {
            let seen = planned.profile.seen(width, height, one.detail);
            (seen.width, seen.height)
        });
        Ok((digest, seen))
    }
}

/// Parses the identifier of a session.
fn session(text: &str) -> Result<SessionId, Failure> {
    text.parse().map_err(|_| Failure::not_found("the session"))
}

/// Parses a number of a path.
fn number<N: std::str::FromStr>(text: &str) -> Result<N, Failure> {
    text.parse().map_err(|_| Failure::not_found("this address"))
}

fn file(media_type: &'static str, bytes: Vec<u8>, name: String) -> Answer {
    let attachment = Some(name);
    Answer::File(ServedFile { media_type, bytes, is_immutable: false, attachment })
}
