//! Contract of sessions and turns.

use photic::retention::Retention;
use photic::{Choice, Wire};
use serde_json::json;

use super::{ContractViolation, Conversation, picture, promise};
use crate::blobs::{BlobId, Blobs};
use crate::error::Error;
use crate::handle::Tenant;
use crate::record::{Record, SessionId};
use crate::store::Store;

pub(super) async fn suite<R: Record, B: Blobs>(
    store: &Store<R, B>,
) -> Result<(), ContractViolation> {
    growing(store).await?;
    rewritten(store).await?;
    chosen(store).await?;
    found_again(store).await?;
    of_others(store).await
}

/// Every turn of a growing session, in which pictures are retired.
async fn growing<R: Record, B: Blobs>(store: &Store<R, B>) -> Result<(), ContractViolation> {
    let id = store.begin("growing").await?;
    let mut talk = Conversation::new("look at the screen");
    talk.policy.retention = Retention::Newest(2);
    let mut turns = Vec::new();
    for turn in 0..6 {
        let (number, sent) = talk.send(store, &id, 1000 + turn).await?;
        promise("turns are counted from one", number == turns.len() as u64 + 1)?;
        turns.push((talk.body(), sent));
        talk.look(&picture(turn as u64, 4000));
    }
    for (number, (body, sent)) in (1..).zip(&turns) {
        promise("a body comes back", store.body(&id, number).await? == *body)?;
        promise("what was shown comes back", store.lower(&id, number).await?.body == *sent)?;
    }
    let read = store.lower(&id, 6).await?.read;
    let shown = [3, 4].map(|seed| BlobId::of(&picture(seed, 4000)));
    promise("only what is shown is read", read.iter().all(|one| shown.contains(one)))?;
    promise("and all of it", read.len() == shown.len())?;
    let (session, last) = store.open_session(&id).await?;
    let counts = (session.turns, session.messages, session.blobs, session.bytes);
    promise("a session knows its size", counts == (6, 11, 5, 20_000))?;
    promise("and its times", session.last == 1005)?;
    promise("its last turn is at hand", last.is_some_and(|turn| turn.number == 6))?;
    let absent = store.turn(&id, 7).await;
    promise("a turn that was not is an error", matches!(absent, Err(Error::NoTurn { .. })))
}

/// A client that rewrites its history: old turns stay, and new ones are added.
async fn rewritten<R: Record, B: Blobs>(store: &Store<R, B>) -> Result<(), ContractViolation> {
    let id = store.begin("rewritten").await?;
    let mut talk = Conversation::new("first");
    for seed in 20..24 {
        talk.look(&picture(seed, 3000));
    }
    let mut turns = Vec::new();
    turns.push((talk.body(), talk.send(store, &id, 1).await?.1));
    // A retry of the request, as after a timeout.
    turns.push((talk.body(), talk.send(store, &id, 2).await?.1));
    let mut edited = talk.clone();
    edited.messages[3] = json!({"role": "user", "content": "edited"});
    edited.messages.truncate(4);
    turns.push((edited.body(), edited.send(store, &id, 3).await?.1));
    // Back on the first branch, with other settings, and shorter than before.
    talk.settings = json!({"model": "gpt-4o-mini"});
    talk.messages.truncate(5);
    turns.push((talk.body(), talk.send(store, &id, 4).await?.1));
    let compacted = Conversation::new("a summary of everything");
    turns.push((compacted.body(), compacted.send(store, &id, 5).await?.1));
    for (number, (body, sent)) in (1..).zip(&turns) {
        promise("a body of a branch comes back", store.body(&id, number).await? == *body)?;
        promise("and what was shown", store.lower(&id, number).await?.body == *sent)?;
    }
    let messages = store.session(&id).await?.messages;
    promise("only new messages are written", messages == 9 + 1 + 1)
}

/// Choices of the user are recorded with the turn and do not change earlier ones.
async fn chosen<R: Record, B: Blobs>(store: &Store<R, B>) -> Result<(), ContractViolation> {
    let id = store.begin("chosen").await?;
    let mut talk = Conversation::new("look");
    talk.policy.retention = Retention::All;
    talk.policy.pixels = true;
    for seed in 40..43 {
        talk.look(&picture(seed, 3000));
    }
    let (_, plain) = talk.send(store, &id, 1).await?;
    let digest = |seed| *BlobId::of(&picture(seed, 3000)).as_bytes();
    store.choose(&id, &digest(40), Some(Choice::Drop)).await?;
    store.choose(&id, &digest(41), Some(Choice::Shrink { max_edge: 320 })).await?;
    store.choose(&id, &digest(42), Some(Choice::Pin)).await?;
    talk.policy.choices = store.choices(&id).await?;
    promise("choices are kept", talk.policy.choices.len() == 3)?;
    let (_, with) = talk.send(store, &id, 2).await?;
    promise("choices have an effect", with.len() < plain.len())?;
    promise("not on what was", store.lower(&id, 1).await?.body == plain)?;
    let view = store.lower(&id, 2).await?;
    promise("but on what is", view.body == with)?;
    let original = BlobId::from(digest(41));
    promise("what was made is read, not its source", !view.read.contains(&original))?;
    store.choose(&id, &digest(40), None).await?;
    let session = store.session(&id).await?;
    promise("what was made is no image of the client", (session.images, session.blobs) == (3, 4))?;
    promise("a choice is taken back", store.choices(&id).await?.len() == 2)?;
    promise("nothing of it changes a turn", store.lower(&id, 2).await?.body == with)?;
    let images = store.images(&id).await?;
    promise("every picture is listed", images.len() == 3)?;
    promise("with the choices as they are", images[0].choice.is_none() && images[0].fate.is_shown())
}

/// A body finds its session by its words.
async fn found_again<R: Record, B: Blobs>(store: &Store<R, B>) -> Result<(), ContractViolation> {
    let of = async |talk: &Conversation| -> Result<Option<SessionId>, ContractViolation> {
        let body = talk.body();
        Ok(store.session_of(&photic::lift(Wire::OpenAiChat, &body).0).await?)
    };
    let mut talk = Conversation::new("which session am I");
    promise("a new conversation is in none", of(&talk).await?.is_none())?;
    let id = store.begin("found again").await?;
    talk.send(store, &id, 1).await?;
    promise("the same is found", of(&talk).await? == Some(id.clone()))?;
    talk.look(&picture(60, 2000));
    talk.settings = json!({"model": "another", "temperature": 0});
    promise("what goes on is found", of(&talk).await? == Some(id.clone()))?;
    talk.messages[0] = json!({"role": "user",
        "content": [{"type": "text", "text": "which session am I", "cache_control": {"type": "ephemeral"}}]});
    talk.messages.insert(0, json!({"role": "system", "content": "It is noon."}));
    promise("the same words in another writing are", of(&talk).await? == Some(id.clone()))?;
    talk.messages[1] = json!({"role": "user", "content": "which session am I?"});
    promise("other words are not", of(&talk).await?.is_none())
}

/// Sessions of one tenant are invisible to another.
async fn of_others<R: Record, B: Blobs>(store: &Store<R, B>) -> Result<(), ContractViolation> {
    let other = Tenant::new("contract-another");
    for session in store.sessions().await? {
        let found = store.record.session(&other, &session.id).await?;
        promise("a session of another is not there", found.is_none())?;
        let forgotten = store.record.forget(&other, &session.id).await?;
        promise("and is not forgotten by others", !forgotten)?;
        let chosen = store.record.choose(&other, &session.id, &[0; 32], Some(Choice::Pin)).await;
        promise("nothing is chosen in it", matches!(chosen, Err(Error::NoSession(_))))?;
    }
    promise("others have none", store.record.sessions(&other).await?.is_empty())
}
