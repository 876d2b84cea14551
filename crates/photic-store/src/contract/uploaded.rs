//! Contract of turns whose pictures came as references. Shown pictures have their bytes; of all
//! others only a stub is kept.

use std::collections::BTreeMap;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic::media::Payload;
use photic::retention::Retention;
use photic::transcript::MediaId;
use photic::{FetchResult, MediaStub, Policy, Prepared, Profile, Wire};
use serde_json::json;

use super::{ContractViolation, pause, picture, promise};
use crate::blobs::{BlobId, Blobs};
use crate::error::{BlobError, Error};
use crate::record::{Record, SessionId};
use crate::store::{FinishedTurn, SentBody, Store};

const BYTES: usize = 6000;

pub(super) async fn suite<R: Record, B: Blobs>(
    store: &Store<R, B>,
) -> Result<(), ContractViolation> {
    let blobs = [picture(100, BYTES), picture(101, BYTES)];
    store.blobs.put_all(&blobs).await?;
    let id = store.begin("uploaded").await?;
    let (first, sent_first) = send(store, &id, &body(&[100]), &[]).await?;
    // Now the first picture is retired and its bytes are not available. It occurs twice.
    let two = body(&[100, 100, 101]);
    let (second, sent) = send(store, &id, &two, &[0, 1].map(MediaId::new)).await?;
    promise("a body with references comes back", store.body(&id, second).await? == two)?;
    let view = store.lower(&id, second).await?;
    promise("and what was shown", view.body == sent)?;
    promise("without what was not", view.read == [BlobId::of(&blobs[1])])?;
    promise("nor was it lost before", store.lower(&id, first).await?.body == sent_first)?;
    let lifted = photic::lift(Wire::OpenAiChat, &two).0;
    let found = store.session_of(&lifted).await?;
    promise("the session is found by its references", found == Some(id.clone()))?;

    let memory = MediaStub::of(&Payload::encode(&blobs[0])).ok_or(Error::Damaged("a picture"))?;
    let head = STANDARD.decode(&memory.head).unwrap_or_default();
    promise("no stand-in is stored", !store.blobs.has(&BlobId::of(&head)).await?)?;
    let session = store.session(&id).await?;
    promise("nor counted", (session.images, session.bytes) == (2, 2 * BYTES as u64))?;
    let images = store.images(&id).await?;
    let (digest, bytes) = (images[0].digest, images[0].bytes);
    promise("a picture is what it was", digest == Some(memory.digest) && bytes == BYTES as u64)?;
    let handle = store.name(&memory.digest).await?;
    let sent = String::from_utf8_lossy(&sent);
    promise("it can be asked for by its name", sent.contains(handle.as_str()))?;
    let issued = store.record.resolve(&store.tenant, &handle).await?;
    promise("its handle knows it", issued.is_some_and(|one| one.facts.bytes == BYTES as u64))?;

    // A session that never had the bytes keeps them from now on.
    let id = store.begin("uploaded before").await?;
    pause();
    let since = SystemTime::now();
    let (number, sent) = send(store, &id, &body(&[100, 101]), &[MediaId::new(0)]).await?;
    promise("it is shown the same way", store.lower(&id, number).await?.body == sent)?;
    let session = store.session(&id).await?;
    promise("and weighs the same", (session.images, session.bytes) == (2, 2 * BYTES as u64))?;
    let removed = store.blobs.remove(&BlobId::of(&blobs[0]), since).await?;
    promise("what is only remembered counts as stored now", !removed)?;
    let absent = send(store, &id, &body(&[109, 101]), &[MediaId::new(0)]).await;
    let is_absent = matches!(absent, Err(Error::Blob(BlobError::Absent(_))));
    promise("what is not in the store cannot be remembered", is_absent)
}

/// Creates a conversation about pictures that are named by seeds.
fn body(seeds: &[u64]) -> Vec<u8> {
    let mut messages = vec![json!({"role": "user", "content": "look"})];
    for (call, seed) in seeds.iter().enumerate() {
        let (id, url) = (format!("call_{call}"), format!("photic:mr_{seed:026}"));
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "shot", "arguments": "{}"}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": [
            {"type": "image_url", "image_url": {"url": url}}]}));
    }
    json!({"model": "gpt-4o", "messages": messages}).to_string().into_bytes()
}

/// Plans, lowers and records a request. The media in `without` have no bytes.
async fn send<R: Record, B: Blobs>(
    store: &Store<R, B>,
    id: &SessionId,
    body: &[u8],
    without: &[MediaId],
) -> Result<(u64, Vec<u8>), Error> {
    let mut transcript = photic::lift(Wire::OpenAiChat, body).0;
    let text = String::from_utf8_lossy(body).into_owned();
    let seeds = text.split("photic:mr_").skip(1).filter_map(|rest| rest.get(..26)?.parse().ok());
    let mut remembered: BTreeMap<MediaId, MediaStub> = BTreeMap::new();
    for (medium, seed) in seeds.enumerate() {
        let medium = MediaId::new(medium);
        let bytes = picture(seed, BYTES);
        if without.contains(&medium) {
            let memory =
                MediaStub::of(&Payload::encode(&bytes)).ok_or(Error::Damaged("a picture"))?;
            let stand_in = Payload::encode(&STANDARD.decode(&memory.head).unwrap_or_default());
            transcript.put_fetched(medium, FetchResult::Bytes(stand_in));
            remembered.insert(medium, memory);
        } else {
            transcript.put_fetched(medium, FetchResult::Bytes(Payload::encode(&bytes)));
        }
    }
    let (profile, mut policy) = (Profile::generic(Wire::OpenAiChat), Policy::default());
    policy.retention = Retention::Newest(1);
    let mut survey = photic::survey(&transcript);
    let remembered = remembered.iter().map(|(medium, memory)| (*medium, memory)).collect();
    survey.recall(&transcript, &remembered);
    survey.identify(&transcript);
    for sighting in &mut survey.sightings {
        if let Some(digest) = &sighting.digest {
            sighting.reference = Some(store.name(digest).await?.as_str().to_owned());
        }
    }
    let plan = photic::plan(survey, &profile, &policy);
    if without.iter().any(|&medium| plan.fates[medium].is_shown()) {
        return Err(Error::Damaged("a picture is shown that is not at hand"));
    }
    let prepared = Prepared::new();
    let lowered = photic::lower_prepared(&transcript, &plan, &prepared);
    let done = FinishedTurn {
        shed: &[],
        transcript: &transcript,
        plan: &plan,
        policy: &policy,
        prepared: &prepared,
        sent: SentBody::of(&lowered.body),
        hashes: None,
        conversation_key: None,
        remembered: &remembered,
        time: 1,
    };
    Ok((store.append(id, &done).await?, lowered.body.to_vec()))
}
