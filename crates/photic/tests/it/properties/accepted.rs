//! Rules 1 and 2: a strict provider takes every lowered body, and no picture stands in it as text.

use photic_testkit::oracle::Source;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::exam::{Exam, trials};

proptest! {
    #![proptest_config(super::config())]

    #[test]
    fn a_strict_provider_accepts_whatever_is_lowered(trial in trials(3)) {
        for exam in trial.everywhere() {
            accepted(&exam)?;
        }
    }
}

pub(super) fn accepted(exam: &Exam) -> Result<(), TestCaseError> {
    let (seen, violations) = exam.look();
    if let Some(first) = violations.first() {
        return exam.fail(format!("rejected: {first}"));
    }
    // What is smaller than a notice in its place is not worth hiding.
    if let Some(most) = exam.profile.limits.request_bytes
        && exam.body.len() as u64 > most
    {
        let is_worth_hiding = |source: &Source| match source {
            Source::Inline(bytes) => bytes.len().div_ceil(3) * 4 > 200,
            Source::Remote(_) | Source::File(_) => false,
        };
        let images = seen.images.iter().map(|image| &image.source);
        let papers = seen.documents.iter().map(|paper| &paper.source);
        if images.chain(papers).any(is_worth_hiding) {
            return exam.fail(format!("{} bytes where {most} are taken", exam.body.len()));
        }
    }
    Ok(())
}
