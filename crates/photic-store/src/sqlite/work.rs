//! Work lists and answers.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{OptionalExtension as _, Transaction, params};

use super::handles::find_or_make;
use super::{Sqlite, begin, failed, now};
use crate::error::Error;
use crate::handle::Tenant;
use crate::work::{
    Claim, Job, JobStatus, QuestionKey, QuestionRequest, Usd, WorkList, WorkStore, WorkerId,
};

impl WorkStore for Sqlite {
    async fn open_job(&self, tenant: &Tenant, list: &WorkList<'_>) -> Result<Job, Error> {
        let mut connection = self.connection();
        let transaction = begin(&mut connection)?;
        let (owner, _) = find_or_make(&transaction, tenant)?;
        transaction.execute(
            "INSERT INTO job (tenant, name, digest, items, chunk, opened) VALUES (?, ?, ?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET opened = excluded.opened",
            params![owner, list.name, list.digest, list.items, list.chunk.max(1), now()],
        ).map_err(failed)?;
        let (digest, job) = transaction
            .query_row(
                "SELECT digest, id, items, chunk FROM job WHERE tenant = ? AND name = ?",
                params![owner, list.name],
                |row| {
                    let job =
                        Job { id: row.get(1)?, owner, items: row.get(2)?, chunk: row.get(3)? };
                    Ok((row.get::<_, [u8; 32]>(0)?, job))
                },
            )
            .map_err(failed)?;
        if digest != list.digest {
            return Err(Error::OtherJob(list.name.to_owned()));
        }
        let mut insert = transaction
            .prepare_cached("INSERT INTO chunk (job, number) VALUES (?, ?) ON CONFLICT DO NOTHING")
            .map_err(failed)?;
        let there: u64 = transaction
            .query_row("SELECT count(*) FROM chunk WHERE job = ?", [job.id], |row| row.get(0))
            .map_err(failed)?;
        for number in there..job.chunks() {
            insert.execute(params![job.id, number]).map_err(failed)?;
        }
        drop(insert);
        transaction
            .execute(
                "UPDATE chunk SET done = 0 WHERE job = ?1
             AND NOT EXISTS (SELECT 1 FROM chunk WHERE job = ?1 AND done = 0)",
                [job.id],
            )
            .map_err(failed)?;
        transaction.commit().map_err(failed)?;
        Ok(job)
    }

    async fn take(
        &self,
        job: &Job,
        worker: &WorkerId,
        lease: Duration,
    ) -> Result<Option<u64>, Error> {
        let connection = self.connection();
        connection
            .prepare_cached(
                "UPDATE chunk SET worker = ?2, until = ?3 WHERE job = ?1 AND number =
                    (SELECT number FROM chunk WHERE job = ?1 AND done = 0
                        AND (until IS NULL OR until <= ?4) ORDER BY number LIMIT 1)
                 RETURNING number",
            )
            .map_err(failed)?
            .query_row(params![job.id, worker.as_bytes(), after(lease), now()], |row| row.get(0))
            .optional()
            .map_err(failed)
    }

    async fn keep(&self, worker: &WorkerId, lease: Duration) -> Result<(), Error> {
        let mut connection = self.connection();
        let transaction = begin(&mut connection)?;
        for statement in [
            "UPDATE chunk SET until = ?2 WHERE worker = ?1",
            "UPDATE answer SET until = ?2 WHERE worker = ?1 AND text IS NULL",
        ] {
            transaction
                .execute(statement, params![worker.as_bytes(), after(lease)])
                .map_err(failed)?;
        }
        transaction.commit().map_err(failed)
    }

    async fn finish(
        &self,
        job: &Job,
        worker: &WorkerId,
        chunk: u64,
        outcome: &str,
    ) -> Result<bool, Error> {
        let ended = self
            .connection()
            .execute(
                "UPDATE chunk SET done = 1, worker = NULL, until = NULL, outcome = ?4
             WHERE job = ?1 AND number = ?2 AND worker = ?3",
                params![job.id, chunk, worker.as_bytes(), outcome],
            )
            .map_err(failed)?;
        Ok(ended == 1)
    }

    async fn leave(
        &self,
        job: &Job,
        worker: &WorkerId,
        chunk: u64,
        outcome: &str,
    ) -> Result<(), Error> {
        self.connection()
            .execute(
                "UPDATE chunk SET worker = NULL, until = NULL, outcome = ?4
             WHERE job = ?1 AND number = ?2 AND worker = ?3",
                params![job.id, chunk, worker.as_bytes(), outcome],
            )
            .map_err(failed)?;
        Ok(())
    }

    async fn status(&self, job: &Job) -> Result<JobStatus, Error> {
        self.connection()
            .query_row(
                "SELECT count(*) FILTER (WHERE done = 1),
                count(*) FILTER (WHERE done = 0 AND until > ?2),
                (SELECT spent FROM job WHERE id = ?1)
                + (SELECT coalesce(sum(reserved), 0) FROM answer WHERE job = ?1 AND text IS NULL)
             FROM chunk WHERE job = ?1",
                params![job.id, now()],
                |row| {
                    let spent = row.get::<_, Option<i64>>(2)?.unwrap_or_default();
                    let spent = Usd::billionths(spent);
                    Ok(JobStatus { done: row.get(0)?, taken: row.get(1)?, spent })
                },
            )
            .map_err(failed)
    }

    async fn outcome(&self, job: &Job, chunk: u64) -> Result<Option<String>, Error> {
        let connection = self.connection();
        let found: Option<Option<String>> = connection
            .prepare_cached("SELECT outcome FROM chunk WHERE job = ? AND number = ?")
            .map_err(failed)?
            .query_row(params![job.id, chunk], |row| row.get(0))
            .optional()
            .map_err(failed)?;
        Ok(found.flatten())
    }

    async fn ask(
        &self,
        job: &Job,
        worker: &WorkerId,
        asking: &QuestionRequest,
    ) -> Result<Claim, Error> {
        let mut connection = self.connection();
        let transaction = begin(&mut connection)?;
        match standing_of(&transaction, job, &asking.key)? {
            Some(QuestionState::Answered(text)) => return Ok(Claim::Known(text)),
            Some(QuestionState::Until(until)) if until > now() => return Ok(Claim::Elsewhere),
            // Its worker died, and may have been billed.
            Some(QuestionState::Until(_)) => bill_the_dead(&transaction, job, &asking.key)?,
            None => {}
        }
        if let Some(cap) = asking.cap {
            let spent: i64 = transaction
                .prepare_cached(
                    "SELECT spent + (SELECT coalesce(sum(reserved), 0) FROM answer
                        WHERE job = ?1 AND text IS NULL) FROM job WHERE id = ?1",
                )
                .map_err(failed)?
                .query_row([job.id], |row| row.get(0))
                .map_err(failed)?;
            if Usd::billionths(spent) + asking.estimate > cap {
                transaction.commit().map_err(failed)?;
                return Ok(Claim::Over);
            }
        }
        transaction
            .prepare_cached(
                "INSERT INTO answer (tenant, key, stored, worker, job, until, reserved)
                 VALUES (?, ?, ?, ?, ?, ?, ?)",
            )
            .map_err(failed)?
            .execute(params![
                job.owner,
                asking.key,
                now(),
                worker.as_bytes(),
                job.id,
                after(asking.lease),
                asking.estimate.as_billionths()
            ])
            .map_err(failed)?;
        transaction.commit().map_err(failed)?;
        Ok(Claim::Ask)
    }

    async fn answer(
        &self,
        job: &Job,
        key: &QuestionKey,
        answer: &str,
        cost: Usd,
    ) -> Result<String, Error> {
        let mut connection = self.connection();
        let transaction = begin(&mut connection)?;
        spend(&transaction, job.id, cost)?;
        let kept = transaction
            .prepare_cached(
                "INSERT INTO answer (tenant, key, text, stored) VALUES (?, ?, ?, ?)
                 ON CONFLICT DO UPDATE SET text = coalesce(text, excluded.text),
                    stored = excluded.stored, worker = NULL, job = NULL, until = NULL,
                    reserved = NULL
                 RETURNING text",
            )
            .map_err(failed)?
            .query_row(params![job.owner, key, answer, now()], |row| row.get(0))
            .map_err(failed)?;
        transaction.commit().map_err(failed)?;
        Ok(kept)
    }

    async fn unanswered(
        &self,
        job: &Job,
        worker: &WorkerId,
        key: &QuestionKey,
        cost: Usd,
    ) -> Result<(), Error> {
        let mut connection = self.connection();
        let transaction = begin(&mut connection)?;
        spend(&transaction, job.id, cost)?;
        transaction
            .execute(
                "DELETE FROM answer WHERE tenant = ? AND key = ? AND worker = ? AND text IS NULL",
                params![job.owner, key, worker.as_bytes()],
            )
            .map_err(failed)?;
        transaction.commit().map_err(failed)
    }

    async fn answers(
        &self,
        job: &Job,
        keys: &[QuestionKey],
    ) -> Result<BTreeMap<QuestionKey, String>, Error> {
        let connection = self.connection();
        let mut find = connection
            .prepare_cached(
                "SELECT text FROM answer WHERE tenant = ? AND key = ? AND text IS NOT NULL",
            )
            .map_err(failed)?;
        let mut found = BTreeMap::new();
        for key in keys {
            let text = find
                .query_row(params![job.owner, key], |row| row.get(0))
                .optional()
                .map_err(failed)?;
            found.extend(text.map(|text| (*key, text)));
        }
        Ok(found)
    }

    async fn forget_work(&self, before: SystemTime) -> Result<(), Error> {
        let before = before.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let before = i64::try_from(before).unwrap_or(i64::MAX);
        let mut connection = self.connection();
        let transaction = begin(&mut connection)?;
        for statement in ["DELETE FROM job WHERE opened < ?", "DELETE FROM answer WHERE stored < ?"]
        {
            transaction.execute(statement, [before]).map_err(failed)?;
        }
        transaction.commit().map_err(failed)
    }
}

/// State of a question in the store.
enum QuestionState {
    Answered(String),
    Until(i64),
}

fn standing_of(
    transaction: &Transaction<'_>,
    job: &Job,
    key: &QuestionKey,
) -> Result<Option<QuestionState>, Error> {
    transaction
        .prepare_cached("SELECT text, until FROM answer WHERE tenant = ? AND key = ?")
        .map_err(failed)?
        .query_row(params![job.owner, key], |row| {
            let text: Option<String> = row.get(0)?;
            let until: Option<i64> = row.get(1)?;
            Ok(text.map_or_else(
                || QuestionState::Until(until.unwrap_or_default()),
                QuestionState::Answered,
            ))
        })
        .optional()
        .map_err(failed)
}

/// Charges a question whose worker died to the job that asked it.
fn bill_the_dead(transaction: &Transaction<'_>, job: &Job, key: &QuestionKey) -> Result<(), Error> {
    let (of, reserved): (Option<i64>, Option<i64>) = transaction.query_row(
        "DELETE FROM answer WHERE tenant = ? AND key = ? AND text IS NULL RETURNING job, reserved",
        params![job.owner, key],
        |row| Ok((row.get(0)?, row.get(1)?)),
    ).map_err(failed)?;
    spend(transaction, of.unwrap_or(job.id), Usd::billionths(reserved.unwrap_or_default()))
}

fn spend(transaction: &Transaction<'_>, job: i64, cost: Usd) -> Result<(), Error> {
    if cost > Usd::ZERO {
        transaction
            .prepare_cached("UPDATE job SET spent = spent + ? WHERE id = ?")
            .map_err(failed)?
            .execute(params![cost.as_billionths(), job])
            .map_err(failed)?;
    }
    Ok(())
}

/// Returns the end of a lease that begins now.
fn after(lease: Duration) -> i64 {
    now().saturating_add(i64::try_from(lease.as_millis()).unwrap_or(i64::MAX / 4))
}
