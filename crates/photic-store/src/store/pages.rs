//! Pages of sessions and turns, and what is stored beside turns: outcomes, replies, past choices.

use std::collections::BTreeMap;

use photic::Digest;

use super::Store;
use super::pictures::Pictures;
use super::sent::{StoredHashes, resolve};
use crate::blobs::{BlobId, Blobs};
use crate::error::{BlobError, Error};
use crate::record::{
    ArrivedMessages, Fates, PastChoice, Record, RequestOutcome, SentChange, SessionId, SessionPage,
    SessionQuery, SessionRow, StoredReply, TurnRow,
};

/// Maximum number of turns and sessions in a page.
const MAX_PAGE: usize = 1000;

impl<R: Record, B: Blobs> Store<R, B> {
    /// Returns a page of sessions, latest first, with their sums.
    pub async fn session_page(&self, query: &SessionQuery) -> Result<SessionPage, Error> {
        let query = SessionQuery { limit: query.limit.clamp(1, MAX_PAGE), ..query.clone() };
        self.record.session_page(&self.tenant, &query).await
    }

    /// Returns a session with its sums.
    pub async fn session_row(&self, id: &SessionId) -> Result<SessionRow, Error> {
        let session = self.session(id).await?;
        let sums = self.record.session_sums(&session.id).await?;
        Ok(SessionRow { session, sums })
    }

    /// Returns up to `limit` turns from the one with the number `from` on, in order. No body is made
    /// again.
    pub async fn turn_rows(
        &self,
        id: &SessionId,
        from: u64,
        limit: usize,
    ) -> Result<Vec<TurnRow>, Error> {
        let session = self.session(id).await?.id;
        let limit = limit.min(MAX_PAGE);
        let turns = self.record.listed_turns(&session, from.max(1), limit).await?;
        let Some(last) = turns.last() else { return Ok(Vec::new()) };
        let outcomes = self.record.outcomes(&session, from.max(1), limit).await?;
        let outcomes = outcomes.into_iter().filter_map(|one| Some((one.turn?, one)));
        let mut outcomes: BTreeMap<u64, RequestOutcome> = outcomes.collect();
        // Also the turn before the first one, with which it is compared.
        let hashes = self.stored_hashes(&session, last.number, turns.len() + 1).await?;
        let pictures = Pictures::of(self.record.nodes(&session).await?, &turns);
        let mut rows = Vec::with_capacity(turns.len());
        for turn in &turns {
            let arrived = turn.arrived.as_deref().map(ArrivedMessages::read).transpose()?;
            rows.push(TurnRow {
                number: turn.number,
                wire: turn.wire,
                time: turn.time,
                cost: turn.cost,
                length: turn.length,
                digest: turn.digest,
                arrived,
                fates: turn.fates.as_deref().map(Fates::read).transpose()?,
                pictures: pictures.runs(turn),
                change: self.change(&session, turn.number, &hashes).await?,
                outcome: outcomes.remove(&turn.number),
            });
        }
        Ok(rows)
    }

    /// Compares a turn with the one before it, as they were sent.
    async fn change(
        &self,
        id: &SessionId,
        number: u64,
        hashes: &BTreeMap<u64, StoredHashes>,
    ) -> Result<Option<SentChange>, Error> {
        let before = number.saturating_sub(1);
        let Some((this, former)) = hashes.get(&number).zip(hashes.get(&before)) else {
            return Ok(None);
        };
        let is_frame_changed = this.frame != former.frame;
        let messages = this.messages() as u64;
        if this.base == before && this.same > 0 {
            return Ok(Some(SentChange { same: this.same as u64, messages, is_frame_changed }));
        }
        // Another branch, or stored whole.
        let this = match resolve(number, hashes) {
            Some(sent) => Some(sent),
            None => self.sent_messages(id, number).await?,
        };
        let former = match resolve(before, hashes) {
            Some(sent) => Some(sent),
            None => self.sent_messages(id, before).await?,
        };
        let Some((this, former)) = this.zip(former) else { return Ok(None) };
        let each = this.messages.iter().zip(&former.messages);
        let same = each.take_while(|(this, former)| this == former).count() as u64;
        Ok(Some(SentChange { same, messages, is_frame_changed }))
    }

    /// Returns up to `limit` outcomes without a turn, latest first: those of a session, or those that
    /// belong to none.
    pub async fn other_outcomes(
        &self,
        id: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<RequestOutcome>, Error> {
        if let Some(id) = id {
            self.session(id).await?;
        }
        self.record.other_outcomes(&self.tenant, id, limit.min(MAX_PAGE)).await
    }

    /// Stores the outcome of a request, and the reply if there is one to keep.
    pub async fn conclude(
        &self,
        outcome: &RequestOutcome,
        reply: Option<&StoredReply>,
    ) -> Result<(), Error> {
        self.record.conclude(&self.tenant, outcome, reply).await
    }

    /// Returns the reply to a turn, if it was stored.
    pub async fn reply(&self, id: &SessionId, number: u64) -> Result<Option<StoredReply>, Error> {
        self.record.reply(&self.session(id).await?.id, number).await
    }

    /// Returns every choice of the user for the pictures of a session, in order of time.
    pub async fn past_choices(&self, id: &SessionId) -> Result<Vec<PastChoice>, Error> {
        self.record.past_choices(&self.session(id).await?.id).await
    }

    /// Returns the bytes of a blob that the session refers to.
    pub async fn blob_of(&self, id: &SessionId, digest: &Digest) -> Result<Vec<u8>, Error> {
        let session = self.session(id).await?.id;
        let blob = BlobId::from(*digest);
        if !self.record.refers(&session, &blob).await? {
            return Err(BlobError::Absent(blob).into());
        }
        Ok(self.blobs.get(&blob).await?)
    }
}
