//! The blobs of a turn, collected while its body is split.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic::media::{Found, Payload, Source};
use photic::transcript::MediaId;
use photic::{Digest, Form, Former, Gone, MediaStub, Recipe, Segment};

use super::FinishedTurn;
use crate::blobs::BlobId;
use crate::handle::{Facts, Secret};
use crate::record::{CutMedia, MadeBlob, MadeKey, NewSegment};
use crate::store::keys;
use crate::store::reproduce::Circumstances;

/// Bytes of a blob, decoded only if they have to be stored.
#[derive(Debug)]
pub(super) enum Content<'d> {
    Bytes(Cow<'d, [u8]>),
    Payload(&'d Payload<'d>),
}

impl Content<'_> {
    pub(super) fn decode(&self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes.to_vec(),
            Self::Payload(payload) => payload.decode(),
        }
    }
}

/// Blobs of a turn, collected while its body is split.
#[derive(Debug)]
pub(super) struct TurnBlobs<'d, 'a> {
    done: &'d FinishedTurn<'d, 'a>,
    /// Digests of the media whose bytes or stubs are known.
    digests: Vec<Option<Digest>>,
    pub(super) contents: BTreeMap<BlobId, Content<'d>>,
    /// Blobs whose bytes are in the store only.
    pub(super) stored: BTreeSet<BlobId>,
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
    pub(super) fn new(done: &'d FinishedTurn<'d, 'a>) -> Self {
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
    pub(super) fn stretch(&mut self, segment: &Segment<'a>) -> NewSegment<'a> {
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
    pub(super) fn holds(&self, held: &BTreeSet<BlobId>) -> Vec<(BlobId, Facts)> {
        let of_length = |bytes: usize| Facts { bytes: bytes as u64, ..Facts::default() };
        let facts = |seen: &BlobOrigin| match *seen {
            BlobOrigin::Medium(id) => self.facts_of(id),
            BlobOrigin::Characters(_, bytes) | BlobOrigin::Made(bytes) => of_length(bytes),
        };
        let new = self.seen.iter().filter(|(blob, _)| !held.contains(blob));
        new.map(|(blob, seen)| (*blob, facts(seen))).collect()
    }

    /// Returns the stubs of these blobs.
    pub(super) fn memories(&self, held: &BTreeSet<BlobId>) -> Vec<(BlobId, MediaStub)> {
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
    pub(super) fn originals(&mut self) {
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
    pub(super) fn made(&mut self) -> Vec<(MadeKey, Option<MadeBlob>)> {
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
    pub(super) fn circumstances(&self, secret: &Secret) -> Circumstances {
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
pub(in crate::store) fn sources(id: MediaId, recipe: &Recipe) -> Vec<MediaId> {
    match recipe {
        Recipe::Fit(_) => vec![id],
        Recipe::Sheet { members, .. } => members.clone(),
    }
}
