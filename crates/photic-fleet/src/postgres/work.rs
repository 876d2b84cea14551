//! Work lists and answers.
//!
//! Transactions that use both a job and an answer lock the job first, to avoid deadlocks.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use photic_store::work::{
    Claim, Job, JobStatus, QuestionKey, QuestionRequest, Usd, WorkList, WorkStore, WorkerId,
};
use photic_store::{Error, Tenant};

use super::{Answer as _, PgTransaction, Postgres, milliseconds};

const FINISH: &str = "UPDATE chunk SET done = true, worker = NULL, until = NULL, outcome = $4
    WHERE job = $1 AND number = $2 AND worker = $3";
const LEAVE: &str = "UPDATE chunk SET worker = NULL, until = NULL, outcome = $4
    WHERE job = $1 AND number = $2 AND worker = $3";

/// A question in the database: its answer, whether its lease is valid, its job, and the reserved
/// amount.
type Found = (Option<String>, bool, Option<i64>, Option<i64>);

impl WorkStore for Postgres {
    async fn open_job(&self, tenant: &Tenant, list: &WorkList<'_>) -> Result<Job, Error> {
        let owner = self.owner(tenant).await?.id;
        let mut transaction = self.begin_transaction().await?;
        // The row stays locked until the end, so of several concurrent openers the first creates
        // it.
        let (id, digest, items, chunk): (i64, [u8; 32], i64, i32) = sqlx::query_as(concat!(
            "INSERT INTO job (tenant, name, digest, items, chunk, opened)
             VALUES ($1, $2, $3, $4, $5, ",
            now!(),
            ") ON CONFLICT (tenant, name) DO UPDATE SET opened = excluded.opened
             RETURNING id, digest, items, chunk",
        ))
        .bind(owner)
        .bind(list.name)
        .bind(list.digest)
        .bind(list.items.cast_signed())
        .bind(list.chunk.max(1).cast_signed())
        .fetch_one(&mut *transaction)
        .answer()
        .await?;
        if digest != list.digest {
            return Err(Error::OtherJob(list.name.to_owned()));
        }
        let job = Job { id, owner, items: items.cast_unsigned(), chunk: chunk.cast_unsigned() };
        sqlx::query(
            "INSERT INTO chunk (job, number) SELECT $1, generate_series(0, $2 - 1)
             ON CONFLICT DO NOTHING",
        )
        .bind(id)
        .bind(job.chunks().cast_signed())
        .execute(&mut *transaction)
        .answer()
        .await?;
        sqlx::query(
            "UPDATE chunk SET done = false WHERE job = $1
             AND NOT EXISTS (SELECT 1 FROM chunk WHERE job = $1 AND NOT done)",
        )
        .bind(id)
        .execute(&mut *transaction)
        .answer()
        .await?;
        transaction.commit().answer().await?;
        Ok(job)
    }

    async fn take(
        &self,
        job: &Job,
        worker: &WorkerId,
        lease: Duration,
    ) -> Result<Option<u64>, Error> {
        let taken: Option<i64> = sqlx::query_scalar(concat!(
            "UPDATE chunk SET worker = $2, until = $3 + ",
            now!(),
            " WHERE job = $1 AND number = (SELECT number FROM chunk WHERE job = $1 AND NOT done
                AND (until IS NULL OR until <= ",
            now!(),
            ") ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED)
             RETURNING number",
        ))
        .bind(job.id)
        .bind(worker.as_bytes())
        .bind(length(lease))
        .fetch_optional(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(taken.map(i64::cast_unsigned))
    }

    async fn keep(&self, worker: &WorkerId, lease: Duration) -> Result<(), Error> {
        for statement in [
            concat!("UPDATE chunk SET until = $2 + ", now!(), " WHERE worker = $1"),
            concat!(
                "UPDATE answer SET until = $2 + ",
                now!(),
                " WHERE worker = $1 AND text IS NULL"
            ),
        ] {
            sqlx::query(statement)
                .bind(worker.as_bytes())
                .bind(length(lease))
                .execute(&mut *self.connection().await?)
                .answer()
                .await?;
        }
        Ok(())
    }

    async fn finish(
        &self,
        job: &Job,
        worker: &WorkerId,
        chunk: u64,
        outcome: &str,
    ) -> Result<bool, Error> {
        self.put_down(FINISH, job, worker, chunk, outcome).await
    }

    async fn leave(
        &self,
        job: &Job,
        worker: &WorkerId,
        chunk: u64,
        outcome: &str,
    ) -> Result<(), Error> {
        self.put_down(LEAVE, job, worker, chunk, outcome).await?;
        Ok(())
    }

    async fn status(&self, job: &Job) -> Result<JobStatus, Error> {
        let (done, taken, spent): (i64, i64, Option<i64>) = sqlx::query_as(concat!(
            "SELECT count(*) FILTER (WHERE done), count(*) FILTER (WHERE NOT done AND until > ",
            now!(),
            "), (SELECT spent FROM job WHERE id = $1)
                + (SELECT coalesce(sum(reserved), 0)::bigint FROM answer
                    WHERE job = $1 AND text IS NULL)
             FROM chunk WHERE job = $1",
        ))
        .bind(job.id)
        .fetch_one(&mut *self.connection().await?)
        .answer()
        .await?;
        let spent = Usd::billionths(spent.unwrap_or_default());
        Ok(JobStatus { done: done.cast_unsigned(), taken: taken.cast_unsigned(), spent })
    }

    async fn outcome(&self, job: &Job, chunk: u64) -> Result<Option<String>, Error> {
        let found: Option<Option<String>> =
            sqlx::query_scalar("SELECT outcome FROM chunk WHERE job = $1 AND number = $2")
                .bind(job.id)
                .bind(chunk.cast_signed())
                .fetch_optional(&mut *self.connection().await?)
                .answer()
                .await?;
        Ok(found.flatten())
    }

    async fn ask(
        &self,
        job: &Job,
        worker: &WorkerId,
        asking: &QuestionRequest,
    ) -> Result<Claim, Error> {
        let mut transaction = self.begin_transaction().await?;
        if asking.cap.is_some() {
            // Only one worker of this job at a time checks the remaining money.
            sqlx::query("SELECT 1 FROM job WHERE id = $1 FOR UPDATE")
                .bind(job.id)
                .execute(&mut *transaction)
                .answer()
                .await?;
        }
        let found: Option<Found> = sqlx::query_as(concat!(
            "SELECT text, coalesce(until, 0) > ",
            now!(),
            ", job, reserved FROM answer WHERE tenant = $1 AND key = $2 FOR UPDATE",
        ))
        .bind(job.owner)
        .bind(asking.key)
        .fetch_optional(&mut *transaction)
        .answer()
        .await?;
        match found {
            Some((Some(text), ..)) => return Ok(Claim::Known(text)),
            Some((None, true, ..)) => return Ok(Claim::Elsewhere),
            // Its worker died and may have been billed, so it counts as asked.
            Some((None, false, of, reserved)) => {
                sqlx::query("DELETE FROM answer WHERE tenant = $1 AND key = $2")
                    .bind(job.owner)
                    .bind(asking.key)
                    .execute(&mut *transaction)
                    .answer()
                    .await?;
                let reserved = Usd::billionths(reserved.unwrap_or_default());
                spend(&mut transaction, of.unwrap_or(job.id), reserved).await?;
            }
            None => {}
        }
        if let Some(cap) = asking.cap {
            let spent: i64 = sqlx::query_scalar(
                "SELECT spent + (SELECT coalesce(sum(reserved), 0)::bigint FROM answer
                    WHERE job = $1 AND text IS NULL) FROM job WHERE id = $1",
            )
            .bind(job.id)
            .fetch_one(&mut *transaction)
            .answer()
            .await?;
            if Usd::billionths(spent) + asking.estimate > cap {
                transaction.commit().answer().await?;
                return Ok(Claim::Over);
            }
        }
        let asked = sqlx::query(concat!(
            "INSERT INTO answer (tenant, key, stored, worker, job, until, reserved)
             SELECT $1, $2, now, $3, $4, now + $5, $6 FROM (SELECT ",
            now!(),
            " AS now) AS clock ON CONFLICT DO NOTHING",
        ))
        .bind(job.owner)
        .bind(asking.key)
        .bind(worker.as_bytes())
        .bind(job.id)
        .bind(length(asking.lease))
        .bind(asking.estimate.as_billionths())
        .execute(&mut *transaction)
        .answer()
        .await?;
        transaction.commit().answer().await?;
        // Another worker may have been faster.
        Ok(if asked.rows_affected() == 1 { Claim::Ask } else { Claim::Elsewhere })
    }

    async fn answer(
        &self,
        job: &Job,
        key: &QuestionKey,
        answer: &str,
        cost: Usd,
    ) -> Result<String, Error> {
        let mut transaction = self.begin_transaction().await?;
        spend(&mut transaction, job.id, cost).await?;
        let kept = sqlx::query_scalar(concat!(
            "INSERT INTO answer (tenant, key, text, stored) VALUES ($1, $2, $3, ",
            now!(),
            ") ON CONFLICT (tenant, key) DO UPDATE SET text = coalesce(answer.text, excluded.text),
                stored = excluded.stored, worker = NULL, job = NULL, until = NULL, reserved = NULL
             RETURNING text",
        ))
        .bind(job.owner)
        .bind(key)
        .bind(answer)
        .fetch_one(&mut *transaction)
        .answer()
        .await?;
        transaction.commit().answer().await?;
        Ok(kept)
    }

    async fn unanswered(
        &self,
        job: &Job,
        worker: &WorkerId,
        key: &QuestionKey,
        cost: Usd,
    ) -> Result<(), Error> {
        let mut transaction = self.begin_transaction().await?;
        spend(&mut transaction, job.id, cost).await?;
        sqlx::query(
            "DELETE FROM answer WHERE tenant = $1 AND key = $2 AND worker = $3 AND text IS NULL",
        )
        .bind(job.owner)
        .bind(key)
        .bind(worker.as_bytes())
        .execute(&mut *transaction)
        .answer()
        .await?;
        transaction.commit().answer().await
    }

    async fn answers(
        &self,
        job: &Job,
        keys: &[QuestionKey],
    ) -> Result<BTreeMap<QuestionKey, String>, Error> {
        let found: Vec<(QuestionKey, String)> = sqlx::query_as(
            "SELECT key, text FROM answer
             WHERE tenant = $1 AND key = ANY($2) AND text IS NOT NULL",
        )
        .bind(job.owner)
        .bind(keys)
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(found.into_iter().collect())
    }

    async fn forget_work(&self, before: SystemTime) -> Result<(), Error> {
        for statement in
            ["DELETE FROM job WHERE opened < $1", "DELETE FROM answer WHERE stored < $1"]
        {
            let before = milliseconds(before);
            sqlx::query(statement)
                .bind(before)
                .execute(&mut *self.connection().await?)
                .answer()
                .await?;
        }
        Ok(())
    }
}

impl Postgres {
    /// Ends the lease of a chunk. Returns whether the worker had it.
    async fn put_down(
        &self,
        how: &'static str,
        job: &Job,
        worker: &WorkerId,
        chunk: u64,
        outcome: &str,
    ) -> Result<bool, Error> {
        let put = sqlx::query(how)
            .bind(job.id)
            .bind(chunk.cast_signed())
            .bind(worker.as_bytes())
            .bind(outcome)
            .execute(&mut *self.connection().await?)
            .answer()
            .await?;
        Ok(put.rows_affected() == 1)
    }
}

async fn spend(transaction: &mut PgTransaction, job: i64, cost: Usd) -> Result<(), Error> {
    if cost > Usd::ZERO {
        sqlx::query("UPDATE job SET spent = spent + $2 WHERE id = $1")
            .bind(job)
            .bind(cost.as_billionths())
            .execute(&mut **transaction)
            .answer()
            .await?;
    }
    Ok(())
}

/// Returns the length of a lease in milliseconds.
fn length(lease: Duration) -> i64 {
    i64::try_from(lease.as_millis()).unwrap_or(i64::MAX / 4)
}
