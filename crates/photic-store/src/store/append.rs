//! Writing a turn: media into blobs first, then the record.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic::media::{Found, Payload, Source};
use photic::transcript::MediaId;
use photic::{Digest, Form, Lowered, Memory, Plan, Policy, Prepared, Recipe, Segment, Transcript};

use super::reproduce::Circumstances;
use super::{Store, keys};
use crate::blobs::{BlobId, Blobs};
use crate::error::Error;
use crate::handle::{Facts, Secret};
use crate::record::{Entry, Link, MadeBlob, MadeKey, Piece, Record, SessionId, Stretch, Sums};

/// What a host did with a body: everything that a turn is made of.
#[derive(Clone, Copy, Debug)]
pub struct Done<'d, 'a> {
    /// The body, lifted, with what was fetched put in.
    pub transcript: &'d Transcript<'a>,
    /// What was planned.
    pub plan: &'d Plan<'d>,
    /// The policy it was planned with.
    pub policy: &'d Policy,
    /// What was made for it.
    pub prepared: &'d Prepared,
    /// What was sent.
    pub lowered: &'d Lowered<'a>,
    /// When: milliseconds since 1970.
    pub time: i64,
}

impl<R: Record, B: Blobs> Store<R, B> {
    /// Writes a turn, durably once this is done; its number, from 1.
    pub async fn append(&self, id: &SessionId, done: &Done<'_, '_>) -> Result<u64, Error> {
        let mut gathered = Gathered::new(done);
        let apart = photic::apart(done.transcript);
        let before = gathered.stretch(&apart.before);
        let mut links = Vec::with_capacity(apart.messages.len());
        let mut chain = keys::start(id);
        for message in &apart.messages {
            let stretch = gathered.stretch(message);
            chain = keys::next(&chain, &stretch);
            links.push(Link { chain, stretch });
        }
        let after = gathered.stretch(&apart.after);
        gathered.originals();
        let made = gathered.made();
        let circumstances = gathered.circumstances(&self.record.secret(&self.tenant).await?);
        let Gathered { contents, mut memories, mut facts, .. } = gathered;

        let names: BTreeSet<BlobId> = contents.keys().copied().collect();
        let held = self.record.held(id, &names).await?;
        let new: Vec<_> = contents.iter().filter(|(blob, _)| !held.contains(blob)).collect();
        self.store(&new).await?;
        memories.retain(|(blob, _)| !held.contains(blob));
        facts.retain(|blob, _| !held.contains(blob));

        let digest = {
            let mut hasher = blake3::Hasher::new();
            done.lowered.body.iter().for_each(|piece| {
                hasher.update(piece);
            });
            *hasher.finalize().as_bytes()
        };
        let json = |what, value: Result<String, serde_json::Error>| {
            value.map_err(|_| Error::Damaged(what))
        };
        let ledger = &done.plan.ledger;
        let entry = Entry {
            wire: done.transcript.wire,
            before,
            messages: &links,
            after,
            kin: keys::kin(&self.tenant, done.transcript).last().copied(),
            profile: json("a profile", serde_json::to_string(done.plan.profile))?,
            policy: json("a policy", serde_json::to_string(done.policy))?,
            circumstances: json("circumstances", serde_json::to_string(&circumstances))?,
            memories,
            holds: facts.into_iter().collect(),
            made,
            digest,
            length: done.lowered.body.len() as u64,
            sums: Sums { images: ledger.images as u64, tokens: ledger.tokens, usd: ledger.usd },
            time: done.time,
        };
        self.record.append(&self.tenant, id, &entry).await
    }

    /// Stores blobs together, as many at a time as may lie in memory decoded.
    async fn store(&self, contents: &[(&BlobId, &Content<'_>)]) -> Result<(), Error> {
        let (mut names, mut decoded, mut bytes) = (Vec::new(), Vec::new(), 0);
        for (place, (blob, content)) in contents.iter().enumerate() {
            let content = content.decode();
            bytes += content.len();
            names.push(**blob);
            decoded.push(content);
            if bytes >= TOGETHER || place + 1 == contents.len() {
                if self.blobs.put_all(&decoded).await? != names {
                    return Err(Error::Damaged("a medium has two names"));
                }
                (names, decoded, bytes) = (Vec::new(), Vec::new(), 0);
            }
        }
        Ok(())
    }
}

/// About how many bytes of blobs are stored at a time.
const TOGETHER: usize = 8 << 20;

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

/// What a turn refers to, found while its body is cut apart.
#[derive(Debug)]
struct Gathered<'d, 'a> {
    done: &'d Done<'d, 'a>,
    /// What every medium is whose bytes are at hand.
    digests: Vec<Option<Digest>>,
    contents: BTreeMap<BlobId, Content<'d>>,
    facts: BTreeMap<BlobId, Facts>,
    memories: Vec<(BlobId, Memory)>,
}

impl<'d, 'a> Gathered<'d, 'a> {
    fn new(done: &'d Done<'d, 'a>) -> Self {
        let sightings = &done.plan.survey.sightings;
        let digests = done.transcript.media.iter().enumerate().map(|(id, media)| {
            let known = sightings.get(id).and_then(|sighting| sighting.digest);
            known.or_else(|| match &media.source {
                Source::Data(payload) => Some(payload.digest()),
                Source::Text(_) | Source::Url(_) | Source::File(_) | Source::Missing => None,
            })
        });
        let digests = digests.collect();
        let contents = BTreeMap::new();
        Self { done, digests, contents, facts: BTreeMap::new(), memories: Vec::new() }
    }

    /// A segment whose media are blobs.
    fn stretch(&mut self, segment: &Segment<'a>) -> Stretch<'a> {
        let cuts = segment.cuts.iter().filter_map(|cut| {
            let raw = &segment.raw[cut.range.clone()];
            let payload = self.payload(cut.media);
            let blob = match (cut.form, payload, self.digests.get(cut.media).copied().flatten()) {
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
            self.know(cut.media, blob, cut.form, raw.len());
            Some((cut.range.clone(), Piece { form: cut.form, media: cut.media, blob }))
        });
        Stretch { raw: segment.raw, cuts: cuts.collect() }
    }

    fn payload(&self, id: MediaId) -> Option<&'d Payload<'a>> {
        match self.done.transcript.media.get(id).map(|media| &media.source) {
            Some(Source::Data(payload)) => Some(payload),
            _ => None,
        }
    }

    /// Notes what a blob is, once.
    fn know(&mut self, id: MediaId, blob: BlobId, form: Form, length: usize) {
        if self.facts.contains_key(&blob) {
            return;
        }
        let facts = match form {
            Form::Base64 => self.facts_of(id),
            // The characters are no picture: nobody is to look at them.
            Form::Text => Facts { bytes: length as u64, ..Facts::default() },
        };
        self.facts.insert(blob, facts);
        self.memories.extend(photic::remember(self.done.transcript, id).map(|one| (blob, one)));
    }

    fn facts_of(&self, id: MediaId) -> Facts {
        let media = self.done.transcript.media.get(id);
        let header = media.map(photic::media::Media::header).unwrap_or_default();
        Facts {
            media_type: header.media_type.map(str::to_owned),
            size: header.size,
            bytes: header.bytes as u64,
            label: None,
        }
    }

    /// Sees to it that every medium whose bytes are at hand is a blob, also those that stand in the
    /// text: its handle is to lead somewhere.
    fn originals(&mut self) {
        for id in 0..self.digests.len() {
            let Some((payload, digest)) = self.payload(id).zip(self.digests[id]) else { continue };
            let blob = BlobId::from(digest);
            if !self.facts.contains_key(&blob) {
                self.contents.insert(blob, Content::Payload(payload));
                self.know(id, blob, Form::Base64, 0);
            }
        }
    }

    /// What was made for the plan, or could not be.
    fn made(&mut self) -> Vec<(MadeKey, Option<MadeBlob>)> {
        let recipes = self.done.plan.recipes.iter();
        let keyed = recipes.filter_map(|(&id, recipe)| {
            let sources: Option<Vec<Digest>> =
                sources(id, recipe).iter().map(|&id| *self.digests.get(id)?).collect();
            Some((id, keys::made(&sources?, recipe)))
        });
        let keyed: Vec<(MediaId, MadeKey)> = keyed.collect();
        let made = keyed.into_iter().map(|(id, key)| {
            let Some(made) = self.done.prepared.get(&id) else { return (key, None) };
            let Ok(bytes) = STANDARD.decode(&made.base64) else { return (key, None) };
            let blob = BlobId::of(&bytes);
            // No media type: what was made is nothing to ask for.
            let facts = Facts { bytes: bytes.len() as u64, ..Facts::default() };
            self.facts.entry(blob).or_insert(facts);
            self.contents.entry(blob).or_insert(Content::Bytes(Cow::Owned(bytes)));
            let media_type = made.media_type.clone();
            (key, Some(MadeBlob { blob, media_type, size: made.size }))
        });
        made.collect()
    }

    /// What else the plan was made with.
    fn circumstances(&self, secret: &Secret) -> Circumstances {
        let mut circumstances = Circumstances::default();
        let done = self.done;
        for sighting in &done.plan.survey.sightings {
            let id = sighting.media;
            if let Some(reason) = sighting.withheld {
                circumstances.withheld.insert(id, reason);
            }
            if sighting.found == Found::Fetched
                && let Some(digest) = self.digests.get(id).copied().flatten()
            {
                let blob = BlobId::from(digest);
                circumstances.supplied.insert(id, blob);
            }
            if let Some(name) = &sighting.reference {
                circumstances.names.insert(id, name.clone());
            }
        }
        circumstances.forget_usual_names(&self.digests, secret);
        circumstances
    }
}

/// The media that a recipe takes.
pub(super) fn sources(id: MediaId, recipe: &Recipe) -> Vec<MediaId> {
    match recipe {
        Recipe::Fit(_) => vec![id],
        Recipe::Sheet { members, .. } => members.clone(),
    }
}
