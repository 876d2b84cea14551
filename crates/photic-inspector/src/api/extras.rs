//! Facts about a turn that need its plan or its bodies: cache marks, new tokens, words, and the
//! first changed byte.

use std::sync::Arc;

use photic::Did;
use photic_store::{BodySide, PlannedTurn, SessionId};

use super::index::TurnFacts;
use super::labels::{Came, came, labels};
use super::layout::{Layout, first_difference, messages_of};
use crate::failure::Failure;
use crate::inspector::Inspector;

/// Most bytes of a body that is read for the timeline.
const MAX_TIMELINE_BODY: u64 = 8 << 20;

/// Facts about a turn that was planned again.
#[derive(Clone, Debug)]
pub(crate) struct Extras {
    pub(crate) layout: Layout,
    pub(crate) came: Came,
    /// Words beside each medium of the client's body, by its number in the transcript.
    pub(crate) labels: Vec<String>,
    pub(crate) expected_usd: Option<f64>,
    /// Input tokens behind the end of the turn before, by the plan.
    pub(crate) new_tokens: u64,
    /// Tokens of each medium as it stands in the body, by its number in the transcript.
    pub(crate) tokens: Vec<u64>,
    /// Expected price of each of these tokens, as a ratio of the base input price.
    pub(crate) ratios: Vec<f64>,
    /// Offset of the first changed byte, and its message.
    pub(crate) first: Option<(usize, Option<usize>)>,
    /// Set if the first changed byte was looked for.
    pub(crate) is_compared: bool,
    /// Media that are images again, or were moved, with the name of the change.
    pub(crate) repaired: Vec<(usize, &'static str)>,
    /// Number of changes.
    pub(crate) changes: usize,
    pub(crate) model: Option<String>,
}

impl Inspector {
    /// Returns the facts that need the plan of a turn. Of a long session, only those that were
    /// computed before.
    pub(crate) async fn extras_of(
        &self,
        id: &SessionId,
        turn: &TurnFacts,
        previous: Option<&TurnFacts>,
        is_wanted: bool,
    ) -> Result<Option<Arc<Extras>>, Failure> {
        let known = self.cache.get::<Extras>(&extras_key(id, turn.row.number));
        if known.is_some() || !is_wanted {
            return Ok(known);
        }
        self.extras(id, turn, previous).await.map(Some)
    }

    /// Computes the facts that need the plan of a turn.
    pub(crate) async fn extras(
        &self,
        id: &SessionId,
        turn: &TurnFacts,
        previous: Option<&TurnFacts>,
    ) -> Result<Arc<Extras>, Failure> {
        let number = turn.row.number;
        let key = extras_key(id, number);
        if let Some(found) = self.cache.get::<Extras>(&key) {
            return Ok(found);
        }
        let planned = self.planned(id, number).await?;
        let mut extras = Extras::of(&planned);
        if let Some(previous) = previous {
            let small = turn.row.length.max(previous.row.length) <= MAX_TIMELINE_BODY;
            extras.is_compared = small;
            if small && turn.may_differ(previous) {
                extras.first = self.first_changed(id, previous.row.number, number).await?;
            }
        }
        let weight = 512 + extras.labels.iter().map(|label| label.len() + 64).sum::<usize>();
        Ok(self.cache.put(key, extras, weight))
    }

    /// Compares two bodies as sent. Returns the offset of the first changed byte in the later one,
    /// and its message. A body that cannot be made again cannot be compared.
    pub(crate) async fn first_changed(
        &self,
        id: &SessionId,
        earlier: u64,
        later: u64,
    ) -> Result<Option<(usize, Option<usize>)>, Failure> {
        let bodies = match (
            self.body(id, earlier, BodySide::Model).await,
            self.body(id, later, BodySide::Model).await,
        ) {
            (Ok(earlier), Ok(later)) => (earlier, later),
            (Err(failure), _) | (_, Err(failure)) if failure.code() == "away" => {
                return Err(failure);
            }
            _ => return Ok(None),
        };
        let before = self.planned(id, earlier).await?.profile.wire;
        let now = self.planned(id, later).await?.profile.wire;
        let end = messages_of(before, &bodies.0).last().map_or(bodies.0.len(), |last| last.end);
        let Some(byte) = first_difference(&bodies.0, &bodies.1, end) else { return Ok(None) };
        let message = messages_of(now, &bodies.1).iter().position(|span| span.contains(&byte));
        Ok(Some((byte, message)))
    }
}

impl TurnFacts {
    /// Returns `true` if the hashes of the sent messages do not say that the body begins with that of
    /// the turn before.
    pub(crate) fn may_differ(&self, previous: &Self) -> bool {
        let Some(change) = self.row.change else { return true };
        let before = previous
            .row
            .change
            .map(|one| one.messages)
            .or_else(|| previous.extras.as_ref().map(|extras| extras.layout.messages() as u64));
        change.is_frame_changed || before.is_none_or(|before| change.same < before)
    }
}

impl Extras {
    fn of(planned: &PlannedTurn) -> Self {
        let layout = Layout::of(planned);
        let (transcript, _) = photic::lift(planned.turn.wire, &planned.client);
        let mut names = vec![String::new(); planned.media.len()];
        for (id, label) in labels(&transcript) {
            if let Some(name) = names.get_mut(id.index()) {
                *name = label;
            }
        }
        let start = planned.previous_end.unwrap_or(0);
        let words: usize = planned.words.get(start..).unwrap_or_default().iter().sum();
        let new = planned.media.iter().filter(|one| one.image.message >= start);
        let pictures: u64 = new.map(|one| one.tokens).sum();
        let repaired = planned.decisions.iter().filter_map(|one| {
            let is_told = matches!(one.did, Did::Hoisted | Did::Rewrote | Did::Remade);
            Some((one.media?.index(), one.did.name())).filter(|_| is_told)
        });
        Self {
            came: came(&transcript),
            labels: names,
            expected_usd: planned.expected_usd,
            new_tokens: photic::tokens::text_tokens(words as u64) + pictures,
            tokens: planned.media.iter().map(|one| one.tokens).collect(),
            ratios: planned.media.iter().map(|one| one.token_price).collect(),
            first: None,
            is_compared: false,
            repaired: repaired.collect(),
            changes: planned.decisions.len(),
            model: model_of(&transcript),
            layout,
        }
    }
}

/// Returns the model that a request names.
fn model_of(transcript: &photic::Transcript<'_>) -> Option<String> {
    transcript.settings.model.as_ref().map(|model| model.decode().into_owned())
}

fn extras_key(id: &SessionId, number: u64) -> String {
    format!("extras/{id}/{number}")
}
