//! Writes a turn: media into blobs first, then the record.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic::json::Segments;
use photic::media::{Found, Payload, Source};
use photic::transcript::MediaId;
use photic::{
    Digest, Form, Former, Gone, LeftOut, MediaStub, Plan, Policy, Prepared, Recipe, Segment,
    Transcript,
};

use super::conversation::ConversationKeys;
use super::reproduce::Circumstances;
use super::{Store, keys};
use crate::blobs::{BlobId, Blobs};
use crate::error::Error;
use crate::handle::{Facts, Secret};
use crate::record::{
    Chain, CutMedia, MadeBlob, MadeKey, NewMessage, NewSegment, NewTurn, Record, SessionId,
    TurnCost,
};

/// A finished turn: everything a host did with a body.
#[derive(Clone, Copy, Debug)]
pub struct FinishedTurn<'d, 'a> {
    /// The lifted body, with fetched media put in.
    pub transcript: &'d Transcript<'a>,
    /// The plan.
    pub plan: &'d Plan<'d>,
    /// The policy of the plan.
    pub policy: &'d Policy,
    /// The pictures made for the plan.
    pub prepared: &'d Prepared,
    /// Digest of the lowered body.
    pub sent: SentBody,
    /// The key of the conversation, if it is known: the first of
    /// [`conversation_keys`](super::conversation_keys).
    pub conversation_key: Option<Chain>,
    /// Media without bytes, of which only a stub is known. A stand-in was put in for each
    /// ([`MediaStub::stand_in`]) and the survey was told ([`photic::Survey::recall`]). Their blobs
    /// are in the store.
    pub remembered: &'d BTreeMap<MediaId, &'d MediaStub>,
    /// Media that the plan would have shown if the body had not become too large
    /// ([`Lowered::retired`](photic::Lowered::retired)).
    pub shed: &'d [MediaId],
    /// Time in milliseconds since 1970.
    pub time: i64,
}

/// Digest and length of a sent body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentBody {
    /// BLAKE3 of the body.
    pub digest: Digest,
    /// Length in bytes.
    pub length: u64,
}

/// The hash of the beginning of a sent body, for a later body that begins with the same bytes.
#[derive(Clone, Debug)]
pub struct SentPrefix {
    /// The number of bytes that were hashed.
    pub bytes: usize,
    hash: blake3::Hasher,
}

impl SentBody {
    /// Computes digest and length of a lowered body.
    pub fn of(body: &Segments<'_>) -> Self {
        Self::after(body, None, None).0
    }

    /// Computes digest and length of a lowered body, of which only what follows after `prefix` is
    /// hashed. Returns the hash of its first `keep` bytes, too, if there are more than the prefix has.
    pub fn after(
        body: &Segments<'_>,
        prefix: Option<SentPrefix>,
        keep: Option<usize>,
    ) -> (Self, Option<SentPrefix>) {
        let prefix = prefix.filter(|prefix| prefix.bytes <= body.len());
        let (mut known, mut hash) =
            prefix.map_or_else(|| (0, blake3::Hasher::new()), |one| (one.bytes, one.hash));
        let (mut start, mut kept) = (0, None);
        for piece in body.iter() {
            let end = start + piece.len();
            let mut new = piece.get(known.saturating_sub(start)..).unwrap_or_default();
            if let Some(keep) = keep.filter(|keep| (known.max(start)..end).contains(keep)) {
                let (before, behind) = new.split_at(keep - known.max(start));
                hash.update(before);
                kept = Some(SentPrefix { bytes: keep, hash: hash.clone() });
                new = behind;
            }
            hash.update(new);
            known = known.max(end);
            start = end;
        }
        let digest = *hash.finalize().as_bytes();
        (Self { digest, length: body.len() as u64 }, kept)
    }
}

/// The keys of the messages of a turn that was written, for the next turn of its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenMessages {
    session: SessionId,
    chains: Vec<Chain>,
}

impl WrittenMessages {
    /// Returns the session that has the messages.
    pub const fn session(&self) -> &SessionId {
        &self.session
    }

    /// Returns the key after some elements of the list of messages.
    fn after(&self, elements: usize) -> Option<Chain> {
        match elements.checked_sub(1) {
            None => Some(keys::start(&self.session)),
            Some(last) => self.chains.get(last).copied(),
        }
    }
}

/// Messages that were left out of a transcript, because an earlier turn of the session has them.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers create it")]
pub struct LeftOutMessages<'l> {
    /// The messages of the earlier turn.
    pub written: &'l WrittenMessages,
    /// The messages that were left out. They are the same in both turns.
    pub left_out: &'l LeftOut,
}

impl<R: Record, B: Blobs> Store<R, B> {
    /// Stores a turn durably. Returns its number, from 1.
    pub async fn append(&self, id: &SessionId, done: &FinishedTurn<'_, '_>) -> Result<u64, Error> {
        Ok(self.append_after(id, done, None).await?.0)
    }

    /// Stores a turn durably, of which some messages may be left out. Returns its number, from 1, and
    /// the keys of its messages. It stores the same as [`Store::append`] of the whole turn.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::NotContinued`] if it is not certain that the session has the messages that
    /// were left out. Nothing refers to the turn then, and it can be stored whole.
    pub async fn append_after(
        &self,
        id: &SessionId,
        done: &FinishedTurn<'_, '_>,
        left_out: Option<LeftOutMessages<'_>>,
    ) -> Result<(u64, WrittenMessages), Error> {
        let mut gathered = TurnBlobs::new(done);
        let apart = photic::split_media(done.transcript);
        let before = gathered.stretch(&apart.before);
        let links = Links::of(id, &mut gathered, &apart.messages, left_out);
        let Links { follows, new: links, chains } =
            links.ok_or_else(|| Error::NotContinued(id.clone()))?;
        let after = gathered.stretch(&apart.after);
        gathered.originals();
        let made = gathered.made();
        let circumstances = gathered.circumstances(&self.record.secret(&self.tenant).await?);
        let TurnBlobs { contents, stored, .. } = &gathered;

        let names: BTreeSet<BlobId> = contents.keys().chain(stored).copied().collect();
        let held = self.record.held(id, &names).await?;
        let again: Vec<BlobId> = stored.difference(&held).copied().collect();
        if !again.is_empty() {
            self.blobs.touch(&again).await?;
        }
        let new: Vec<_> = contents.iter().filter(|(blob, _)| !held.contains(blob)).collect();
        self.store(&new).await?;

        let json = |what, value: Result<String, serde_json::Error>| {
            value.map_err(|_| Error::Damaged(what))
        };
        let ledger = &done.plan.ledger;
        let entry = NewTurn {
            wire: done.transcript.wire,
            before,
            follows,
            messages: &links,
            after,
            conversation_key: done
                .conversation_key
                .or_else(|| ConversationKeys::of(&self.tenant, done.transcript).last()),
            profile: json("a profile", serde_json::to_string(done.plan.profile))?,
            policy: json("a policy", serde_json::to_string(done.policy))?,
            circumstances: json("circumstances", serde_json::to_string(&circumstances))?,
            memories: gathered.memories(&held),
            holds: gathered.holds(&held),
            made,
            digest: done.sent.digest,
            length: done.sent.length,
            sums: TurnCost { images: ledger.images as u64, tokens: ledger.tokens, usd: ledger.usd },
            time: done.time,
        };
        let number = self.record.append(&self.tenant, id, &entry).await?;
        Ok((number, WrittenMessages { session: id.clone(), chains }))
    }

    /// Stores blobs in groups that fit in memory when decoded.
    async fn store(&self, contents: &[(&BlobId, &Content<'_>)]) -> Result<(), Error> {
        let (mut names, mut decoded, mut bytes) = (Vec::new(), Vec::new(), 0);
        for (place, (blob, content)) in contents.iter().enumerate() {
            let content = content.decode();
            bytes += content.len();
            names.push(**blob);
            decoded.push(content);
            if bytes >= MAX_GROUP_BYTES || place + 1 == contents.len() {
                if self.blobs.put_all(&decoded).await? != names {
                    return Err(Error::Damaged("a medium has two names"));
                }
                (names, decoded, bytes) = (Vec::new(), Vec::new(), 0);
            }
        }
        Ok(())
    }
}

/// The messages of a turn, and the keys of all of them.
#[derive(Debug)]
struct Links<'a> {
    /// The key of the message before these, if some were left out.
    follows: Option<Chain>,
    new: Vec<NewMessage<'a>>,
    /// The key of each message of the whole turn.
    chains: Vec<Chain>,
}

impl<'a> Links<'a> {
    /// Computes the keys of messages. Returns `None` if those before a gap are not the ones of the
    /// turn that has the messages in it.
    fn of(
        id: &SessionId,
        gathered: &mut TurnBlobs<'_, 'a>,
        messages: &[Segment<'a>],
        left_out: Option<LeftOutMessages<'_>>,
    ) -> Option<Self> {
        let mut links = Self { follows: None, new: Vec::new(), chains: Vec::new() };
        let mut chain = keys::start(id);
        let gaps = left_out.into_iter().flat_map(|one| one.left_out.turns());
        let mut gaps = gaps.map(|turns| turns.elements).peekable();
        for message in messages {
            while let Some(gap) = gaps.next_if(|gap| gap.start == links.chains.len()) {
                let written = left_out?.written;
                if written.after(gap.start) != Some(chain) {
                    return None;
                }
                links.chains.extend_from_slice(written.chains.get(gap.clone())?);
                chain = written.after(gap.end)?;
                links.follows = Some(chain);
                // The session has those before the gap.
                links.new.clear();
            }
            let stretch = gathered.stretch(message);
            chain = keys::next(&chain, &stretch);
            links.chains.push(chain);
            links.new.push(NewMessage { chain, stretch });
        }
        gaps.next().is_none().then_some(links)
    }
}

/// Approximate size of such a group in bytes.
const MAX_GROUP_BYTES: usize = 8 << 20;

/// Bytes of a blob, decoded only if they have to be stored.
#[derive(Debug)]
enum Content<'d> {
    Bytes(Cow<'d, [u8]>),
    Payload(&'d Payload<'d>),
}

impl Content<'_> {
    fn decode(&self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes.to_vec(),
            Self::Payload(payload) => payload.decode(),
        }
    }
}

/// Blobs of a turn, collected while its body is split.
#[derive(Debug)]
struct TurnBlobs<'d, 'a> {
    done: &'d FinishedTurn<'d, 'a>,
    /// Digests of the media whose bytes or stubs are known.
    digests: Vec<Option<Digest>>,
    contents: BTreeMap<BlobId, Content<'d>>,
    /// Blobs whose bytes are in the store only.
    stored: BTreeSet<BlobId>,
    /// Origin of each blob.
    seen: BTreeMap<BlobId, BlobOrigin>,
}

/// Origin of a blob in a turn.
#[derive(Clone, Copy, Debug)]
enum BlobOrigin {
    /// The bytes of a medium of the body.
    Medium(MediaId),
    /// The encoded text of a medium, with its length. It gets no handle.
    Characters(MediaId, usize),
    /// A prepared picture, with its size in bytes. It gets no handle.
    Made(usize),
}

impl<'d, 'a> TurnBlobs<'d, 'a> {
    fn new(done: &'d FinishedTurn<'d, 'a>) -> Self {
        let sightings = &done.plan.survey.sightings;
        let ids = MediaId::first(done.transcript.media.len());
        let digests = ids.zip(&done.transcript.media).map(|(id, media)| {
            let remembered = done.remembered.get(&id).map(|memory| memory.digest);
            let known = sightings.get(id.index()).and_then(|sighting| sighting.digest);
            remembered.or(known).or_else(|| match &media.source {
                Source::Data(payload) => Some(payload.digest()),
                Source::Text(_) | Source::Url(_) | Source::File(_) | Source::Missing => None,
            })
        });
        let digests = digests.collect();
        let (contents, stored, seen) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        Self { done, digests, contents, stored, seen }
    }

    /// Returns the digest of a medium, if it is known.
    fn digest(&self, id: MediaId) -> Option<Digest> {
        self.digests.get(id.index()).copied().flatten()
    }

    /// Splits a segment into text and blobs.
    fn stretch(&mut self, segment: &Segment<'a>) -> NewSegment<'a> {
        let cuts = segment.cuts.iter().filter_map(|cut| {
            let raw = &segment.raw[cut.range.clone()];
            let payload = self.payload(cut.media);
            let blob = match (cut.form, payload, self.digest(cut.media)) {
                (Form::Base64, Some(payload), Some(digest)) => {
                    self.contents.entry(digest.into()).or_insert(Content::Payload(payload));
                    BlobId::from(digest)
                }
                (Form::Base64, _, _) => return None,
                (Form::Text, _, _) => {
                    let blob = BlobId::of(raw);
                    self.contents.entry(blob).or_insert(Content::Bytes(Cow::Borrowed(raw)));
                    blob
                }
            };
            self.seen.entry(blob).or_insert(match cut.form {
                Form::Base64 => BlobOrigin::Medium(cut.media),
                Form::Text => BlobOrigin::Characters(cut.media, raw.len()),
            });
            Some((cut.range.clone(), CutMedia { form: cut.form, media: cut.media, blob }))
        });
        NewSegment { raw: segment.raw, cuts: cuts.collect() }
    }

    /// Returns the bytes of a medium, if they are available. A stand-in does not count.
    fn payload(&self, id: MediaId) -> Option<&'d Payload<'a>> {
        match self.done.transcript.media.get(id.index()).map(|media| &media.source) {
            Some(Source::Data(payload)) if !self.done.remembered.contains_key(&id) => Some(payload),
            _ => None,
        }
    }

    /// Returns the blobs that the session does not refer to yet, with their facts.
    fn holds(&self, held: &BTreeSet<BlobId>) -> Vec<(BlobId, Facts)> {
        let of_length = |bytes: usize| Facts { bytes: bytes as u64, ..Facts::default() };
        let facts = |seen: &BlobOrigin| match *seen {
            BlobOrigin::Medium(id) => self.facts_of(id),
            BlobOrigin::Characters(_, bytes) | BlobOrigin::Made(bytes) => of_length(bytes),
        };
        let new = self.seen.iter().filter(|(blob, _)| !held.contains(blob));
        new.map(|(blob, seen)| (*blob, facts(seen))).collect()
    }

    /// Returns the stubs of these blobs.
    fn memories(&self, held: &BTreeSet<BlobId>) -> Vec<(BlobId, MediaStub)> {
        let new = self.seen.iter().filter(|(blob, _)| !held.contains(blob));
        let memories = new.filter_map(|(blob, seen)| match *seen {
            BlobOrigin::Medium(id) | BlobOrigin::Characters(id, _) => {
                Some((*blob, self.memory(id)?))
            }
            BlobOrigin::Made(_) => None,
        });
        memories.collect()
    }

    fn memory(&self, id: MediaId) -> Option<MediaStub> {
        let remembered = self.done.remembered.get(&id).map(|memory| (*memory).clone());
        remembered.or_else(|| photic::remember(self.done.transcript, id))
    }

    fn facts_of(&self, id: MediaId) -> Facts {
        let media = self.done.transcript.media.get(id.index());
        let header = media.map(photic::media::Media::header).unwrap_or_default();
        Facts {
            media_type: header.media_type.map(str::to_owned),
            size: header.size,
            bytes: self.done.remembered.get(&id).map_or(header.bytes, |one| one.bytes) as u64,
            label: None,
        }
    }

    /// Makes every medium with bytes a blob of the turn, also those inside of text, so that their
    /// handles can be resolved.
    fn originals(&mut self) {
        for id in MediaId::first(self.digests.len()) {
            let Some((payload, digest)) = self.payload(id).zip(self.digest(id)) else { continue };
            let blob = BlobId::from(digest);
            if !self.seen.contains_key(&blob) {
                self.contents.insert(blob, Content::Payload(payload));
                self.seen.insert(blob, BlobOrigin::Medium(id));
            }
        }
        for (&id, memory) in self.done.remembered {
            let blob = BlobId::from(memory.digest);
            if !self.contents.contains_key(&blob) {
                self.stored.insert(blob);
                self.seen.entry(blob).or_insert(BlobOrigin::Medium(id));
            }
        }
    }

    /// Returns the pictures made for the plan; `None` for those that failed.
    fn made(&mut self) -> Vec<(MadeKey, Option<MadeBlob>)> {
        let recipes = self.done.plan.recipes.iter();
        let keyed = recipes.filter_map(|(&id, recipe)| {
            let sources: Option<Vec<Digest>> =
                sources(id, recipe).iter().map(|&id| self.digest(id)).collect();
            Some((id, keys::made(&sources?, recipe)))
        });
        let keyed: Vec<(MediaId, MadeKey)> = keyed.collect();
        let made = keyed.into_iter().map(|(id, key)| {
            let Some(made) = self.done.prepared.get(&id) else { return (key, None) };
            let Ok(bytes) = STANDARD.decode(&made.base64) else { return (key, None) };
            let blob = BlobId::of(&bytes);
            self.seen.entry(blob).or_insert(BlobOrigin::Made(bytes.len()));
            self.contents.entry(blob).or_insert(Content::Bytes(Cow::Owned(bytes)));
            let media_type = made.media_type.clone();
            (key, Some(MadeBlob { blob, media_type, size: made.size }))
        });
        made.collect()
    }

    /// Collects the other inputs of the plan.
    fn circumstances(&self, secret: &Secret) -> Circumstances {
        let mut circumstances = Circumstances::default();
        let done = self.done;
        for sighting in &done.plan.survey.sightings {
            let id = sighting.media;
            if let Some(reason) = sighting.withheld {
                circumstances.withheld.insert(id, reason);
            }
            if sighting.found == Found::Fetched
                && let Some(digest) = self.digest(id)
            {
                let blob = BlobId::from(digest);
                circumstances.supplied.insert(id, blob);
            }
            if let Some(name) = &sighting.reference {
                circumstances.names.insert(id, name.clone());
            }
        }
        circumstances.forget_usual_names(&self.digests, secret);
        circumstances.sent = Some(Former::of(done.plan, done.prepared, done.shed));
        circumstances.estimated_usd = done.plan.ledger.usd;
        for (id, reason) in done.plan.gave_way(done.shed) {
            let Some(digest) = self.digest(id) else { continue };
            let gone = Gone { digest, reason };
            if done.policy.retired.get(&id) != Some(&gone) {
                circumstances.gone.insert(id, gone);
            }
        }
        circumstances
    }
}

/// Returns the media that a recipe uses.
pub(super) fn sources(id: MediaId, recipe: &Recipe) -> Vec<MediaId> {
    match recipe {
        Recipe::Fit(_) => vec![id],
        Recipe::Sheet { members, .. } => members.clone(),
    }
}

#[cfg(test)]
mod tests {
    use photic::json::Segments;

    use super::*;

    #[test]
    fn a_body_is_hashed_from_any_place_on() {
        let body: Vec<u8> = (0..9000_u32).map(|number| number as u8).collect();
        let segments = Segments::whole(&body);
        let whole = SentBody::of(&segments);
        assert_eq!(whole.digest, *blake3::hash(&body).as_bytes());
        for keep in [0, 1, 1023, 1024, 5000, 8999] {
            let (sent, kept) = SentBody::after(&segments, None, Some(keep));
            assert_eq!(sent, whole);
            let kept = kept.unwrap();
            assert_eq!(kept.bytes, keep);
            for next in [keep, 8998.max(keep)] {
                let (sent, last) = SentBody::after(&segments, Some(kept.clone()), Some(next));
                assert_eq!(sent, whole);
                assert_eq!(SentBody::after(&segments, last, None).0, whole);
            }
        }
        // What is longer than the body is not its beginning.
        let (_, kept) = SentBody::after(&segments, None, Some(8999));
        let short = Segments::whole(&body[..10]);
        assert_eq!(SentBody::after(&short, kept, None).0, SentBody::of(&short));
    }
}
