//! Media that an endpoint refuses, by the digest of their content. They are not sent to it again.

use std::collections::BTreeMap;

use super::Lesson;
use crate::media::{Payload, Source};
use crate::plan::{Made, Prepared, Reason};
use crate::survey::Survey;
use crate::transcript::Transcript;

/// Digests of refused media by length. Only media of the same length have to be hashed.
#[derive(Debug, Default)]
pub struct Quarantine(BTreeMap<u64, Vec<String>>);

impl Quarantine {
    /// Collects the refused media of lessons.
    pub fn of<'l>(lessons: impl Iterator<Item = &'l Lesson>) -> Self {
        let mut by_length: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for lesson in lessons {
            if let Lesson::Quarantine { digest, bytes } = lesson {
                by_length.entry(*bytes).or_default().push(digest.clone());
            }
        }
        Self(by_length)
    }

    /// Withholds refused media from the plan, which then replaces them by a notice.
    pub fn withhold(&self, transcript: &Transcript<'_>, survey: &mut Survey) {
        if self.0.is_empty() {
            return;
        }
        for (media, sighting) in transcript.media.iter().zip(&mut survey.sightings) {
            if self.holds(&media.source) {
                let by_address = sighting.has_address;
                sighting.withheld =
                    Some(if by_address { Reason::SourceNotAccepted } else { Reason::Unreadable });
            }
        }
    }

    /// Removes refused media from the prepared images: the endpoint may have refused one of them.
    pub fn withhold_made(&self, prepared: &mut Prepared) {
        if self.0.is_empty() {
            return;
        }
        prepared.retain(|_, made| {
            let length = (made.base64.len() / 4 * 3) as u64;
            let near = self.0.range(length.saturating_sub(2)..=length).next().is_some();
            !near || !payload_of(made).is_some_and(|payload| self.holds(&Source::Data(payload)))
        });
    }

    fn holds(&self, source: &Source<'_>) -> bool {
        let length = length(source);
        let alike = length.and_then(|length| self.0.get(&length));
        alike.is_some_and(|digests| digest(source).is_some_and(|digest| digests.contains(&digest)))
    }
}

impl Lesson {
    /// Returns the lesson that a media file is refused. Returns `None` if it has no content here.
    pub fn quarantine(source: &Source<'_>) -> Option<Self> {
        Some(Self::Quarantine { digest: digest(source)?, bytes: length(source)? })
    }
}

fn payload_of(made: &Made) -> Option<Payload<'static>> {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD.decode(&made.base64).ok()?;
    Some(Payload::encode(&bytes))
}

fn length(source: &Source<'_>) -> Option<u64> {
    match source {
        Source::Data(payload) => Some(payload.decoded_len() as u64),
        Source::Url(address) => Some(address.decode().len() as u64),
        Source::Text(_) | Source::File(_) | Source::Missing => None,
    }
}

fn digest(source: &Source<'_>) -> Option<String> {
    let digest = match source {
        Source::Data(payload) => payload.digest(),
        Source::Url(address) => *blake3::hash(address.decode().as_bytes()).as_bytes(),
        Source::Text(_) | Source::File(_) | Source::Missing => return None,
    };
    Some(blake3::Hash::from_bytes(digest).to_hex().to_string())
}
