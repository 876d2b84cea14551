//! The cost of a picture in a turn: its tokens, by where they stand in the cache, at list price.

use photic::Profile;
use photic_store::SessionId;

use super::index::{SessionIndex, TurnFacts};
use super::letters::is_shown;
use crate::failure::Failure;
use crate::inspector::Inspector;

/// The tokens of a picture in a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PictureCost {
    pub(crate) tokens: u64,
    pub(crate) stands: Stands,
    pub(crate) usd: Option<f64>,
}

/// The part of the input that tokens belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stands {
    /// Read from the cache.
    Read,
    /// Written to the cache.
    Written,
    /// Neither.
    Rest,
}

impl Stands {
    /// Returns the name in answers.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Written => "written",
            Self::Rest => "rest",
        }
    }

    /// Returns the price as a ratio of the base input price.
    fn ratio(self, profile: &Profile) -> f64 {
        match self {
            Self::Read => profile.cache.read,
            Self::Written => profile.cache.write,
            Self::Rest => 1.0,
        }
    }
}

/// The costs of the pictures of a session.
#[derive(Clone, Debug)]
pub(crate) struct Costs<'i> {
    pub(crate) index: &'i SessionIndex,
    pub(crate) profile: &'i Profile,
    /// Tokens of each picture when it is shown, by its number.
    usual: Vec<Option<u64>>,
}

/// Sums of a picture over all turns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PictureSum {
    pub(crate) usd: Option<f64>,
    pub(crate) tokens: u64,
    /// Number of turns in which it is shown.
    pub(crate) turns: u64,
}

impl PictureSum {
    /// Returns the value by which pictures are ranked: dollars, or tokens without a price.
    pub(crate) fn weight(&self) -> f64 {
        self.usd.unwrap_or(self.tokens as f64)
    }
}

impl<'i> Costs<'i> {
    /// Creates the costs of a session with the prices of a profile.
    pub(crate) fn new(index: &'i SessionIndex, profile: &'i Profile) -> Self {
        let by_size = index.pictures.iter().map(|picture| {
            let (width, height) = picture.facts.size?;
            Some(profile.image_tokens(width, height, None))
        });
        let mut usual: Vec<Option<u64>> = by_size.collect();
        // A turn that was planned again knows better; the latest counts.
        for turn in &index.turns {
            let Some(extras) = &turn.extras else { continue };
            for (number, tokens) in turn.numbers.iter().zip(&extras.tokens) {
                let Some(number) = number.filter(|number| is_shown(turn.letter(*number))) else {
                    continue;
                };
                if let Some(usual) = usual.get_mut(number as usize - 1) {
                    *usual = Some(*tokens);
                }
            }
        }
        Self { index, profile, usual }
    }

    /// Returns the cost of a picture in a turn. `None` if it is not shown there.
    pub(crate) fn of(&self, turn: &TurnFacts, number: u32) -> Option<PictureCost> {
        if !is_shown(turn.letter(number)) {
            return None;
        }
        let previous = self.index.before(turn.row.number);
        let tokens = turn.tokens(previous);
        let known = turn.extras.as_ref().and_then(|extras| Some((extras, turn.media_of(number)?)));
        let (count, stands) = match known {
            Some((extras, media)) => {
                let (_, at) = extras.layout.media.get(media).copied().flatten().unwrap_or_default();
                let count = extras.tokens.get(media).copied().unwrap_or(0);
                let scale = tokens.all() as f64 / extras.layout.total().max(1) as f64;
                let middle = ((at + count / 2) as f64 * scale) as u64;
                let expected = || {
                    let ratio = extras.ratios.get(media).copied().unwrap_or(1.0);
                    let is = |stands: Stands| (stands.ratio(self.profile) - ratio).abs() < 1e-9;
                    [Stands::Rest, Stands::Read, Stands::Written]
                        .into_iter()
                        .find(|stands| is(*stands))
                        .unwrap_or(Stands::Rest)
                };
                let stands = match (tokens.input, tokens.read, tokens.written) {
                    (Some(_), Some(read), _) if middle < read => Stands::Read,
                    (Some(_), Some(read), Some(written)) if middle < read + written => {
                        Stands::Written
                    }
                    (Some(_), ..) => Stands::Rest,
                    (None, ..) => expected(),
                };
                (count, stands)
            }
            None => (self.usual_tokens(number)?, usual_stands(turn, previous, number)),
        };
        let price = self.profile.price;
        let usd = price.map(|price| price.of(count as f64 * stands.ratio(self.profile)));
        Some(PictureCost { tokens: count, stands, usd })
    }

    /// Returns the tokens of a picture in turns that were not planned again.
    fn usual_tokens(&self, number: u32) -> Option<u64> {
        self.usual.get((number as usize).checked_sub(1)?).copied().flatten()
    }

    /// Returns the sums of all pictures over all turns, by their numbers.
    pub(crate) fn sums(&self) -> Vec<PictureSum> {
        let mut sums = vec![PictureSum::default(); self.index.pictures.len()];
        for turn in &self.index.turns {
            for number in turn.in_sight() {
                let Some(one) = self.of(turn, number) else { continue };
                let Some(sum) = sums.get_mut(number as usize - 1) else { continue };
                sum.usd = one.usd.map(|usd| usd + sum.usd.unwrap_or(0.0)).or(sum.usd);
                sum.tokens += one.tokens;
                sum.turns += 1;
            }
        }
        sums
    }

    /// Returns the cost of all pictures of a turn.
    pub(crate) fn of_turn(&self, turn: &TurnFacts) -> Option<f64> {
        let each = turn.in_sight().filter_map(|number| self.of(turn, number)?.usd);
        self.profile.price.map(|_| each.sum())
    }
}

/// Returns the part of the input that a picture belongs to, by the turn it came in and what was
/// lost since.
fn usual_stands(turn: &TurnFacts, previous: Option<&TurnFacts>, number: u32) -> Stands {
    let is_new = previous.is_none_or(|previous| !is_shown(previous.letter(number)));
    let is_lost = previous.is_some_and(|previous| turn.may_differ(previous));
    let tokens = turn.tokens(previous);
    match (is_new || is_lost, tokens.written) {
        (false, _) if tokens.read != Some(0) => Stands::Read,
        (_, Some(0)) => Stands::Rest,
        (_, None) if tokens.input.is_some() => Stands::Rest,
        _ => Stands::Written,
    }
}

impl TurnFacts {
    /// Returns the medium of a turn that is a picture of the session: the one that is shown, if there
    /// are several.
    pub(crate) fn media_of(&self, number: u32) -> Option<usize> {
        let all = || (0..).zip(&self.numbers).filter(move |(_, one)| **one == Some(number));
        let placed = |media: usize| {
            let layout = self.extras.as_ref().map(|extras| &extras.layout.media);
            layout.is_none_or(|media_at| media_at.get(media).is_some_and(Option::is_some))
        };
        let shown = all().map(|(media, _)| media).find(|media| placed(*media));
        shown.or_else(|| all().map(|(media, _)| media).next())
    }
}

impl Inspector {
    /// Returns the profile of the last turn of a session.
    pub(crate) async fn profile(
        &self,
        id: &SessionId,
        index: &SessionIndex,
    ) -> Result<Option<Profile>, Failure> {
        if index.turns.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.planned(id, index.last()).await?.profile.clone()))
    }
}
