//! Pictures of a session, and one of them: its sizes, legibility, tokens, and cost by turn.

use photic::Profile;
use photic_pixels::fit::{Fidelity, fit, tiles};
use photic_pixels::legibility::MIN_READABLE_X_HEIGHT;
use photic_store::record::SessionPicture;
use photic_store::{PlannedTurn, SessionId};
use serde_json::{Value, json};

use super::costs::{Costs, Stands};
use super::index::{SessionIndex, TurnFacts};
use super::letters::is_shown;
use super::object::{Object, dollars};
use super::sessions::{digest_text, rule_text};
use crate::failure::Failure;
use crate::inspector::Inspector;
use crate::request::ApiRequest;

/// Most rows of a page.
const MAX_ROWS: u64 = 200;
/// Most bars of the cost of a picture by turn.
const MAX_BARS: usize = 64;

impl Inspector {
    /// Returns a page of pictures.
    pub(crate) async fn pictures(
        &self,
        id: &SessionId,
        ask: &ApiRequest,
    ) -> Result<Value, Failure> {
        let index = self.index(id).await?;
        let profile = self.profile(id, &index).await?;
        let from = ask.number("from")?.unwrap_or(1).max(1);
        let start = usize::try_from(from - 1).unwrap_or(usize::MAX).min(index.pictures.len());
        let end = start.saturating_add(ask.limit(MAX_ROWS)?).min(index.pictures.len());
        let turn = ask.number("turn")?.unwrap_or_else(|| index.last());
        let facts = index.turn(turn)?;
        let costs = profile.as_ref().map(|profile| Costs::new(&index, profile));
        let rows = index.pictures[start..end].iter();
        let items: Vec<Value> =
            rows.map(|picture| row(&index, costs.as_ref(), facts, picture).value()).collect();
        Ok(Object::new()
            .with("items", items)
            .with("total", index.pictures.len())
            .maybe("next", (end < index.pictures.len()).then_some(end + 1))
            .with("turn", turn)
            .value())
    }

    /// Returns a picture as of a turn.
    pub(crate) async fn picture(
        &self,
        id: &SessionId,
        number: u32,
        as_of: Option<u64>,
    ) -> Result<Value, Failure> {
        let index = self.index(id).await?;
        let as_of = as_of.unwrap_or_else(|| index.last());
        let index = self.with_extras(id, index, as_of).await?;
        let picture = index.picture(number)?;
        let turn = index.turn(as_of)?;
        let planned = self.planned(id, as_of).await?;
        let profile = &planned.profile;
        let costs = Costs::new(&index, profile);
        let letters = self.letters(id, &picture.digest).await;
        let media = turn.media_of(number);
        let now = match media {
            Some(media) => self.turn_picture(&costs, turn, &planned, media, number).await?,
            None => Object::new()
                .with("picture", number)
                .with("letter", '.')
                .with("reason", "fits")
                .with("reason_text", ""),
        };
        let placed = media.and_then(|media| planned.media.get(media));
        let sizes = placed.and_then(|one| Some((one.image.size?, one.image.sent?, one.detail)));
        let seen = sizes
            .filter(|_| is_shown(turn.letter(number)))
            .map(|(_, sent, detail)| profile.seen(sent.0, sent.1, detail));
        let legibility = letters.as_ref().map(|letters| {
            let of_seen = seen.and_then(|seen| letters.in_width(seen.width));
            legibility(letters, of_seen, profile, &index, number, as_of)
        });
        let formula = seen.map(|seen| {
            let (_, rule) = rule_text(&profile.tokens);
            let text = format!("{}×{} px = {} tokens", seen.width, seen.height, seen.tokens);
            json!({"text": text, "rule": format!("{rule}; {} by {}", profile.basis().name(), profile.id)})
        });
        let map = sizes.zip(seen).map(|((size, ..), seen)| {
            let scale = |source: u32, view: u32| f64::from(source) / f64::from(view.max(1));
            json!({"scale": [scale(size.0, seen.width), scale(size.1, seen.height)], "offset": [0.0, 0.0]})
        });
        let at = placed.and_then(|one| one.image.position.as_ref()).map(ToString::to_string);
        let findings = self.findings_with(id, &index, &[number]).await?;
        let warnings = findings.into_iter().filter(|one| one.picture == Some(number));
        let forecast = self.forecast(id, &index, number).await?;
        Ok(row(&index, Some(&costs), turn, picture)
            .with("handle", picture.handle.as_str())
            .maybe("at", at)
            .with("now", now.value())
            .with("as_of", as_of)
            .maybe("legibility", legibility)
            .maybe("formula", formula)
            .with("cost", cost(&costs, number))
            .with("turns", by_turn(&costs, number))
            .maybe("map", map)
            .with("forecast", forecast)
            .with("warnings", warnings.map(|one| one.value()).collect::<Vec<_>>())
            .value())
    }
}

/// Returns the words for a picture: what came with it.
pub(crate) fn label(index: &SessionIndex, picture: &SessionPicture) -> String {
    let came = index.turn(picture.first_turn).ok();
    let own = came.and_then(|turn| {
        let media = turn.media_of(picture.number)?;
        turn.extras.as_ref()?.labels.get(media).filter(|label| !label.is_empty()).cloned()
    });
    own.or_else(|| came.map(|turn| turn.came().0)).unwrap_or_default()
}

/// Returns a row of the list.
fn row(
    index: &SessionIndex,
    costs: Option<&Costs<'_>>,
    turn: &TurnFacts,
    picture: &SessionPicture,
) -> Object {
    let number = picture.number;
    let came = index.turn(picture.first_turn).ok();
    let tool = came.and_then(|turn| turn.row.arrived.as_ref()?.tools.first().cloned());
    let cost = costs.and_then(|costs| costs.of(turn, number));
    let facts = &picture.facts;
    let media_type = facts.media_type.as_deref();
    let media = match media_type.and_then(|name| name.split('/').next()) {
        Some("audio") => "audio",
        Some("video") => "video",
        Some("image") | None => "image",
        Some(_) => "document",
    };
    Object::new()
        .with("picture", number)
        .with("digest", digest_text(&picture.digest))
        .with("turn", picture.first_turn)
        .with("label", label(index, picture))
        .maybe("tool", tool)
        .with("media", media)
        .maybe("media_type", media_type)
        .maybe("size", facts.size)
        .with("bytes", facts.bytes)
        .with("letter", turn.letter(number))
        .maybe("tokens", cost.map(|cost| cost.tokens))
}

/// Returns whether the text of a picture can be read, and how to read it.
fn legibility(
    letters: &crate::images::Letters,
    seen: Option<f64>,
    profile: &Profile,
    index: &SessionIndex,
    number: u32,
    as_of: u64,
) -> Value {
    let Some(text) = letters.text else {
        return json!({"verdict": "no_text", "text": "No lines of text were found in it.", "by_turn": []});
    };
    let original = (text.x_height * 10.0).round() / 10.0;
    let is_small = seen.is_some_and(|seen| seen < MIN_READABLE_X_HEIGHT);
    let (verdict, words) = match seen {
        Some(seen) if is_small => (
            "small_text",
            format!(
                "As the provider resizes it, its smallest letters are {seen:.1} px tall; models read from {MIN_READABLE_X_HEIGHT:.0} px."
            ),
        ),
        _ => (
            "legible",
            format!("No text in it is below the {MIN_READABLE_X_HEIGHT:.0} px that models read."),
        ),
    };
    let target = fit(letters.size, profile, Fidelity::Read);
    let region = text.readable_region(letters.size, &target);
    // One measurement for each size as resolved: only the turn asked for is planned here.
    let first = index.picture(number).map_or(as_of, |picture| picture.first_turn);
    let by_turn: Vec<(u64, f64)> =
        seen.map(|seen| (first.max(1).min(as_of), seen)).into_iter().collect();
    Object::new()
        .with("verdict", verdict)
        .with("text", words)
        .with("original_px", original)
        .maybe("seen_px", seen)
        .with("by_turn", by_turn)
        .maybe("region", is_small.then_some([region.x, region.y, region.width, region.height]))
        .maybe("tiles", is_small.then(|| tiles(letters.size, profile).tiles.len()))
        .value()
}

/// Returns the cost of a picture, and its place among all.
fn cost(costs: &Costs<'_>, number: u32) -> Value {
    let sums = costs.sums();
    let own = sums.get(number as usize - 1).copied().unwrap_or_default();
    let rank = 1 + sums.iter().filter(|one| one.weight() > own.weight()).count();
    Object::new()
        .maybe("usd", own.usd.map(dollars))
        .with("tokens", own.tokens)
        .with("rank", rank)
        .with("of", sums.len())
        .with("turns_shown", own.turns)
        .value()
}

/// Returns the fate and cost of a picture by turn, or by ranges of turns in long sessions.
fn by_turn(costs: &Costs<'_>, number: u32) -> Vec<Value> {
    let turns = &costs.index.turns;
    let size = turns.len().div_ceil(MAX_BARS).max(1);
    let bars = turns.chunks(size).filter_map(|chunk| {
        let (first, last) = (chunk.first()?, chunk.last()?);
        let each: Vec<_> = chunk.iter().filter_map(|turn| costs.of(turn, number)).collect();
        let usd = each.iter().filter_map(|one| one.usd).reduce(|sum, one| sum + one);
        let is_written = each.iter().any(|one| one.stands == Stands::Written);
        let stands = each.first().map(|one| if is_written { Stands::Written } else { one.stands });
        let tokens: u64 = each.iter().map(|one| one.tokens).sum();
        let bar = Object::new()
            .with("from", first.row.number)
            .with("to", last.row.number)
            .with("letter", last.letter(number))
            .maybe("usd", usd.map(dollars))
            .maybe("tokens", (!each.is_empty()).then_some(tokens))
            .maybe("stands", stands.map(Stands::name));
        Some(bar.value())
    });
    bars.collect()
}

/// Returns the planned medium that is a picture of the session.
pub(crate) fn planned_media<'p>(
    planned: &'p PlannedTurn,
    turn: &TurnFacts,
    number: u32,
) -> Option<&'p photic_store::PlannedMedia> {
    planned.media.get(turn.media_of(number)?)
}
