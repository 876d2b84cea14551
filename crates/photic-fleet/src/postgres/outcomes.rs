//! Outcomes of requests, and replies.

use photic::Wire;
use photic_store::record::{ReportedUsage, RequestEnd, RequestOutcome, SessionId, StoredReply};
use photic_store::{Error, Tenant};
use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::{Answer, BELOW_DAY, Postgres, failed, numbers};

macro_rules! outcomes {
    ($rest:literal) => {
        concat!(
            "SELECT session.name, outcome.turn, begun, first_byte_ms, total_ms, status, ended, reason,
                host, sent_wire, model, request, provider_request, agent, bytes_in, bytes_sent,
                bytes_out, tries, input, cache_read, cache_write, output, reasoning, input_usd,
                output_usd
             FROM outcome ",
            $rest
        )
    };
}

impl Postgres {
    /// Writes an outcome with one statement. The session is locked, so that it is not forgotten
    /// meanwhile.
    pub(super) async fn write_outcome(
        &self,
        tenant: &Tenant,
        outcome: &RequestOutcome,
        reply: Option<&StoredReply>,
    ) -> Result<(), Error> {
        let owner = self.owner(tenant).await?;
        let (low, high) = if let Some(id) = &outcome.session {
            numbers(id)
        } else {
            let today = i64::from(self.today().await?);
            (today << BELOW_DAY, today << BELOW_DAY)
        };
        let number = |value: Option<u64>| value.map(u64::cast_signed);
        let ReportedUsage { input, cache_read, cache_write, output, reasoning } = outcome.usage;
        let clean = |text: &Option<String>| {
            // The only character that text in PostgreSQL cannot contain.
            text.as_ref().map(|text| text.replace('\0', ""))
        };
        sqlx::query(
            "WITH found AS (SELECT id FROM session
                WHERE name = $1 AND tenant = $2 AND id >= $3 AND id < $4 FOR KEY SHARE),
             home AS (SELECT id FROM found UNION ALL SELECT $3 WHERE $1 IS NULL),
             billed AS (UPDATE turn SET usd = $25 FROM found
                WHERE $25 IS NOT NULL AND turn.session = found.id AND turn.number = $5
                    AND turn.session >= $3 AND turn.session < $4),
             replied AS (INSERT INTO reply (session, turn, media_type, length, text)
                SELECT id, $5, $27, $28, $29 FROM found WHERE $29 IS NOT NULL AND $5 IS NOT NULL
                ON CONFLICT (session, turn) DO UPDATE SET media_type = excluded.media_type,
                    length = excluded.length, text = excluded.text)
             INSERT INTO outcome (session, tenant, turn, begun, first_byte_ms, total_ms, status, ended,
                reason, host, sent_wire, model, request, provider_request, agent, bytes_in, bytes_sent,
                bytes_out, tries, input, cache_read, cache_write, output, reasoning, input_usd,
                output_usd)
             SELECT id, $2, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $30,
                $31, $20, $21, $22, $23, $24, $25, $26 FROM home",
        )
        .bind(outcome.session.as_ref().map(SessionId::as_str))
        .bind(owner.id)
        .bind(low)
        .bind(high)
        .bind(number(outcome.turn))
        .bind(outcome.begun)
        .bind(number(outcome.first_byte_ms))
        .bind(outcome.total_ms.cast_signed())
        .bind(outcome.status.map(i64::from))
        .bind(outcome.ended.name())
        .bind(clean(&outcome.reason))
        .bind(clean(&outcome.host))
        .bind(outcome.sent_wire.map(Wire::name))
        .bind(clean(&outcome.model))
        .bind(clean(&outcome.request))
        .bind(clean(&outcome.provider_request))
        .bind(clean(&outcome.agent))
        .bind(outcome.bytes_in.cast_signed())
        .bind(outcome.bytes_sent.cast_signed())
        .bind(number(input))
        .bind(number(cache_read))
        .bind(number(cache_write))
        .bind(number(output))
        .bind(number(reasoning))
        .bind(outcome.input_usd)
        .bind(outcome.output_usd)
        .bind(reply.map(|reply| reply.media_type.replace('\0', "")))
        .bind(reply.map(|reply| reply.length.cast_signed()))
        .bind(reply.map(|reply| reply.bytes.as_slice()))
        .bind(outcome.bytes_out.cast_signed())
        .bind(outcome.attempts_as_text()?)
        .execute(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(())
    }

    pub(super) async fn outcomes_of_turns(
        &self,
        id: &SessionId,
        from: u64,
        limit: usize,
    ) -> Result<Vec<RequestOutcome>, Error> {
        let (low, high) = numbers(id);
        let most = u64::MAX >> 1;
        let found = sqlx::query(outcomes!(
            "JOIN session ON session.id = outcome.session
             WHERE session.name = $1 AND session.id >= $2 AND session.id < $3
                AND outcome.session >= $2 AND outcome.session < $3
                AND outcome.turn >= $4 AND outcome.turn < $5
             ORDER BY outcome.turn, outcome.id"
        ))
        .bind(id.as_str())
        .bind(low)
        .bind(high)
        .bind(from.min(most).cast_signed())
        .bind(from.saturating_add(limit as u64).min(most).cast_signed())
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        found.iter().map(outcome).collect()
    }

    pub(super) async fn outcomes_without_turn(
        &self,
        tenant: &Tenant,
        id: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<RequestOutcome>, Error> {
        let Some(owner) = self.find_owner(tenant).await? else { return Ok(Vec::new()) };
        let query = match id {
            Some(id) => {
                let (low, high) = numbers(id);
                sqlx::query(outcomes!(
                    "JOIN session ON session.id = outcome.session
                     WHERE outcome.tenant = $1 AND outcome.turn IS NULL AND session.name = $3
                        AND session.id >= $4 AND session.id < $5
                        AND outcome.session >= $4 AND outcome.session < $5
                     ORDER BY begun DESC, outcome.id DESC LIMIT $2"
                ))
                .bind(owner.id)
                .bind(limit.cast_signed() as i64)
                .bind(id.as_str())
                .bind(low)
                .bind(high)
            }
            None => sqlx::query(outcomes!(
                "LEFT JOIN session ON false
                 WHERE outcome.tenant = $1 AND outcome.session & ((1::bigint << 40) - 1) = 0
                 ORDER BY begun DESC, outcome.id DESC LIMIT $2"
            ))
            .bind(owner.id)
            .bind(limit.cast_signed() as i64),
        };
        let found = query.fetch_all(&mut *self.connection().await?).answer().await?;
        found.iter().map(outcome).collect()
    }

    pub(super) async fn read_reply(
        &self,
        id: &SessionId,
        number: u64,
    ) -> Result<Option<StoredReply>, Error> {
        let (low, high) = numbers(id);
        let found: Option<(String, Vec<u8>, i64)> = sqlx::query_as(
            "SELECT media_type, text, length FROM reply JOIN session ON session.id = reply.session
             WHERE session.name = $1 AND session.id >= $2 AND session.id < $3
                AND reply.session >= $2 AND reply.session < $3 AND turn = $4",
        )
        .bind(id.as_str())
        .bind(low)
        .bind(high)
        .bind(number.cast_signed())
        .fetch_optional(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(found.map(|(media_type, bytes, length)| StoredReply {
            media_type,
            bytes,
            length: length.cast_unsigned(),
        }))
    }
}

fn outcome(row: &PgRow) -> Result<RequestOutcome, Error> {
    let number = |at: usize| {
        let number = row.try_get::<Option<i64>, _>(at).map_err(failed);
        number.map(|number| number.map(i64::cast_unsigned))
    };
    let count = |at: usize| Ok(number(at)?.unwrap_or_default());
    let text = |at: usize| row.try_get::<Option<String>, _>(at).map_err(failed);
    let usage = ReportedUsage {
        input: number(18)?,
        cache_read: number(19)?,
        cache_write: number(20)?,
        output: number(21)?,
        reasoning: number(22)?,
    };
    let outcome = RequestOutcome {
        session: None,
        turn: number(1)?,
        begun: row.try_get(2).map_err(failed)?,
        first_byte_ms: number(3)?,
        total_ms: count(4)?,
        status: number(5)?.and_then(|status| status.try_into().ok()),
        ended: RequestEnd::default(),
        reason: text(7)?,
        host: text(8)?,
        sent_wire: None,
        model: text(10)?,
        request: text(11)?,
        provider_request: text(12)?,
        agent: text(13)?,
        bytes_in: count(14)?,
        bytes_sent: count(15)?,
        bytes_out: count(16)?,
        attempts: Vec::new(),
        usage,
        input_usd: row.try_get(23).map_err(failed)?,
        output_usd: row.try_get(24).map_err(failed)?,
    };
    let (session, ended, wire, tries) = (text(0)?, text(6)?, text(9)?, text(17)?);
    let ended = ended.unwrap_or_default();
    outcome.with_names(session.as_deref(), &ended, wire.as_deref(), tries.as_deref())
}
