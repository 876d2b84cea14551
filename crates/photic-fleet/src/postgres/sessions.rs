//! Sessions and the choices of the user.

use std::collections::BTreeMap;

use photic::{Choice, Digest};
use photic_store::record::{Chain, Session, SessionId};
use photic_store::{Error, Tenant};
use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::{Answer, BELOW_DAY, Postgres, failed, numbers};

/// Number of keys that are looked up first when a request continues a session. Each further step
/// looks up eight times as many. A continued request adds few messages.
const FIRST_LOOKUP: usize = 8;

/// A statement for the facts about sessions of a tenant, with the rest of it.
macro_rules! session_facts {
    ($rest:literal) => {
        concat!(
            "SELECT session.name, title, turns, messages, created, last, held.*, session.id FROM session
             JOIN tenant ON tenant.id = session.tenant,
             LATERAL (SELECT count(*) AS blobs, coalesce(sum(bytes), 0)::bigint AS bytes,
                count(*) FILTER (WHERE original) AS images
                FROM held WHERE held.session = session.id) AS held
             WHERE tenant.name = $1 ",
            $rest
        )
    };
}

pub(super) use session_facts;

impl Postgres {
    pub(super) async fn begin_session(
        &self,
        tenant: &Tenant,
        title: &str,
    ) -> Result<SessionId, Error> {
        let owner = self.owner(tenant).await?;
        let day = self.today().await?;
        let id = SessionId::dated(day as u16)?;
        sqlx::query(concat!(
            "INSERT INTO session (id, name, tenant, title, created, last)
             SELECT $1 + nextval('session_number'), $2, $3, $4, now, now FROM (SELECT ",
            now!(),
            " AS now) AS clock",
        ))
        .bind(i64::from(day) << BELOW_DAY)
        .bind(id.as_str())
        .bind(owner.id)
        // The only character that text in PostgreSQL cannot contain.
        .bind(title.replace('\0', ""))
        .execute(&mut *self.connection().await?)
        .answer()
        .await?;
        Ok(id)
    }

    pub(super) async fn all_sessions(&self, tenant: &Tenant) -> Result<Vec<Session>, Error> {
        let found = sqlx::query(session_facts!("ORDER BY last DESC, session.id DESC"))
            .bind(tenant.as_str())
            .fetch_all(&mut *self.connection().await?)
            .answer()
            .await?;
        found.iter().map(facts).collect()
    }

    pub(super) async fn one_session(
        &self,
        tenant: &Tenant,
        id: &SessionId,
    ) -> Result<Option<Session>, Error> {
        let (low, high) = numbers(id);
        let found = sqlx::query(session_facts!(
            "AND session.name = $2 AND session.id >= $3 AND session.id < $4"
        ))
        .bind(tenant.as_str())
        .bind(id.as_str())
        .bind(low)
        .bind(high)
        .fetch_optional(&mut *self.connection().await?)
        .answer()
        .await?;
        found.as_ref().map(facts).transpose()
    }

    pub(super) async fn continued_session(
        &self,
        keys: &[Chain],
    ) -> Result<Option<(SessionId, u64)>, Error> {
        let (mut rest, mut look) = (keys, FIRST_LOOKUP);
        while !rest.is_empty() {
            let (these, later) = rest.split_at(look.min(rest.len()));
            let found: Option<(String, i64)> = sqlx::query_as(
                "SELECT name, number FROM turn JOIN session ON session.id = turn.session
                 WHERE kin = ANY($1)
                 ORDER BY array_position($1, kin), time DESC, session.id DESC, number DESC
                 LIMIT 1",
            )
            .bind(these)
            .fetch_optional(&mut *self.connection().await?)
            .answer()
            .await?;
            if let Some((name, number)) = found {
                return Ok(Some((named(&name)?, number.cast_unsigned())));
            }
            (rest, look) = (later, look * 8);
        }
        Ok(None)
    }

    pub(super) async fn choose_for(
        &self,
        tenant: &Tenant,
        id: &SessionId,
        picture: &Digest,
        choice: Option<Choice>,
    ) -> Result<(), Error> {
        let (low, high) = numbers(id);
        let mut transaction = self.begin_transaction().await?;
        let session: Option<(i64, i64)> = sqlx::query_as(
            "SELECT session.id, turns FROM session JOIN tenant ON tenant.id = session.tenant
             WHERE session.name = $1 AND tenant.name = $2 AND session.id >= $3 AND session.id < $4
             FOR UPDATE OF session",
        )
        .bind(id.as_str())
        .bind(tenant.as_str())
        .bind(low)
        .bind(high)
        .fetch_optional(&mut *transaction)
        .await
        .map_err(failed)?;
        let (session, turns) = session.ok_or_else(|| Error::NoSession(id.clone()))?;
        let choice = choice.map(|choice| serde_json::to_string(&choice)).transpose();
        let choice = choice.map_err(|_| Error::Damaged("a choice"))?;
        sqlx::query(concat!(
            "INSERT INTO past_choice (session, picture, choice, time, turns) VALUES ($1, $2, $3, ",
            now!(),
            ", $4)",
        ))
        .bind(session)
        .bind(picture)
        .bind(&choice)
        .bind(turns)
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
        let query = match choice {
            None => sqlx::query("DELETE FROM choice WHERE session = $1 AND picture = $2")
                .bind(session)
                .bind(picture),
            Some(choice) => sqlx::query(concat!(
                "INSERT INTO choice (session, picture, choice, time) VALUES ($1, $2, $3, ",
                now!(),
                ") ON CONFLICT (session, picture) DO UPDATE
                 SET choice = excluded.choice, time = excluded.time",
            ))
            .bind(session)
            .bind(picture)
            .bind(choice),
        };
        query.execute(&mut *transaction).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)
    }

    pub(super) async fn choices_of(
        &self,
        id: &SessionId,
    ) -> Result<BTreeMap<Digest, Choice>, Error> {
        let (low, high) = numbers(id);
        let found: Vec<(Digest, String)> = sqlx::query_as(
            "SELECT picture, choice FROM choice JOIN session ON session.id = choice.session
             WHERE name = $1 AND session.id >= $2 AND session.id < $3",
        )
        .bind(id.as_str())
        .bind(low)
        .bind(high)
        .fetch_all(&mut *self.connection().await?)
        .answer()
        .await?;
        let read = |(picture, choice): (Digest, String)| {
            let choice = serde_json::from_str(&choice).map_err(|_| Error::Damaged("a choice"))?;
            Ok((picture, choice))
        };
        found.into_iter().map(read).collect()
    }
}

fn named(name: &str) -> Result<SessionId, Error> {
    name.parse().map_err(|_| Error::Damaged("the name of a session"))
}

pub(super) fn facts(row: &PgRow) -> Result<Session, Error> {
    let count = |at: usize| row.try_get::<i64, _>(at).map(|count| count as u64).map_err(failed);
    Ok(Session {
        id: named(row.try_get(0).map_err(failed)?)?,
        title: row.try_get(1).map_err(failed)?,
        turns: count(2)?,
        messages: count(3)?,
        created: row.try_get(4).map_err(failed)?,
        last: row.try_get(5).map_err(failed)?,
        blobs: count(6)?,
        bytes: count(7)?,
        images: count(8)?,
    })
}
