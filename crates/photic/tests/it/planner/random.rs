//! Any history, any shipped profile, any policy: the provider takes the request and sees what
//! matters most.

use std::collections::BTreeSet;

use photic::Profile;
use photic::profile::{Capability, Placement};
use photic_testkit::oracle::{self, Rules, Seen, Violation};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestCaseError;

use super::WRITTEN;
use super::choice::{Caps, Choice, Keep, choices, tighter};
use super::frames::{Frame, Kind, numbers};
use super::histories::{History, Owner, genes};
use super::outcome::{self, Outcome};
use super::render;
use super::rules::rules;
use super::subject;

/// The newest views that stay whatever else must go.
const FLOOR: usize = 3;

/// What a notice takes.
const NOTICE_BYTES: usize = 110;

proptest! {
    #![proptest_config(super::config(super::CASES))]

    #[test]
    fn the_provider_takes_every_request_and_sees_what_matters(
        genes in genes(),
        manner in any::<u64>(),
        wire in select(&WRITTEN[..]),
        profile in any::<Index>(),
        choice in choices(),
        tighter in tighter(),
    ) {
        let mut profile = profile.get(photic::profile::shipped()).clone();
        tighter.apply(&mut profile);
        let history = History::of(wire, &genes, manner);
        Trial::of(history, profile, subject::possible(&choice)).judge()?;
    }
}

proptest! {
    #![proptest_config(super::config(super::CASES / 5))]

    /// What one endpoint was sent, pictures in turns of the user and all, goes on to another.
    #[test]
    fn what_was_hoisted_before_is_taken_too(
        genes in genes(),
        manner in any::<u64>(),
        wires in (select(&WRITTEN[..]), select(&WRITTEN[..])),
        profile in any::<Index>(),
        choice in choices(),
        tighter in tighter(),
    ) {
        let mut profile = profile.get(photic::profile::shipped()).clone();
        tighter.apply(&mut profile);
        let history = History::of(wires.0, &genes, manner);
        let choice = subject::possible(&choice);
        let first = Profile::generic(wires.1);
        let hoisted = subject::lower(wires.0, &render::body(&history), &first, &Choice::default());
        let history = History { wire: wires.1, ..history };
        let trial = Trial::of_body(history, &hoisted.body, profile, choice);
        trial.accepted()?;
        trial.billed()?;
    }
}

/// One history, lowered.
pub(super) struct Trial {
    pub(super) history: History,
    pub(super) profile: Profile,
    pub(super) choice: Choice,
    pub(super) rules: Rules,
    pub(super) outcome: Outcome,
    pub(super) seen: Seen,
    pub(super) violations: Vec<Violation>,
    /// The numbers of all that is shown.
    pub(super) shown: BTreeSet<u32>,
}

impl Trial {
    pub(super) fn of(history: History, profile: Profile, choice: Choice) -> Self {
        let body = render::body(&history);
        Self::of_body(history, &body, profile, choice)
    }

    fn of_body(history: History, body: &[u8], profile: Profile, choice: Choice) -> Self {
        let mut rules = rules(&profile);
        // Nothing is rewritten only to state a detail.
        rules.needs_detail &= history.wire != profile.wire;
        let outcome = subject::lower(history.wire, body, &profile, &choice);
        let (seen, violations) = oracle::look(profile.wire.name(), &outcome.body, &rules);
        let shown = seen.images.iter().flat_map(numbers).collect();
        Self { history, profile, choice, rules, outcome, seen, violations, shown }
    }

    pub(super) fn judge(&self) -> Result<(), TestCaseError> {
        self.accepted()?;
        self.billed()?;
        if self.choice.summary || self.profile.sight.images == Capability::No {
            if !self.seen.images.is_empty() {
                return self.fail("pixels where none belong");
            }
            return Ok(());
        }
        if self.outcome.failed || self.rules.limits.images == Some(0) {
            return Ok(());
        }
        // The planner before policies retires what is too large for a crowd, whoever showed it, and
        // sheds more than it must from a body that is too large.
        let shed = self.outcome.ledger.is_none();
        if !subject::POLICIES && (shed || self.rules.limits.many.is_some()) {
            return Ok(());
        }
        self.newest()?;
        self.attached()
    }

    fn accepted(&self) -> Result<(), TestCaseError> {
        // Words alone may be too many, and what is smaller than a notice is not worth one.
        let tiny = |image: &oracle::Image| image.bytes().is_none_or(|bytes| bytes.len() < 300);
        let bare = self.seen.images.iter().all(tiny) && self.seen.documents.is_empty();
        // On its own wire what is no picture is sent, whether or not the profile lists its type.
        let at_home = self.history.wire == self.profile.wire;
        let excused = |violation: &&Violation| match violation.code {
            "body_too_large" => bare,
            "media_type_unsupported" => at_home && violation.text.contains("application/pdf"),
            _ => false,
        };
        match self.violations.iter().find(|violation| !excused(violation)) {
            Some(violation) => self.fail(format!("refused: {violation}")),
            None => Ok(()),
        }
    }

    fn billed(&self) -> Result<(), TestCaseError> {
        if self.outcome.fates != self.outcome.sightings {
            return self.fail("not one fate for every sighting");
        }
        let Some(ledger) = &self.outcome.ledger else { return Ok(()) };
        let real = outcome::bill(&self.seen, &self.profile);
        let counted = ledger.images == real.images;
        if !counted || ledger.image_tokens.is_some() && *ledger != real {
            return self.fail(format!("the ledger says {ledger:?}, the provider saw {real:?}"));
        }
        Ok(())
    }

    /// What a tool showed last is seen. Only what a person attached after it may have its place.
    fn newest(&self) -> Result<(), TestCaseError> {
        let mut views = self.views();
        let Some((turn, frame)) = views.pop() else { return Ok(()) };
        if self.shown.contains(&frame.number) || self.is_budgeted() {
            return Ok(());
        }
        let frames = self.history.frames();
        // One that this test holds for unsendable was made to fit.
        let calls = frames.iter().filter(|(_, owner, _)| matches!(owner, Owner::Call(_)));
        let newer = calls.rev().map(|(_, _, one)| one).take_while(|one| one.number != frame.number);
        if newer.into_iter().any(|one| self.shown.contains(&one.number)) {
            return Ok(());
        }
        let later = frames.iter().any(|(at, owner, frame)| {
            *at > turn && *owner == Owner::User && self.shown.contains(&frame.number)
        });
        // A window of turns is asked for by name, and holds what is in it.
        let is_window = matches!(self.choice.keep, Keep::Turns(_));
        if (later || is_window) && turn < self.history.current_turn() {
            return Ok(());
        }
        let others = frames.iter().filter(|(_, owner, _)| *owner != Owner::Other);
        if !self.has_room(&frame, &others.map(|(_, _, frame)| frame.number).collect()) {
            return Ok(());
        }
        self.fail(format!("the newest view is not seen: {frame:?}"))
    }

    /// What a person attached is seen as long as there are views that could go instead.
    fn attached(&self) -> Result<(), TestCaseError> {
        if self.is_budgeted() || self.had_to_give_way() {
            return Ok(());
        }
        let views = self.views();
        let current = self.history.current_turn();
        let fixed = views.len().saturating_sub(FLOOR);
        // A notice in place of something as small would only make the body longer.
        let heavy = |frame: &Frame| frame.bytes().div_ceil(3) * 4 > NOTICE_BYTES;
        let may_go = views
            .iter()
            .enumerate()
            .filter(|(at, (turn, frame))| *at < fixed && *turn < current && heavy(frame));
        let may_go: BTreeSet<u32> = may_go.map(|(_, (_, frame))| frame.number).collect();
        // The same picture may also be one of the last views, or somebody's own.
        let frames = self.history.frames();
        let own = frames.iter().filter(|(_, owner, _)| !matches!(owner, Owner::Call(_)));
        let own = own.map(|(_, _, frame)| frame.number);
        let stay: BTreeSet<u32> =
            views[fixed..].iter().map(|(_, frame)| frame.number).chain(own).collect();
        let could_go: BTreeSet<u32> = may_go
            .difference(&stay)
            .filter(|number| self.shown.contains(number))
            .copied()
            .collect();
        if could_go.is_empty() {
            return Ok(());
        }
        for (_, owner, frame) in self.history.frames() {
            let hidden = owner == Owner::User
                && self.is_sendable(&frame, owner)
                && !self.shown.contains(&frame.number);
            if hidden && self.has_room(&frame, &could_go) {
                let what = format!("{frame:?} is not seen, but the views {could_go:?} are");
                return self.fail(what);
            }
        }
        Ok(())
    }

    /// Whether there was a turn whose own views left no room for everything attached by then. What
    /// gives way in it stays out of sight, also when older views could go in a later turn.
    fn had_to_give_way(&self) -> bool {
        let limits = &self.rules.limits;
        let frames = self.history.frames();
        (0..=self.history.current_turn()).any(|turn| {
            let needed = frames.iter().filter(|(at, owner, _)| match owner {
                Owner::Call(_) => *at == turn,
                Owner::User | Owner::Other => *at <= turn,
            });
            let bytes: Vec<usize> =
                needed.map(|(_, _, frame)| frame.bytes().div_ceil(3) * 4).collect();
            // The newest view of an earlier turn stays as well.
            let count = bytes.len() + 1;
            let papers = self.seen.documents.len();
            limits.images.is_some_and(|most| count > most)
                || limits.many.is_some_and(|many| count + papers > many.over)
                || limits.body.is_some_and(|most| 2 * bytes.iter().sum::<usize>() > most)
        })
    }

    /// A budget may be less than one image takes; then anything goes.
    fn is_budgeted(&self) -> bool {
        self.choice.room != Caps::default()
    }

    /// Whether the request would have room for this picture without those.
    fn has_room(&self, frame: &Frame, without: &BTreeSet<u32>) -> bool {
        let limits = &self.rules.limits;
        let goes = |image: &&oracle::Image| {
            let numbers = numbers(image);
            !numbers.is_empty() && numbers.iter().all(|number| without.contains(number))
        };
        let gone: Vec<_> = self.seen.images.iter().filter(goes).collect();
        let base64 = |bytes: usize| bytes.div_ceil(3) * 4;
        let freed: usize =
            gone.iter().filter_map(|image| image.bytes()).map(|bytes| base64(bytes.len())).sum();
        let count = self.seen.images.len() - gone.len() + 1;
        let long = frame.size.0.max(frame.size.1);
        let crowd = limits.many.is_some_and(|many| {
            let papers = if many.documents { self.seen.documents.len() } else { 0 };
            count + papers > many.over && long > many.edge && !self.choice.pixels && !frame.remote
        });
        // What stands in place of what is gone takes room as well.
        let body = self.outcome.body.len() + base64(frame.bytes()) + 500 * (gone.len() + 2);
        limits.images.is_none_or(|most| count <= most)
            && !crowd
            && limits.body.is_none_or(|most| body.saturating_sub(freed) <= most)
    }

    /// What tools showed and could be sent, oldest first, with its turn.
    fn views(&self) -> Vec<(usize, Frame)> {
        let frames = self.history.frames().into_iter();
        let views = frames.filter(|(_, owner, frame)| {
            matches!(owner, Owner::Call(_)) && self.is_sendable(frame, *owner)
        });
        views.map(|(turn, _, frame)| (turn, frame)).collect()
    }

    /// Whether the picture could be sent, were it alone.
    fn is_sendable(&self, frame: &Frame, owner: Owner) -> bool {
        if matches!(owner, Owner::Call(_)) && self.profile.placement.image == Placement::TextOnly {
            return false;
        }
        if frame.remote {
            return self.rules.remote_images;
        }
        let limits = &self.rules.limits;
        let (width, height) = frame.size;
        let (long, short) = (f64::from(width.max(height)), f64::from(width.min(height)));
        let least = f64::from(limits.min_edge.unwrap_or(1));
        let edge = f64::from(limits.edge.unwrap_or(u32::MAX));
        if self.choice.pixels && frame.kind != Kind::Bmp {
            let crowd = limits.many.map_or(f64::MAX, |many| f64::from(many.edge));
            let scale = (edge.min(crowd) / long).min(1.0);
            let spare = limits
                .image_raw
                .unwrap_or(usize::MAX)
                .min(limits.image_base64.unwrap_or(usize::MAX));
            return short * scale >= least && spare > 2000;
        }
        let patches = u64::from(width.div_ceil(32)) * u64::from(height.div_ceil(32));
        let within = |most: Option<usize>, is: usize| most.is_none_or(|most| is <= most);
        self.rules.media_types.contains(&frame.media_type())
            && within(limits.image_raw, frame.bytes())
            && within(limits.image_base64, frame.bytes().div_ceil(3) * 4)
            && long <= edge
            && short >= least
            && limits.patches.is_none_or(|limit| patches <= u64::from(limit.most))
    }

    pub(super) fn fail<T>(&self, what: impl std::fmt::Display) -> Result<T, TestCaseError> {
        let frames = self.history.frames();
        Err(TestCaseError::fail(format!(
            "{what}\n{} → {} `{}`, {:?}\nlimits {:?}\n{} pictures of {} are seen: {:?}\n--- in\n{}\n--- out\n{}",
            self.history.wire,
            self.profile.wire,
            self.profile.id,
            self.choice,
            self.rules.limits,
            self.shown.len(),
            frames.len(),
            self.shown,
            short(&render::body(&self.history)),
            short(&self.outcome.body),
        )))
    }
}

/// A body for the eye: runs of filler are cut.
pub(super) fn short(body: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(body).into_owned();
    for run in ["A".repeat(4096), "A".repeat(256), "A".repeat(32)] {
        text = text.replace(&run, "~");
    }
    text.chars().take(1200).collect()
}
