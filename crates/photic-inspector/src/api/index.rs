//! The index of a session: its turns, pictures and choices as the record lists them, and what is
//! known about turns that were planned again.

use std::collections::BTreeMap;
use std::sync::Arc;

use photic::{Choice, Digest};
use photic_store::record::{PastChoice, SentFate, SessionPicture, SessionRow, TurnRow};
use photic_store::{PlannedTurn, SessionId};

use super::extras::Extras;
use super::letters::{is_shown, letters, numbers};
use crate::failure::Failure;
use crate::inspector::Inspector;

/// Turns of a session of which all facts are computed for the timeline.
const MAX_ENRICHED: u64 = 64;
/// Turns that are read from the record at once.
const PAGE: usize = 2000;
/// Pictures that are read from the record at once.
const PICTURES: usize = 4096;
/// Time after which no outcome of a turn is expected any more.
const SETTLED_MS: i64 = 30 * 60 * 1000;

/// A session as the record lists it.
#[derive(Clone, Debug)]
pub(crate) struct SessionIndex {
    pub(crate) id: SessionId,
    pub(crate) row: SessionRow,
    pub(crate) turns: Vec<TurnFacts>,
    pub(crate) pictures: Vec<SessionPicture>,
}

/// A turn as the record lists it.
#[derive(Clone, Debug)]
pub(crate) struct TurnFacts {
    pub(crate) row: TurnRow,
    /// The picture number of each medium.
    pub(crate) numbers: Vec<Option<u32>>,
    /// A letter for each picture number.
    pub(crate) letters: String,
    /// Facts from planning the turn again, if it was.
    pub(crate) extras: Option<Arc<Extras>>,
}

impl Inspector {
    /// Reads a session. Turns that are known and settled are not read again.
    pub(crate) async fn index(&self, id: &SessionId) -> Result<Arc<SessionIndex>, Failure> {
        let key = format!("index/{id}");
        let row = self.history.session(id).await?;
        let known = self.cache.get::<SessionIndex>(&key);
        let past_choices = self.history.past_choices(id).await?;
        let mut turns: Vec<TurnFacts> = known.as_ref().map_or_else(Vec::new, |known| {
            let last = known.row.session.last;
            known.turns.iter().take_while(|turn| turn.is_settled(last)).cloned().collect()
        });
        let mut rows = Vec::new();
        while ((turns.len() + rows.len()) as u64) < row.session.turns {
            let from = (turns.len() + rows.len()) as u64 + 1;
            let page = self.history.turns(id, from, PAGE).await?;
            if page.is_empty() {
                break;
            }
            rows.extend(page);
        }
        let mut pictures = known.map_or_else(Vec::new, |known| known.pictures.clone());
        let runs = rows.iter().flat_map(|row| &row.pictures);
        let most = runs.map(|run| (run.first + run.count).saturating_sub(1)).max().unwrap_or(0);
        while (pictures.len() as u32) < most {
            let page = self.history.pictures(id, pictures.len() as u32 + 1, PICTURES).await?;
            if page.pictures.is_empty() {
                break;
            }
            pictures.extend(page.pictures);
        }
        // Choices may be made at any time, here or by a command.
        for picture in &mut pictures {
            let own = past_choices.iter().rev().find(|one| one.picture == picture.digest);
            picture.choice = own.and_then(|one| one.choice);
        }
        let by_digest: BTreeMap<Digest, u32> =
            pictures.iter().map(|picture| (picture.digest, picture.number)).collect();
        for row in rows {
            let chosen = choices_before(&past_choices, row.number, &by_digest);
            turns.push(self.facts(id, row, &chosen).await?);
        }
        let is_short = row.session.turns <= MAX_ENRICHED;
        for at in 0..turns.len() {
            if turns[at].extras.is_none() {
                let previous = at.checked_sub(1).map(|before| &turns[before]);
                let extras = self.extras_of(id, &turns[at], previous, is_short).await?;
                turns[at].extras = extras;
            }
        }
        let index = SessionIndex { id: id.clone(), row, turns, pictures };
        let weights =
            index.turns.iter().map(|turn| 600 + turn.letters.len() + turn.numbers.len() * 8);
        let weight = weights.sum::<usize>() + index.pictures.len() * 200;
        Ok(self.cache.put(key, index, weight))
    }

    async fn facts(
        &self,
        id: &SessionId,
        row: TurnRow,
        chosen: &BTreeMap<u32, Choice>,
    ) -> Result<TurnFacts, Failure> {
        let numbers = numbers(&row.pictures);
        // Older versions did not record fates.
        let fates = if let Some(fates) = &row.fates {
            fates.as_slice().to_vec()
        } else {
            let planned = self.planned(id, row.number).await?;
            fates_of(&planned)
        };
        let letters = letters(&numbers, fates.into_iter(), |number| chosen.get(&number).copied());
        Ok(TurnFacts { row, numbers, letters, extras: None })
    }
}

impl SessionIndex {
    /// Returns a turn by its number.
    pub(crate) fn turn(&self, number: u64) -> Result<&TurnFacts, Failure> {
        let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let found = at.and_then(|at| self.turns.get(at));
        found.ok_or_else(|| Failure::not_found(&format!("turn {number}")))
    }

    /// Returns the turn before another one.
    pub(crate) fn before(&self, number: u64) -> Option<&TurnFacts> {
        self.turn(number.checked_sub(1)?).ok()
    }

    /// Returns the number of the last turn.
    pub(crate) fn last(&self) -> u64 {
        self.turns.len() as u64
    }

    /// Returns a picture by its number.
    pub(crate) fn picture(&self, number: u32) -> Result<&SessionPicture, Failure> {
        let at = (number as usize).checked_sub(1);
        let found = at.and_then(|at| self.pictures.get(at));
        found.ok_or_else(|| Failure::not_found(&format!("picture #{number}")))
    }

    /// Returns the number of the picture with a digest.
    pub(crate) fn number_of(&self, digest: &Digest) -> Option<u32> {
        self.pictures.iter().find(|one| one.digest == *digest).map(|one| one.number)
    }
}

impl TurnFacts {
    /// Returns `true` if the turn will not change any more.
    fn is_settled(&self, last: i64) -> bool {
        self.row.outcome.is_some() || last - self.row.time > SETTLED_MS
    }

    /// Returns the numbers of the pictures that the model sees.
    pub(crate) fn in_sight(&self) -> impl Iterator<Item = u32> {
        let letters = self.letters.chars();
        (1..).zip(letters).filter(|(_, letter)| is_shown(*letter)).map(|(number, _)| number)
    }

    /// Returns the letter of a picture.
    pub(crate) fn letter(&self, number: u32) -> char {
        super::letters::of(&self.letters, number)
    }
}

/// Returns the fates of a turn that was planned again.
fn fates_of(planned: &PlannedTurn) -> Vec<SentFate> {
    let fate = |one: &photic_store::PlannedMedia| SentFate {
        fate: one.image.fate,
        is_remade: one.made.is_some(),
    };
    planned.media.iter().map(fate).collect()
}

/// Returns the choices that were in force when a turn was sent.
fn choices_before(
    past: &[PastChoice],
    turn: u64,
    numbers: &BTreeMap<Digest, u32>,
) -> BTreeMap<u32, Choice> {
    let mut chosen = BTreeMap::new();
    for one in past.iter().filter(|one| one.after_turn < turn) {
        let Some(number) = numbers.get(&one.picture) else { continue };
        match one.choice {
            Some(choice) => chosen.insert(*number, choice),
            None => chosen.remove(number),
        };
    }
    chosen
}
