//! Pages of sessions and turns, for programs that show them.

use std::collections::{BTreeMap, BTreeSet};

use photic::{Digest, Wire};
use photic_store::record::{
    ListedTurn, MessageNode, PastChoice, SessionCursor, SessionId, SessionPage, SessionQuery,
    SessionRow, SessionSums, StoredSegment, TurnCost,
};
use photic_store::{BlobId, Error, Facts, Tenant};
use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::read::digests;
use super::sessions::{facts, session_facts};
use super::{Answer, Postgres, failed, numbers};

impl Postgres {
    pub(super) async fn page_of_sessions(
        &self,
        tenant: &Tenant,
        query: &SessionQuery,
    ) -> Result<SessionPage, Error> {
        let (last, row) = query.before.map(SessionCursor::place).unzip();
        let found = sqlx::query(session_facts!(
            "AND ($2::bigint IS NULL OR (last, session.id) < ($2, $3))
             AND ($4 = '' OR strpos(lower(title), lower($4)) > 0 OR starts_with(session.name, $4))
             ORDER BY last DESC, session.id DESC LIMIT $5"
        ))
        .bind(tenant.as_str())
        .bind(last)
        .bind(row)
        .bind(query.search.replace('\0', ""))
        .bind(query.limit.saturating_add(1).cast_signed() as i64)
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        let is_more = found.len() > query.limit;
        let mut rows = Vec::new();
        for row in found.iter().take(query.limit) {
            rows.push((facts(row)?, row.try_get::<i64, _>(9).map_err(failed)?));
        }
        let next = rows.last().map(|(session, row)| SessionCursor::new(session.last, *row));
        let ids: Vec<i64> = rows.iter().map(|(_, row)| *row).collect();
        let mut sums = self.sums(&ids).await?;
        let sessions = rows
            .into_iter()
            .map(|(session, row)| SessionRow::new(session, sums.remove(&row).unwrap_or_default()));
        Ok(SessionPage::new(sessions.collect(), next.filter(|_| is_more)))
    }

    pub(super) async fn sums_of_session(&self, id: &SessionId) -> Result<SessionSums, Error> {
        let (low, high) = numbers(id);
        let session: Option<i64> =
            sqlx::query_scalar("SELECT id FROM session WHERE name = $1 AND id >= $2 AND id < $3")
                .bind(id.as_str())
                .bind(low)
                .bind(high)
                .fetch_optional(&mut *self.connection().await?)
                .answer()
                .await?;
        let session = session.ok_or_else(|| Error::NoSession(id.clone()))?;
        Ok(self.sums(&[session]).await?.remove(&session).unwrap_or_default())
    }

    async fn sums(&self, sessions: &[i64]) -> Result<BTreeMap<i64, SessionSums>, Error> {
        let found = sqlx::query(
            "SELECT of.id, turns.*, outcomes.* FROM unnest($1::bigint[]) AS of (id),
             LATERAL (SELECT coalesce(sum(tokens), 0)::bigint AS tokens, sum(usd) AS usd,
                    count(*) - count(usd) AS unpriced,
                    coalesce(string_agg(DISTINCT wire, ','), '') AS wires
                FROM turn WHERE turn.session = of.id) AS turns,
             LATERAL (SELECT count(input) AS reported, coalesce(sum(input), 0)::bigint AS input,
                    coalesce(sum(cache_read), 0)::bigint AS cache_read,
                    coalesce(sum(cache_write), 0)::bigint AS cache_write,
                    coalesce(sum(output), 0)::bigint AS output, sum(output_usd) AS output_usd,
                    count(*) FILTER (WHERE turn IS NULL) AS failed,
                    (array_agg(model ORDER BY turn DESC NULLS LAST, outcome.id DESC)
                        FILTER (WHERE model IS NOT NULL))[1] AS model
                FROM outcome WHERE outcome.session = of.id) AS outcomes",
        )
        .bind(sessions)
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        found.iter().map(sums).collect()
    }

    pub(super) async fn list_turns(
        &self,
        id: &SessionId,
        from: u64,
        limit: usize,
    ) -> Result<Vec<ListedTurn>, Error> {
        let (low, high) = numbers(id);
        let found = sqlx::query(
            "SELECT number, wire, time, turn.images, tokens, usd, length, turn.digest, tip, arrived,
                fates, before.places, after.places
             FROM turn JOIN session ON session.id = turn.session
             LEFT JOIN piece AS before ON before.day = (session.id >> 40)::integer
                AND before.tenant = session.tenant AND before.digest = turn.before
             LEFT JOIN piece AS after ON after.day = (session.id >> 40)::integer
                AND after.tenant = session.tenant AND after.digest = turn.after
             WHERE session.name = $1 AND session.id >= $2 AND session.id < $3
                AND turn.session >= $2 AND turn.session < $3 AND number >= $4
             ORDER BY number LIMIT $5",
        )
        .bind(id.as_str())
        .bind(low)
        .bind(high)
        .bind(from.min(u64::MAX >> 1).cast_signed())
        .bind(limit.cast_signed() as i64)
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        found.iter().map(listed).collect()
    }

    pub(super) async fn read_nodes(&self, id: &SessionId) -> Result<Vec<MessageNode>, Error> {
        let (low, high) = numbers(id);
        let found: Vec<(i64, Option<i64>, Option<Vec<u8>>)> = sqlx::query_as(
            "SELECT message.id, parent, places FROM message
             JOIN session ON session.id = message.session
             WHERE session.name = $1 AND session.id >= $2 AND session.id < $3
                AND message.session >= $2 AND message.session < $3 ORDER BY message.id",
        )
        .bind(id.as_str())
        .bind(low)
        .bind(high)
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        let read = |(row, parent, places): (_, _, Option<Vec<u8>>)| {
            let media = StoredSegment::media(&places.unwrap_or_default())?;
            Ok(MessageNode { row, parent, media })
        };
        found.into_iter().map(read).collect()
    }

    pub(super) async fn read_sent(
        &self,
        id: &SessionId,
        until: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Vec<u8>)>, Error> {
        let (low, high) = numbers(id);
        let found: Vec<(i64, Vec<u8>)> = sqlx::query_as(
            "SELECT number, sent FROM turn JOIN session ON session.id = turn.session
             WHERE session.name = $1 AND session.id >= $2 AND session.id < $3
                AND turn.session >= $2 AND turn.session < $3 AND number <= $4
                AND sent IS NOT NULL
             ORDER BY number DESC LIMIT $5",
        )
        .bind(id.as_str())
        .bind(low)
        .bind(high)
        .bind(until.min(u64::MAX >> 1).cast_signed())
        .bind(limit.cast_signed() as i64)
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(found.into_iter().map(|(number, sent)| (number.cast_unsigned(), sent)).collect())
    }

    pub(super) async fn read_past_choices(&self, id: &SessionId) -> Result<Vec<PastChoice>, Error> {
        let (low, high) = numbers(id);
        let found: Vec<(Digest, Option<String>, i64, i64)> = sqlx::query_as(
            "SELECT picture, choice, time, past_choice.turns FROM past_choice
             JOIN session ON session.id = past_choice.session
             WHERE session.name = $1 AND session.id >= $2 AND session.id < $3
                AND past_choice.session >= $2 AND past_choice.session < $3
             ORDER BY past_choice.id",
        )
        .bind(id.as_str())
        .bind(low)
        .bind(high)
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        let read = |(picture, choice, time, turns): (Digest, Option<String>, i64, i64)| {
            let choice = choice.map(|choice| serde_json::from_str(&choice)).transpose();
            let choice = choice.map_err(|_| Error::Damaged("a choice"))?;
            Ok(PastChoice::new(picture, choice, time, turns.cast_unsigned()))
        };
        found.into_iter().map(read).collect()
    }

    pub(super) async fn refers_to(&self, id: &SessionId, blob: &BlobId) -> Result<bool, Error> {
        let (low, high) = numbers(id);
        sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM held JOIN session ON session.id = held.session
                WHERE session.name = $1 AND session.id >= $2 AND session.id < $3
                    AND held.session >= $2 AND held.session < $3 AND blob = $4)",
        )
        .bind(id.as_str())
        .bind(low)
        .bind(high)
        .bind(blob.as_bytes())
        .fetch_one(&mut *self.connection().await?)
        .answer()
        .await
    }

    pub(super) async fn read_facts(
        &self,
        tenant: &Tenant,
        blobs: &BTreeSet<BlobId>,
    ) -> Result<BTreeMap<BlobId, Facts>, Error> {
        let Some(owner) = self.find_owner(tenant).await? else { return Ok(BTreeMap::new()) };
        let found: Vec<(Digest, String)> = sqlx::query_as(
            "SELECT DISTINCT ON (blob) blob, facts FROM (
                SELECT blob, facts, issued FROM handle WHERE tenant = $1 AND blob = ANY($2)
                UNION ALL
                SELECT blob, facts, issued FROM pin WHERE tenant = $1 AND blob = ANY($2)) AS named
             ORDER BY blob, issued DESC",
        )
        .bind(owner.id)
        .bind(digests(blobs))
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        let read = |(blob, facts): (Digest, String)| {
            let facts = serde_json::from_str(&facts).map_err(|_| Error::Damaged("facts"))?;
            Ok((blob.into(), facts))
        };
        found.into_iter().map(read).collect()
    }
}

fn sums(row: &PgRow) -> Result<(i64, SessionSums), Error> {
    let count = |at: usize| row.try_get::<i64, _>(at).map(i64::cast_unsigned).map_err(failed);
    let wires: &str = row.try_get(4).map_err(failed)?;
    let has = |wire: &Wire| wires.split(',').any(|name| name == wire.name());
    let mut sums = SessionSums::default();
    sums.wires = Wire::ALL.into_iter().filter(has).collect();
    sums.expected_tokens = count(1)?;
    sums.usd = row.try_get(2).map_err(failed)?;
    sums.unpriced = count(3)?;
    sums.reported = count(5)?;
    sums.input = count(6)?;
    sums.cache_read = count(7)?;
    sums.cache_write = count(8)?;
    sums.output = count(9)?;
    sums.output_usd = row.try_get(10).map_err(failed)?;
    sums.failed = count(11)?;
    sums.model = row.try_get(12).map_err(failed)?;
    Ok((row.try_get(0).map_err(failed)?, sums))
}

fn listed(row: &PgRow) -> Result<ListedTurn, Error> {
    let count = |at: usize| row.try_get::<i64, _>(at).map(i64::cast_unsigned).map_err(failed);
    let wire: &str = row.try_get(1).map_err(failed)?;
    let wire = Wire::ALL.into_iter().find(|known| known.name() == wire);
    let mut beside = Vec::new();
    for at in [11, 12] {
        let places: Option<Vec<u8>> = row.try_get(at).map_err(failed)?;
        beside.extend(StoredSegment::media(&places.unwrap_or_default())?);
    }
    Ok(ListedTurn {
        number: count(0)?,
        wire: wire.ok_or(Error::Damaged("the name of a wire"))?,
        time: row.try_get(2).map_err(failed)?,
        cost: TurnCost {
            images: count(3)?,
            tokens: count(4)?,
            usd: row.try_get(5).map_err(failed)?,
        },
        length: count(6)?,
        digest: row.try_get(7).map_err(failed)?,
        tip: row.try_get(8).map_err(failed)?,
        beside,
        arrived: row.try_get(9).map_err(failed)?,
        fates: row.try_get(10).map_err(failed)?,
    })
}
