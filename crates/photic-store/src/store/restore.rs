//! Rebuilds bodies from the record: byte for byte, or with stand-ins where no bytes are needed.

use std::collections::{BTreeMap, BTreeSet};

use photic::media::{Payload, Source};
use photic::transcript::MediaId;
use photic::{Form, MediaStub, Transcript};

use super::Store;
use crate::blobs::{BlobId, Blobs};
use crate::error::Error;
use crate::record::{CutMedia, Record, SessionId, StoredSegment, StoredTurn};

/// The stored body of a turn and the stubs of its media.
#[derive(Debug)]
pub(super) struct Parts {
    stretches: Vec<StoredSegment>,
    memories: BTreeMap<BlobId, MediaStub>,
}

impl<R: Record, B: Blobs> Store<R, B> {
    /// Returns the body that the client sent, byte for byte.
    pub async fn body(&self, id: &SessionId, number: u64) -> Result<Vec<u8>, Error> {
        let turn = self.turn(id, number).await?;
        let parts = self.parts(&turn).await?;
        let bytes = self.read(parts.pieces().map(|piece| piece.blob)).await?;
        parts.body(&bytes)
    }

    pub(super) async fn parts(&self, turn: &StoredTurn) -> Result<Parts, Error> {
        let mut stretches = vec![turn.before.clone()];
        stretches.extend(self.record.messages(turn).await?);
        stretches.push(turn.after.clone());
        let mut parts = Parts { stretches, memories: BTreeMap::new() };
        let blobs: BTreeSet<BlobId> = parts.pieces().map(|piece| piece.blob).collect();
        parts.memories = self.record.memories(turn, &blobs).await?;
        Ok(parts)
    }

    /// Reads blobs, each once.
    pub(super) async fn read(
        &self,
        blobs: impl IntoIterator<Item = BlobId>,
    ) -> Result<BTreeMap<BlobId, Vec<u8>>, Error> {
        let blobs: BTreeSet<BlobId> = blobs.into_iter().collect();
        let mut bytes = BTreeMap::new();
        for blob in blobs {
            bytes.insert(blob, self.blobs.get(&blob).await?);
        }
        Ok(bytes)
    }
}

impl Parts {
    /// Iterates over all media that were cut out, in order.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &CutMedia> {
        self.stretches.iter().flat_map(|stretch| &stretch.pieces).map(|(_, piece)| piece)
    }

    /// Returns the blobs that have no stub, without which the body cannot be rebuilt.
    pub(super) fn needed(&self) -> impl Iterator<Item = BlobId> {
        let needed = self.pieces().filter(|piece| self.stand_in(piece).is_none());
        needed.map(|piece| piece.blob)
    }

    /// Returns the stub of a medium that can replace its bytes.
    fn stand_in(&self, piece: &CutMedia) -> Option<&MediaStub> {
        self.memories.get(&piece.blob).filter(|_| piece.form == Form::Base64)
    }

    /// Returns the length of the whole body, without its bytes.
    pub(super) fn whole_len(&self, bytes: &BTreeMap<BlobId, Vec<u8>>) -> u64 {
        let texts: usize = self.stretches.iter().map(|stretch| stretch.text.len()).sum();
        let media = self.pieces().map(|piece| {
            let stub = self.memories.get(&piece.blob).map(|stub| stub.bytes);
            let len = bytes.get(&piece.blob).map(Vec::len).or(stub).unwrap_or(0);
            match piece.form {
                Form::Base64 => len.div_ceil(3) * 4,
                Form::Text => len,
            }
        });
        (texts + media.sum::<usize>()) as u64
    }

    /// Builds the body from the available bytes, with stand-ins for the rest.
    pub(super) fn body(&self, bytes: &BTreeMap<BlobId, Vec<u8>>) -> Result<Vec<u8>, Error> {
        self.body_of(bytes, |head, _| head.to_owned())
    }

    /// Builds the body with a stand-in for every medium that has a stub, each made from its head and
    /// its number.
    pub(super) fn numbered_body(
        &self,
        bytes: &BTreeMap<BlobId, Vec<u8>>,
        stand_in: impl Fn(&str, MediaId) -> String,
    ) -> Result<Vec<u8>, Error> {
        let stays = |blob: &BlobId| {
            self.pieces().any(|piece| piece.blob == *blob && self.stand_in(piece).is_none())
        };
        let bytes = bytes.iter().filter(|(blob, _)| stays(blob));
        let bytes = bytes.map(|(blob, bytes)| (*blob, bytes.clone())).collect();
        self.body_of(&bytes, stand_in)
    }

    fn body_of(
        &self,
        bytes: &BTreeMap<BlobId, Vec<u8>>,
        stand_in: impl Fn(&str, MediaId) -> String,
    ) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        for StoredSegment { text, pieces } in &self.stretches {
            let mut end = 0;
            for (at, piece) in pieces {
                body.extend_from_slice(&text[end..*at]);
                end = *at;
                match (bytes.get(&piece.blob), piece.form, self.stand_in(piece)) {
                    (Some(bytes), Form::Base64, _) => {
                        body.extend_from_slice(Payload::encode(bytes).base64());
                    }
                    (Some(bytes), Form::Text, _) => body.extend_from_slice(bytes),
                    (None, _, Some(memory)) => {
                        body.extend_from_slice(stand_in(&memory.head, piece.media).as_bytes());
                    }
                    (None, _, None) => return Err(Error::Damaged("a medium is missing")),
                }
            }
            body.extend_from_slice(&text[end..]);
        }
        Ok(body)
    }

    /// Returns the stubs of the media of a body that was lifted again; `None` if they are at other
    /// positions than when they were cut out, because the request around them differs.
    pub(super) fn recall<'p>(
        &'p self,
        transcript: &Transcript<'_>,
        bytes: &BTreeMap<BlobId, Vec<u8>>,
    ) -> Option<BTreeMap<MediaId, &'p MediaStub>> {
        let mut memories = BTreeMap::new();
        for piece in self.pieces() {
            let Some(memory) = self.memories.get(&piece.blob) else { continue };
            let Source::Data(payload) = &transcript.media.get(piece.media.index())?.source else {
                return None;
            };
            let stands = if bytes.contains_key(&piece.blob) {
                payload.decoded_len() == memory.bytes
            } else {
                payload.base64() == memory.head.as_bytes()
            };
            if !stands {
                return None;
            }
            memories.insert(piece.media, memory);
        }
        Some(memories)
    }
}
