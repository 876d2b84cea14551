//! Forecasts of the user's choices for a picture: what each saves in every later turn, and what it
//! costs once.

use photic::{Choice, Profile};
use photic_store::SessionId;
use serde_json::Value;

use super::costs::Costs;
use super::index::{SessionIndex, TurnFacts};
use super::letters::is_shown;
use super::object::{Object, dollars};
use super::pictures::planned_media;
use crate::failure::Failure;
use crate::inspector::Inspector;

/// Longest side that the page offers for shrinking, in pixels.
const SHRINK_EDGE: u32 = 1000;

/// Tokens and dollars of a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Effect {
    /// Tokens that every later turn has less.
    saved: u64,
    /// Tokens behind the picture, which are written again once.
    behind: u64,
}

impl Effect {
    /// Returns the dollars saved by each turn, and paid once.
    fn usd(self, profile: &Profile) -> Option<(f64, f64)> {
        let (price, cache) = (profile.price?, &profile.cache);
        let saves = price.of(self.saved as f64 * cache.read);
        let costs = price.of(self.behind as f64 * (cache.write - cache.read).max(0.0));
        Some((saves, costs))
    }

    /// Returns the number of turns after which a choice has paid, at any price.
    fn pays_after(self, profile: &Profile) -> Option<u64> {
        let cache = &profile.cache;
        let saves = self.saved as f64 * cache.read;
        let costs = self.behind as f64 * (cache.write - cache.read).max(0.0);
        (saves > 0.0).then(|| (costs / saves).ceil() as u64)
    }
}

impl Inspector {
    /// Returns the forecasts for a picture after the last turn.
    pub(crate) async fn forecast(
        &self,
        id: &SessionId,
        index: &SessionIndex,
        number: u32,
    ) -> Result<Vec<Value>, Failure> {
        let last = index.last();
        if last == 0 {
            return Ok(Vec::new());
        }
        let planned = self.planned(id, last).await?;
        let extras = self.extras(id, index.turn(last)?, index.before(last)).await?;
        let turn = TurnFacts { extras: Some(extras), ..index.turn(last)?.clone() };
        let picture = index.picture(number)?;
        let letters = self.known_letters(&picture.digest);
        let media = planned_media(&planned, &turn, number);
        let place = turn.media_of(number);
        let extras = turn.extras.as_ref();
        let layout = extras.map(|extras| &extras.layout);
        let at = layout.zip(place).and_then(|(layout, media)| layout.media.get(media).copied()?);
        let shown = is_shown(turn.letter(number));
        let costs = Costs::new(index, &planned.profile);
        let tokens = costs.of(&turn, number).map_or(0, |cost| cost.tokens);
        let behind = layout
            .zip(at)
            .map_or(0, |(layout, (_, before))| layout.total().saturating_sub(before + tokens));
        let profile = &planned.profile;
        let chosen = picture.choice;
        let each = [Choice::Drop, Choice::Pin, Choice::Shrink { max_edge: SHRINK_EDGE }];
        let forecast = |choice: Choice| {
            let same =
                |one: Choice| std::mem::discriminant(&one) == std::mem::discriminant(&choice);
            let is_active = chosen.is_some_and(same);
            let choice = chosen.filter(|one| same(*one)).unwrap_or(choice);
            let object = Object::new().with("choice", choice).with("active", is_active);
            if is_active {
                let object = object.with("possible", true);
                return object.with("text", "In force; it can be taken back.".to_owned()).value();
            }
            let (effect, size) = match choice {
                Choice::Drop => (Effect { saved: tokens, behind }, None),
                Choice::Pin => (Effect::default(), None),
                Choice::Shrink { max_edge } => {
                    let sent = media.and_then(|media| media.image.sent.zip(Some(media.detail)));
                    let small = sent.map(|((width, height), detail)| {
                        let fit =
                            photic::Fit { max_edge: Some(max_edge), ..photic::Fit::default() };
                        let (width, height) = fit.size((width, height));
                        profile.seen(width, height, detail)
                    });
                    let after = small.map_or(tokens, |seen| seen.tokens);
                    let saved = tokens.saturating_sub(after);
                    let behind = if saved == 0 { 0 } else { behind };
                    (Effect { saved, behind }, small.map(|seen| seen.width))
                }
            };
            let x_height = letters.as_ref().zip(size).and_then(|(one, width)| one.in_width(width));
            describe(object, choice, effect, (shown, tokens), profile, x_height)
        };
        Ok(each.into_iter().map(forecast).collect())
    }
}

/// Adds the numbers of a choice and a sentence with them.
fn describe(
    object: Object,
    choice: Choice,
    effect: Effect,
    (shown, tokens): (bool, u64),
    profile: &Profile,
    x_height: Option<f64>,
) -> Value {
    let usd = effect.usd(profile);
    let money = |usd: f64| format!("${usd:.4}");
    let (possible, text) = match choice {
        Choice::Pin if shown => {
            let each = profile.price.map(|price| price.of(tokens as f64 * profile.cache.read));
            let each = each.map_or(String::new(), |each| format!(", {} each", money(each)));
            (true, format!("Holds {tokens} tokens in every turn{each}."))
        }
        Choice::Pin => (true, "Shows it again, as long as the endpoint takes it.".to_owned()),
        _ if !shown => (false, "It is out of sight already.".to_owned()),
        Choice::Shrink { .. } if effect.saved == 0 => {
            (false, "It would not get smaller.".to_owned())
        }
        _ => {
            let (saves, costs) = match usd {
                Some((saves, costs)) => (money(saves), money(costs)),
                None => (format!("{} tokens", effect.saved), format!("{} tokens", effect.behind)),
            };
            let when = match effect.pays_after(profile) {
                Some(0) => "costs nothing".to_owned(),
                Some(turns) => format!("costs {costs} once, and pays after {turns} turns"),
                None => format!("costs {costs} once, and never pays"),
            };
            (true, format!("Saves {saves} a turn; {when}."))
        }
    };
    let told = possible && choice != Choice::Pin;
    object
        .with("possible", possible)
        .maybe("saves_tokens", told.then_some(effect.saved))
        .maybe("saves_usd", usd.filter(|_| told).map(|(saves, _)| dollars(saves)))
        .maybe("costs_tokens", told.then_some(effect.behind))
        .maybe("costs_usd", usd.filter(|_| told).map(|(_, costs)| dollars(costs)))
        .maybe("pays_after", effect.pays_after(profile).filter(|_| told))
        .maybe("x_height", x_height.filter(|_| told))
        .with("text", text)
        .value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_pays_when_it_has_saved_what_it_cost() {
        let profile = photic::profile::resolve(
            photic::Wire::Anthropic,
            Some("claude-opus-4-5"),
            Some("api.anthropic.com"),
        );
        let effect = Effect { saved: 1000, behind: 2000 };
        let (read, write) = (profile.cache.read, profile.cache.write);
        let expected = (2000.0 * (write - read) / (1000.0 * read)).ceil() as u64;
        assert!(expected > 1);
        assert_eq!(effect.pays_after(&profile), Some(expected));
        assert_eq!(Effect { saved: 0, behind: 10 }.pays_after(&profile), None);
        if let Some((saves, costs)) = effect.usd(&profile) {
            assert_eq!((costs / saves).ceil() as u64, expected);
        }
        let text = describe(Object::new(), Choice::Drop, effect, (true, 1000), &profile, None);
        let told = text["text"].as_str().unwrap();
        assert!(told.contains(&format!("after {expected} turns")), "{told}");
        let hidden = describe(Object::new(), Choice::Drop, effect, (false, 0), &profile, None);
        assert_eq!(hidden["possible"], false);
        assert!(hidden.get("saves_usd").is_none());
    }
}
