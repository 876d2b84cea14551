//! Sessions for hosts: combines a record and blobs, and defines what their rows mean.
//!
//! Everything here works for every backend. Blobs are written before the record that refers to
//! them, so everything in the record can be read.

mod append;
mod arrived;
mod collect;
mod conversation;
mod images;
mod keys;
mod messages;
mod pages;
mod pictures;
mod planned;
mod reproduce;
mod restore;
#[cfg(test)]
mod scale;
mod sent;
mod title;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use photic::{Choice, Digest, Transcript};

pub use append::{FinishedTurn, LeftOutMessages, SentBody, SentPrefix, WrittenMessages};
pub use collect::{CollectReport, GracePeriods};
pub use conversation::ConversationKeys;
pub use images::{Image, TurnDetails};
pub use messages::{BodySide, MessagePage, MessageText};
pub use planned::{PlannedMedia, PlannedTurn, numbered_media, numbered_source};
pub use reproduce::{PreviousTurn, View};
pub use sent::SentHashes;
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
    /// The tenant.
    pub tenant: Tenant,
}

/// Sessions on this machine.
pub type LocalStore = Store<Sqlite, FileBlobs>;

impl LocalStore {
    /// Opens a directory. Creates it if it does not exist.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, Error> {
        let directory = directory.as_ref();
        let record = Sqlite::open(directory)?;
        let blobs = FileBlobs::open(directory.join("blobs"))?;
        Ok(Self { record, blobs, tenant: Tenant::local() })
    }

    /// Returns the default directory of the `photic` command, if the system defines one.
    pub fn usual_directory() -> Option<PathBuf> {
        let folder =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let state =
            folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
        Some(state.join("photic"))
    }
}

/// Returns the keys of a conversation after each of its messages, the last first. They are the
/// input of [`Record::continued`] for hosts that cannot keep the body.
pub fn conversation_keys(tenant: &Tenant, transcript: &Transcript<'_>) -> Vec<Chain> {
    ConversationKeys::of(tenant, transcript).last_first()
}

impl<R: Record, B: Blobs> Store<R, B> {
    /// Creates a store from its parts.
    pub const fn new(record: R, blobs: B, tenant: Tenant) -> Self {
        Self { record, blobs, tenant }
    }

    /// Creates a session.
    pub async fn begin(&self, title: &str) -> Result<SessionId, Error> {
        self.record.begin(&self.tenant, title).await
    }

    /// Lists all sessions, latest first.
    pub async fn sessions(&self) -> Result<Vec<Session>, Error> {
        self.record.sessions(&self.tenant).await
    }

    /// Returns the summary of a session.
    pub async fn session(&self, id: &SessionId) -> Result<Session, Error> {
        let found = self.record.session(&self.tenant, id).await?;
        found.ok_or_else(|| Error::NoSession(id.clone()))
    }

    /// Returns a session and its last turn, if it has one.
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

    /// Finds the session that a body continues: the body contains all words of an earlier request.
    /// Its formatting, settings and instructions may differ.
    pub async fn session_of(
        &self,
        transcript: &Transcript<'_>,
    ) -> Result<Option<SessionId>, Error> {
        let found = self.record.continued(&conversation_keys(&self.tenant, transcript)).await?;
        Ok(found.map(|(id, _)| id))
    }

    /// Returns a turn by its number, from 1.
    pub async fn turn(&self, id: &SessionId, number: u64) -> Result<StoredTurn, Error> {
        // Fails for sessions of other tenants.
        let session = self.session(id).await?;
        let found = self.record.turn(&session.id, number).await?;
        found.ok_or_else(|| Error::NoTurn { session: id.clone(), number })
    }

    /// Records a choice of the user for a picture, from the next turn on.
    pub async fn choose(
        &self,
        id: &SessionId,
        picture: &Digest,
        choice: Option<Choice>,
    ) -> Result<(), Error> {
        self.record.choose(&self.tenant, id, picture, choice).await
    }

    /// Returns the choices of the user for the policy of the next turn.
    pub async fn choices(&self, id: &SessionId) -> Result<BTreeMap<Digest, Choice>, Error> {
        self.record.choices(&self.session(id).await?.id).await
    }

    /// Returns the handle of a picture.
    pub async fn name(&self, picture: &Digest) -> Result<Handle, Error> {
        self.record.name(&self.tenant, picture).await
    }

    /// Forgets a session. Returns whether it existed. Its blobs are removed by the next collection.
    pub async fn forget(&self, id: &SessionId) -> Result<bool, Error> {
        self.record.forget(&self.tenant, id).await
    }
}
