//! Rule 5: what was sent in one turn is a prefix of what is sent in the next.

use photic::profile::ConsecutiveUser;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::exam::{Exam, Trial, trials};

proptest! {
    #![proptest_config(super::config())]

    #[test]
    fn a_turn_is_a_prefix_of_the_next(trial in trials(4)) {
        prefixes(&trial)?;
    }
}

pub(super) fn prefixes(trial: &Trial) -> Result<(), TestCaseError> {
    let mut talk = trial.talk();
    talk.style.list_last = true;
    let mut before: Option<Exam> = None;
    for turn in talk.turns() {
        let exam = Exam::of(turn, trial.from, trial.to, trial.twist);
        if exam.profile.quirks.consecutive_user == ConsecutiveUser::Merge {
            return Ok(());
        }
        if let Some(before) = before
            && !exam.gave_way
            && !exam.body.starts_with(until_last_message(&before.body))
        {
            return before
                .fail(format!("not a prefix of\n{}", String::from_utf8_lossy(&exam.body)));
        }
        before = Some(exam);
    }
    Ok(())
}

/// The body without what closes it.
fn until_last_message(body: &[u8]) -> &[u8] {
    let end = body.iter().rposition(|&byte| byte == b']').unwrap_or(body.len());
    body[..end].trim_ascii_end()
}
