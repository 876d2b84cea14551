//! Writes a turn: media into blobs first, then the record.
//!
//! | module | purpose |
//! |---|---|
//! | `blobs` | the blobs of a turn: media, their stubs, pictures that were made |
//! | `links` | the keys of its messages, of which some may be left out |
//! | `sent_body` | the digest of the body that was sent |

mod blobs;
mod links;
mod sent_body;

use std::collections::{BTreeMap, BTreeSet};

use photic::transcript::MediaId;
use photic::{MediaStub, Plan, Policy, Prepared, Transcript};

pub use links::{LeftOutMessages, WrittenMessages};
pub use sent_body::{SentBody, SentPrefix};

pub(super) use self::blobs::sources;
use self::blobs::{Content, TurnBlobs};
use self::links::Links;
use super::Store;
use super::arrived::arrived;
use super::conversation::ConversationKeys;
use super::sent::{SentHashes, WrittenHashes};
use crate::blobs::{BlobId, Blobs};
use crate::error::Error;
use crate::record::{Chain, NewTurn, Record, SentFate, SessionId, TurnCost};

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
    /// Hashes of the messages of the lowered body, if they are known.
    pub hashes: Option<&'d SentHashes>,
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
        let links = Links::of(id, &mut gathered, &apart.messages, done.hashes, left_out);
        let Links { follows, new: links, chains, sent } =
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

        let sent = done.hashes.and_then(|hashes| hashes.complete(sent));
        let base = match (&sent, left_out) {
            (None, _) => None,
            (Some(_), Some(left_out)) => left_out.written.sent.clone(),
            (Some(sent), None) => self.last_sent(id, sent.messages.len()).await?,
        };
        let encoded = sent.as_ref().map(|sent| sent.encode(base.as_ref()));
        let (encoded, depth) = encoded.unzip();
        let fates = done.plan.carried_out(done.prepared, done.shed).into_iter();

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
            fates: fates.map(|(fate, is_remade)| SentFate { fate, is_remade }).collect(),
            sent: encoded,
            arrived: arrived(done.transcript),
            time: done.time,
        };
        let number = self.record.append(&self.tenant, id, &entry).await?;
        let sent = sent.zip(depth);
        let sent = sent.map(|(sent, depth)| WrittenHashes { turn: number, depth, sent });
        Ok((number, WrittenMessages { session: id.clone(), chains, sent }))
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

/// Approximate size of such a group in bytes.
const MAX_GROUP_BYTES: usize = 8 << 20;
