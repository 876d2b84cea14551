//! The number of a medium within its transcript.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The index of a medium in [`Transcript::media`](crate::Transcript::media).
///
/// It also indexes the lists that have one element for each medium: the sightings of a survey and
/// the fates of a plan. It is written as a plain number.
///
/// ```
/// use photic::{MediaId, Wire};
///
/// let body = br#"{"messages":[{"role":"user","content":[
///   {"type":"image_url","image_url":{"url":"https://a.example/p.png"}}]}]}"#;
/// let (transcript, _) = photic::lift(Wire::OpenAiChat, body);
/// let id = MediaId::new(0);
/// assert_eq!(photic::survey(&transcript).sightings[id].media, id);
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct MediaId(usize);

impl MediaId {
    /// Creates the id of the medium at an index.
    pub const fn new(index: usize) -> Self {
        Self(index)
    }

    /// Returns the index of the medium.
    pub const fn index(self) -> usize {
        self.0
    }

    /// Returns the ids of the first `count` media, in order.
    pub fn first(count: usize) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        (0..count).map(Self)
    }
}

impl fmt::Display for MediaId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Lets an id index a list that has one element of this type for each medium.
macro_rules! index_by_media {
    ($element:ident $(<$life:lifetime>)?) => {
        impl $(<$life>)? std::ops::Index<$crate::media::MediaId> for [$element $(<$life>)?] {
            type Output = $element $(<$life>)?;

            fn index(&self, id: $crate::media::MediaId) -> &$element $(<$life>)? {
                &self[id.index()]
            }
        }

        impl $(<$life>)? std::ops::IndexMut<$crate::media::MediaId> for [$element $(<$life>)?] {
            fn index_mut(&mut self, id: $crate::media::MediaId) -> &mut $element $(<$life>)? {
                &mut self[id.index()]
            }
        }

        impl $(<$life>)? std::ops::Index<$crate::media::MediaId> for Vec<$element $(<$life>)?> {
            type Output = $element $(<$life>)?;

            fn index(&self, id: $crate::media::MediaId) -> &$element $(<$life>)? {
                &self[id.index()]
            }
        }

        impl $(<$life>)? std::ops::IndexMut<$crate::media::MediaId> for Vec<$element $(<$life>)?> {
            fn index_mut(&mut self, id: $crate::media::MediaId) -> &mut $element $(<$life>)? {
                &mut self[id.index()]
            }
        }
    };
}
pub(crate) use index_by_media;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn an_id_is_written_as_a_number_and_is_a_key_of_a_map() {
        let map = BTreeMap::from([(MediaId::new(0), "a"), (MediaId::new(11), "b")]);
        let written = serde_json::to_string(&map).unwrap();
        assert_eq!(written, r#"{"0":"a","11":"b"}"#);
        assert_eq!(serde_json::from_str::<BTreeMap<MediaId, &str>>(&written).unwrap(), map);
        assert_eq!(serde_json::to_string(&[MediaId::new(7)]).unwrap(), "[7]");
        assert_eq!(format!("{:>3}", MediaId::new(7)), "  7");
    }
}
