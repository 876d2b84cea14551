//! Every acknowledged turn is in the record, has the right body, and can be reproduced; every
//! picture reads back as the bytes that were sent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use photic_store::{BlobId, Blobs, Record, SessionId, Store};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::Findings;
use crate::journal::{Line, Turn};

/// Number of sessions that are checked concurrently.
const AT_ONCE: usize = 16;

/// Checks the stores of tenants against a journal. Every turn is looked up; every `remake`-th is
/// reproduced.
pub async fn turns<R, B>(
    stores: &BTreeMap<String, Arc<Store<R, B>>>,
    lines: &[Line],
    remake: usize,
) -> Findings
where
    R: Record + Send + Sync + 'static,
    B: Blobs + Send + Sync + 'static,
{
    let mut findings = Findings::default();
    let mut sessions: BTreeMap<(String, u32), SessionLines> = BTreeMap::new();
    for line in lines {
        match line {
            Line::Turn(turn) => {
                let key = (turn.tenant.clone(), turn.session);
                sessions.entry(key).or_default().turns.push(turn.clone());
            }
            // Uploads belong to no session; they are counted with the first of their tenant.
            Line::Upload { tenant, picture, .. } => {
                let key = (tenant.clone(), u32::MAX);
                sessions.entry(key).or_default().uploads.push(picture.clone());
            }
            Line::Failure { .. } => {}
        }
    }
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut looking = JoinSet::new();
    for ((tenant, number), work) in sessions {
        let Some(store) = stores.get(&tenant).cloned() else {
            findings.complain(format!("the tenant `{tenant}` is unknown"));
            continue;
        };
        let places = Arc::clone(&places);
        looking.spawn(async move {
            let _place = places.acquire().await;
            look(&store, number, &work, remake).await
        });
    }
    while let Some(looked) = looking.join_next().await {
        match looked {
            Ok(found) => findings.add(found),
            Err(error) => findings.complain(format!("the witness failed: {error}")),
        }
    }
    findings
}

#[derive(Debug, Default)]
struct SessionLines {
    turns: Vec<Turn>,
    uploads: Vec<String>,
}

async fn look<R: Record, B: Blobs>(
    store: &Store<R, B>,
    number: u32,
    work: &SessionLines,
    remake: usize,
) -> Findings {
    let mut findings = Findings::default();
    let mut known: BTreeSet<SessionId> = BTreeSet::new();
    let mut promised = BTreeSet::new();
    for (place, turn) in work.turns.iter().enumerate() {
        let Some((session, of)) = turn.promise() else { continue };
        findings.promised += 1;
        if !promised.insert((session, of)) {
            findings.lost += 1;
            findings.complain(format!("session {number}: {session}/{of} was promised twice"));
            continue;
        }
        // A different selection of every session.
        let again = (place + number as usize).is_multiple_of(remake.max(1));
        match one(store, turn, (session, of), again, &mut known).await {
            Ok(()) => findings.reproduced += u64::from(again),
            Err(why) => {
                findings.lost += 1;
                let at = turn.turn;
                findings.complain(format!("session {number}, turn {at}, {session}/{of}: {why}"));
            }
        }
    }
    // A picture counts if it was acknowledged as stored.
    let kept = work.turns.iter().filter(|turn| turn.acknowledged.is_some());
    let kept = kept.filter_map(|turn| turn.picture.as_ref()).chain(&work.uploads);
    for picture in kept {
        findings.pictures += 1;
        let read = match blake3::Hash::from_hex(picture) {
            Ok(hash) => store.blobs.get(&BlobId::from(*hash.as_bytes())).await,
            Err(error) => {
                findings.complain(format!("the journal names no picture: {error}"));
                continue;
            }
        };
        // The store checks the hash as well, but the witness does not rely on it.
        match read {
            Ok(bytes) if blake3::hash(&bytes).to_hex().as_str() == picture => {}
            Ok(_) => findings.complain(format!("picture {picture} reads back as another")),
            Err(error) => findings.complain(format!("picture {picture}: {error}")),
        }
    }
    findings
}

/// Checks one turn: it exists, has the body that the provider received, and reproduces it.
async fn one<R: Record, B: Blobs>(
    store: &Store<R, B>,
    turn: &Turn,
    (session, number): (&str, u64),
    again: bool,
    known: &mut BTreeSet<SessionId>,
) -> Result<(), String> {
    let id: SessionId = session.parse().map_err(|_| "no name of a session".to_owned())?;
    let say = |error: photic_store::Error| error.to_string();
    // The owner of a session does not change.
    if !known.contains(&id) {
        store.session(&id).await.map_err(say)?;
        known.insert(id.clone());
    }
    let stored = store.record.turn(&id, number).await.map_err(say)?.ok_or("it is not there")?;
    if blake3::Hash::from(stored.digest).to_hex().as_str() != turn.upstream {
        return Err("it is of another body than the upstream got".to_owned());
    }
    if again {
        let view = store.lower(&id, number).await.map_err(say)?;
        if blake3::hash(&view.body).to_hex().as_str() != turn.upstream {
            return Err("it is made again, but not as the upstream got it".to_owned());
        }
    }
    Ok(())
}
