//! Rows of the audit. They are added under the lock of the tenant's head, so that a chain has one
//! end.

use photic_store::{Error, Tenant};

use super::{Answer as _, Postgres};
use crate::audit::{ChainBounds, Entry, GENESIS_HASH, Row};

/// Number of rows per page.
const PAGE_SIZE: i64 = 1000;

/// A row, in the order of [`Row`].
type Stored = (i64, i32, i64, Option<String>, String, String, String, i64, i64, Vec<u8>, Vec<u8>);

impl Postgres {
    /// Adds entries to the chain of a tenant, all or none.
    pub(crate) async fn write_audit(
        &self,
        tenant: &Tenant,
        entries: &[&Entry],
    ) -> Result<(), Error> {
        let today = self.today().await?;
        let mut transaction = self.begin_transaction().await?;
        sqlx::query(
            "INSERT INTO audit_head (tenant, day, number, hash) VALUES ($1, 0, 0, $2)
             ON CONFLICT DO NOTHING",
        )
        .bind(tenant.as_str())
        .bind(GENESIS_HASH)
        .execute(&mut *transaction)
        .answer()
        .await?;
        let (last_day, last, hash): (i32, i64, [u8; 32]) =
            sqlx::query_as("SELECT day, number, hash FROM audit_head WHERE tenant = $1 FOR UPDATE")
                .bind(tenant.as_str())
                .fetch_one(&mut *transaction)
                .answer()
                .await?;
        // The clock is read under the lock, so that times increase along the chain.
        let time: i64 = sqlx::query_scalar(concat!("SELECT ", now!()))
            .fetch_one(&mut *transaction)
            .answer()
            .await?;
        // Around midnight a writer may be late; a chain never returns to an earlier day.
        let day = today.max(last_day);
        let mut rows: Vec<Row> = Vec::with_capacity(entries.len());
        for (number, entry) in (last as u64 + 1..).zip(entries) {
            let mut row = Row {
                number,
                day,
                time,
                key_id: entry.key.as_ref().map(|key| key.as_str().to_owned()),
                what: entry.what.as_str().to_owned(),
                subject: entry.subject.as_str().to_owned(),
                decision: entry.decision.to_owned(),
                bytes_in: entry.bytes_in.min(i64::MAX as u64),
                bytes_out: entry.bytes_out.min(i64::MAX as u64),
                previous: rows.last().map_or(hash, |row| row.hash),
                hash: GENESIS_HASH,
            };
            row.hash = row.expected(tenant);
            rows.push(row);
        }
        let Some(end) = rows.last() else { return Ok(()) };
        if day > last_day {
            sqlx::query(
                "WITH gone AS (DELETE FROM audit_day WHERE tenant = $1 AND day < audit_begins())
                 INSERT INTO audit_day (tenant, day, number, previous) VALUES ($1, $2, $3, $4)",
            )
            .bind(tenant.as_str())
            .bind(day)
            .bind(last + 1)
            .bind(hash)
            .execute(&mut *transaction)
            .answer()
            .await?;
        }
        sqlx::query(
            "WITH added AS (INSERT INTO audit (tenant, day, time, number, key_id, what, subject,
                    decision, bytes_in, bytes_out, previous, hash)
                SELECT $1, $2, $3, * FROM unnest($4::bigint[], $5::text[], $6::text[], $7::text[],
                    $8::text[], $9::bigint[], $10::bigint[], $11::bytea[], $12::bytea[]))
             UPDATE audit_head SET day = $2, number = $13, hash = $14 WHERE tenant = $1",
        )
        .bind(tenant.as_str())
        .bind(day)
        .bind(time)
        .bind(rows.iter().map(|row| row.number.cast_signed()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.key_id.as_deref()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| &*row.what).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| &*row.subject).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| &*row.decision).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.bytes_in.cast_signed()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.bytes_out.cast_signed()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.previous).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.hash).collect::<Vec<_>>())
        .bind(end.number.cast_signed())
        .bind(end.hash)
        .execute(&mut *transaction)
        .answer()
        .await?;
        transaction.commit().answer().await
    }

    /// Returns a page of a tenant's rows after a number.
    pub(crate) async fn audit_page(&self, tenant: &Tenant, after: u64) -> Result<Vec<Row>, Error> {
        let found: Vec<Stored> = sqlx::query_as(
            "SELECT number, day, time, key_id, what, subject, decision, bytes_in, bytes_out,
                previous, hash
             FROM audit WHERE tenant = $1 AND number > $2 ORDER BY number, day LIMIT $3",
        )
        .bind(tenant.as_str())
        .bind(i64::try_from(after).unwrap_or(i64::MAX))
        .bind(PAGE_SIZE)
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(found.into_iter().map(row).collect())
    }

    /// Returns the boundaries of a tenant's rows at one moment.
    pub(crate) async fn audit_frame(&self, tenant: &Tenant) -> Result<ChainBounds, Error> {
        let (last, hash, highest, first, previous): Heads = sqlx::query_as(
            "SELECT audit_head.number, audit_head.hash,
                (SELECT max(number) FROM audit WHERE tenant = $1), first.number, first.previous
             FROM (SELECT) AS one LEFT JOIN audit_head ON tenant = $1
             LEFT JOIN LATERAL (SELECT number, previous FROM audit_day
                WHERE tenant = $1 AND day >= audit_begins() ORDER BY day LIMIT 1) AS first ON true",
        )
        .bind(tenant.as_str())
        .fetch_one(&mut *self.connection().await?)
        .answer()
        .await?;
        let end = |(number, hash): (i64, Vec<u8>)| (number as u64, sized(hash));
        Ok(ChainBounds {
            first: first.zip(previous).map(end),
            last: last.zip(hash).map_or((0, GENESIS_HASH), end),
            highest: highest.map(i64::cast_unsigned),
        })
    }
}

/// The end of a chain, its highest number, and its beginning.
type Heads = (Option<i64>, Option<Vec<u8>>, Option<i64>, Option<i64>, Option<Vec<u8>>);

/// Converts a hash. One of another length matches nothing.
fn sized(hash: Vec<u8>) -> [u8; 32] {
    hash.try_into().unwrap_or([0xff; 32])
}

fn row(stored: Stored) -> Row {
    let (number, day, time, key_id, what, subject, decision, bytes_in, bytes_out, previous, hash) =
        stored;
    Row {
        number: number as u64,
        day,
        time,
        key_id,
        what,
        subject,
        decision,
        bytes_in: bytes_in as u64,
        bytes_out: bytes_out as u64,
        previous: sized(previous),
        hash: sized(hash),
    }
}
