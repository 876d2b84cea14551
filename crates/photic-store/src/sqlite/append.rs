//! Writes a turn in one transaction.

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::handles::find_or_make;
use super::{Sqlite, begin, failed};
use crate::blobs::BlobId;
use crate::error::Error;
use crate::handle::{Facts, Handle, Secret, Tenant};
use crate::record::{Chain, MadeBlob, MadeKey, NewMessage, NewSegment, NewTurn, SessionId};

impl Sqlite {
    pub(super) fn append_turn(
        &self,
        tenant: &Tenant,
        id: &SessionId,
        entry: &NewTurn<'_>,
    ) -> Result<u64, Error> {
        let mut connection = self.connection();
        let transaction = begin(&mut connection)?;
        let (owner, secret) = find_or_make(&transaction, tenant)?;
        let (session, turns) = transaction
            .prepare_cached("SELECT id, turns FROM session WHERE name = ? AND tenant = ?")
            .map_err(failed)?
            .query_row(params![id.as_str(), owner], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, u64>(1)?))
            })
            .optional()
            .map_err(failed)?
            .ok_or_else(|| Error::NoSession(id.clone()))?;
        let writer = Writer { transaction: &transaction, session, owner, secret: &secret };
        let number = turns + 1;
        writer.write(id, number, entry)?;
        transaction.commit().map_err(failed)?;
        Ok(number)
    }
}

struct Writer<'t> {
    transaction: &'t Transaction<'t>,
    session: i64,
    owner: i64,
    secret: &'t Secret,
}

impl Writer<'_> {
    fn write(&self, id: &SessionId, number: u64, entry: &NewTurn<'_>) -> Result<(), Error> {
        for (blob, memory) in &entry.memories {
            let memory = serde_json::to_string(memory).map_err(|_| Error::Damaged("a memory"))?;
            self.execute(
                "INSERT INTO memory (blob, memory) VALUES (?, ?) ON CONFLICT DO NOTHING",
                params![blob.as_bytes(), memory],
            )?;
        }
        for (blob, facts) in &entry.holds {
            self.hold(blob, facts, entry.time)?;
        }
        for (key, made) in &entry.made {
            self.make(key, made.as_ref())?;
        }
        let (tip, new) = self.messages(id, entry)?;
        let text = |text: &str| self.piece(&NewSegment { raw: text.as_bytes(), cuts: Vec::new() });
        let arrived = serde_json::to_string(&entry.arrived);
        let arrived = arrived.map_err(|_| Error::Damaged("the new messages of a turn"))?;
        let made: i64 = self
            .transaction
            .prepare_cached("SELECT coalesce(max(id), 0) FROM made")
            .map_err(failed)?
            .query_row([], |row| row.get(0))
            .map_err(failed)?;
        self.execute(
            "INSERT INTO turn (session, number, wire, tip, before, after, profile, policy,
                circumstances, made, digest, length, images, tokens, usd, kin, time, fates, sent,
                arrived)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                self.session,
                number,
                entry.wire.name(),
                tip,
                self.piece(&entry.before)?,
                self.piece(&entry.after)?,
                text(&entry.profile)?,
                text(&entry.policy)?,
                text(&entry.circumstances)?,
                made,
                entry.digest,
                entry.length,
                entry.sums.images,
                entry.sums.tokens,
                entry.sums.usd,
                entry.conversation_key,
                entry.time,
                entry.fates.to_bytes(),
                entry.sent,
                arrived,
            ],
        )?;
        self.execute(
            "UPDATE session SET turns = ?, messages = messages + ?, last = ? WHERE id = ?",
            params![number, new, entry.time, self.session],
        )
    }

    fn execute(&self, statement: &str, values: impl rusqlite::Params) -> Result<(), Error> {
        self.transaction
            .prepare_cached(statement)
            .map_err(failed)?
            .execute(values)
            .map_err(failed)?;
        Ok(())
    }

    /// Writes the new messages. Returns the row of the last message and the number of new ones.
    fn messages(&self, id: &SessionId, entry: &NewTurn<'_>) -> Result<(Option<i64>, usize), Error> {
        let links = entry.messages;
        let known = known(self.transaction, entry.follows, links).map_err(failed)?;
        let (known, mut tip) = known.ok_or_else(|| Error::NotContinued(id.clone()))?;
        let mut insert = self
            .transaction
            .prepare_cached(
                "INSERT INTO message (session, parent, chain, text, places) VALUES (?, ?, ?, ?, ?)",
            )
            .map_err(failed)?;
        for link in &links[known..] {
            let places = Some(link.stretch.places()).filter(|places| !places.is_empty());
            let text = link.stretch.text();
            insert
                .execute(params![self.session, tip, link.chain, &*text, places])
                .map_err(failed)?;
            tip = Some(self.transaction.last_insert_rowid());
        }
        Ok((tip, links.len() - known))
    }

    /// Writes a segment that several turns may share.
    fn piece(&self, stretch: &NewSegment<'_>) -> Result<i64, Error> {
        let mut hasher = blake3::Hasher::new();
        stretch.hash(&mut hasher);
        // Unlike in message keys, the numbers of media count here.
        let places = stretch.places();
        hasher.update(&places);
        let digest = *hasher.finalize().as_bytes();
        let find = "SELECT id FROM piece WHERE digest = ?";
        let found: Option<i64> = self
            .transaction
            .prepare_cached(find)
            .map_err(failed)?
            .query_row([digest], |row| row.get(0))
            .optional()
            .map_err(failed)?;
        if let Some(id) = found {
            return Ok(id);
        }
        let places = Some(places).filter(|places| !places.is_empty());
        self.execute(
            "INSERT INTO piece (digest, text, places) VALUES (?, ?, ?)",
            params![digest, &*stretch.text(), places],
        )?;
        Ok(self.transaction.last_insert_rowid())
    }

    fn hold(&self, blob: &BlobId, facts: &Facts, time: i64) -> Result<(), Error> {
        self.execute(
            "INSERT INTO held (session, blob, bytes, original) VALUES (?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET original = max(original, excluded.original)",
            params![self.session, blob.as_bytes(), facts.bytes, facts.media_type.is_some()],
        )?;
        if facts.media_type.is_none() {
            return Ok(());
        }
        let facts = serde_json::to_string(facts).map_err(|_| Error::Damaged("facts"))?;
        self.execute(
            "INSERT INTO handle (tenant, handle, blob, facts, issued) VALUES (?, ?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET issued = excluded.issued",
            params![
                self.owner,
                Handle::of(self.secret, blob).as_str(),
                blob.as_bytes(),
                facts,
                time
            ],
        )
    }

    /// Records a prepared picture unless it equals the latest one with this key.
    fn make(&self, key: &MadeKey, made: Option<&MadeBlob>) -> Result<(), Error> {
        let latest: Option<Option<[u8; 32]>> = self
            .transaction
            .prepare_cached(
                "SELECT blob FROM made WHERE session = ? AND key = ? ORDER BY id DESC LIMIT 1",
            )
            .map_err(failed)?
            .query_row(params![self.session, key], |row| row.get(0))
            .optional()
            .map_err(failed)?;
        if latest == Some(made.map(|made| *made.blob.as_bytes())) {
            return Ok(());
        }
        let (width, height) = made.map_or((0, 0), |made| made.size);
        self.execute(
            "INSERT INTO made (session, key, blob, media_type, width, height)
             VALUES (?, ?, ?, ?, ?, ?)",
            params![
                self.session,
                key,
                made.map(|made| made.blob.as_bytes()),
                made.map_or("", |made| &made.media_type),
                width,
                height,
            ],
        )
    }
}

/// Counts the messages that are stored already and returns the last of them. A message is stored
/// only if all before it are, and usually only the last few are new. So the search starts at the
/// end, with growing steps, and ends with a binary search. Returns `None` if the message before the
/// first one is not stored.
fn known(
    connection: &Connection,
    follows: Option<Chain>,
    links: &[NewMessage<'_>],
) -> Result<Option<(usize, Option<i64>)>, rusqlite::Error> {
    let mut find = connection.prepare_cached("SELECT id FROM message WHERE chain = ?")?;
    let mut at = |count: usize| {
        let chain = match count.checked_sub(1) {
            Some(last) => links[last].chain,
            None => match follows {
                Some(chain) => chain,
                None => return Ok(Some(None)),
            },
        };
        find.query_row([chain], |row| row.get::<_, i64>(0).map(Some)).optional()
    };
    let (mut unknown, mut step) = (links.len() + 1, 1);
    let (mut known, mut tip) = loop {
        let count = unknown.saturating_sub(step);
        if let Some(tip) = at(count)? {
            break (count, tip);
        }
        if count == 0 {
            return Ok(None);
        }
        (unknown, step) = (count, step * 2);
    };
    while unknown - known > 1 {
        let middle = usize::midpoint(known, unknown);
        match at(middle)? {
            Some(id) => (known, tip) = (middle, id),
            None => unknown = middle,
        }
    }
    Ok(Some((known, tip)))
}
