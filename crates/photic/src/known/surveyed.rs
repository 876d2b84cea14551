//! Facts of a survey about the messages of a conversation, for requests of which some are left out.

use std::ops::Range;

use super::LeftOut;
use crate::survey::Survey;

/// Facts of the survey of a request about its messages. With them, a later request of which some of
/// these messages are left out is surveyed like the whole one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurveyedMessages {
    /// The bytes of each message, without media.
    words: Vec<usize>,
    /// The end of each request.
    requests: Vec<usize>,
    /// `true` if the request marked positions for the endpoint's cache.
    is_marked: bool,
}

impl SurveyedMessages {
    /// Keeps these facts of the survey of a whole request.
    ///
    /// ```
    /// use photic::{SurveyedMessages, Wire};
    ///
    /// let body = br#"{"messages":[{"role":"user","content":"Hello"}]}"#;
    /// let (transcript, _) = photic::lift(Wire::OpenAiChat, body);
    /// let surveyed = SurveyedMessages::of(&photic::survey(&transcript));
    /// assert!(surveyed.bytes() > 0);
    /// ```
    pub fn of(survey: &Survey) -> Self {
        let Survey { words, requests, is_marked, .. } = survey;
        Self { words: words.clone(), requests: requests.clone(), is_marked: *is_marked }
    }

    /// Returns the facts of the survey of a whole request, given the survey of the request without
    /// some turns that are the same in both. Returns `None` if they are not certain.
    pub fn extended(&self, shortened: &Survey, left_out: &LeftOut) -> Option<Self> {
        // A result that the provider clears is found by its message, and a mark may be in a turn
        // that is left out.
        if shortened.clearing.is_some() || (self.is_marked && !shortened.is_marked) {
            return None;
        }
        let gaps: Vec<Range<usize>> = left_out.turns().map(|turns| turns.messages).collect();
        let mut words = Vec::with_capacity(shortened.words.len() + self::left_out(&gaps));
        let mut requests = Vec::new();
        let mut rest = shortened.words.as_slice();
        for gap in &gaps {
            let (before, behind) = rest.split_at_checked(gap.start.checked_sub(words.len())?)?;
            words.extend_from_slice(before);
            words.extend_from_slice(self.words.get(gap.clone())?);
            rest = behind;
            let first = self.requests.partition_point(|end| *end < gap.start);
            let last = self.requests.partition_point(|end| *end < gap.end);
            requests.extend_from_slice(self.requests.get(first..last)?);
        }
        words.extend_from_slice(rest);
        requests.extend(shortened.requests.iter().map(|end| whole(&gaps, *end)));
        requests.sort_unstable();
        Some(Self { words, requests, is_marked: shortened.is_marked })
    }

    /// Completes the survey of a request without some turns, given these facts of the whole one.
    pub fn put_into(&self, survey: &mut Survey, left_out: &LeftOut) {
        let gaps: Vec<Range<usize>> = left_out.turns().map(|turns| turns.messages).collect();
        let words: usize =
            gaps.iter().filter_map(|gap| self.words.get(gap.clone())).flatten().sum();
        // The separators between messages count as settings.
        survey.settings = (survey.settings + left_out.bytes()).saturating_sub(words);
        for sighting in &mut survey.sightings {
            sighting.message = whole(&gaps, sighting.message);
        }
        survey.words.clone_from(&self.words);
        survey.requests.clone_from(&self.requests);
    }

    /// Returns the number of messages.
    pub const fn count(&self) -> usize {
        self.words.len()
    }

    /// Returns the number of bytes that it holds.
    pub fn bytes(&self) -> usize {
        (self.words.capacity() + self.requests.capacity()) * size_of::<usize>()
    }
}

/// Returns the number of messages that are left out.
fn left_out(gaps: &[Range<usize>]) -> usize {
    gaps.iter().map(Range::len).sum()
}

/// Returns the place in the whole request of a message that was not left out.
fn whole(gaps: &[Range<usize>], message: usize) -> usize {
    gaps.iter().fold(message, |at, gap| if gap.start <= at { at + gap.len() } else { at })
}
