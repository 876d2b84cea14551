//! Writing a turn: one transaction, and no more statements for a long session than for a short one.
//!
//! Rows that other sessions write, too, are written in the order of their names, one table after
//! the other: so nobody waits for somebody who waits for them.

use photic_store::record::{Entry, Link, MadeBlob, MadeKey, SessionId, Stretch};
use photic_store::{Error, Facts, Handle, Tenant};

use super::{Owner, Postgres, Writing, beside_others, day_of, failed, numbers};

/// How many of the latest messages are looked for first; then eight times as many, and so on.
const FIRST_LOOK: usize = 16;

impl Postgres {
    pub(super) async fn append_turn(
        &self,
        tenant: &Tenant,
        id: &SessionId,
        entry: &Entry<'_>,
    ) -> Result<u64, Error> {
        let owner = self.owner(tenant).await?;
        let today = self.today().await?;
        let mut transaction = self.begin_transaction().await?;
        beside_others(&mut transaction, &owner).await?;
        let (low, high) = numbers(id);
        let found: Option<(i64, i64, i64)> = sqlx::query_as(
            "SELECT id, turns, messages FROM session
             WHERE name = $1 AND tenant = $2 AND id >= $3 AND id < $4 FOR UPDATE",
        )
        .bind(id.as_str())
        .bind(owner.id)
        .bind(low)
        .bind(high)
        .fetch_optional(&mut *transaction)
        .await
        .map_err(failed)?;
        let (session, turns, messages) = found.ok_or_else(|| Error::NoSession(id.clone()))?;
        let number = turns + 1;
        let mut writer = Writer { transaction, session, owner: &owner, today };
        writer.hold(entry).await?;
        writer.issue(entry).await?;
        let made = writer.make(&entry.made).await?;
        let (tip, messages) = writer.messages(entry.messages, messages).await?;
        let pieces = writer.pieces(entry).await?;
        writer.turn(number, entry, tip, made, &pieces).await?;
        writer.count(number, messages, entry.time).await?;
        writer.transaction.commit().await.map_err(failed)?;
        Ok(number as u64)
    }
}

struct Writer<'o> {
    transaction: Writing,
    session: i64,
    owner: &'o Owner,
    today: i32,
}

/// The name of a stretch that other turns may have, too.
type PieceName = [u8; 32];

impl Writer<'_> {
    /// Notes what the session refers to, and what is remembered of it.
    async fn hold(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        let mut memories = Vec::with_capacity(entry.holds.len());
        for (blob, _) in &entry.holds {
            let memory = entry.memories.iter().find(|(of, _)| of == blob);
            let memory = memory.map(|(_, memory)| serde_json::to_string(memory)).transpose();
            memories.push(memory.map_err(|_| Error::Damaged("a memory"))?);
        }
        let holds = || entry.holds.iter();
        sqlx::query(
            "INSERT INTO held (session, blob, bytes, original, memory)
             SELECT $1, * FROM unnest($2::bytea[], $3::bigint[], $4::boolean[], $5::text[])
             ON CONFLICT (session, blob) DO UPDATE SET original = held.original OR excluded.original,
                memory = coalesce(held.memory, excluded.memory)",
        )
        .bind(self.session)
        .bind(holds().map(|(blob, _)| *blob.as_bytes()).collect::<Vec<_>>())
        .bind(holds().map(|(_, facts)| facts.bytes.cast_signed()).collect::<Vec<_>>())
        .bind(holds().map(|(_, facts)| facts.media_type.is_some()).collect::<Vec<_>>())
        .bind(memories)
        .execute(&mut *self.transaction)
        .await
        .map_err(failed)?;
        Ok(())
    }

    /// Gives pictures their handles. What was said about one when it was issued stays.
    async fn issue(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        let pictures = || entry.holds.iter().filter(|(_, facts)| facts.media_type.is_some());
        let json = |facts: &Facts| serde_json::to_string(facts);
        let facts: Result<Vec<String>, _> = pictures().map(|(_, facts)| json(facts)).collect();
        let handle = |blob| Handle::of(&self.owner.secret, blob).as_str().to_owned();
        sqlx::query(
            "INSERT INTO handle (day, tenant, handle, blob, facts, issued)
             SELECT $1, $2, new.handle, new.blob, coalesce((SELECT facts FROM handle AS old
                    WHERE old.tenant = $2 AND old.handle = new.handle ORDER BY day DESC LIMIT 1),
                new.facts), $3
             FROM unnest($4::text[], $5::bytea[], $6::text[]) AS new (handle, blob, facts)
             ORDER BY new.handle
             ON CONFLICT (day, tenant, handle) DO UPDATE SET issued = excluded.issued",
        )
        .bind(self.today)
        .bind(self.owner.id)
        .bind(entry.time)
        .bind(pictures().map(|(blob, _)| handle(blob)).collect::<Vec<_>>())
        .bind(pictures().map(|(blob, _)| *blob.as_bytes()).collect::<Vec<_>>())
        .bind(facts.map_err(|_| Error::Damaged("facts"))?)
        .execute(&mut *self.transaction)
        .await
        .map_err(failed)?;
        Ok(())
    }

    /// Notes what was made, unless the latest that was made so is the same; how much there is.
    async fn make(&mut self, made: &[(MadeKey, Option<MadeBlob>)]) -> Result<i64, Error> {
        let media_type = |made: &Option<MadeBlob>| {
            made.as_ref().map_or_else(String::new, |made| made.media_type.clone())
        };
        let blobs = made.iter().map(|(_, made)| made.as_ref().map(|made| *made.blob.as_bytes()));
        let sizes = || made.iter().map(|(_, made)| made.as_ref().map_or((0, 0), |made| made.size));
        let count: i64 = sqlx::query_scalar(
            "WITH last AS (SELECT coalesce(max(id), 0) AS id FROM made WHERE session = $1),
             added AS (INSERT INTO made (session, id, key, blob, media_type, width, height)
                SELECT $1, last.id + row_number() OVER (ORDER BY new.place), new.key, new.blob,
                    new.media_type, new.width, new.height
                FROM last, unnest($2::bytea[], $3::bytea[], $4::text[], $5::bigint[], $6::bigint[])
                    WITH ORDINALITY AS new (key, blob, media_type, width, height, place)
                LEFT JOIN LATERAL (SELECT blob, true AS there FROM made
                    WHERE session = $1 AND key = new.key ORDER BY id DESC LIMIT 1) AS old ON true
                WHERE old.there IS NULL OR old.blob IS DISTINCT FROM new.blob
                RETURNING id)
             SELECT greatest((SELECT max(id) FROM added), last.id) FROM last",
        )
        .bind(self.session)
        .bind(made.iter().map(|(key, _)| *key).collect::<Vec<_>>())
        .bind(blobs.collect::<Vec<_>>())
        .bind(made.iter().map(|(_, made)| media_type(made)).collect::<Vec<_>>())
        .bind(sizes().map(|(width, _)| i64::from(width)).collect::<Vec<_>>())
        .bind(sizes().map(|(_, height)| i64::from(height)).collect::<Vec<_>>())
        .fetch_one(&mut *self.transaction)
        .await
        .map_err(failed)?;
        Ok(count)
    }

    /// Writes the messages that are new; the last one, and how many the session has now.
    async fn messages(
        &mut self,
        links: &[Link<'_>],
        count: i64,
    ) -> Result<(Option<i64>, i64), Error> {
        let (known, tip) = self.known(links).await?;
        let new = &links[known..];
        if new.is_empty() {
            return Ok((tip, count));
        }
        let last = count + new.len().cast_signed() as i64;
        let numbers = count + 1..=last;
        let parents = std::iter::once(tip).chain(numbers.clone().map(Some)).take(new.len());
        let places = new.iter().map(|link| link.stretch.places());
        let places = places.map(|places| Some(places).filter(|places| !places.is_empty()));
        sqlx::query(
            "INSERT INTO message (session, id, parent, chain, text, places)
             SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bytea[], $6::bytea[])",
        )
        .bind(self.session)
        .bind(numbers.collect::<Vec<_>>())
        .bind(parents.collect::<Vec<_>>())
        .bind(new.iter().map(|link| link.chain).collect::<Vec<_>>())
        .bind(new.iter().map(|link| link.stretch.text().into_owned()).collect::<Vec<_>>())
        .bind(places.collect::<Vec<_>>())
        .execute(&mut *self.transaction)
        .await
        .map_err(failed)?;
        Ok((Some(last), last))
    }

    /// How many of the messages are in the record, and the last of them. A message is there only if
    /// all before it are, and usually only the last few are new; so it is looked for from the end.
    async fn known(&mut self, links: &[Link<'_>]) -> Result<(usize, Option<i64>), Error> {
        let (mut end, mut look) = (links.len(), FIRST_LOOK);
        while end > 0 {
            let start = end.saturating_sub(look);
            let chains: Vec<_> = links[start..end].iter().map(|link| link.chain).collect();
            let found: Option<(i64, i32)> = sqlx::query_as(
                "SELECT id, array_position($2, chain) FROM message
                 WHERE session = $1 AND chain = ANY($2)
                 ORDER BY array_position($2, chain) DESC LIMIT 1",
            )
            .bind(self.session)
            .bind(chains)
            .fetch_optional(&mut *self.transaction)
            .await
            .map_err(failed)?;
            if let Some((id, place)) = found {
                // Places are counted from 1.
                return Ok((start + place as usize, Some(id)));
            }
            (end, look) = (start, look * 8);
        }
        Ok((0, None))
    }

    /// Writes what turns repeat; the names of what this one says before and after its messages, its
    /// profile, policy and circumstances.
    async fn pieces(&mut self, entry: &Entry<'_>) -> Result<[PieceName; 5], Error> {
        let text = |text| Stretch { raw: str::as_bytes(text), cuts: Vec::new() };
        let (profile, policy) = (text(&entry.profile), text(&entry.policy));
        let circumstances = text(&entry.circumstances);
        let all = [&entry.before, &entry.after, &profile, &policy, &circumstances];
        let names = all.map(name);
        sqlx::query(
            "INSERT INTO piece (day, tenant, digest, text, places)
             SELECT DISTINCT ON (new.digest) $1, $2, new.*
             FROM unnest($3::bytea[], $4::bytea[], $5::bytea[]) AS new (digest, text, places)
             ORDER BY new.digest
             ON CONFLICT DO NOTHING",
        )
        .bind(day_of(self.session))
        .bind(self.owner.id)
        .bind(&names[..])
        .bind(all.iter().map(|stretch| stretch.text().into_owned()).collect::<Vec<_>>())
        .bind(all.iter().map(|stretch| stretch.places()).collect::<Vec<_>>())
        .execute(&mut *self.transaction)
        .await
        .map_err(failed)?;
        Ok(names)
    }

    async fn turn(
        &mut self,
        number: i64,
        entry: &Entry<'_>,
        tip: Option<i64>,
        made: i64,
        [before, after, profile, policy, circumstances]: &[PieceName; 5],
    ) -> Result<(), Error> {
        sqlx::query(
            "INSERT INTO turn (session, number, wire, tip, before, after, profile, policy,
                circumstances, made, digest, length, images, tokens, usd, kin, time)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
        )
        .bind(self.session)
        .bind(number)
        .bind(entry.wire.name())
        .bind(tip)
        .bind(before)
        .bind(after)
        .bind(profile)
        .bind(policy)
        .bind(circumstances)
        .bind(made)
        .bind(entry.digest)
        .bind(entry.length.cast_signed())
        .bind(entry.sums.images.cast_signed())
        .bind(entry.sums.tokens.cast_signed())
        .bind(entry.sums.usd)
        .bind(entry.kin)
        .bind(entry.time)
        .execute(&mut *self.transaction)
        .await
        .map_err(failed)?;
        Ok(())
    }

    async fn count(&mut self, turns: i64, messages: i64, time: i64) -> Result<(), Error> {
        sqlx::query("UPDATE session SET turns = $2, messages = $3, last = $4 WHERE id = $1")
            .bind(self.session)
            .bind(turns)
            .bind(messages)
            .bind(time)
            .execute(&mut *self.transaction)
            .await
            .map_err(failed)?;
        Ok(())
    }
}

/// Names a stretch, with the numbers of its media.
fn name(stretch: &Stretch<'_>) -> PieceName {
    let text = stretch.text();
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(&text);
    hasher.update(&stretch.places());
    *hasher.finalize().as_bytes()
}
