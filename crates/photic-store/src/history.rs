//! Reads recorded sessions for programs that show them to people.
//!
//! [`History`] is implemented by every [`Store`] and limited to its tenant. It can be used as a trait
//! object, so that a program serves the local record and that of a fleet alike.

use std::pin::Pin;

use photic::{Choice, Digest};

use crate::blobs::Blobs;
use crate::error::Error;
use crate::record::{
    PastChoice, PicturePage, Record, RequestOutcome, SessionId, SessionPage, SessionQuery,
    SessionRow, StoredReply, StoredTurn, TurnRow,
};
use crate::store::{BodySide, MessagePage, PlannedTurn, Store, TurnDetails};

/// A future on the heap.
pub type BoxFuture<'f, T> = Pin<Box<dyn Future<Output = T> + Send + 'f>>;

/// The recorded sessions of one tenant.
///
/// A session of another tenant is answered with [`Error::NoSession`], like one that does not exist.
/// Futures of the local store are ready at the first poll, but read files until then: an async
/// program polls them on a thread for blocking work, such as with [`wait`](crate::wait()).
///
/// ```
/// use std::sync::Arc;
///
/// use photic_store::record::SessionQuery;
/// use photic_store::{History, LocalStore, wait};
///
/// # let directory = std::env::temp_dir().join(format!("photic-history-doc-{}", std::process::id()));
/// let history: Arc<dyn History> = Arc::new(LocalStore::open(&directory)?);
/// let page = wait(history.sessions(&SessionQuery::default()))?;
/// assert!(page.sessions.is_empty() && page.next.is_none());
/// # std::fs::remove_dir_all(directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait History: std::fmt::Debug + Send + Sync {
    /// Returns a page of sessions, latest first, with their sums.
    fn sessions<'h>(&'h self, query: &'h SessionQuery)
    -> BoxFuture<'h, Result<SessionPage, Error>>;

    /// Returns a session with its sums.
    fn session<'h>(&'h self, id: &'h SessionId) -> BoxFuture<'h, Result<SessionRow, Error>>;

    /// Returns up to `limit` turns from the one with the number `from` on, in order. No body is made
    /// again.
    fn turns<'h>(
        &'h self,
        id: &'h SessionId,
        from: u64,
        limit: usize,
    ) -> BoxFuture<'h, Result<Vec<TurnRow>, Error>>;

    /// Returns a turn with the inputs of its plan: profile, policy and circumstances. The lessons in
    /// force are in the profile ([`StoredTurn::lessons`]).
    fn turn<'h>(
        &'h self,
        id: &'h SessionId,
        number: u64,
    ) -> BoxFuture<'h, Result<StoredTurn, Error>>;

    /// Returns the media of a turn with their fates, sizes and prices.
    fn look<'h>(
        &'h self,
        id: &'h SessionId,
        number: u64,
    ) -> BoxFuture<'h, Result<TurnDetails, Error>>;

    /// Plans a turn again, as it was: the fate of each medium, the changes, and both bodies with
    /// numbered stand-ins for media.
    fn planned<'h>(
        &'h self,
        id: &'h SessionId,
        number: u64,
    ) -> BoxFuture<'h, Result<PlannedTurn, Error>>;

    /// Returns up to `limit` messages of a turn from number `from`, counted from 0.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::NotReproduced`] for the side of the model if this version of photic would
    /// send something else.
    fn messages<'h>(
        &'h self,
        id: &'h SessionId,
        number: u64,
        side: BodySide,
        from: usize,
        limit: usize,
    ) -> BoxFuture<'h, Result<MessagePage, Error>>;

    /// Returns the body of a turn, byte for byte.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::NotReproduced`] for the side of the model if this version of photic would
    /// send something else.
    fn body<'h>(
        &'h self,
        id: &'h SessionId,
        number: u64,
        side: BodySide,
    ) -> BoxFuture<'h, Result<Vec<u8>, Error>>;

    /// Returns up to `limit` pictures of a session from number `from`, counted from 1.
    fn pictures<'h>(
        &'h self,
        id: &'h SessionId,
        from: u32,
        limit: usize,
    ) -> BoxFuture<'h, Result<PicturePage, Error>>;

    /// Returns the bytes of a blob that the session refers to: an original, or a picture that was
    /// made for a request. Other blobs are answered like ones that do not exist.
    fn blob<'h>(
        &'h self,
        id: &'h SessionId,
        digest: &'h Digest,
    ) -> BoxFuture<'h, Result<Vec<u8>, Error>>;

    /// Returns the reply to a turn, if it was recorded (`record.replies`).
    fn reply<'h>(
        &'h self,
        id: &'h SessionId,
        number: u64,
    ) -> BoxFuture<'h, Result<Option<StoredReply>, Error>>;

    /// Returns the outcomes of requests that are no turns, latest first: those of a session that
    /// failed for good, or without a session all others that were passed on unread or failed.
    fn other_outcomes<'h>(
        &'h self,
        id: Option<&'h SessionId>,
        limit: usize,
    ) -> BoxFuture<'h, Result<Vec<RequestOutcome>, Error>>;

    /// Returns every choice of the user for the pictures of a session, in order of time.
    fn past_choices<'h>(
        &'h self,
        id: &'h SessionId,
    ) -> BoxFuture<'h, Result<Vec<PastChoice>, Error>>;

    /// Records a choice of the user for a picture, from the next turn on. `None` takes it back.
    fn choose<'h>(
        &'h self,
        id: &'h SessionId,
        picture: &'h Digest,
        choice: Option<Choice>,
    ) -> BoxFuture<'h, Result<(), Error>>;
}

impl<R, B> History for Store<R, B>
where
    R: Record + std::fmt::Debug,
    B: Blobs + std::fmt::Debug,
{
    fn sessions<'h>(
        &'h self,
        query: &'h SessionQuery,
    ) -> BoxFuture<'h, Result<SessionPage, Error>> {
        Box::pin(self.session_page(query))
    }

    fn session<'h>(&'h self, id: &'h SessionId) -> BoxFuture<'h, Result<SessionRow, Error>> {
        Box::pin(self.session_row(id))
    }

    fn turns<'h>(
        &'h self,
        id: &'h SessionId,
        from: u64,
        limit: usize,
    ) -> BoxFuture<'h, Result<Vec<TurnRow>, Error>> {
        Box::pin(self.turn_rows(id, from, limit))
    }

    fn turn<'h>(
        &'h self,
        id: &'h SessionId,
        number: u64,
    ) -> BoxFuture<'h, Result<StoredTurn, Error>> {
        Box::pin(Self::turn(self, id, number))
    }

    fn look<'h>(
        &'h self,
        id: &'h SessionId,
        number: u64,
    ) -> BoxFuture<'h, Result<TurnDetails, Error>> {
        Box::pin(Self::look(self, id, number))
    }

    fn planned<'h>(
        &'h self,
        id: &'h SessionId,
        number: u64,
    ) -> BoxFuture<'h, Result<PlannedTurn, Error>> {
        Box::pin(Self::planned(self, id, number))
    }

    fn messages<'h>(
        &'h self,
        id: &'h SessionId,
        number: u64,
        side: BodySide,
        from: usize,
        limit: usize,
    ) -> BoxFuture<'h, Result<MessagePage, Error>> {
        Box::pin(self.message_page(id, number, side, from, limit))
    }

    fn body<'h>(
        &'h self,
        id: &'h SessionId,
        number: u64,
        side: BodySide,
    ) -> BoxFuture<'h, Result<Vec<u8>, Error>> {
        Box::pin(async move {
            match side {
                BodySide::Client => Self::body(self, id, number).await,
                BodySide::Model => Ok(self.lower(id, number).await?.body),
            }
        })
    }

    fn pictures<'h>(
        &'h self,
        id: &'h SessionId,
        from: u32,
        limit: usize,
    ) -> BoxFuture<'h, Result<PicturePage, Error>> {
        Box::pin(self.picture_page(id, from, limit))
    }

    fn blob<'h>(
        &'h self,
        id: &'h SessionId,
        digest: &'h Digest,
    ) -> BoxFuture<'h, Result<Vec<u8>, Error>> {
        Box::pin(self.blob_of(id, digest))
    }

    fn reply<'h>(
        &'h self,
        id: &'h SessionId,
        number: u64,
    ) -> BoxFuture<'h, Result<Option<StoredReply>, Error>> {
        Box::pin(Self::reply(self, id, number))
    }

    fn other_outcomes<'h>(
        &'h self,
        id: Option<&'h SessionId>,
        limit: usize,
    ) -> BoxFuture<'h, Result<Vec<RequestOutcome>, Error>> {
        Box::pin(Self::other_outcomes(self, id, limit))
    }

    fn past_choices<'h>(
        &'h self,
        id: &'h SessionId,
    ) -> BoxFuture<'h, Result<Vec<PastChoice>, Error>> {
        Box::pin(Self::past_choices(self, id))
    }

    fn choose<'h>(
        &'h self,
        id: &'h SessionId,
        picture: &'h Digest,
        choice: Option<Choice>,
    ) -> BoxFuture<'h, Result<(), Error>> {
        Box::pin(Self::choose(self, id, picture, choice))
    }
}
