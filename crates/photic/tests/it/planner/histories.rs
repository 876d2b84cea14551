//! Histories of any length: drawn by proptest as a list of genes, one for every turn.
//!
//! A gene is a number, so that long histories are cheap to draw and shrink by losing turns; zero is
//! the plainest turn there is. `render` writes a history as a body of a wire.

use photic::Wire;
use photic_testkit::SplitMix64;
use proptest::collection::vec;
use proptest::prelude::*;

use super::frames::{Frame, Kind};

/// A conversation.
#[derive(Clone, Debug)]
pub(super) struct History {
    pub(super) wire: Wire,
    pub(super) turns: Vec<Turn>,
    /// What images say of their detail, on the wires that have the knob.
    pub(super) detail: Option<&'static str>,
    /// How many cache marks the client set, on the wire that had them first.
    pub(super) marks: usize,
}

/// What happened next.
#[derive(Clone, Debug)]
pub(super) enum Turn {
    /// The operator speaks.
    Operator { frame: Option<Frame> },
    /// A person speaks.
    User { frames: Vec<Frame>, papers: usize },
    /// The model speaks, calls, and is answered.
    Model { frame: Option<Frame>, calls: Vec<Call> },
}

/// A call and its answer.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) number: usize,
    pub(super) frames: Vec<Frame>,
    pub(super) manner: Manner,
    pub(super) paper: bool,
}

/// How a tool answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Words, then typed pictures.
    Typed,
    /// Typed pictures and no word.
    Silent,
    /// Everything serialized into a string.
    Serialized,
    /// It failed, and shows where.
    Failed,
}

/// Whose a picture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A person attached it.
    User,
    /// A tool showed it, in answer to the call of that number.
    Call(usize),
    /// The operator's or the model's own.
    Other,
}

/// Genes of a history: mostly of a few turns, sometimes of hundreds. Long ones repeat themselves
/// with variations, so that they shrink from both ends.
pub(super) fn genes() -> impl Strategy<Value = Vec<u64>> {
    let times = prop_oneof![30 => Just(1u64), 4 => 1u64..5, 2 => 5u64..18];
    (vec(any::<u64>(), 0..30), times).prop_map(|(genes, times)| {
        let varied = |time| {
            let vary = move |gene: &u64| match (*gene, time) {
                (0, _) | (_, 0) => *gene,
                (gene, time) => SplitMix64::at(gene, time),
            };
            genes.iter().map(vary)
        };
        (0..times).flat_map(varied).collect()
    })
}

impl History {
    /// The history of these genes; `manner` chooses what holds for all of it.
    pub(super) fn of(wire: Wire, genes: &[u64], manner: u64) -> Self {
        let mut digits = Digits(manner);
        let detail = [None, None, Some("high"), Some("low"), Some("auto")][digits.next(5)];
        let marks = digits.next(7).min(4);
        let mut draw = Draw { next: 1, calls: 0, last: None };
        let mut turns = Vec::with_capacity(genes.len() + 2);
        if digits.next(3) > 0 {
            let frame = (digits.next(4) == 3).then(|| draw.frame(digits.0));
            turns.push(Turn::Operator { frame });
        }
        turns.push(Turn::User { frames: Vec::new(), papers: 0 });
        turns.extend(genes.iter().map(|gene| draw.turn(*gene)));
        Self { wire, turns, detail, marks }
    }

    /// Every picture with its owner and the turn it came in, oldest first.
    pub(super) fn frames(&self) -> Vec<(usize, Owner, Frame)> {
        let mut frames = Vec::new();
        for (at, turn) in self.turns.iter().enumerate() {
            match turn {
                Turn::Operator { frame } => {
                    frames.extend(frame.iter().map(|frame| (at, Owner::Other, *frame)));
                }
                Turn::User { frames: own, .. } => {
                    frames.extend(own.iter().map(|frame| (at, Owner::User, *frame)));
                }
                Turn::Model { frame, calls } => {
                    frames.extend(frame.iter().map(|frame| (at, Owner::Other, *frame)));
                    for call in calls {
                        let own = call.frames.iter();
                        frames.extend(own.map(|frame| (at, Owner::Call(call.number), *frame)));
                    }
                }
            }
        }
        frames
    }

    /// The last turn of the model: what was shown in it or since is what it asked for last.
    pub(super) fn current_turn(&self) -> usize {
        self.turns.iter().rposition(|turn| matches!(turn, Turn::Model { .. })).unwrap_or(0)
    }
}

/// The choices that one number stands for: its digits, each with a base of its own.
struct Digits(u64);

impl Digits {
    fn next(&mut self, base: u64) -> usize {
        let digit = self.0 % base;
        self.0 /= base;
        digit as usize
    }
}

/// What has been handed out so far.
struct Draw {
    next: u32,
    calls: usize,
    last: Option<Frame>,
}

const SIZES: [(u32, u32); 28] = [
    (1280, 800),
    (1920, 1080),
    (1024, 768),
    (64, 64),
    (1, 1),
    (1, 20_000),
    (20_000, 1),
    (20_000, 20_000),
    (2000, 2000),
    (2000, 1),
    (2001, 1000),
    (1000, 2001),
    (8000, 8000),
    (8001, 100),
    (100, 8001),
    (5760, 40),
    (5761, 40),
    (27, 28),
    (28, 28),
    (32, 33),
    (33, 33),
    (1568, 1568),
    (2576, 1449),
    (6000, 4000),
    (10_000, 10_001),
    (5536, 5536),
    (5600, 5536),
    (9, 7),
];

impl Draw {
    fn turn(&mut self, gene: u64) -> Turn {
        let mut digits = Digits(gene);
        let kind = digits.next(20);
        let rest = digits.0;
        match kind {
            0 => Turn::User { frames: Vec::new(), papers: 0 },
            1 | 2 => self.user(rest, 1 + digits.next(2)),
            3 => self.user(rest, 2 + digits.next(10)),
            4 => Turn::User { frames: Vec::new(), papers: 1 + digits.next(2) },
            5 => {
                let frame = (digits.next(3) == 2).then(|| self.frame(rest));
                Turn::Model { frame, calls: Vec::new() }
            }
            6 => self.model(rest, &[0], Manner::Typed),
            7 => self.model(rest, &[1], Manner::Silent),
            8 => self.model(rest, &[1 + digits.next(2)], Manner::Serialized),
            9 => self.model(rest, &[digits.next(2)], Manner::Failed),
            10 => {
                let counts = [digits.next(3), digits.next(2), digits.next(4)];
                self.model(rest, &counts, Manner::Typed)
            }
            11 => {
                let counts = [digits.next(2), digits.next(3)];
                self.model(rest, &counts, Manner::Serialized)
            }
            12 => self.model(rest, &[2 + digits.next(24)], Manner::Typed),
            13 => {
                let again = self.last;
                let mut turn = self.model(rest, &[1], Manner::Typed);
                if let (Turn::Model { calls, .. }, Some(again)) = (&mut turn, again) {
                    calls[0].frames[0] = again;
                    self.last = Some(again);
                }
                turn
            }
            _ => self.model(rest, &[1], Manner::Typed),
        }
    }

    fn user(&mut self, seed: u64, count: usize) -> Turn {
        Turn::User { frames: self.several(seed, count), papers: 0 }
    }

    fn model(&mut self, seed: u64, counts: &[usize], manner: Manner) -> Turn {
        let call = |(at, count): (usize, &usize)| {
            self.calls += 1;
            let seed = SplitMix64::at(seed, at as u64);
            let paper = manner == Manner::Typed && seed.is_multiple_of(29);
            let mut frames = self.several(seed, *count);
            // An address in a string is words.
            for frame in &mut frames {
                frame.remote &= manner != Manner::Serialized;
            }
            Call { number: self.calls, frames, manner, paper }
        };
        Turn::Model { frame: None, calls: counts.iter().enumerate().map(call).collect() }
    }

    fn several(&mut self, seed: u64, count: usize) -> Vec<Frame> {
        (0..count).map(|at| self.frame(SplitMix64::at(seed, at as u64))).collect()
    }

    fn frame(&mut self, seed: u64) -> Frame {
        let mut digits = Digits(seed);
        let size = match digits.next(8) {
            0..=3 => SIZES[digits.next(4)],
            4..=6 => SIZES[digits.next(28)],
            _ => (1 + digits.next(20_000) as u32, 1 + digits.next(20_000) as u32),
        };
        let kind = match digits.next(40) {
            0..=24 => Kind::Png,
            25..=32 => Kind::Jpeg,
            33..=36 => Kind::Webp,
            37 | 38 => Kind::Gif,
            _ => Kind::Bmp,
        };
        let weight = match digits.next(64) {
            0 => 60_000 + digits.next(340_000),
            1..=4 => 3000 + digits.next(27_000),
            _ => 60 + digits.next(300),
        };
        let remote = digits.next(32) == 31;
        let frame = Frame { number: self.next, kind, size, weight, remote };
        self.next += 1;
        self.last = Some(frame);
        frame
    }
}
