//! Contract of what programs show: pages of sessions and turns, pictures, messages, choices.

use photic::retention::Retention;
use photic::{Choice, Fate, Reason};

use super::{ContractViolation, Conversation, picture, promise};
use crate::blobs::{BlobId, Blobs};
use crate::error::{BlobError, Error};
use crate::handle::Tenant;
use crate::record::{Fates, Record, SentFate, SessionId, SessionQuery, TurnRow};
use crate::store::{BodySide, Store};

pub(super) async fn suite<R: Record, B: Blobs>(
    store: &Store<R, B>,
) -> Result<(), ContractViolation> {
    turns(store).await?;
    branches(store).await?;
    past_choices(store).await?;
    sessions(store).await
}

fn letters(row: &TurnRow) -> String {
    row.fates.as_ref().map(Fates::letters).unwrap_or_default()
}

/// A session in which pictures are retired, as a list of turns.
async fn turns<R: Record, B: Blobs>(store: &Store<R, B>) -> Result<(), ContractViolation> {
    let id = store.begin("listed").await?;
    let mut talk = Conversation::new("look at the screen");
    talk.policy.retention = Retention::Newest(2);
    let mut bodies = Vec::new();
    for turn in 0..5_i64 {
        talk.send(store, &id, 1000 + turn).await?;
        bodies.push(talk.body());
        talk.look(&picture(100 + turn as u64, 3000));
    }
    let rows = store.turn_rows(&id, 1, 100).await?;
    let numbers: Vec<u64> = rows.iter().map(|row| row.number).collect();
    promise("every turn is listed, in order", numbers == [1, 2, 3, 4, 5])?;
    let times: Vec<i64> = rows.iter().map(|row| row.time).collect();
    promise("with its time", times == [1000, 1001, 1002, 1003, 1004])?;
    for row in &rows {
        let turn = store.turn(&id, row.number).await?;
        let facts = (row.wire, row.length, row.digest, row.cost);
        promise("with its facts", facts == (turn.wire, turn.length, turn.digest, turn.sums))?;
        let fates = row.fates.as_ref().map(Fates::as_slice).unwrap_or_default();
        let looked = store.look(&id, row.number).await?.images;
        promise("with a fate for each medium", fates.len() == looked.len())?;
        let is_same = fates.iter().zip(&looked).all(|(fate, image)| fate.fate == image.fate);
        promise("which is the one of its plan", is_same)?;
        let pictures: u32 = row.pictures.iter().map(|run| run.count).sum();
        promise("and the number of each picture", pictures as usize == looked.len())?;
        promise("in one run", row.pictures.iter().all(|run| run.first == 1))?;
        promise("no outcome is invented", row.outcome.is_none())?;
    }
    let last = rows.last().ok_or_else(|| ContractViolation("no turn is listed".to_owned()))?;
    let fates = last.fates.as_ref().map(Fates::as_slice).unwrap_or_default();
    let shown: Vec<bool> = fates.iter().map(|fate| fate.fate.is_shown()).collect();
    promise("what was retired is told", shown == [false, false, true, true])?;
    promise("in letters, too", letters(last).starts_with("2r") || letters(last).starts_with("2o"))?;
    let arrived: Vec<_> = rows.iter().filter_map(|row| row.arrived.clone()).collect();
    let words: Vec<&str> = arrived.iter().map(|arrived| arrived.words.as_str()).collect();
    promise("what came is told", words == ["look at the screen", "", "", "", ""])?;
    let tools: Vec<String> = arrived.into_iter().flat_map(|arrived| arrived.tools).collect();
    promise("and who was called", tools == ["shot", "shot", "shot", "shot"])?;

    let changes: Vec<_> = rows.iter().map(|row| row.change).collect();
    let same = |at: usize| changes[at].map(|change| (change.same, change.messages));
    promise("the first turn has none before", changes[0].is_none())?;
    promise("a turn that adds keeps what was sent", same(1) == Some((1, 3)))?;
    promise("also the next", same(2) == Some((3, 5)))?;
    // The first picture gave way: the message with it is the third.
    promise("the first change is found", same(3) == Some((2, 7)))?;
    promise("in every turn", same(4) == Some((4, 9)))?;
    let is_steady = changes.iter().flatten().all(|change| !change.is_frame_changed);
    promise("tools and settings are the same", is_steady)?;

    let page = store.turn_rows(&id, 4, 1).await?;
    promise("a page is a part of the list", page == rows[3..4])?;
    promise("behind the end is nothing", store.turn_rows(&id, 6, 10).await?.is_empty())?;

    let pictures = store.picture_page(&id, 1, 100).await?;
    promise("every picture is listed", (pictures.total, pictures.pictures.len()) == (4, 4))?;
    for (at, listed) in pictures.pictures.iter().enumerate() {
        let bytes = picture(100 + at as u64, 3000);
        promise("with its digest", listed.digest == *BlobId::of(&bytes).as_bytes())?;
        promise("by its number", listed.number as usize == at + 1)?;
        promise("with its first turn", listed.first_turn == at as u64 + 2)?;
        promise("with its size", listed.facts.size == Some((1280, 800)))?;
        let resolved = store.record.resolve(&store.tenant, &listed.handle).await?;
        let blob = resolved.map(|issued| issued.blob);
        promise("and with its handle", blob == Some(BlobId::from(listed.digest)))?;
        promise("its bytes are read", store.blob_of(&id, &listed.digest).await? == bytes)?;
    }
    let page = store.picture_page(&id, 3, 1).await?;
    promise("a page of pictures has its numbers", page.pictures == pictures.pictures[2..3])?;
    let strange = store.blob_of(&id, &[7; 32]).await;
    let is_absent = matches!(strange, Err(Error::Blob(BlobError::Absent(_))));
    promise("no other blob is read", is_absent)?;

    messages(store, &id, &bodies[4]).await
}

/// The messages of the last turn on both sides.
async fn messages<R: Record, B: Blobs>(
    store: &Store<R, B>,
    id: &SessionId,
    body: &[u8],
) -> Result<(), ContractViolation> {
    let damaged = |_| ContractViolation("a message is no JSON".to_owned());
    let body: serde_json::Value = serde_json::from_slice(body).map_err(damaged)?;
    let sent = body["messages"].as_array().cloned().unwrap_or_default();
    let client = store.message_page(id, 5, BodySide::Client, 0, 100).await?;
    promise("every message of the client", (client.total, client.messages.len()) == (9, 9))?;
    for (message, sent) in client.messages.iter().zip(&sent) {
        let json: serde_json::Value = serde_json::from_slice(&message.json).map_err(damaged)?;
        promise("is given by its role", json["role"] == sent["role"])?;
        if message.media.is_empty() {
            promise("and word for word", json == *sent)?;
        }
    }
    let media = client.messages.iter().flat_map(|message| &message.media);
    promise("with its pictures", media.count() == 4)?;
    let page = store.message_page(id, 5, BodySide::Client, 7, 1).await?;
    promise("a page of messages is a part of them", page.messages == client.messages[7..8])?;
    let model = store.message_page(id, 5, BodySide::Model, 0, 100).await?;
    promise("the model got at least as many", model.total >= 9)?;
    let shown: Vec<_> = model.messages.iter().flat_map(|message| &message.media).collect();
    let expected = [102, 103].map(|seed| *BlobId::of(&picture(seed, 3000)).as_bytes());
    let is_there = shown.iter().map(|(_, digest)| digest).eq(&expected);
    promise("and the pictures that it was shown", is_there)
}

/// A client that goes back: turns of branches are compared as they were sent.
async fn branches<R: Record, B: Blobs>(store: &Store<R, B>) -> Result<(), ContractViolation> {
    let id = store.begin("branches").await?;
    let mut talk = Conversation::new("first");
    for seed in 120..132 {
        talk.look(&picture(seed, 2000));
    }
    talk.send(store, &id, 1).await?;
    let mut edited = talk.clone();
    edited.messages.truncate(11);
    edited.look(&picture(140, 2000));
    edited.send(store, &id, 2).await?;
    talk.look(&picture(120, 2000));
    talk.send(store, &id, 3).await?;
    let rows = store.turn_rows(&id, 1, 10).await?;
    let same: Vec<_> = rows.iter().map(|row| row.change.map(|change| change.same)).collect();
    // The first of the two new messages has another call id only where more came before.
    promise("a branch keeps its beginning", same[1] == Some(12) || same[1] == Some(11))?;
    promise("and the way back, too", same[2] == same[1])?;
    let runs = |at: usize| -> Vec<(u32, u32)> {
        rows[at].pictures.iter().map(|run| (run.first, run.count)).collect()
    };
    promise("pictures keep their numbers", runs(0) == [(1, 12)])?;
    promise("on every branch", runs(1) == [(1, 5), (13, 1)])?;
    promise("and when they come again", runs(2) == [(1, 12), (1, 1)])
}

/// Every choice stays in the history, in order.
async fn past_choices<R: Record, B: Blobs>(store: &Store<R, B>) -> Result<(), ContractViolation> {
    let id = store.begin("choosing").await?;
    let talk = Conversation::new("look");
    let (one, other) = ([1; 32], [2; 32]);
    promise("nothing was chosen", store.past_choices(&id).await?.is_empty())?;
    store.choose(&id, &one, Some(Choice::Drop)).await?;
    talk.send(store, &id, 1).await?;
    store.choose(&id, &other, Some(Choice::Pin)).await?;
    store.choose(&id, &one, None).await?;
    let past = store.past_choices(&id).await?;
    let told: Vec<_> = past.iter().map(|past| (past.picture, past.choice)).collect();
    let chosen = [(one, Some(Choice::Drop)), (other, Some(Choice::Pin)), (one, None)];
    promise("every choice is remembered", told == chosen)?;
    let after: Vec<u64> = past.iter().map(|past| past.after_turn).collect();
    promise("with the turn that it came after", after == [0, 1, 1])?;
    promise(
        "and its time",
        past.iter().all(|past| past.time > 0) && past.is_sorted_by_key(|past| past.time),
    )?;
    promise("those in force are others", store.choices(&id).await?.len() == 1)
}

/// Sessions in pages, and searched.
async fn sessions<R: Record, B: Blobs>(store: &Store<R, B>) -> Result<(), ContractViolation> {
    let mut ids = Vec::new();
    for number in 0..5_i64 {
        let id = store.begin(&format!("Paged 100% of_{number}")).await?;
        Conversation::new("page").send(store, &id, 9_000_000_000_000 + number).await?;
        ids.push(id);
    }
    ids.reverse();
    let search = |search: &str| SessionQuery {
        search: search.to_owned(),
        limit: 2,
        ..SessionQuery::default()
    };
    let mut query = search("paged 100% OF_");
    let mut found = Vec::new();
    loop {
        let page = store.session_page(&query).await?;
        promise("a page is no longer than asked for", page.sessions.len() <= 2)?;
        found.extend(page.sessions.into_iter().map(|row| row.session.id));
        let Some(next) = page.next else { break };
        let text = next.to_string();
        promise("a cursor is a text", text.parse() == Ok(next))?;
        query.before = Some(next);
    }
    promise("every session comes once, the latest first", found == ids)?;
    let by_id = store.session_page(&search(&ids[3].as_str()[..12])).await?;
    let by_id: Vec<_> = by_id.sessions.iter().map(|row| &row.session.id).collect();
    promise("one is found by its id", by_id == [&ids[3]])?;
    let nothing = store.session_page(&search("100x of")).await?;
    promise("no letter stands for others", nothing.sessions.is_empty() && nothing.next.is_none())?;
    let row = store.session_row(&ids[0]).await?;
    promise("a session is alone what it is in a page", row.session.id == ids[0])?;
    let sums = row.sums;
    promise("nothing is reported", (sums.reported, sums.input, sums.output_usd) == (0, 0, None))?;
    promise("its wire is known", sums.wires == [photic::Wire::OpenAiChat])?;
    let other = Tenant::new("contract-another");
    let page = store.record.session_page(&other, &SessionQuery::default()).await?;
    promise("others see none of it", page.sessions.is_empty())?;
    for id in &ids {
        store.forget(id).await?;
    }
    let gone = store.turn_rows(&ids[0], 1, 10).await;
    promise("a forgotten session has no turns", matches!(gone, Err(Error::NoSession(_))))?;
    let fate = Fate::Keep(Reason::Fits);
    promise("a fate has a letter", SentFate { fate, is_remade: false }.letter() == 'k')
}
