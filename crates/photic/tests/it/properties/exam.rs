//! One trial: a conversation from one wire to another under a profile, and what became of it.

use std::fmt::Display;

use photic::{Policy, Profile, Wire};
use photic_testkit::oracle::{self, Seen, Violation};
use proptest::prelude::{Just, Strategy};
use proptest::sample::select;
use proptest::test_runner::TestCaseError;

use super::late;
use super::profiles::{Twist, rules};
use super::render;
use super::sayable;
use super::sketch::{Sketch, sketches};
use super::talk::Talk;

/// A conversation and where it goes.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) sketch: Sketch,
    pub(super) from: Wire,
    pub(super) to: Wire,
    pub(super) twist: Twist,
}

/// Conversations of up to that many rounds, between any two wires, under any profile.
pub(super) fn trials(rounds: usize) -> impl Strategy<Value = Trial> {
    trials_among(rounds, &Twist::ALL)
}

/// As [`trials`], under some profiles only.
pub(super) fn trials_among(
    rounds: usize,
    twists: &'static [Twist],
) -> impl Strategy<Value = Trial> {
    (sketches(rounds), select(&Wire::ALL[..]), select(&Wire::ALL[..]), select(twists))
        .prop_map(|(sketch, from, to, twist)| Trial { sketch, from, to, twist })
}

/// Conversations that stay on their wire.
pub(super) fn trials_at_home(rounds: usize) -> impl Strategy<Value = Trial> {
    (sketches(rounds), select(&Wire::ALL[..]), Just(Twist::Generic))
        .prop_map(|(sketch, wire, twist)| Trial { sketch, from: wire, to: wire, twist })
}

/// What became of a trial.
pub(super) struct Exam {
    pub(super) talk: Talk,
    pub(super) from: Wire,
    pub(super) to: Wire,
    pub(super) twist: Twist,
    pub(super) profile: Profile,
    pub(super) input: Vec<u8>,
    /// What is sent.
    pub(super) body: Vec<u8>,
    /// Whether the request as a whole was too much, so that something had to give way.
    pub(super) gave_way: bool,
}

impl Trial {
    /// The conversation between every two wires.
    pub(super) fn everywhere(&self) -> impl Iterator<Item = Exam> {
        let pairs = Wire::ALL.into_iter().flat_map(|from| Wire::ALL.map(|to| (from, to)));
        pairs.map(|(from, to)| Self { from, to, ..self.clone() }.run())
    }

    pub(super) fn run(&self) -> Exam {
        Exam::of(self.talk(), self.from, self.to, self.twist)
    }

    pub(super) fn talk(&self) -> Talk {
        let mut talk = self.sketch.build();
        if self.from == Wire::OpenAiResponses {
            late::drop_late(&mut talk);
        }
        sayable::adapt(&mut talk, self.from);
        talk
    }
}

impl Exam {
    pub(super) fn of(talk: Talk, from: Wire, to: Wire, twist: Twist) -> Self {
        let input = render::body(&talk, from);
        let profile = twist.profile(to);
        let (body, gave_way) = {
            let (transcript, _) = photic::lift(from, &input);
            let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::hands_off());
            let lowered = photic::lower(&transcript, &plan);
            let gave_way = !plan.ledger.retired.is_empty() || !lowered.retired.is_empty();
            (lowered.body.to_vec(), gave_way)
        };
        Self { talk, from, to, twist, profile, input, body, gave_way }
    }

    /// What the strict provider sees, whether it accepts the request or not.
    pub(super) fn seen(&self) -> Seen {
        self.look().0
    }

    /// What the strict provider sees and what it objects to.
    pub(super) fn look(&self) -> (Seen, Vec<Violation>) {
        oracle::look(self.to.name(), &self.body, &rules(&self.profile))
    }

    /// A failure that shows everything.
    pub(super) fn fail<T>(&self, what: impl Display) -> Result<T, TestCaseError> {
        Err(TestCaseError::fail(format!(
            "{what}\n{} → {} ({:?})\n--- in\n{}\n--- out\n{}\n",
            self.from,
            self.to,
            self.twist,
            String::from_utf8_lossy(&self.input),
            String::from_utf8_lossy(&self.body),
        )))
    }
}
