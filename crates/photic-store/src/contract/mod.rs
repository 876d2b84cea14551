//! What every backend promises, as a suite that runs on any: a directory and `SQLite`, a bucket and a
//! server's database.
//!
//! [`fresh`] takes an empty store and tries everything; [`existing`] takes any store, also one whose
//! writer was killed a moment ago, and checks that all of it can be read and every turn reproduced.
//! [`work`] tries work lists.

mod blobs;
mod collecting;
mod conversation;
mod handles;
mod media;
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

/// A promise that was not kept.
#[derive(Debug, thiserror::Error)]
#[error("not kept: {0}")]
pub struct Broken(String);

impl From<Error> for Broken {
    fn from(error: Error) -> Self {
        Self(format!("an error: {error:?}"))
    }
}

impl From<BlobError> for Broken {
    fn from(error: BlobError) -> Self {
        Self(format!("an error: {error:?}"))
    }
}

/// What was found in a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Sessions, with how many turns each has.
    pub turns: Vec<(SessionId, u64)>,
    /// Blobs.
    pub blobs: usize,
}

/// Tries everything on an empty store. Its blobs are removed, so it must be nobody else's.
pub async fn fresh<R: Record, B: Blobs>(store: &Store<R, B>) -> Result<(), Broken> {
    promise("a store for the suite is empty", existing(store).await? == Found::default())?;
    blobs::suite(&store.blobs).await?;
    handles::suite(&store.record).await?;
    sessions::suite(store).await?;
    uploaded::suite(store).await?;
    media::suite(store).await?;
    collecting::suite(store).await?;
    existing(store).await?;
    Ok(())
}

/// Checks that everything that is there can be read: every blob is what it is named after, every
/// turn of the tenant's sessions gives back its body and what the model saw.
pub async fn existing<R: Record, B: Blobs>(store: &Store<R, B>) -> Result<Found, Broken> {
    let mut found = Found::default();
    let mut last = None;
    let mut names = BTreeSet::new();
    loop {
        let page = store.blobs.each(last.as_ref()).await?;
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

/// Clocks of file systems tick slowly.
fn pause() {
    std::thread::sleep(Duration::from_millis(30));
}

fn promise(what: &str, is_kept: bool) -> Result<(), Broken> {
    if is_kept { Ok(()) } else { Err(Broken(what.to_owned())) }
}
