//! Reads turns, and implements the [`Record`] trait.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use photic::{Choice, Digest, MediaStub, Wire};
use photic_store::record::{
    Chain, ListedTurn, MadeBlob, MadeKey, MessageNode, NewTurn, PastChoice, Record, RequestOutcome,
    Session, SessionId, SessionPage, SessionQuery, SessionSums, StoredReply, StoredSegment,
    StoredTurn, TurnCost,
};
use photic_store::{BlobId, Error, Facts, Tenant};
use sqlx::Row as _;

use super::{Answer, Postgres, day_of, failed, numbers};

/// Text of a segment without its media, and their positions.
type Text = Vec<u8>;
type Places = Option<Vec<u8>>;

impl Postgres {
    async fn read_turn(&self, id: &SessionId, number: u64) -> Result<Option<StoredTurn>, Error> {
        let (low, high) = numbers(id);
        let found = sqlx::query(
            "SELECT session.id, session.tenant, wire, tip, made, digest, length, images, tokens,
                usd, time, ARRAY[before, after, profile, policy, circumstances]
             FROM turn JOIN session ON session.id = turn.session
             WHERE session.name = $1 AND session.id >= $2 AND session.id < $3 AND number = $4
                AND turn.session >= $2 AND turn.session < $3",
        )
        .bind(id.as_str())
        .bind(low)
        .bind(high)
        .bind(number.cast_signed())
        .fetch_optional(&mut *self.connection().await?)
        .answer()
        .await?;
        let Some(row) = found else { return Ok(None) };
        let count = |at: usize| row.try_get::<i64, _>(at).map_err(failed);
        let wire: &str = row.try_get(2).map_err(failed)?;
        let wire = Wire::ALL.into_iter().find(|known| known.name() == wire);
        let session = count(0)?;
        let names: Vec<Vec<u8>> = row.try_get(11).map_err(failed)?;
        let pieces = self.pieces(day_of(session), count(1)?, &names).await?;
        let piece = |at: usize| {
            let (text, places) = names
                .get(at)
                .and_then(|name| pieces.get(name))
                .cloned()
                .ok_or(Error::Damaged("a piece is missing"))?;
            StoredSegment::read(text, &places.unwrap_or_default())
        };
        let text = |at| String::from_utf8(piece(at)?.text).map_err(|_| Error::Damaged("a piece"));
        Ok(Some(StoredTurn {
            number,
            wire: wire.ok_or(Error::Damaged("the name of a wire"))?,
            before: piece(0)?,
            after: piece(1)?,
            profile: text(2)?,
            policy: text(3)?,
            circumstances: text(4)?,
            digest: row.try_get(5).map_err(failed)?,
            length: count(6)? as u64,
            sums: TurnCost {
                images: count(7)? as u64,
                tokens: count(8)? as u64,
                usd: row.try_get(9).map_err(failed)?,
            },
            time: count(10)?,
            row: (session, row.try_get(3).map_err(failed)?, count(4)?),
        }))
    }

    async fn pieces(
        &self,
        day: i32,
        tenant: i64,
        names: &[Vec<u8>],
    ) -> Result<BTreeMap<Vec<u8>, (Text, Places)>, Error> {
        let found: Vec<(Vec<u8>, Text, Places)> = sqlx::query_as(
            "SELECT digest, text, places FROM piece
             WHERE day = $1 AND tenant = $2 AND digest = ANY($3)",
        )
        .bind(day)
        .bind(tenant)
        .bind(names)
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(found.into_iter().map(|(name, text, places)| (name, (text, places))).collect())
    }

    async fn read_messages(&self, turn: &StoredTurn) -> Result<Vec<StoredSegment>, Error> {
        let (session, Some(tip), _) = turn.row else { return Ok(Vec::new()) };
        let found: Vec<(Option<i64>, Text, Places)> = sqlx::query_as(
            "WITH RECURSIVE branch AS (
                SELECT id, parent, text, places, 0 AS depth FROM message
                WHERE session = $1 AND id = $2
                UNION ALL
                SELECT message.id, message.parent, message.text, message.places, depth + 1
                FROM branch JOIN message ON message.session = $1 AND message.id = branch.parent)
             SELECT parent, text, places FROM branch ORDER BY depth DESC",
        )
        .bind(session)
        .bind(tip)
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        if found.first().is_none_or(|(parent, ..)| parent.is_some()) {
            return Err(Error::Damaged("a message is missing"));
        }
        let read = |(_, text, places): (_, _, Places)| {
            StoredSegment::read(text, &places.unwrap_or_default())
        };
        found.into_iter().map(read).collect()
    }

    async fn read_memories(
        &self,
        turn: &StoredTurn,
        blobs: &BTreeSet<BlobId>,
    ) -> Result<BTreeMap<BlobId, MediaStub>, Error> {
        let found: Vec<(Digest, String)> = sqlx::query_as(
            "SELECT blob, memory FROM held
             WHERE session = $1 AND blob = ANY($2) AND memory IS NOT NULL",
        )
        .bind(turn.row.0)
        .bind(digests(blobs))
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        let read = |(blob, memory): (Digest, String)| {
            let memory = serde_json::from_str(&memory).map_err(|_| Error::Damaged("a memory"))?;
            Ok((blob.into(), memory))
        };
        found.into_iter().map(read).collect()
    }

    async fn read_made(&self, turn: &StoredTurn, key: &MadeKey) -> Result<Option<MadeBlob>, Error> {
        let (session, _, until) = turn.row;
        let found: Option<(Option<Digest>, String, i64, i64)> = sqlx::query_as(
            "SELECT blob, media_type, width, height FROM made
             WHERE session = $1 AND key = $2 AND id <= $3 ORDER BY id DESC LIMIT 1",
        )
        .bind(session)
        .bind(key)
        .bind(until)
        .fetch_optional(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(found.and_then(|(blob, media_type, width, height)| {
            Some(MadeBlob { blob: blob?.into(), media_type, size: (width as u32, height as u32) })
        }))
    }
}

pub(super) fn digests(blobs: &BTreeSet<BlobId>) -> Vec<Digest> {
    blobs.iter().map(|blob| *blob.as_bytes()).collect()
}

impl Record for Postgres {
    async fn begin(&self, tenant: &Tenant, title: &str) -> Result<SessionId, Error> {
        self.begin_session(tenant, title).await
    }

    async fn sessions(&self, tenant: &Tenant) -> Result<Vec<Session>, Error> {
        self.all_sessions(tenant).await
    }

    async fn session(&self, tenant: &Tenant, id: &SessionId) -> Result<Option<Session>, Error> {
        self.one_session(tenant, id).await
    }

    async fn continued(&self, keys: &[Chain]) -> Result<Option<(SessionId, u64)>, Error> {
        self.continued_session(keys).await
    }

    async fn append(
        &self,
        tenant: &Tenant,
        id: &SessionId,
        entry: &NewTurn<'_>,
    ) -> Result<u64, Error> {
        self.append_turn(tenant, id, entry).await
    }

    async fn conclude(
        &self,
        tenant: &Tenant,
        outcome: &RequestOutcome,
        reply: Option<&StoredReply>,
    ) -> Result<(), Error> {
        self.write_outcome(tenant, outcome, reply).await
    }

    async fn turn(&self, id: &SessionId, number: u64) -> Result<Option<StoredTurn>, Error> {
        self.read_turn(id, number).await
    }

    async fn messages(&self, turn: &StoredTurn) -> Result<Vec<StoredSegment>, Error> {
        self.read_messages(turn).await
    }

    async fn held(
        &self,
        id: &SessionId,
        blobs: &BTreeSet<BlobId>,
    ) -> Result<BTreeSet<BlobId>, Error> {
        self.find_held(id, blobs).await
    }

    async fn refers(&self, id: &SessionId, blob: &BlobId) -> Result<bool, Error> {
        self.refers_to(id, blob).await
    }

    async fn memories(
        &self,
        turn: &StoredTurn,
        blobs: &BTreeSet<BlobId>,
    ) -> Result<BTreeMap<BlobId, MediaStub>, Error> {
        self.read_memories(turn, blobs).await
    }

    async fn made(&self, turn: &StoredTurn, key: &MadeKey) -> Result<Option<MadeBlob>, Error> {
        self.read_made(turn, key).await
    }

    async fn choose(
        &self,
        tenant: &Tenant,
        id: &SessionId,
        picture: &Digest,
        choice: Option<Choice>,
    ) -> Result<(), Error> {
        self.choose_for(tenant, id, picture, choice).await
    }

    async fn choices(&self, id: &SessionId) -> Result<BTreeMap<Digest, Choice>, Error> {
        self.choices_of(id).await
    }

    async fn past_choices(&self, id: &SessionId) -> Result<Vec<PastChoice>, Error> {
        self.read_past_choices(id).await
    }

    async fn session_page(
        &self,
        tenant: &Tenant,
        query: &SessionQuery,
    ) -> Result<SessionPage, Error> {
        self.page_of_sessions(tenant, query).await
    }

    async fn session_sums(&self, id: &SessionId) -> Result<SessionSums, Error> {
        self.sums_of_session(id).await
    }

    async fn listed_turns(
        &self,
        id: &SessionId,
        from: u64,
        limit: usize,
    ) -> Result<Vec<ListedTurn>, Error> {
        self.list_turns(id, from, limit).await
    }

    async fn outcomes(
        &self,
        id: &SessionId,
        from: u64,
        limit: usize,
    ) -> Result<Vec<RequestOutcome>, Error> {
        self.outcomes_of_turns(id, from, limit).await
    }

    async fn other_outcomes(
        &self,
        tenant: &Tenant,
        id: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<RequestOutcome>, Error> {
        self.outcomes_without_turn(tenant, id, limit).await
    }

    async fn reply(&self, id: &SessionId, number: u64) -> Result<Option<StoredReply>, Error> {
        self.read_reply(id, number).await
    }

    async fn nodes(&self, id: &SessionId) -> Result<Vec<MessageNode>, Error> {
        self.read_nodes(id).await
    }

    async fn sent(
        &self,
        id: &SessionId,
        until: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Vec<u8>)>, Error> {
        self.read_sent(id, until, limit).await
    }

    async fn facts(
        &self,
        tenant: &Tenant,
        blobs: &BTreeSet<BlobId>,
    ) -> Result<BTreeMap<BlobId, Facts>, Error> {
        self.read_facts(tenant, blobs).await
    }

    async fn forget(&self, tenant: &Tenant, id: &SessionId) -> Result<bool, Error> {
        self.forget_session(tenant, id).await
    }

    async fn is_referenced(
        &self,
        tenant: &Tenant,
        blob: &BlobId,
        since: SystemTime,
    ) -> Result<bool, Error> {
        self.is_reached(tenant, blob, since).await
    }

    async fn sweep(&self, tenant: &Tenant, since: SystemTime) -> Result<(), Error> {
        self.sweep_unused(tenant, since).await
    }
}
