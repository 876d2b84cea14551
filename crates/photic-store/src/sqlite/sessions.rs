//! Sessions and the choices of the user.

use std::collections::BTreeMap;

use photic::{Choice, Digest};
use rusqlite::{OptionalExtension as _, Row, params};

use super::handles::find_or_make;
use super::{Sqlite, begin, failed, now};
use crate::error::Error;
use crate::handle::Tenant;
use crate::record::{Chain, Session, SessionId};

/// Sums over the turns of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SessionTotals {
    /// Number of images that the model saw, counted in each turn.
    pub images: u64,
    /// Tokens of all requests.
    pub tokens: u64,
    /// Their input in US dollars; `None` if no price is known.
    pub usd: Option<f64>,
    /// Number of turns without a known price, which the dollars leave out.
    pub unpriced: u64,
}

/// The facts about sessions of a tenant. The rest of the statement follows.
pub(super) const FACTS: &str = "SELECT session.name, title, turns, messages, created, last,
        (SELECT count(*) FROM held WHERE held.session = session.id),
        (SELECT coalesce(sum(bytes), 0) FROM held WHERE held.session = session.id),
        (SELECT coalesce(sum(original), 0) FROM held WHERE held.session = session.id), session.id
    FROM session JOIN tenant ON tenant.id = session.tenant WHERE tenant.name = ?1";

impl Sqlite {
    pub(super) fn begin_session(&self, tenant: &Tenant, title: &str) -> Result<SessionId, Error> {
        let id = SessionId::random()?;
        let mut connection = self.connection();
        let transaction = begin(&mut connection)?;
        let (tenant, _) = find_or_make(&transaction, tenant)?;
        transaction.execute(
            "INSERT INTO session (name, tenant, title, created, last) VALUES (?1, ?2, ?3, ?4, ?4)",
            params![id.as_str(), tenant, title, now()],
        ).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        Ok(id)
    }

    pub(super) fn all_sessions(&self, tenant: &Tenant) -> Result<Vec<Session>, Error> {
        let connection = self.connection();
        let mut statement = connection
            .prepare_cached(&format!("{FACTS} ORDER BY last DESC, session.id DESC"))
            .map_err(failed)?;
        let found = statement.query_map([tenant.as_str()], facts).map_err(failed)?;
        found.map(|session| session.map_err(failed)?).collect()
    }

    /// Returns the totals of all sessions of a tenant.
    pub fn totals(&self, tenant: &Tenant) -> Result<BTreeMap<SessionId, SessionTotals>, Error> {
        let connection = self.connection();
        let mut statement = connection
            .prepare_cached(
                "SELECT session.name, sum(turn.images), sum(turn.tokens), sum(turn.usd),
                        count(*) - count(turn.usd)
                 FROM turn JOIN session ON session.id = turn.session
                 JOIN tenant ON tenant.id = session.tenant
                 WHERE tenant.name = ? GROUP BY session.id",
            )
            .map_err(failed)?;
        let found = statement
            .query_map([tenant.as_str()], |row| {
                let totals = SessionTotals {
                    images: row.get(1)?,
                    tokens: row.get(2)?,
                    usd: row.get(3)?,
                    unpriced: row.get(4)?,
                };
                Ok((row.get::<_, String>(0)?, totals))
            })
            .map_err(failed)?;
        found
            .map(|row| {
                let (name, totals) = row.map_err(failed)?;
                let id = name.parse().map_err(|_| Error::Damaged("the name of a session"))?;
                Ok((id, totals))
            })
            .collect()
    }

    pub(super) fn one_session(
        &self,
        tenant: &Tenant,
        id: &SessionId,
    ) -> Result<Option<Session>, Error> {
        let connection = self.connection();
        let found = connection
            .prepare_cached(&format!("{FACTS} AND session.name = ?2"))
            .map_err(failed)?
            .query_row(params![tenant.as_str(), id.as_str()], facts)
            .optional()
            .map_err(failed)?;
        found.transpose()
    }

    pub(super) fn continued_session(
        &self,
        keys: &[Chain],
    ) -> Result<Option<(SessionId, u64)>, Error> {
        let connection = self.connection();
        let mut find = connection
            .prepare_cached(
                "SELECT name, number FROM turn JOIN session ON session.id = turn.session
             WHERE kin = ? ORDER BY time DESC, session.id DESC, number DESC LIMIT 1",
            )
            .map_err(failed)?;
        for chain in keys {
            let found: Option<(String, u64)> = find
                .query_row([chain], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
                .map_err(failed)?;
            if let Some((name, number)) = found {
                let id = name.parse().map_err(|_| Error::Damaged("the name of a session"))?;
                return Ok(Some((id, number)));
            }
        }
        Ok(None)
    }

    pub(super) fn choose_for(
        &self,
        tenant: &Tenant,
        id: &SessionId,
        picture: &Digest,
        choice: Option<Choice>,
    ) -> Result<(), Error> {
        let mut connection = self.connection();
        let transaction = begin(&mut connection)?;
        let (session, turns): (i64, u64) = transaction
            .query_row(
                "SELECT session.id, turns FROM session JOIN tenant ON tenant.id = session.tenant
                 WHERE session.name = ? AND tenant.name = ?",
                params![id.as_str(), tenant.as_str()],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()
            .map_err(failed)?
            .ok_or_else(|| Error::NoSession(id.clone()))?;
        let choice = choice.map(|choice| serde_json::to_string(&choice)).transpose();
        let (choice, time) = (choice.map_err(|_| Error::Damaged("a choice"))?, now());
        transaction
            .execute(
                "INSERT INTO past_choice (session, picture, choice, time, turns)
                 VALUES (?, ?, ?, ?, ?)",
                params![session, picture, choice, time, turns],
            )
            .map_err(failed)?;
        match choice {
            None => transaction
                .execute(
                    "DELETE FROM choice WHERE session = ? AND picture = ?",
                    params![session, picture],
                )
                .map_err(failed)?,
            Some(choice) => transaction
                .execute(
                    "INSERT OR REPLACE INTO choice (session, picture, choice, time)
                 VALUES (?, ?, ?, ?)",
                    params![session, picture, choice, time],
                )
                .map_err(failed)?,
        };
        transaction.commit().map_err(failed)
    }

    pub(super) fn choices_of(&self, id: &SessionId) -> Result<BTreeMap<Digest, Choice>, Error> {
        let connection = self.connection();
        let mut statement = connection
            .prepare_cached(
                "SELECT picture, choice FROM choice JOIN session ON session.id = choice.session
             WHERE name = ?",
            )
            .map_err(failed)?;
        let found = statement
            .query_map([id.as_str()], |row| {
                Ok((row.get::<_, Digest>(0)?, row.get::<_, String>(1)?))
            })
            .map_err(failed)?;
        found
            .map(|each| {
                let (picture, choice) = each.map_err(failed)?;
                let choice =
                    serde_json::from_str(&choice).map_err(|_| Error::Damaged("a choice"))?;
                Ok((picture, choice))
            })
            .collect()
    }
}

pub(super) fn facts(row: &Row<'_>) -> Result<Result<Session, Error>, rusqlite::Error> {
    let name: String = row.get(0)?;
    let Ok(id) = name.parse() else { return Ok(Err(Error::Damaged("the name of a session"))) };
    Ok(Ok(Session {
        id,
        title: row.get(1)?,
        turns: row.get(2)?,
        messages: row.get(3)?,
        created: row.get(4)?,
        last: row.get(5)?,
        blobs: row.get(6)?,
        bytes: row.get(7)?,
        images: row.get(8)?,
    }))
}
