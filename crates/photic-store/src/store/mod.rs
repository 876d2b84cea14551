//! Sessions as hosts see them: a record and blobs, and what their rows mean.
//!
//! Everything here is the same for every backend. Blobs are written before the record that refers
//! to them, so whatever the record says can be read.

mod append;
mod collect;
mod images;
mod keys;
mod reproduce;
mod restore;
#[cfg(test)]
mod scale;
mod title;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use photic::{Choice, Digest, Transcript};

pub use append::{Done, Sent};
pub use collect::{Collected, Grace};
pub use images::{Image, Look};
pub use reproduce::{Past, View};
pub use title::title;

use crate::blobs::{Blobs, FileBlobs};
use crate::error::Error;
use crate::handle::{Handle, Tenant};
use crate::record::{Chain, Record, Session, SessionId, StoredTurn};
use crate::sqlite::Sqlite;

/// Sessions of one tenant.
#[derive(Clone, Debug)]
pub struct Store<R, B> {
    /// The record.
    pub record: R,
    /// The blobs.
    pub blobs: B,
    /// Whose sessions they are.
    pub tenant: Tenant,
}

/// Sessions on this machine.
pub type LocalStore = Store<Sqlite, FileBlobs>;

impl LocalStore {
    /// Opens a directory, and makes it if it is not there.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, Error> {
        let directory = directory.as_ref();
        let record = Sqlite::open(directory)?;
        let blobs = FileBlobs::open(directory.join("blobs"))?;
        Ok(Self { record, blobs, tenant: Tenant::local() })
    }

    /// The directory in which the `photic` command keeps sessions, if this system says where.
    pub fn usual_directory() -> Option<PathBuf> {
        let folder =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let state =
            folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
        Some(state.join("photic"))
    }
}

/// What a conversation of a tenant is called after each of its messages, by its words, the last
/// first: for [`Record::continued`], where its body cannot be held on to.
pub fn conversation_keys(tenant: &Tenant, transcript: &Transcript<'_>) -> Vec<Chain> {
    let mut kin = keys::conversation_keys(tenant, transcript);
    kin.reverse();
    kin
}

impl<R: Record, B: Blobs> Store<R, B> {
    /// Sessions of a tenant.
    pub const fn new(record: R, blobs: B, tenant: Tenant) -> Self {
        Self { record, blobs, tenant }
    }

    /// Begins a session.
    pub async fn begin(&self, title: &str) -> Result<SessionId, Error> {
        self.record.begin(&self.tenant, title).await
    }

    /// All sessions, the latest first.
    pub async fn sessions(&self) -> Result<Vec<Session>, Error> {
        self.record.sessions(&self.tenant).await
    }

    /// What is known about a session.
    pub async fn session(&self, id: &SessionId) -> Result<Session, Error> {
        let found = self.record.session(&self.tenant, id).await?;
        found.ok_or_else(|| Error::NoSession(id.clone()))
    }

    /// A session and its last turn, if it has one.
    pub async fn open_session(
        &self,
        id: &SessionId,
    ) -> Result<(Session, Option<StoredTurn>), Error> {
        let session = self.session(id).await?;
        let turn = match session.turns {
            0 => None,
            number => Some(self.turn(id, number).await?),
        };
        Ok((session, turn))
    }

    /// The session that a body goes on with: all of an earlier request of it is in the body, word
    /// for word. How a client writes it may differ, and so may its settings and instructions.
    pub async fn session_of(
        &self,
        transcript: &Transcript<'_>,
    ) -> Result<Option<SessionId>, Error> {
        let found = self.record.continued(&conversation_keys(&self.tenant, transcript)).await?;
        Ok(found.map(|(id, _)| id))
    }

    /// A turn, by its number from 1.
    pub async fn turn(&self, id: &SessionId, number: u64) -> Result<StoredTurn, Error> {
        // Only sessions of the tenant are there.
        let session = self.session(id).await?;
        let found = self.record.turn(&session.id, number).await?;
        found.ok_or_else(|| Error::NoTurn { session: id.clone(), number })
    }

    /// Notes what the user wants done with a picture of a session, from the next turn on.
    pub async fn choose(
        &self,
        id: &SessionId,
        picture: &Digest,
        choice: Option<Choice>,
    ) -> Result<(), Error> {
        self.record.choose(&self.tenant, id, picture, choice).await
    }

    /// What the user wants done, for the policy of the next turn.
    pub async fn choices(&self, id: &SessionId) -> Result<BTreeMap<Digest, Choice>, Error> {
        self.record.choices(&self.session(id).await?.id).await
    }

    /// How the tenant names a picture.
    pub async fn name(&self, picture: &Digest) -> Result<Handle, Error> {
        self.record.name(&self.tenant, picture).await
    }

    /// Forgets a session; whether there was one. Its blobs go with the next collection.
    pub async fn forget(&self, id: &SessionId) -> Result<bool, Error> {
        self.record.forget(&self.tenant, id).await
    }
}
