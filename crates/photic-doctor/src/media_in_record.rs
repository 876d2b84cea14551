//! Finds the media of one record, in the order of the text.
//!
//! The order is stable: a repair finds the media that a diagnosis numbered.

use photic::Slot;
use photic::json::{Kind, Value};

use crate::block::Block;
use crate::format::record::{MediaUse, RecordMedia};

/// A medium and its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocatedMedia<'d, 'a> {
    pub(crate) block: Block<'d, 'a>,
    pub(crate) place: MediaUse,
    /// For a list that takes only pictures: the list, and the value that takes a notice instead.
    pub(crate) pictures_only: Option<(Value<'d, 'a>, Option<Value<'d, 'a>>)>,
}

/// All media of a record.
pub(crate) fn located_media<'d, 'a>(entry: &RecordMedia<'d, 'a>) -> Vec<LocatedMedia<'d, 'a>> {
    let mut located_media = Vec::new();
    for &(value, place) in &entry.parts {
        below(value, place, entry.words, &mut located_media);
    }
    located_media
}

/// A value that is still to be examined.
#[derive(Clone, Copy)]
struct PendingValue<'d, 'a> {
    value: Value<'d, 'a>,
    place: MediaUse,
    pictures_only: Option<(Value<'d, 'a>, Option<Value<'d, 'a>>)>,
}

/// Finds the media below a value, without recursion: sessions may be nested deeply.
fn below<'d, 'a>(
    value: Value<'d, 'a>,
    place: MediaUse,
    words: Option<Value<'d, 'a>>,
    located_media: &mut Vec<LocatedMedia<'d, 'a>>,
) {
    let attached = words.map(|words| (value, Some(words)));
    let mut open = vec![PendingValue { value, place, pictures_only: attached }];
    let mut inner = Vec::new();
    while let Some(PendingValue { value, place, pictures_only }) = open.pop() {
        if let Some(block) = Block::read(value) {
            located_media.push(LocatedMedia { block, place, pictures_only });
            continue;
        }
        match value.kind() {
            Kind::Array => {
                inner.extend(value.items().map(|value| PendingValue {
                    value,
                    place,
                    pictures_only,
                }));
            }
            Kind::Object => {
                let place = inside(value, place);
                // `parts` of a function response may hold only pictures.
                let is_response = value.get("response").is_some() && value.get("name").is_some();
                inner.extend(value.entries().map(|(key, member)| {
                    let only = is_response && key.is("parts");
                    let pictures_only = only.then(|| (member, value.get("response")));
                    PendingValue { value: member, place, pictures_only }
                }));
            }
            // In some formats, copies for the screen are lists of data URLs.
            Kind::String if place == MediaUse::Copy => {
                let block = Block::bare(value);
                located_media.extend(block.map(|block| LocatedMedia {
                    block,
                    place,
                    pictures_only: None,
                }));
            }
            Kind::String | Kind::Null | Kind::Bool | Kind::Number => {}
        }
        open.extend(inner.drain(..).rev());
    }
}

/// The position of content inside a result of the Messages API.
fn inside(object: Value<'_, '_>, place: MediaUse) -> MediaUse {
    if !object.get("type").is_some_and(|kind| kind.is("tool_result")) {
        return place;
    }
    let error = object.get("is_error").and_then(|error| error.bool()) == Some(true);
    let slot = Slot::Result { error, screen: false };
    match place {
        MediaUse::Sent(_) => MediaUse::Sent(slot),
        MediaUse::Aside(_) => MediaUse::Aside(slot),
        MediaUse::Copy => MediaUse::Copy,
    }
}

/// A fingerprint that almost always differs for different pictures, to count repeated ones. Of long
/// data, only samples and the end are hashed, where formats keep checksums.
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    const WHOLE: usize = 1 << 12;
    const STRIDE: usize = 1 << 11;
    const SAMPLE: usize = 1 << 6;
    let (long, end) = bytes.split_at(bytes.len().saturating_sub(WHOLE));
    let samples = long.chunks(STRIDE).map(|piece| &piece[..piece.len().min(SAMPLE)]);
    samples.chain([end]).fold(bytes.len() as u64, |sum, piece| {
        let words = piece.chunks(8).map(|word| {
            let mut eight = [0; 8];
            eight[..word.len()].copy_from_slice(word);
            u64::from_le_bytes(eight)
        });
        words
            .fold(sum, |sum, word| (sum ^ word).wrapping_mul(0x9E37_79B1_85EB_CA87).rotate_left(29))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_that_differ_have_other_numbers() {
        let noise =
            |seed| photic_testkit::image::base64(&photic_testkit::image::png_noise(200, 200, seed));
        let (one, other) = (noise(1), noise(2));
        assert!(one.len() > 1 << 16, "long enough for samples");
        assert_eq!(fingerprint(one.as_bytes()), fingerprint(noise(1).as_bytes()));
        assert_ne!(fingerprint(one.as_bytes()), fingerprint(other.as_bytes()));
        // One byte more, and one other byte at the end.
        assert_ne!(fingerprint(&one.as_bytes()[1..]), fingerprint(one.as_bytes()));
        let mut changed = one.clone().into_bytes();
        *changed.last_mut().unwrap() ^= 1;
        assert_ne!(fingerprint(&changed), fingerprint(one.as_bytes()));
    }
}
