//! Outcomes of requests, and replies.

use photic::Wire;
use rusqlite::{OptionalExtension as _, Row, ToSql, params};

use super::handles::find_or_make;
use super::{Sqlite, begin, failed};
use crate::error::Error;
use crate::handle::Tenant;
use crate::record::{ReportedUsage, RequestEnd, RequestOutcome, SessionId, StoredReply};

const COLUMNS: &str = "session.name, outcome.turn, begun, first_byte_ms, total_ms, status, ended,
    reason, host, sent_wire, model, request, provider_request, agent, bytes_in, bytes_sent, bytes_out,
    tries, input, cache_read, cache_write, output, reasoning, input_usd, output_usd";

impl Sqlite {
    pub(super) fn write_outcome(
        &self,
        tenant: &Tenant,
        outcome: &RequestOutcome,
        reply: Option<&StoredReply>,
    ) -> Result<(), Error> {
        let mut connection = self.connection();
        let transaction = begin(&mut connection)?;
        let (owner, _) = find_or_make(&transaction, tenant)?;
        let session: Option<i64> = match &outcome.session {
            None => None,
            Some(id) => {
                let find = "SELECT id FROM session WHERE name = ? AND tenant = ?";
                let mut find = transaction.prepare_cached(find).map_err(failed)?;
                let found =
                    find.query_row(params![id.as_str(), owner], |row| row.get(0)).optional();
                // It was forgotten meanwhile.
                let Some(found) = found.map_err(failed)? else { return Ok(()) };
                Some(found)
            }
        };
        let tries = outcome.attempts_as_text()?;
        let ReportedUsage { input, cache_read, cache_write, output, reasoning } = outcome.usage;
        transaction
            .prepare_cached(
                "INSERT INTO outcome (tenant, session, turn, begun, first_byte_ms, total_ms, status,
                    ended, reason, host, sent_wire, model, request, provider_request, agent, bytes_in,
                    bytes_sent, bytes_out, tries, input, cache_read, cache_write, output, reasoning,
                    input_usd, output_usd)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
                    ?)",
            )
            .map_err(failed)?
            .execute(params![
                owner,
                session,
                outcome.turn,
                outcome.begun,
                outcome.first_byte_ms,
                outcome.total_ms,
                outcome.status,
                outcome.ended.name(),
                outcome.reason,
                outcome.host,
                outcome.sent_wire.map(Wire::name),
                outcome.model,
                outcome.request,
                outcome.provider_request,
                outcome.agent,
                outcome.bytes_in,
                outcome.bytes_sent,
                outcome.bytes_out,
                tries,
                input,
                cache_read,
                cache_write,
                output,
                reasoning,
                outcome.input_usd,
                outcome.output_usd,
            ])
            .map_err(failed)?;
        if let Some((session, turn)) = session.zip(outcome.turn) {
            let also = |statement: &str, values: &[&dyn ToSql]| {
                let mut statement = transaction.prepare_cached(statement).map_err(failed)?;
                statement.execute(values).map_err(failed)
            };
            if let Some(usd) = outcome.input_usd {
                let bill = "UPDATE turn SET usd = ? WHERE session = ? AND number = ?";
                also(bill, &[&usd, &session, &turn])?;
            }
            if let Some(StoredReply { media_type, bytes, length }) = reply {
                also(
                    "INSERT OR REPLACE INTO reply (session, turn, media_type, length, text)
                     VALUES (?, ?, ?, ?, ?)",
                    &[&session, &turn, media_type, length, bytes],
                )?;
            }
        }
        transaction.commit().map_err(failed)
    }

    pub(super) fn outcomes_of_turns(
        &self,
        id: &SessionId,
        from: u64,
        limit: usize,
    ) -> Result<Vec<RequestOutcome>, Error> {
        let until = from.saturating_add(limit as u64).min(u64::MAX >> 1);
        self.find_outcomes(
            "JOIN session ON session.id = outcome.session
             WHERE session.name = ?1 AND outcome.turn >= ?2 AND outcome.turn < ?3
             ORDER BY outcome.turn, outcome.id",
            params![id.as_str(), from, until],
        )
    }

    pub(super) fn outcomes_without_turn(
        &self,
        tenant: &Tenant,
        id: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<RequestOutcome>, Error> {
        match id {
            Some(id) => self.find_outcomes(
                "JOIN session ON session.id = outcome.session
                 JOIN tenant ON tenant.id = outcome.tenant
                 WHERE session.name = ? AND tenant.name = ? AND outcome.turn IS NULL
                 ORDER BY begun DESC, outcome.id DESC LIMIT ?",
                params![id.as_str(), tenant.as_str(), limit],
            ),
            None => self.find_outcomes(
                "JOIN tenant ON tenant.id = outcome.tenant
                 LEFT JOIN session ON session.id = outcome.session
                 WHERE tenant.name = ? AND outcome.session IS NULL
                 ORDER BY begun DESC, outcome.id DESC LIMIT ?",
                params![tenant.as_str(), limit],
            ),
        }
    }

    fn find_outcomes(
        &self,
        rest: &str,
        values: &[&dyn ToSql],
    ) -> Result<Vec<RequestOutcome>, Error> {
        let connection = self.connection();
        let mut statement = connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM outcome {rest}"))
            .map_err(failed)?;
        let found = statement.query_map(values, outcome).map_err(failed)?;
        found.map(|outcome| outcome.map_err(failed)?).collect()
    }

    pub(super) fn read_reply(
        &self,
        id: &SessionId,
        number: u64,
    ) -> Result<Option<StoredReply>, Error> {
        self.connection()
            .prepare_cached(
                "SELECT media_type, text, length FROM reply JOIN session ON session.id = reply.session
                 WHERE session.name = ? AND turn = ?",
            )
            .map_err(failed)?
            .query_row(params![id.as_str(), number], |row| {
                Ok(StoredReply {
                    media_type: row.get(0)?,
                    bytes: row.get(1)?,
                    length: row.get(2)?,
                })
            })
            .optional()
            .map_err(failed)
    }
}

fn outcome(row: &Row<'_>) -> Result<Result<RequestOutcome, Error>, rusqlite::Error> {
    let session: Option<String> = row.get(0)?;
    let (ended, wire): (String, Option<String>) = (row.get(6)?, row.get(9)?);
    let tries: Option<String> = row.get(17)?;
    let usage = ReportedUsage {
        input: row.get(18)?,
        cache_read: row.get(19)?,
        cache_write: row.get(20)?,
        output: row.get(21)?,
        reasoning: row.get(22)?,
    };
    let outcome = RequestOutcome {
        session: None,
        turn: row.get(1)?,
        begun: row.get(2)?,
        first_byte_ms: row.get(3)?,
        total_ms: row.get(4)?,
        status: row.get(5)?,
        ended: RequestEnd::default(),
        reason: row.get(7)?,
        host: row.get(8)?,
        sent_wire: None,
        model: row.get(10)?,
        request: row.get(11)?,
        provider_request: row.get(12)?,
        agent: row.get(13)?,
        bytes_in: row.get(14)?,
        bytes_sent: row.get(15)?,
        bytes_out: row.get(16)?,
        attempts: Vec::new(),
        usage,
        input_usd: row.get(23)?,
        output_usd: row.get(24)?,
    };
    Ok(outcome.with_names(session.as_deref(), &ended, wire.as_deref(), tries.as_deref()))
}
