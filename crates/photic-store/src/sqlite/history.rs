//! Pages of sessions and turns, for programs that show them.

use std::collections::{BTreeMap, BTreeSet};

use photic::{Digest, Wire};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::sessions::{FACTS, facts};
use super::{Sqlite, failed};
use crate::blobs::BlobId;
use crate::error::Error;
use crate::handle::{Facts, Tenant};
use crate::record::{
    ListedTurn, MessageNode, PastChoice, SessionCursor, SessionId, SessionPage, SessionQuery,
    SessionRow, SessionSums, StoredSegment, TurnCost,
};

impl Sqlite {
    pub(super) fn page_of_sessions(
        &self,
        tenant: &Tenant,
        query: &SessionQuery,
    ) -> Result<SessionPage, Error> {
        let connection = self.connection();
        let (last, row) = query.before.map(SessionCursor::place).unzip();
        let mut statement = connection
            .prepare_cached(&format!(
                "{FACTS} AND (?2 IS NULL OR (last, session.id) < (?2, ?3))
                    AND (?4 = '' OR instr(lower(title), lower(?4))
                        OR substr(session.name, 1, length(?4)) = ?4)
                 ORDER BY last DESC, session.id DESC LIMIT ?5"
            ))
            .map_err(failed)?;
        let found = statement
            .query_map(
                params![tenant.as_str(), last, row, query.search, query.limit.saturating_add(1)],
                |row| Ok((facts(row)?, row.get::<_, i64>(9)?)),
            )
            .map_err(failed)?;
        let mut rows = Vec::new();
        for found in found {
            let (session, row) = found.map_err(failed)?;
            rows.push((session?, row));
        }
        let is_more = rows.len() > query.limit;
        rows.truncate(query.limit);
        let next = rows.last().map(|(session, row)| SessionCursor::new(session.last, *row));
        let sessions: Result<Vec<SessionRow>, Error> = rows
            .into_iter()
            .map(|(session, row)| Ok(SessionRow { session, sums: sums(&connection, row)? }))
            .collect();
        Ok(SessionPage { sessions: sessions?, next: next.filter(|_| is_more) })
    }

    pub(super) fn sums_of_session(&self, id: &SessionId) -> Result<SessionSums, Error> {
        let connection = self.connection();
        let session: i64 = connection
            .prepare_cached("SELECT id FROM session WHERE name = ?")
            .map_err(failed)?
            .query_row([id.as_str()], |row| row.get(0))
            .optional()
            .map_err(failed)?
            .ok_or_else(|| Error::NoSession(id.clone()))?;
        sums(&connection, session)
    }

    pub(super) fn list_turns(
        &self,
        id: &SessionId,
        from: u64,
        limit: usize,
    ) -> Result<Vec<ListedTurn>, Error> {
        let connection = self.connection();
        let mut statement = connection
            .prepare_cached(
                "SELECT number, wire, time, turn.images, tokens, usd, length, turn.digest, tip,
                    arrived, fates, before.places, after.places
                 FROM turn JOIN session ON session.id = turn.session
                 JOIN piece AS before ON before.id = turn.before
                 JOIN piece AS after ON after.id = turn.after
                 WHERE session.name = ? AND number >= ? ORDER BY number LIMIT ?",
            )
            .map_err(failed)?;
        let found = statement
            .query_map(params![id.as_str(), from.min(u64::MAX >> 1), limit], listed)
            .map_err(failed)?;
        let mut turns = Vec::new();
        for found in found {
            let (turn, wire, places) = found.map_err(failed)?;
            let wire = Wire::ALL.into_iter().find(|known| known.name() == wire);
            let mut beside = Vec::new();
            for places in places.into_iter().flatten() {
                beside.extend(StoredSegment::media(&places)?);
            }
            turns.push(ListedTurn {
                wire: wire.ok_or(Error::Damaged("the name of a wire"))?,
                beside,
                ..turn
            });
        }
        Ok(turns)
    }

    /// Reads the tree of messages. An index holds it, so that only messages with media are read.
    pub(super) fn read_nodes(&self, id: &SessionId) -> Result<Vec<MessageNode>, Error> {
        let connection = self.connection();
        let mut statement = connection
            .prepare_cached(
                "SELECT message.id, parent FROM message JOIN session ON session.id = message.session
                 WHERE session.name = ? ORDER BY message.id",
            )
            .map_err(failed)?;
        let found = statement
            .query_map([id.as_str()], |row| {
                let (row, parent) = (row.get(0)?, row.get(1)?);
                Ok(MessageNode { row, parent, media: Vec::new() })
            })
            .map_err(failed)?;
        let mut nodes: Vec<MessageNode> = found.collect::<Result<_, _>>().map_err(failed)?;
        let mut statement = connection
            .prepare_cached(
                "SELECT message.id, places FROM message JOIN session ON session.id = message.session
                 WHERE session.name = ? AND places IS NOT NULL ORDER BY message.id",
            )
            .map_err(failed)?;
        let found = statement
            .query_map([id.as_str()], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?)))
            .map_err(failed)?;
        for found in found {
            let (row, places) = found.map_err(failed)?;
            if let Ok(place) = nodes.binary_search_by_key(&row, |node| node.row) {
                nodes[place].media = StoredSegment::media(&places)?;
            }
        }
        Ok(nodes)
    }

    pub(super) fn read_sent(
        &self,
        id: &SessionId,
        until: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Vec<u8>)>, Error> {
        let connection = self.connection();
        let mut statement = connection
            .prepare_cached(
                "SELECT number, sent FROM turn JOIN session ON session.id = turn.session
                 WHERE session.name = ? AND number <= ? AND sent IS NOT NULL
                 ORDER BY number DESC LIMIT ?",
            )
            .map_err(failed)?;
        let found = statement
            .query_map(params![id.as_str(), until, limit], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(failed)?;
        found.collect::<Result<_, _>>().map_err(failed)
    }

    pub(super) fn read_past_choices(&self, id: &SessionId) -> Result<Vec<PastChoice>, Error> {
        let connection = self.connection();
        let mut statement = connection
            .prepare_cached(
                "SELECT picture, choice, time, past_choice.turns FROM past_choice
                 JOIN session ON session.id = past_choice.session
                 WHERE session.name = ? ORDER BY past_choice.id",
            )
            .map_err(failed)?;
        let found = statement
            .query_map([id.as_str()], |row| {
                let choice: Option<String> = row.get(1)?;
                Ok((row.get::<_, Digest>(0)?, choice, row.get(2)?, row.get(3)?))
            })
            .map_err(failed)?;
        found
            .map(|found| {
                let (picture, choice, time, after_turn) = found.map_err(failed)?;
                let choice = choice.map(|choice| serde_json::from_str(&choice)).transpose();
                let choice = choice.map_err(|_| Error::Damaged("a choice"))?;
                Ok(PastChoice { picture, choice, time, after_turn })
            })
            .collect()
    }

    pub(super) fn read_facts(
        &self,
        tenant: &Tenant,
        blobs: &BTreeSet<BlobId>,
    ) -> Result<BTreeMap<BlobId, Facts>, Error> {
        let connection = self.connection();
        let mut find = connection
            .prepare_cached(
                "SELECT facts FROM handle JOIN tenant ON tenant.id = handle.tenant
                 WHERE handle.blob = ? AND tenant.name = ? LIMIT 1",
            )
            .map_err(failed)?;
        let mut all = BTreeMap::new();
        for blob in blobs {
            let found: Option<String> = find
                .query_row(params![blob.as_bytes(), tenant.as_str()], |row| row.get(0))
                .optional()
                .map_err(failed)?;
            if let Some(facts) = found {
                let facts = serde_json::from_str(&facts).map_err(|_| Error::Damaged("facts"))?;
                all.insert(*blob, facts);
            }
        }
        Ok(all)
    }
}

/// A turn without its wire, the name of the wire, and the places of media beside the messages.
type ListedRow = (ListedTurn, String, [Option<Vec<u8>>; 2]);

fn listed(row: &Row<'_>) -> Result<ListedRow, rusqlite::Error> {
    let turn = ListedTurn {
        number: row.get(0)?,
        wire: Wire::OpenAiChat,
        time: row.get(2)?,
        cost: TurnCost { images: row.get(3)?, tokens: row.get(4)?, usd: row.get(5)? },
        length: row.get(6)?,
        digest: row.get(7)?,
        tip: row.get(8)?,
        beside: Vec::new(),
        arrived: row.get(9)?,
        fates: row.get(10)?,
    };
    Ok((turn, row.get(1)?, [row.get(11)?, row.get(12)?]))
}

fn sums(connection: &Connection, session: i64) -> Result<SessionSums, Error> {
    let (sums, wires) = connection
        .prepare_cached(
            "SELECT coalesce(sum(tokens), 0), sum(usd), count(*) - count(usd),
                coalesce(group_concat(DISTINCT wire), '')
             FROM turn WHERE session = ?",
        )
        .map_err(failed)?
        .query_row([session], |row| {
            let sums = SessionSums {
                expected_tokens: row.get(0)?,
                usd: row.get(1)?,
                unpriced: row.get(2)?,
                ..SessionSums::default()
            };
            Ok((sums, row.get::<_, String>(3)?))
        })
        .map_err(failed)?;
    let has = |wire: &Wire| wires.split(',').any(|name| name == wire.name());
    let wires = Wire::ALL.into_iter().filter(has).collect();
    connection
        .prepare_cached(
            "SELECT count(input), coalesce(sum(input), 0), coalesce(sum(cache_read), 0),
                coalesce(sum(cache_write), 0), coalesce(sum(output), 0), sum(output_usd),
                count(*) FILTER (WHERE turn IS NULL),
                (SELECT model FROM outcome WHERE session = ?1 AND model IS NOT NULL
                    ORDER BY turn DESC, id DESC LIMIT 1)
             FROM outcome WHERE session = ?1",
        )
        .map_err(failed)?
        .query_row([session], |row| {
            Ok(SessionSums {
                wires,
                reported: row.get(0)?,
                input: row.get(1)?,
                cache_read: row.get(2)?,
                cache_write: row.get(3)?,
                output: row.get(4)?,
                output_usd: row.get(5)?,
                failed: row.get(6)?,
                model: row.get(7)?,
                ..sums
            })
        })
        .map_err(failed)
}
