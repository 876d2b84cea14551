//! Nothing is lost: every picture is shown once with its own bytes, or a notice stands for it; and
//! every word stays in the mouth it came from.

use std::collections::BTreeMap;

use photic::profile::{Capability, MediaKind};
use photic_testkit::oracle::{Seen, Slot, Source};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::exam::{Exam, trials};
use super::pictures::{Dress, HOST_PATH, Picture};
use super::talk::{MODEL, OPERATOR, TOOL, USER};

proptest! {
    #![proptest_config(super::config())]

    #[test]
    fn every_picture_is_shown_once_or_said_to_be_missing(trial in trials(3)) {
        for exam in trial.everywhere() {
            counted(&exam)?;
        }
    }

    #[test]
    fn every_word_stays_in_its_mouth(trial in trials(3)) {
        worded(&trial.run())?;
    }
}

/// Every picture of a conversation as a provider would see it.
pub(super) struct Album(Vec<(usize, Source)>);

impl Album {
    pub(super) fn of(exam: &Exam) -> Self {
        let source = |picture: &Picture| match picture.address() {
            Some(address) => Source::Remote(address),
            None => Source::Inline(picture.bytes()),
        };
        let pictures = exam.talk.pictures().into_iter();
        Self(pictures.map(|(picture, _)| (picture.number, source(picture))).collect())
    }

    /// The number of the picture that an image is; `None` for a stranger.
    pub(super) fn find(&self, source: &Source) -> Option<usize> {
        self.0.iter().find(|(_, known)| known == source).map(|(number, _)| *number)
    }
}

fn notices(seen: &Seen, opening: &str) -> usize {
    seen.texts.iter().map(|text| text.text.matches(opening).count()).sum()
}

pub(super) fn counted(exam: &Exam) -> Result<(), TestCaseError> {
    let seen = exam.seen();
    let album = Album::of(exam);
    let pictures = exam.talk.pictures();
    let mut shown: BTreeMap<usize, usize> = BTreeMap::new();
    for image in &seen.images {
        match album.find(&image.source) {
            Some(number) => *shown.entry(number).or_default() += 1,
            None => return exam.fail(format!("an image nobody sent: {}", image.pointer)),
        }
    }
    if let Some((number, times)) = shown.iter().find(|(_, times)| **times != 1) {
        return exam.fail(format!("picture {number} is shown {times} times"));
    }
    let missing = pictures.len() - shown.len();
    let said = notices(&seen, "[image not shown");
    if missing != said {
        let why = format!(
            "of {} pictures {} are shown and {said} said to be missing",
            pictures.len(),
            shown.len()
        );
        return exam.fail(why);
    }
    let negative = ["you have not seen it", "you cannot see it"];
    if negative.iter().map(|words| notices(&seen, words)).sum::<usize>() < said {
        return exam.fail("a notice does not say that nothing was seen");
    }
    for (picture, _) in pictures {
        let is_shown = shown.contains_key(&picture.number);
        let may_be_opened = picture.dress == Dress::Local
            && exam.from == exam.to
            && exam.profile.quirks.local_paths != Capability::No;
        if is_shown && !picture.is_showable() && !may_be_opened {
            return exam.fail(format!("shown, but no provider takes it: {picture:?}"));
        }
        if !is_shown && is_taken(exam, picture) && exam.twist.shows_all() {
            return exam.fail(format!("not shown: {picture:?}"));
        }
    }
    let papers = seen.documents.len() + notices(&seen, "[document not shown");
    if papers != exam.talk.papers() {
        return exam.fail(format!("{papers} documents of {}", exam.talk.papers()));
    }
    if let Some(text) = seen.texts.iter().find(|text| text.text.contains(HOST_PATH)) {
        return exam.fail(format!("a path of the host is told: {}", text.text));
    }
    Ok(())
}

/// Whether this endpoint takes such a picture, sent in this way.
fn is_taken(exam: &Exam, picture: &Picture) -> bool {
    let taken = if picture.address().is_some() {
        exam.profile.accepts_source(photic::profile::Source::Url)
    } else {
        exam.profile.accepts_type(MediaKind::Image, picture.media_type())
    };
    taken && picture.is_showable()
}

pub(super) fn worded(exam: &Exam) -> Result<(), TestCaseError> {
    let seen = exam.seen();
    let mut wanted: Vec<String> = Vec::new();
    let input = String::from_utf8_lossy(&exam.input).into_owned();
    for mark in [USER, TOOL, MODEL, OPERATOR] {
        for (at, _) in input.match_indices(mark) {
            let token = &input[at..=at + input[at..].find('.').unwrap_or(0)];
            wanted.push(token.to_owned());
        }
    }
    for token in wanted {
        let slots: Vec<Slot> = seen
            .texts
            .iter()
            .flat_map(|text| text.text.matches(&token).map(|_| text.slot))
            .collect();
        let fits = match slots.as_slice() {
            [Slot::User] => token.starts_with(USER) || token.starts_with(OPERATOR),
            [Slot::ToolResult] => token.starts_with(TOOL),
            [Slot::Assistant] => token.starts_with(MODEL),
            [Slot::System | Slot::Developer] => token.starts_with(OPERATOR),
            _ => false,
        };
        if !fits {
            return exam.fail(format!("{token} stands in {slots:?}"));
        }
    }
    Ok(())
}
