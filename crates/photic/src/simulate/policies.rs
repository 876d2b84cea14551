//! Ways of keeping views: photic's own with the marks it plans, and what others do.

use super::session::{Place, Request, Session};
use super::{Rule, Setting};
use crate::retention::{Floor, Keeper, Load, Retention, Turn, View};

/// A way of keeping views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// photic's own, with marks planned for it.
    Photic(Retention),
    /// photic's own, with the usual marks of the client and none of photic's.
    Unmarked(Retention),
    /// All of them, with the usual marks: the yardstick.
    All,
    /// The newest ones, so many, with the usual marks.
    Sliding(usize),
    /// Down to the newest `least` whenever `every` more have come, with the usual marks.
    Interval {
        /// Views that stay.
        least: usize,
        /// Views that come before some go.
        every: usize,
    },
}

/// Marks on the newest steps that clients usually set, beside one on the prompt.
const USUAL: usize = 3;

/// A way of keeping views, in the course of a session.
pub(super) struct Player<'s> {
    session: &'s Session,
    rule: Rule,
    way: Way,
}

enum Way {
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
            Way::Planned { keeper: Box::new(keeper), marks }
        };
        let way = match contender {
            Contender::Photic(policy) => planned(policy, true),
            Contender::Unmarked(policy) => planned(policy, false),
            Contender::All | Contender::Sliding(_) | Contender::Interval { .. } => {
                Way::Usual(contender)
            }
        };
        Self { session: &setting.session, rule: setting.cache.rule, way }
    }

    /// How many views are retired in the request of this step. Called once a step, in order.
    pub(super) fn retired(&mut self, step: usize) -> usize {
        let Session { system, text, image, .. } = *self.session;
        let views = self.session.views(step);
        match &mut self.way {
            Way::Planned { keeper, .. } => {
                let prompt = if step == 1 { system } else { 0 };
                let view = View::new(image, 0);
                let new = views - self.session.views(step - 1);
                keeper.turn(&Turn {
                    rest: Load { tokens: prompt + text, ..Load::default() },
                    views: &[view][..new],
                });
                keeper.frontier()
            }
            Way::Usual(contender) => match *contender {
                Contender::Photic(_) | Contender::Unmarked(_) | Contender::All => 0,
                Contender::Sliding(most) => views.saturating_sub(most),
                Contender::Interval { least, every } => {
                    views.saturating_sub(views % every.max(1) + least)
                }
            },
        }
    }

    /// Where the request is marked, the most important first.
    pub(super) fn marks(&self, request: Request, before: Request) -> Vec<Place> {
        match &self.way {
            Way::Planned { keeper, marks: true } => self.planned(keeper, request, before),
            // The wire marks the end by itself, and clients leave it at that.
            _ if matches!(self.rule, Rule::Tail { .. }) => Vec::new(),
            Way::Planned { marks: false, .. } | Way::Usual(_) => {
                let newest = (1..=request.step).rev().take(USUAL);
                newest.map(|step| self.session.end(step)).chain([Place::PROMPT]).collect()
            }
        }
    }

    /// One where this request departs from the one before, so that the cache is read as far as it
    /// can be; one before the first live view, where the next retirement will cut; one at the end,
    /// unless the next request departs before it, for then nobody would read it.
    fn planned(&self, keeper: &Keeper, request: Request, before: Request) -> Vec<Place> {
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
