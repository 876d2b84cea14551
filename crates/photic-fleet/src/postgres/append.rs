//! Writes a turn with one call of the function `append_turn` in `format-3.sql`, which writes all of
//! it or nothing. If this replica did not write the previous turn, a lookup comes first.
//!
//! The function checks the assumptions of the replica. If one is outdated, nothing is written and
//! the lookup is repeated.

use std::collections::BTreeSet;

use photic_store::record::{NewSegment, NewTurn, SessionId};
use photic_store::{BlobId, Error, Facts, Handle, Tenant};

use super::write_cache::{LastMessage, PieceName};
use super::{Answer, Owner, Postgres, TENANTS, numbers};

/// Number of latest messages that are looked up first. Each further step looks up eight times as
/// many.
const FIRST_LOOKUP: usize = 16;
/// Largest number of attempts. Each failure means that another replica wrote a turn.
const MAX_ATTEMPTS: usize = 100;

/// Position of the new messages of a turn.
#[derive(Clone, Copy, Debug)]
struct Start {
    /// Number of the turn's messages that are stored already.
    known: usize,
    /// Row of the last of them.
    parent: Option<i64>,
    /// Number of messages of the session.
    messages: i64,
}

/// Return codes of a turn that was not written.
mod outcome {
    /// The session does not exist.
    pub(super) const NO_SESSION: i64 = 0;
    /// The session has other messages by now.
    pub(super) const MOVED_ON: i64 = -1;
    /// A segment is missing that was assumed to exist.
    pub(super) const NO_PIECE: i64 = -2;
}

impl Postgres {
    pub(super) async fn append_turn(
        &self,
        tenant: &Tenant,
        id: &SessionId,
        entry: &NewTurn<'_>,
    ) -> Result<u64, Error> {
        let owner = self.owner(tenant).await?;
        let known = &self.inner.known;
        let day = i32::from(id.day());
        let pieces = Pieces::of(entry);
        let mut start = known.end(id).and_then(|end| continued(entry, end));
        for _ in 0..MAX_ATTEMPTS {
            let from = match start.take() {
                Some(start) => start,
                None => self.look(&owner, id, entry).await?,
            };
            let new_pieces = pieces.unless(|name| known.has_piece(day, owner.id, name));
            match self.write_turn(&owner, id, entry, from, &pieces, &new_pieces).await? {
                outcome::NO_SESSION => return Err(Error::NoSession(id.clone())),
                outcome::MOVED_ON => {}
                outcome::NO_PIECE => known.forget_pieces(day, owner.id, &pieces.names),
                number => {
                    let count = entry.messages.len() - from.known;
                    let number_of_last = from.messages + count.cast_signed() as i64;
                    // Only a new message is known to have no successor.
                    let last = entry.messages.last().filter(|_| count > 0);
                    let end =
                        last.map(|link| LastMessage { chain: link.chain, number: number_of_last });
                    known.set_end(id, end);
                    known.hold(id, entry.holds.iter().map(|(blob, _)| *blob));
                    known.add_pieces(day, owner.id, &pieces.names);
                    return Ok(number as u64);
                }
            }
        }
        Err(Error::Unavailable("other replicas keep writing to the session; try again".into()))
    }

    /// Returns which of these blobs the session refers to, if it is worth a query. A few unknown
    /// blobs are stored again instead.
    pub(super) async fn find_held(
        &self,
        id: &SessionId,
        blobs: &BTreeSet<BlobId>,
    ) -> Result<BTreeSet<BlobId>, Error> {
        const FEW: usize = 4;
        let mut held = self.inner.known.held(id, blobs);
        if blobs.len() - held.len() > FEW {
            let (low, high) = numbers(id);
            let found: Vec<[u8; 32]> = sqlx::query_scalar(
                "SELECT blob FROM held JOIN session ON session.id = held.session
                 WHERE session.name = $1 AND session.id >= $2 AND session.id < $3
                    AND held.session >= $2 AND held.session < $3 AND blob = ANY($4)",
            )
            .bind(id.as_str())
            .bind(low)
            .bind(high)
            .bind(blobs.difference(&held).map(|blob| *blob.as_bytes()).collect::<Vec<_>>())
            .fetch_all(&mut *self.connection().await?)
            .answer()
            .await?;
            let found = found.into_iter().map(BlobId::from);
            held.extend(found);
            self.inner.known.hold(id, held.iter().copied());
        }
        Ok(held)
    }

    /// Looks up the position of the new messages. A message is stored only if all before it are,
    /// and usually only the last few are new, so the search starts at the end.
    async fn look(
        &self,
        owner: &Owner,
        id: &SessionId,
        entry: &NewTurn<'_>,
    ) -> Result<Start, Error> {
        let (low, high) = numbers(id);
        // The message that the others follow comes first.
        let follows = entry.follows.into_iter();
        let links: Vec<_> = follows.chain(entry.messages.iter().map(|link| link.chain)).collect();
        let unsent = usize::from(entry.follows.is_some());
        let (mut end, mut look, mut messages) = (links.len(), FIRST_LOOKUP, None);
        loop {
            let start = end.saturating_sub(look);
            let found: Option<(i64, Option<i64>, Option<i32>)> = sqlx::query_as(
                "SELECT messages, found.id, found.place FROM session
                 LEFT JOIN LATERAL (SELECT message.id, array_position($5, chain) AS place
                    FROM message WHERE message.session = session.id AND chain = ANY($5)
                        AND message.session >= $3 AND message.session < $4
                    ORDER BY place DESC LIMIT 1) AS found ON true
                 WHERE name = $1 AND tenant = $2 AND session.id >= $3 AND session.id < $4",
            )
            .bind(id.as_str())
            .bind(owner.id)
            .bind(low)
            .bind(high)
            .bind(&links[start..end])
            .fetch_optional(&mut *self.connection().await?)
            .answer()
            .await?;
            let (count, parent, place) = found.ok_or_else(|| Error::NoSession(id.clone()))?;
            // The count of the first lookup: if it changed meanwhile, the write fails and is
            // repeated.
            let messages = *messages.get_or_insert(count);
            if let Some((parent, place)) = parent.zip(place) {
                // Positions are counted from 1.
                let known = start + place as usize - unsent;
                return Ok(Start { known, parent: Some(parent), messages });
            }
            if start == 0 {
                if unsent > 0 {
                    return Err(Error::NotContinued(id.clone()));
                }
                return Ok(Start { known: 0, parent: None, messages });
            }
            (end, look) = (start, look * 8);
        }
    }

    async fn write_turn(
        &self,
        owner: &Owner,
        id: &SessionId,
        entry: &NewTurn<'_>,
        from: Start,
        pieces: &Pieces,
        new_pieces: &[&(PieceName, Vec<u8>, Vec<u8>)],
    ) -> Result<i64, Error> {
        let (low, high) = numbers(id);
        let new = &entry.messages[from.known..];
        let places = new.iter().map(|link| link.stretch.places());
        let places = places.map(|places| Some(places).filter(|places| !places.is_empty()));
        let holds = || entry.holds.iter();
        let pictures = || holds().filter(|(_, facts)| facts.media_type.is_some());
        let handle = |blob| Handle::of(&owner.secret, blob).as_str().to_owned();
        let made = || entry.made.iter().map(|(_, made)| made.as_ref());
        let size = |at: fn((u32, u32)) -> u32| {
            made().map(move |made| made.map_or(0, |made| i64::from(at(made.size))))
        };
        let media_type = |made: Option<&photic_store::record::MadeBlob>| {
            made.map(|made| made.media_type.clone())
        };
        let arrived = serde_json::to_string(&entry.arrived);
        sqlx::query_scalar(
            "SELECT append_turn($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
                $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32,
                $33, $34, $35, $36, $37, $38)",
        )
        .bind(TENANTS + owner.id)
        .bind(owner.id)
        .bind(id.as_str())
        .bind(low)
        .bind(high)
        .bind(self.ahead())
        .bind(from.messages)
        .bind(from.parent)
        .bind(new.iter().map(|link| link.chain).collect::<Vec<_>>())
        .bind(new.iter().map(|link| link.stretch.text().into_owned()).collect::<Vec<_>>())
        .bind(places.collect::<Vec<_>>())
        .bind(new_pieces.iter().map(|(name, ..)| *name).collect::<Vec<_>>())
        .bind(new_pieces.iter().map(|(_, text, _)| text.as_slice()).collect::<Vec<_>>())
        .bind(new_pieces.iter().map(|(.., places)| places.as_slice()).collect::<Vec<_>>())
        .bind(&pieces.names[..])
        .bind(pieces.count())
        .bind(holds().map(|(blob, _)| *blob.as_bytes()).collect::<Vec<_>>())
        .bind(holds().map(|(_, facts)| facts.bytes.cast_signed()).collect::<Vec<_>>())
        .bind(holds().map(|(_, facts)| facts.media_type.is_some()).collect::<Vec<_>>())
        .bind(memories(entry)?)
        .bind(pictures().map(|(blob, _)| handle(blob)).collect::<Vec<_>>())
        .bind(pictures().map(|(blob, _)| *blob.as_bytes()).collect::<Vec<_>>())
        .bind(facts(pictures().map(|(_, facts)| facts))?)
        .bind(entry.made.iter().map(|(key, _)| *key).collect::<Vec<_>>())
        .bind(made().map(|made| made.map(|made| *made.blob.as_bytes())).collect::<Vec<_>>())
        .bind(made().map(|made| media_type(made).unwrap_or_default()).collect::<Vec<_>>())
        .bind(size(|size| size.0).collect::<Vec<_>>())
        .bind(size(|size| size.1).collect::<Vec<_>>())
        .bind(entry.wire.name())
        .bind(entry.digest)
        .bind(entry.length.cast_signed())
        .bind(&[entry.sums.images.cast_signed(), entry.sums.tokens.cast_signed()][..])
        .bind(entry.sums.usd)
        .bind(entry.conversation_key)
        .bind(entry.time)
        .bind(entry.fates.to_bytes())
        .bind(entry.sent.as_deref())
        .bind(arrived.map_err(|_| Error::Damaged("the new messages of a turn"))?)
        .fetch_one(&mut *self.connection().await?)
        .answer()
        .await
    }
}

/// Returns the position of messages that follow the last one this replica wrote.
fn continued(entry: &NewTurn<'_>, end: LastMessage) -> Option<Start> {
    let known = if entry.follows == Some(end.chain) {
        0
    } else {
        entry.messages.iter().rposition(|link| link.chain == end.chain)? + 1
    };
    Some(Start { known, parent: Some(end.number), messages: end.number })
}

/// Returns the stubs of the blobs in order.
fn memories(entry: &NewTurn<'_>) -> Result<Vec<Option<String>>, Error> {
    let memory = |blob: &BlobId| {
        let memory = entry.memories.iter().find(|(of, _)| of == blob);
        memory.map(|(_, memory)| serde_json::to_string(memory)).transpose()
    };
    let memories = entry.holds.iter().map(|(blob, _)| memory(blob));
    memories.collect::<Result<_, _>>().map_err(|_| Error::Damaged("a memory"))
}

fn facts<'f>(facts: impl Iterator<Item = &'f Facts>) -> Result<Vec<String>, Error> {
    let facts: Result<Vec<String>, _> = facts.map(serde_json::to_string).collect();
    facts.map_err(|_| Error::Damaged("facts"))
}

/// Segments of a turn that other turns may share: before and after its messages, its profile,
/// policy and other inputs.
#[derive(Debug)]
struct Pieces {
    names: [PieceName; 5],
    /// Names, texts and positions of media.
    all: Vec<(PieceName, Vec<u8>, Vec<u8>)>,
}

impl Pieces {
    fn of(entry: &NewTurn<'_>) -> Self {
        let text = |text| NewSegment { raw: str::as_bytes(text), cuts: Vec::new() };
        let (profile, policy) = (text(&entry.profile), text(&entry.policy));
        let circumstances = text(&entry.circumstances);
        let all = [&entry.before, &entry.after, &profile, &policy, &circumstances];
        let all = all.map(|stretch| {
            let (text, places) = (stretch.text().into_owned(), stretch.places());
            (name(&text, &places), text, places)
        });
        let names = all.each_ref().map(|(name, ..)| *name);
        let mut all = all.to_vec();
        all.sort();
        all.dedup_by_key(|(name, ..)| *name);
        Self { names, all }
    }

    fn unless(&self, is_known: impl Fn(&PieceName) -> bool) -> Vec<&(PieceName, Vec<u8>, Vec<u8>)> {
        self.all.iter().filter(|(name, ..)| !is_known(name)).collect()
    }

    /// Returns the number of distinct segments.
    fn count(&self) -> i64 {
        self.all.len().cast_signed() as i64
    }
}

/// Returns the name of a segment, with the numbers of its media.
fn name(text: &[u8], places: &[u8]) -> PieceName {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text);
    hasher.update(places);
    *hasher.finalize().as_bytes()
}
