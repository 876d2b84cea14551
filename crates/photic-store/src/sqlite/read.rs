//! Reads turns, and implements the [`Record`] trait.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use photic::{Choice, Digest, MediaStub, Wire};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{Sqlite, failed};
use crate::blobs::BlobId;
use crate::error::Error;
use crate::handle::{Facts, Tenant};
use crate::record::{
    Chain, ListedTurn, MadeBlob, MadeKey, MessageNode, NewTurn, PastChoice, Record, RequestOutcome,
    Session, SessionId, SessionPage, SessionQuery, SessionSums, StoredReply, StoredSegment,
    StoredTurn, TurnCost,
};

impl Sqlite {
    fn read_turn(&self, id: &SessionId, number: u64) -> Result<Option<StoredTurn>, Error> {
        let connection = self.connection();
        let found = connection
            .prepare_cached(
                "SELECT session.id, wire, tip, before, after, profile, policy, circumstances, made,
                    digest, length, images, tokens, usd, time
                 FROM turn JOIN session ON session.id = turn.session
                 WHERE session.name = ? AND number = ?",
            )
            .map_err(failed)?
            .query_row(params![id.as_str(), number], |row| {
                let pieces: [i64; 5] =
                    [row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?];
                let wire: String = row.get(1)?;
                let turn = StoredTurn {
                    number,
                    wire: Wire::OpenAiChat,
                    before: StoredSegment::default(),
                    after: StoredSegment::default(),
                    profile: String::new(),
                    policy: String::new(),
                    circumstances: String::new(),
                    digest: row.get(9)?,
                    length: row.get(10)?,
                    sums: TurnCost {
                        images: row.get(11)?,
                        tokens: row.get(12)?,
                        usd: row.get(13)?,
                    },
                    time: row.get(14)?,
                    row: (row.get(0)?, row.get(2)?, row.get(8)?),
                };
                Ok((turn, wire, pieces))
            })
            .optional()
            .map_err(failed)?;
        let Some((turn, wire, [before, after, profile, policy, circumstances])) = found else {
            return Ok(None);
        };
        let wire = Wire::ALL.into_iter().find(|known| known.name() == wire);
        let text = |id| {
            let piece = piece(&connection, id)?;
            String::from_utf8(piece.text).map_err(|_| Error::Damaged("a piece"))
        };
        Ok(Some(StoredTurn {
            wire: wire.ok_or(Error::Damaged("the name of a wire"))?,
            before: piece(&connection, before)?,
            after: piece(&connection, after)?,
            profile: text(profile)?,
            policy: text(policy)?,
            circumstances: text(circumstances)?,
            ..turn
        }))
    }

    fn read_messages(&self, turn: &StoredTurn) -> Result<Vec<StoredSegment>, Error> {
        let connection = self.connection();
        let mut find = connection
            .prepare_cached("SELECT text, places, parent FROM message WHERE id = ?")
            .map_err(failed)?;
        let mut messages = Vec::new();
        let mut next = turn.row.1;
        while let Some(id) = next {
            let (message, parent) = find
                .query_row([id], |row| Ok((kept(row)?, row.get(2)?)))
                .optional()
                .map_err(failed)?
                .ok_or(Error::Damaged("a message is missing"))?;
            messages.push(message?);
            next = parent;
        }
        messages.reverse();
        Ok(messages)
    }

    fn find_held(
        &self,
        id: &SessionId,
        blobs: &BTreeSet<BlobId>,
    ) -> Result<BTreeSet<BlobId>, Error> {
        let connection = self.connection();
        let mut find = connection
            .prepare_cached(
                "SELECT 1 FROM held JOIN session ON session.id = held.session
             WHERE session.name = ? AND blob = ?",
            )
            .map_err(failed)?;
        let mut held = BTreeSet::new();
        for blob in blobs {
            if find.exists(params![id.as_str(), blob.as_bytes()]).map_err(failed)? {
                held.insert(*blob);
            }
        }
        Ok(held)
    }

    fn read_memories(
        &self,
        blobs: &BTreeSet<BlobId>,
    ) -> Result<BTreeMap<BlobId, MediaStub>, Error> {
        let connection = self.connection();
        let mut find = connection
            .prepare_cached("SELECT memory FROM memory WHERE blob = ?")
            .map_err(failed)?;
        let mut memories = BTreeMap::new();
        for blob in blobs {
            let found: Option<String> =
                find.query_row([blob.as_bytes()], |row| row.get(0)).optional().map_err(failed)?;
            if let Some(memory) = found {
                let memory =
                    serde_json::from_str(&memory).map_err(|_| Error::Damaged("a memory"))?;
                memories.insert(*blob, memory);
            }
        }
        Ok(memories)
    }

    fn read_made(&self, turn: &StoredTurn, key: &MadeKey) -> Result<Option<MadeBlob>, Error> {
        let connection = self.connection();
        let (session, _, until) = turn.row;
        let found = connection
            .prepare_cached(
                "SELECT blob, media_type, width, height FROM made
                 WHERE session = ? AND key = ? AND id <= ? ORDER BY id DESC LIMIT 1",
            )
            .map_err(failed)?
            .query_row(params![session, key, until], |row| {
                let blob: Option<[u8; 32]> = row.get(0)?;
                let (media_type, size) = (row.get(1)?, (row.get(2)?, row.get(3)?));
                Ok(blob.map(|blob| MadeBlob { blob: blob.into(), media_type, size }))
            })
            .optional()
            .map_err(failed)?;
        Ok(found.flatten())
    }
}

fn piece(connection: &Connection, id: i64) -> Result<StoredSegment, Error> {
    connection
        .prepare_cached("SELECT text, places FROM piece WHERE id = ?")
        .map_err(failed)?
        .query_row([id], kept)
        .optional()
        .map_err(failed)?
        .ok_or(Error::Damaged("a piece is missing"))?
}

fn kept(row: &Row<'_>) -> Result<Result<StoredSegment, Error>, rusqlite::Error> {
    let places: Option<Vec<u8>> = row.get(1)?;
    Ok(StoredSegment::read(row.get(0)?, &places.unwrap_or_default()))
}

impl Record for Sqlite {
    async fn begin(&self, tenant: &Tenant, title: &str) -> Result<SessionId, Error> {
        self.begin_session(tenant, title)
    }

    async fn sessions(&self, tenant: &Tenant) -> Result<Vec<Session>, Error> {
        self.all_sessions(tenant)
    }

    async fn session(&self, tenant: &Tenant, id: &SessionId) -> Result<Option<Session>, Error> {
        self.one_session(tenant, id)
    }

    async fn continued(&self, keys: &[Chain]) -> Result<Option<(SessionId, u64)>, Error> {
        self.continued_session(keys)
    }

    async fn append(
        &self,
        tenant: &Tenant,
        id: &SessionId,
        entry: &NewTurn<'_>,
    ) -> Result<u64, Error> {
        self.append_turn(tenant, id, entry)
    }

    async fn conclude(
        &self,
        tenant: &Tenant,
        outcome: &RequestOutcome,
        reply: Option<&StoredReply>,
    ) -> Result<(), Error> {
        self.write_outcome(tenant, outcome, reply)
    }

    async fn turn(&self, id: &SessionId, number: u64) -> Result<Option<StoredTurn>, Error> {
        self.read_turn(id, number)
    }

    async fn messages(&self, turn: &StoredTurn) -> Result<Vec<StoredSegment>, Error> {
        self.read_messages(turn)
    }

    async fn held(
        &self,
        id: &SessionId,
        blobs: &BTreeSet<BlobId>,
    ) -> Result<BTreeSet<BlobId>, Error> {
        self.find_held(id, blobs)
    }

    async fn refers(&self, id: &SessionId, blob: &BlobId) -> Result<bool, Error> {
        Ok(!self.find_held(id, &[*blob].into())?.is_empty())
    }

    async fn memories(
        &self,
        _turn: &StoredTurn,
        blobs: &BTreeSet<BlobId>,
    ) -> Result<BTreeMap<BlobId, MediaStub>, Error> {
        self.read_memories(blobs)
    }

    async fn made(&self, turn: &StoredTurn, key: &MadeKey) -> Result<Option<MadeBlob>, Error> {
        self.read_made(turn, key)
    }

    async fn choose(
        &self,
        tenant: &Tenant,
        id: &SessionId,
        picture: &Digest,
        choice: Option<Choice>,
    ) -> Result<(), Error> {
        self.choose_for(tenant, id, picture, choice)
    }

    async fn choices(&self, id: &SessionId) -> Result<BTreeMap<Digest, Choice>, Error> {
        self.choices_of(id)
    }

    async fn past_choices(&self, id: &SessionId) -> Result<Vec<PastChoice>, Error> {
        self.read_past_choices(id)
    }

    async fn session_page(
        &self,
        tenant: &Tenant,
        query: &SessionQuery,
    ) -> Result<SessionPage, Error> {
        self.page_of_sessions(tenant, query)
    }

    async fn session_sums(&self, id: &SessionId) -> Result<SessionSums, Error> {
        self.sums_of_session(id)
    }

    async fn listed_turns(
        &self,
        id: &SessionId,
        from: u64,
        limit: usize,
    ) -> Result<Vec<ListedTurn>, Error> {
        self.list_turns(id, from, limit)
    }

    async fn outcomes(
        &self,
        id: &SessionId,
        from: u64,
        limit: usize,
    ) -> Result<Vec<RequestOutcome>, Error> {
        self.outcomes_of_turns(id, from, limit)
    }

    async fn other_outcomes(
        &self,
        tenant: &Tenant,
        id: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<RequestOutcome>, Error> {
        self.outcomes_without_turn(tenant, id, limit)
    }

    async fn reply(&self, id: &SessionId, number: u64) -> Result<Option<StoredReply>, Error> {
        self.read_reply(id, number)
    }

    async fn nodes(&self, id: &SessionId) -> Result<Vec<MessageNode>, Error> {
        self.read_nodes(id)
    }

    async fn sent(
        &self,
        id: &SessionId,
        until: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Vec<u8>)>, Error> {
        self.read_sent(id, until, limit)
    }

    async fn facts(
        &self,
        tenant: &Tenant,
        blobs: &BTreeSet<BlobId>,
    ) -> Result<BTreeMap<BlobId, Facts>, Error> {
        self.read_facts(tenant, blobs)
    }

    async fn forget(&self, tenant: &Tenant, id: &SessionId) -> Result<bool, Error> {
        self.forget_session(tenant, id)
    }

    async fn is_referenced(
        &self,
        _tenant: &Tenant,
        blob: &BlobId,
        since: SystemTime,
    ) -> Result<bool, Error> {
        self.is_reached(blob, since)
    }

    async fn sweep(&self, _tenant: &Tenant, since: SystemTime) -> Result<(), Error> {
        self.sweep_unused(since)
    }
}
