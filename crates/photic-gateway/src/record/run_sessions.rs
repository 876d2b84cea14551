//! The sessions of one run, for a gateway that serves a single command.
//!
//! Two runs often begin with the same words. A request without any earlier reply begins a session of
//! its run, even if the record has a session with the same words. A request with earlier replies goes
//! on with a session of its run if there is one, and otherwise with the recorded session that it
//! resumes. The process is the run, so nothing of this is stored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use photic::Transcript;
use photic::transcript::Role;
use photic_store::SessionId;
use photic_store::record::Chain;

use super::written_turn::Turn;

/// The sessions that a run began or resumed.
#[derive(Debug, Default)]
pub(crate) struct RunSessions(Mutex<Written>);

#[derive(Debug, Default)]
struct Written {
    /// The keys of conversations that began in this run. Their first turn may not be written yet.
    begun: BTreeSet<Chain>,
    /// The turns that were written, by the key of their conversation.
    turns: BTreeMap<Chain, Turn>,
}

/// The session of a request, as far as its run knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RunSession {
    /// It goes on with this turn of the run.
    Continues(Turn),
    /// It belongs to this run, and no turn of its session is written yet.
    New,
    /// It goes on with a conversation that this run did not begin.
    Resumes,
}

/// The beginning of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestStart {
    /// It has no reply of a model in it.
    Fresh,
    /// It has earlier replies in it.
    WithHistory,
}

impl RequestStart {
    /// Returns how a request begins.
    pub(super) fn of(transcript: &Transcript<'_>) -> Self {
        let replied = |role| matches!(role, Role::Assistant | Role::Tool);
        if transcript.messages.iter().any(|message| replied(message.role)) {
            Self::WithHistory
        } else {
            Self::Fresh
        }
    }
}

impl RunSessions {
    /// Returns the session of a request with these keys of its conversation, the last first. A
    /// conversation that begins is remembered.
    pub(super) fn find(&self, keys: &[Chain], start: RequestStart) -> RunSession {
        let mut written = self.written();
        if let Some(turn) = keys.iter().find_map(|key| written.turns.get(key)) {
            return RunSession::Continues(turn.clone());
        }
        if start == RequestStart::Fresh {
            written.begun.extend(keys.first());
            return RunSession::New;
        }
        if keys.iter().any(|key| written.begun.contains(key)) {
            return RunSession::New;
        }
        RunSession::Resumes
    }

    /// Notes a turn that was written.
    pub(super) fn add(&self, keys: &[Chain], turn: &Turn) {
        if let Some(key) = keys.first() {
            self.written().turns.insert(*key, turn.clone());
        }
    }

    /// Forgets a session that was deleted from the record.
    pub(super) fn forget(&self, session: &SessionId) {
        self.written().turns.retain(|_, turn| turn.session != *session);
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(number: u64) -> Turn {
        Turn { session: SessionId::random().unwrap(), number }
    }

    #[test]
    fn a_fresh_request_is_of_its_run_and_a_longer_one_may_resume() {
        let run = RunSessions::default();
        let (first, second, other) = ([1; 16], [2; 16], [9; 16]);
        assert_eq!(run.find(&[other, first], RequestStart::WithHistory), RunSession::Resumes);
        assert_eq!(run.find(&[first], RequestStart::Fresh), RunSession::New);
        // The first turn is still being written.
        assert_eq!(run.find(&[second, first], RequestStart::WithHistory), RunSession::New);
        let (one, two) = (turn(1), turn(2));
        run.add(&[first], &one);
        assert_eq!(run.find(&[first], RequestStart::Fresh), RunSession::Continues(one.clone()));
        run.add(&[second, first], &two);
        let found = run.find(&[other, second, first], RequestStart::WithHistory);
        assert_eq!(found, RunSession::Continues(two.clone()));
        run.forget(&two.session);
        assert_eq!(run.find(&[second, first], RequestStart::Fresh), RunSession::Continues(one));
    }
}
