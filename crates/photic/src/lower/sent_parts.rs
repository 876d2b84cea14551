//! Finds the messages of a body that was sent by those of the body that came in.

use std::borrow::Cow;
use std::ops::Range;

use super::Lowered;
use crate::split_media::split_media;
use crate::transcript::Transcript;
use crate::wire::Wire;

/// The bytes of a sent body, by the messages of the body that came in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SentParts {
    /// Everything up to the first message.
    pub before: Range<usize>,
    /// The range of each message with the separator before it and whatever was inserted behind it.
    /// `None` if it was sent as it came.
    pub messages: Vec<Option<Range<usize>>>,
    /// Everything after the last message.
    pub after: Range<usize>,
}

impl Lowered<'_> {
    /// Returns the parts of the body by the messages of the transcript that it was written from.
    /// Returns `None` if it is of another wire: lift the body that was sent instead.
    ///
    /// ```
    /// use photic::{Policy, Profile, Wire};
    ///
    /// let body = br#"{"messages":[{"role":"user","content":"Hello"}]}"#;
    /// let (transcript, _) = photic::lift(Wire::OpenAiChat, body);
    /// let profile = Profile::generic(Wire::OpenAiChat);
    /// let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
    /// let lowered = photic::lower(&transcript, &plan);
    /// let parts = lowered.sent_parts(&transcript, Wire::OpenAiChat).ok_or("own wire")?;
    /// assert_eq!(parts.messages, [None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sent_parts(&self, transcript: &Transcript<'_>, sent: Wire) -> Option<SentParts> {
        if transcript.own_wire() != Some(sent) {
            return None;
        }
        let came = split_media(transcript);
        let mut replaced = self.replaced.iter().peekable();
        // The place in the body that came in, and in the one that was sent.
        let (mut source, mut written) = (0, 0);
        let mut end = 0;
        let mut next = |length: usize| {
            let (begun, start) = (written, end);
            end += length;
            let mut is_changed = source > start;
            while let Some(one) = replaced
                .next_if(|one| one.span.start < end || (one.span.is_empty() && one.span.end == end))
            {
                is_changed = true;
                written += one.span.start.saturating_sub(source) + one.length;
                source = source.max(one.span.end);
            }
            written += end.saturating_sub(source);
            source = source.max(end);
            (begun..written, is_changed)
        };
        let before = next(came.before.raw.len()).0;
        let messages = came.messages.iter().map(|message| {
            let (range, is_changed) = next(message.raw.len());
            is_changed.then_some(range)
        });
        let messages = messages.collect();
        let after = next(came.after.raw.len()).0;
        Some(SentParts { before, messages, after: after.start..self.body.len() })
    }

    /// Returns a range of the body. It is copied if it is not in one piece.
    pub fn range(&self, range: Range<usize>) -> Cow<'_, [u8]> {
        let mut start = 0;
        let mut found: Option<Cow<'_, [u8]>> = None;
        for piece in self.body.iter() {
            let here = range.start.clamp(start, start + piece.len()) - start
                ..range.end.clamp(start, start + piece.len()) - start;
            start += piece.len();
            let Some(bytes) = piece.get(here).filter(|bytes| !bytes.is_empty()) else { continue };
            match &mut found {
                None => found = Some(Cow::Borrowed(bytes)),
                Some(found) => found.to_mut().extend_from_slice(bytes),
            }
        }
        found.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Segments;
    use crate::lower::Replaced;

    const BODY: &[u8] = br#"{"messages":[{"a":1},{"b":2},{"c":3}],"x":0}"#;

    /// Replaces spans of the body, given by the text in them.
    fn lowered(changes: &[(Range<usize>, &str)]) -> (Lowered<'static>, SentParts) {
        let mut sent = Vec::new();
        let mut end = 0;
        let mut replaced = Vec::new();
        for (span, with) in changes {
            sent.extend_from_slice(&BODY[end..span.start]);
            sent.extend_from_slice(with.as_bytes());
            end = span.end;
            replaced.push(Replaced { span: span.clone(), length: with.len() });
        }
        sent.extend_from_slice(&BODY[end..]);
        let body = Segments::of(vec![Cow::Owned(sent)]);
        let lowered = Lowered { body, decisions: Vec::new(), retired: Vec::new(), replaced };
        let (transcript, _) = crate::lift(Wire::OpenAiChat, BODY);
        let parts = lowered.sent_parts(&transcript, Wire::OpenAiChat).unwrap();
        assert_eq!(parts.messages.len(), 3);
        (lowered, parts)
    }

    fn texts(lowered: &Lowered<'_>, parts: &SentParts) -> Vec<Option<String>> {
        let text = |range: &Range<usize>| {
            String::from_utf8_lossy(&lowered.range(range.clone())).into_owned()
        };
        parts.messages.iter().map(|range| range.as_ref().map(text)).collect()
    }

    #[test]
    fn every_message_is_found_as_it_was_sent() {
        let at =
            |text: &str| BODY.windows(text.len()).position(|here| here == text.as_bytes()).unwrap();
        let (body, parts) = lowered(&[]);
        assert_eq!(texts(&body, &parts), [None, None, None]);
        assert_eq!(&*body.range(parts.before.clone()), br#"{"messages":["#);
        assert_eq!(&*body.range(parts.after), br#"],"x":0}"#);

        // One in it, and one behind it.
        let (b, behind) = (at("2"), at(",{\"c\""));
        let changes = [(b..b + 1, "longer"), (behind..behind, r#",{"new":0}"#)];
        let (body, parts) = lowered(&changes);
        let second = r#",{"b":longer},{"new":0}"#.to_owned();
        assert_eq!(texts(&body, &parts), [None, Some(second), None]);
        assert_eq!(&*body.range(parts.after), br#"],"x":0}"#);

        // Before the first message, and after the last.
        let (first, x) = (at("{\"a\""), at("0}"));
        let (body, parts) = lowered(&[(first..first, "!"), (x..x + 1, "12")]);
        assert_eq!(texts(&body, &parts), [None, None, None]);
        assert_eq!(&*body.range(parts.before.clone()), br#"{"messages":[!"#);
        assert_eq!(&*body.range(parts.after), br#"],"x":12}"#);

        // Two messages are replaced by one.
        let (body, parts) = lowered(&[(first..behind, "{}")]);
        assert_eq!(texts(&body, &parts), [Some("{}".to_owned()), Some(String::new()), None]);
    }
}
