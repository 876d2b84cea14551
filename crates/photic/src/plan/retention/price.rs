//! The price policy: retires views once that is cheaper than keeping them.

use super::Prices;
use super::keeper::Keeper;
use super::load::{Load, NOTICE};

/// The share of the words between retired views that counts when choosing the moment. These words
/// are re-written once per batch however long a batch is, so in an endless session the share would
/// be 0; but sessions end. Fitted on 20 to 500 steps with images of 400 to 4,700 tokens under three
/// price lists: see `photic simulate --check`.
const BETWEEN: f64 = 0.35;

impl Keeper {
    /// Returns the views that the price retires in this turn.
    ///
    /// Keeping a view costs a read every turn. Retiring a batch costs one write of everything after
    /// its first view. The cheapest rhythm is the one where the two are equal (the economic lot
    /// size). It does not depend on when the session ends. Four more conditions apply:
    ///
    /// - The newest views and turns stay.
    /// - The batch must save what the floor states, if the session goes on for as long as it has
    ///   lasted.
    /// - No two batches follow each other within the stated interval.
    /// - No limit is expected to force another batch within that interval.
    pub(super) fn priced(&mut self, first_new: usize, words_before: u64) -> Vec<usize> {
        if self.listed.is_empty() {
            return Vec::new();
        }
        let fresh = self.first_fresh(first_new).max(self.keeping.fresh);
        let idle = (self.keeping.fresh..fresh).filter(|&index| self.is_listed(index));
        self.keeping.idle += idle.map(|index| self.tokens(index)).sum::<u64>();
        self.keeping.fresh = fresh;
        if self.keeping.idle == 0 {
            return Vec::new();
        }
        let Prices { read, write } = self.prices;
        let each_turn = read * self.keeping.idle as f64;
        self.keeping.paid += each_turn;
        if self.turns < self.edited + self.floor.interval {
            return Vec::new();
        }
        let batch: Vec<usize> =
            (self.keeping.first..fresh).filter(|&index| self.is_listed(index)).collect();
        let (Some(&first), Some(&last)) = (batch.first(), batch.last()) else { return batch };
        let others = |range: std::ops::Range<usize>| {
            range
                .filter(|index| batch.binary_search(index).is_err())
                .map(|index| self.tokens(index))
        };
        let words = self.seen[last].words;
        let behind = (words_before - words.min(words_before)) as f64
            + others(last + 1..first_new).sum::<u64>() as f64;
        let between =
            (words - self.seen[first].words) as f64 + others(first..last).sum::<u64>() as f64;
        let again = write - read;
        let is_time = self.keeping.paid >= again * (behind + BETWEEN * between);
        let saves = each_turn * self.turns as f64 - again * (behind + between);
        if is_time && saves >= self.floor.saving as f64 && self.lasts(&batch) {
            return batch;
        }
        Vec::new()
    }

    /// Returns the first view that is too new to be retired by the price.
    fn first_fresh(&self, first_new: usize) -> usize {
        let recent = (self.turns + 1).saturating_sub(self.floor.turns.max(1));
        let by_turn = self.seen.partition_point(|seen| seen.turn < recent);
        let older = self.listed.len().saturating_sub(self.floor.views);
        let by_count = self.listed.get(older).copied().unwrap_or(self.seen.len());
        by_turn.min(by_count).min(first_new)
    }

    /// Returns `true` if no limit is expected to force another batch within the interval.
    fn lasts(&self, batch: &[usize]) -> bool {
        let mut load = self.load();
        for &index in batch {
            load -= self.of(index);
            load += Load { tokens: NOTICE.0, bytes: NOTICE.1, ..Load::default() };
        }
        load += self.growth();
        !self.over(&load).any()
    }

    /// Restarts the count of costs after a retirement.
    pub(super) fn settle(&mut self) {
        let first = (self.keeping.first..self.seen.len()).find(|&index| self.is_listed(index));
        let first = first.unwrap_or(self.keeping.fresh).min(self.keeping.fresh);
        let idle = (first..self.keeping.fresh).filter(|&index| self.is_listed(index));
        self.keeping.idle = idle.map(|index| self.tokens(index)).sum();
        self.keeping.first = first;
        self.keeping.paid = 0.0;
    }
}
