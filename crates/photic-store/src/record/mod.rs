//! The record: sessions, their messages without media, their turns, and the choices of the user.
//!
//! The trait covers `SQLite` and `PostgreSQL`. A backend implements statements only; `store`
//! decides what the rows mean. Rows are not rewritten, except for counters, choices and the cost of a
//! turn.
//! Messages form a tree: a client that changes its history adds a branch.

mod fates;
mod outcome;
mod page;
mod stretch;
mod turn;

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use photic::{Choice, Digest, MediaStub};
use serde::Serialize;

pub use fates::{Fates, SentFate};
pub use outcome::{Attempt, ReportedUsage, RequestEnd, RequestOutcome, StoredReply};
pub use page::{
    ArrivedMessages, ListedTurn, MessageNode, NotACursor, PastChoice, PicturePage, PictureRun,
    SentChange, SentMessages, SessionCursor, SessionPage, SessionPicture, SessionQuery, SessionRow,
    SessionSums, TurnRow,
};
pub use stretch::{CutMedia, NewSegment, StoredSegment};
pub use turn::{MadeBlob, MadeKey, NewMessage, NewTurn, StoredTurn, TurnCost};

use crate::blobs::BlobId;
use crate::error::Error;
use crate::handle::{Facts, Handle, Handles, Tenant};
use crate::media::Media;
pub use crate::session_id::{NotASession, SessionId};

/// Truncated BLAKE3 hash that names a message together with all messages before it.
pub type Chain = [u8; 16];

/// Summary of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Session {
    /// The identifier.
    pub id: SessionId,
    /// The title, taken from its first words.
    pub title: String,
    /// Number of requests.
    pub turns: u64,
    /// Number of distinct messages.
    pub messages: u64,
    /// Number of distinct images, documents and sounds that the client sent.
    pub images: u64,
    /// Number of distinct blobs: the client's media and the pictures made from them.
    pub blobs: u64,
    /// Total size of these blobs in bytes.
    pub bytes: u64,
    /// Time of its creation in milliseconds since 1970.
    pub created: i64,
    /// Time of its last turn.
    pub last: i64,
}

/// A storage of sessions and turns.
pub trait Record: Handles + Media {
    /// Creates a session.
    fn begin(
        &self,
        tenant: &Tenant,
        title: &str,
    ) -> impl Future<Output = Result<SessionId, Error>> + Send;

    /// Lists the sessions of a tenant, latest first.
    fn sessions(&self, tenant: &Tenant)
    -> impl Future<Output = Result<Vec<Session>, Error>> + Send;

    /// Returns a session of the tenant.
    fn session(
        &self,
        tenant: &Tenant,
        id: &SessionId,
    ) -> impl Future<Output = Result<Option<Session>, Error>> + Send;

    /// Finds the session that has a turn with one of these keys, and the number of that turn. The
    /// first key that is found decides; of several turns the latest is taken.
    fn continued(
        &self,
        keys: &[Chain],
    ) -> impl Future<Output = Result<Option<(SessionId, u64)>, Error>> + Send;

    /// Stores a turn durably, whole or not at all. Returns its number, from 1.
    ///
    /// Messages with a known key are not written again. Fails if the session is forgotten at the
    /// same time, and with [`Error::NotContinued`] if it does not have the message that the new ones
    /// follow.
    fn append(
        &self,
        tenant: &Tenant,
        id: &SessionId,
        entry: &NewTurn<'_>,
    ) -> impl Future<Output = Result<u64, Error>> + Send;

    /// Stores the outcome of a request, and the reply if there is one to keep. If it has a turn, the
    /// estimated cost of the turn's input is replaced by the provider's charge, as far as it is known.
    ///
    /// An outcome of a session that does not exist any more is left out.
    fn conclude(
        &self,
        tenant: &Tenant,
        outcome: &RequestOutcome,
        reply: Option<&StoredReply>,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Returns a turn of a session.
    fn turn(
        &self,
        id: &SessionId,
        number: u64,
    ) -> impl Future<Output = Result<Option<StoredTurn>, Error>> + Send;

    /// Returns the messages of a turn, in order.
    fn messages(
        &self,
        turn: &StoredTurn,
    ) -> impl Future<Output = Result<Vec<StoredSegment>, Error>> + Send;

    /// Returns which of these blobs the session is known to refer to. The others are stored once
    /// more, which is harmless.
    fn held(
        &self,
        id: &SessionId,
        blobs: &BTreeSet<BlobId>,
    ) -> impl Future<Output = Result<BTreeSet<BlobId>, Error>> + Send;

    /// Returns whether the session refers to a blob.
    fn refers(
        &self,
        id: &SessionId,
        blob: &BlobId,
    ) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Returns the stubs of blobs that a turn refers to.
    fn memories(
        &self,
        turn: &StoredTurn,
        blobs: &BTreeSet<BlobId>,
    ) -> impl Future<Output = Result<BTreeMap<BlobId, MediaStub>, Error>> + Send;

    /// Returns a picture that was made for a turn.
    fn made(
        &self,
        turn: &StoredTurn,
        key: &MadeKey,
    ) -> impl Future<Output = Result<Option<MadeBlob>, Error>> + Send;

    /// Records a choice of the user for a picture. `None` revokes it.
    fn choose(
        &self,
        tenant: &Tenant,
        id: &SessionId,
        picture: &Digest,
        choice: Option<Choice>,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Returns the choices of the user for the pictures of a session.
    fn choices(
        &self,
        id: &SessionId,
    ) -> impl Future<Output = Result<BTreeMap<Digest, Choice>, Error>> + Send;

    /// Returns every choice for the pictures of a session, in order of time.
    fn past_choices(
        &self,
        id: &SessionId,
    ) -> impl Future<Output = Result<Vec<PastChoice>, Error>> + Send;

    /// Returns a page of the sessions of a tenant, latest first.
    fn session_page(
        &self,
        tenant: &Tenant,
        query: &SessionQuery,
    ) -> impl Future<Output = Result<SessionPage, Error>> + Send;

    /// Returns the sums over the turns of a session.
    fn session_sums(
        &self,
        id: &SessionId,
    ) -> impl Future<Output = Result<SessionSums, Error>> + Send;

    /// Returns up to `limit` turns from number `from` on, in order.
    fn listed_turns(
        &self,
        id: &SessionId,
        from: u64,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<ListedTurn>, Error>> + Send;

    /// Returns the outcomes of up to `limit` turns from number `from` on, in order. Turns without one
    /// are left out.
    fn outcomes(
        &self,
        id: &SessionId,
        from: u64,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<RequestOutcome>, Error>> + Send;

    /// Returns up to `limit` outcomes without a turn, latest first: those of a session, or those that
    /// belong to none.
    fn other_outcomes(
        &self,
        tenant: &Tenant,
        id: Option<&SessionId>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<RequestOutcome>, Error>> + Send;

    /// Returns the reply to a turn, if it was stored.
    fn reply(
        &self,
        id: &SessionId,
        number: u64,
    ) -> impl Future<Output = Result<Option<StoredReply>, Error>> + Send;

    /// Returns all messages of a session without their texts, in the order of their rows.
    fn nodes(&self, id: &SessionId)
    -> impl Future<Output = Result<Vec<MessageNode>, Error>> + Send;

    /// Returns the hashes of sent messages of up to `limit` turns up to number `until`, the latest
    /// first, as [`NewTurn::sent`] has them. Turns without any are left out.
    fn sent(
        &self,
        id: &SessionId,
        until: u64,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<(u64, Vec<u8>)>, Error>> + Send;

    /// Returns the facts about blobs of the tenant that have handles.
    fn facts(
        &self,
        tenant: &Tenant,
        blobs: &BTreeSet<BlobId>,
    ) -> impl Future<Output = Result<BTreeMap<BlobId, Facts>, Error>> + Send;

    /// Forgets a session, its references, and the unpinned handles of blobs that no other session
    /// refers to. Returns whether the session existed. Its blobs are removed by the next
    /// collection.
    fn forget(
        &self,
        tenant: &Tenant,
        id: &SessionId,
    ) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Returns whether anything refers to a blob of the tenant: a session, a valid reference, a
    /// pinned handle, or a handle issued at `since` or later. If tenants share blobs, references of
    /// any tenant count.
    fn is_referenced(
        &self,
        tenant: &Tenant,
        blob: &BlobId,
        since: SystemTime,
    ) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Removes segments, stubs and handles that no session uses and that are not
    /// [referenced](Record::is_referenced), and expired references.
    fn sweep(
        &self,
        tenant: &Tenant,
        since: SystemTime,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Returns the handle of a picture, even if it was not issued.
    fn name(
        &self,
        tenant: &Tenant,
        picture: &Digest,
    ) -> impl Future<Output = Result<Handle, Error>> + Send {
        async move { Ok(Handle::of(&self.secret(tenant).await?, &BlobId::from(*picture))) }
    }
}
