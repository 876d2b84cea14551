//! The media of one record, in the order in which they stand.
//!
//! The same record gives the same list every time: a repair finds again what a diagnosis numbered.

use photic::Slot;
use photic::json::{Kind, Value};

use crate::format::{Entry, Place};
use crate::spelling::Block;

/// A medium and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<'d, 'a> {
    pub(crate) block: Block<'d, 'a>,
    pub(crate) place: Place,
    /// For a place that takes no words: the list it is an element of, and who takes the words.
    pub(crate) pictures_only: Option<(Value<'d, 'a>, Option<Value<'d, 'a>>)>,
}

/// Every medium of a record.
pub(crate) fn spots<'d, 'a>(entry: &Entry<'d, 'a>) -> Vec<Spot<'d, 'a>> {
    let mut spots = Vec::new();
    for &(value, place) in &entry.parts {
        below(value, place, entry.words, &mut spots);
    }
    spots
}

/// What is still to be looked at.
#[derive(Clone, Copy)]
struct Open<'d, 'a> {
    value: Value<'d, 'a>,
    place: Place,
    pictures_only: Option<(Value<'d, 'a>, Option<Value<'d, 'a>>)>,
}

/// No recursion: how deep a session nests is not ours to say.
fn below<'d, 'a>(
    value: Value<'d, 'a>,
    place: Place,
    words: Option<Value<'d, 'a>>,
    spots: &mut Vec<Spot<'d, 'a>>,
) {
    let attached = words.map(|words| (value, Some(words)));
    let mut open = vec![Open { value, place, pictures_only: attached }];
    let mut inner = Vec::new();
    while let Some(Open { value, place, pictures_only }) = open.pop() {
        if let Some(block) = Block::read(value) {
            spots.push(Spot { block, place, pictures_only });
            continue;
        }
        match value.kind() {
            Kind::Array => {
                inner.extend(value.items().map(|value| Open { value, place, pictures_only }));
            }
            Kind::Object => {
                let place = inside(value, place);
                // `parts` of a function's response has room for pictures and for nothing else.
                let is_response = value.get("response").is_some() && value.get("name").is_some();
                inner.extend(value.entries().map(|(key, member)| {
                    let only = is_response && key.is("parts");
                    let pictures_only = only.then(|| (member, value.get("response")));
                    Open { value: member, place, pictures_only }
                }));
            }
            // Copies for the screen are lists of data URLs in some formats.
            Kind::String if place == Place::Copy => {
                let block = Block::bare(value);
                spots.extend(block.map(|block| Spot { block, place, pictures_only: None }));
            }
            Kind::String | Kind::Null | Kind::Bool | Kind::Number => {}
        }
        open.extend(inner.drain(..).rev());
    }
}

/// The place of what stands inside a result of the Messages wire.
fn inside(object: Value<'_, '_>, place: Place) -> Place {
    if !object.get("type").is_some_and(|kind| kind.is("tool_result")) {
        return place;
    }
    let error = object.get("is_error").and_then(|error| error.bool()) == Some(true);
    let slot = Slot::Result { error, screen: false };
    match place {
        Place::Sent(_) => Place::Sent(slot),
        Place::Aside(_) => Place::Aside(slot),
        Place::Copy => Place::Copy,
    }
}

/// A number that differs where pictures differ, nearly always: enough to say how much of a file is
/// there twice. Of long ones only samples are looked at, and the end, where formats keep their sums.
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
