//! Contract of every backend, as a test suite that runs on any: a directory with `SQLite`, or a
//! bucket with `PostgreSQL`.
//!
//! [`fresh`] takes an empty store and exercises all of it. [`existing`] takes any store, also one
//! whose writer was just killed, and checks that everything can be read and every turn reproduced.
//! [`work`] exercises work lists.

mod blobs;
mod collecting;
mod conversation;
mod handles;
mod history;
mod left_out;
mod media;
mod outcomes;
mod sessions;
mod uploaded;
mod work;

use std::collections::BTreeSet;
use std::time::Duration;

pub use conversation::{Conversation, picture};
pub use work::work;

use crate::blobs::Blobs;
use crate::error::{BlobError, Error};
use crate::record::{Record, SessionId};
use crate::store::Store;

/// A broken rule of the contract.
#[derive(Debug, thiserror::Error)]
#[error("not kept: {0}")]
pub struct ContractViolation(String);

impl From<Error> for ContractViolation {
    fn from(error: Error) -> Self {
        Self(format!("an error: {error:?}"))
    }
}

impl From<BlobError> for ContractViolation {
    fn from(error: BlobError) -> Self {
        Self(format!("an error: {error:?}"))
    }
}

/// Contents of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreContents {
    /// Sessions with their number of turns.
    pub turns: Vec<(SessionId, u64)>,
    /// Number of blobs.
    pub blobs: usize,
}

/// Exercises an empty store. Its blobs are removed, so it must not be shared.
pub async fn fresh<R: Record, B: Blobs>(store: &Store<R, B>) -> Result<(), ContractViolation> {
    promise("a store for the suite is empty", existing(store).await? == StoreContents::default())?;
    blobs::suite(&store.blobs).await?;
    handles::suite(&store.record).await?;
    sessions::suite(store).await?;
    left_out::suite(store).await?;
    history::suite(store).await?;
    outcomes(store).await?;
    uploaded::suite(store).await?;
    media::suite(store).await?;
    collecting::suite(store).await?;
    existing(store).await?;
    Ok(())
}

/// Exercises outcomes of requests, in any store without an outcome of a request that is no turn.
pub async fn outcomes<R: Record, B: Blobs>(store: &Store<R, B>) -> Result<(), ContractViolation> {
    outcomes::suite(store).await
}

/// Checks that everything in the store can be read: every blob matches its identifier, and every
/// turn of the tenant's sessions gives back its body and what the model saw.
pub async fn existing<R: Record, B: Blobs>(
    store: &Store<R, B>,
) -> Result<StoreContents, ContractViolation> {
    let mut found = StoreContents::default();
    let mut last = None;
    let mut names = BTreeSet::new();
    loop {
        let page = store.blobs.list(last.as_ref()).await?;
        let Some(end) = page.last() else { break };
        last = Some(end.id);
        for listed in page {
            let bytes = store.blobs.get(&listed.id).await?;
            promise("a blob is as long as its list says", bytes.len() as u64 == listed.bytes)?;
            promise("no blob is listed twice", names.insert(listed.id))?;
        }
    }
    found.blobs = names.len();
    for session in store.sessions().await? {
        for number in 1..=session.turns {
            store.body(&session.id, number).await?;
            store.lower(&session.id, number).await?;
        }
        let past = store.turn(&session.id, session.turns + 1).await;
        promise(
            "a session has no more turns than it says",
            matches!(past, Err(Error::NoTurn { .. })),
        )?;
        found.turns.push((session.id, session.turns));
    }
    Ok(found)
}

/// Waits for the clock of the file system, which may tick slowly.
fn pause() {
    std::thread::sleep(Duration::from_millis(30));
}

fn promise(what: &str, is_kept: bool) -> Result<(), ContractViolation> {
    if is_kept { Ok(()) } else { Err(ContractViolation(what.to_owned())) }
}
