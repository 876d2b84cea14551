//! The figures as a table, with the claims about them.

use std::fmt;

/// One line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) pipe: String,
    pub(crate) gateway: String,
    pub(crate) litellm: String,
    pub(crate) claim: Option<Claim>,
}

/// A claim about a figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    pub(crate) value: f64,
    pub(crate) goal: Goal,
    /// The part of the goal by which a busy machine may miss it.
    pub(crate) slack: f64,
    pub(crate) unit: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

impl Claim {
    /// Returns `true` if it is missed by more than the slack.
    pub(crate) fn is_broken(&self) -> bool {
        self.miss() > 1.0 + self.slack
    }

    /// Returns the ratio to the goal. Above 1 it is missed.
    pub(crate) fn miss(&self) -> f64 {
        match self.goal {
            Goal::AtMost(most) => self.value / most,
            Goal::AtLeast(least) => least / self.value,
        }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, goal) = match self.goal {
            Goal::AtMost(most) => ("at most", most),
            Goal::AtLeast(least) => ("at least", least),
        };
        let digits = if goal < 10.0 { 2 } else { 0 };
        let Self { value, unit, .. } = self;
        write!(out, "{value:.digits$}{unit} | {word} {goal}{unit}")
    }
}

/// Keeps the better one of each row.
pub(crate) fn keep_better(best: &mut Vec<Row>, rows: Vec<Row>) {
    let miss = |row: &Row| row.claim.map_or(0.0, |claim| claim.miss());
    for row in rows {
        match best.iter_mut().find(|it| it.name == row.name) {
            None => best.push(row),
            Some(former) if miss(&row) < miss(former) => *former = row,
            Some(_) => {}
        }
    }
}

pub(crate) fn print(rows: &[Row]) {
    println!("| | pipe | gateway | LiteLLM | measured | claimed |\n|---|--:|--:|--:|--:|--:|");
    for Row { name, pipe, gateway, litellm, claim } in rows {
        let claim = claim.map_or("|".to_owned(), |claim| claim.to_string());
        println!("| {name} | {pipe} | {gateway} | {litellm} | {claim} |");
    }
}
