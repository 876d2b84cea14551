//! Retention policies to compare: photic's own with the marks it plans, and those of other clients.

use super::session::{BlockPosition, Request, Session};
use super::{Rule, Setting};
use crate::retention::{Floor, Keeper, Load, Retention, Turn, View};

/// A retention policy, with the marks it sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Contender {
    /// photic's own policy, with marks planned for it.
    Photic(Retention),
    /// photic's own policy, with the usual marks of the client and none of photic's.
    Unmarked(Retention),
    /// All views, with the usual marks: the baseline.
    All,
    /// This many of the newest views, with the usual marks.
    Sliding(usize),
    /// Reduces to the newest `least` views whenever `every` more have come, with the usual marks.
    Interval {
        /// The number of views that stay.
        least: usize,
        /// The number of views that come before some are retired.
        every: usize,
    },
}

/// The number of newest steps that clients usually mark, besides the prompt.
const USUAL: usize = 3;

/// A retention policy in the course of a session.
pub(super) struct Player<'s> {
    session: &'s Session,
    rule: Rule,
    way: PolicyChoice,
}

enum PolicyChoice {
    Planned { keeper: Box<Keeper>, marks: bool },
    Usual(Contender),
}

impl<'s> Player<'s> {
    pub(super) fn new(setting: &'s Setting, contender: Contender) -> Self {
        let planned = |policy, marks| {
            let default = Floor::default();
            let floor =
                Floor { views: setting.floor, turns: default.turns.min(setting.floor), ..default };
            let keeper = Keeper::new(policy, floor, setting.cache.prices, setting.room);
            PolicyChoice::Planned { keeper: Box::new(keeper), marks }
        };
        let way = match contender {
            Contender::Photic(policy) => planned(policy, true),
            Contender::Unmarked(policy) => planned(policy, false),
            Contender::All | Contender::Sliding(_) | Contender::Interval { .. } => {
                PolicyChoice::Usual(contender)
            }
        };
        Self { session: &setting.session, rule: setting.cache.rule, way }
    }

    /// Returns the number of views that are retired in the request of this step. Call it once per
    /// step, in order.
    pub(super) fn retired(&mut self, step: usize) -> usize {
        let Session { system, text, image, .. } = *self.session;
        let views = self.session.views(step);
        match &mut self.way {
            PolicyChoice::Planned { keeper, .. } => {
                let prompt = if step == 1 { system } else { 0 };
                let view = View::new(image, 0);
                let new = views - self.session.views(step - 1);
                keeper.turn(&Turn {
                    rest: Load { tokens: prompt + text, ..Load::default() },
                    views: &[view][..new],
                });
                keeper.frontier()
            }
            PolicyChoice::Usual(contender) => match *contender {
                Contender::Photic(_) | Contender::Unmarked(_) | Contender::All => 0,
                Contender::Sliding(most) => views.saturating_sub(most),
                Contender::Interval { least, every } => {
                    views.saturating_sub(views % every.max(1) + least)
                }
            },
        }
    }

    /// Returns the marks of the request, the most important first.
    pub(super) fn marks(&self, request: Request, before: Request) -> Vec<BlockPosition> {
        match &self.way {
            PolicyChoice::Planned { keeper, marks: true } => self.planned(keeper, request, before),
            // The wire marks the end by itself, and clients add no marks.
            _ if matches!(self.rule, Rule::Tail { .. }) => Vec::new(),
            PolicyChoice::Planned { marks: false, .. } | PolicyChoice::Usual(_) => {
                let newest = (1..=request.step).rev().take(USUAL);
                newest.map(|step| self.session.end(step)).chain([BlockPosition::PROMPT]).collect()
            }
        }
    }

    /// Returns the marks that photic plans: one where this request departs from the previous one,
    /// so that the cache is read as far as possible; one before the first live view, where the next
    /// retirement will cut; and one at the end, unless the next request departs before it and would
    /// not read it.
    fn planned(&self, keeper: &Keeper, request: Request, before: Request) -> Vec<BlockPosition> {
        let end = self.session.end(request.step);
        let standing = self.session.cut(request);
        if matches!(self.rule, Rule::Tail { .. }) {
            return vec![standing];
        }
        let mut marks = Vec::with_capacity(3);
        if before.step > 0 {
            let departs = request.retired != before.retired;
            marks.push(if departs {
                self.session.cut(before)
            } else {
                self.session.end(before.step)
            });
        }
        marks.push(standing);
        if !keeper.retires_next() {
            marks.push(end);
        }
        marks
    }
}
