//! The cost of a session: by turn, against other policies, by picture, and what the cache lost.

use photic::retention::{MaxLoad, NOTICE, Retention};
use photic::simulate::{Cache, Contender, Session, Setting, optimum, run};
use photic::tokens::text_tokens;
use photic::{Policy, Profile};
use photic_store::{PlannedTurn, SessionId};
use serde_json::Value;

use super::costs::Costs;
use super::index::{SessionIndex, TurnFacts};
use super::object::{Object, dollars};
use super::pictures::label;
use super::sessions::digest_text;
use super::timeline::Sums;
use super::why::unread;
use crate::failure::Failure;
use crate::inspector::Inspector;

/// Most bars.
const MAX_BARS: usize = 200;
/// Most pictures that are listed.
const MAX_PICTURES: usize = 100;
/// Most turns for which other policies are computed: the optimum tries many.
const MAX_STEPS: usize = 1000;

impl Inspector {
    /// Returns the cost of a session.
    pub(crate) async fn cost(&self, id: &SessionId) -> Result<Value, Failure> {
        let index = self.index(id).await?;
        if index.turns.is_empty() {
            let sums = Sums::of(&index).value(None);
            return Ok(Object::new()
                .with("sums", sums)
                .with("turns", Vec::<Value>::new())
                .with("policies", Vec::<Value>::new())
                .with("pictures", Vec::<Value>::new())
                .with("misses", Vec::<Value>::new())
                .value());
        }
        let planned = self.planned(id, index.last()).await?;
        let profile = &planned.profile;
        let costs = Costs::new(&index, profile);
        let mut sums = Sums::of(&index);
        let each = index.turns.iter().filter_map(|turn| costs.of_turn(turn));
        sums.usd_pictures = each.reduce(|sum, one| sum + one);
        let key = format!("policies/{id}/{}", index.last());
        let known = self.cache.get::<Vec<(&'static str, Vec<f64>)>>(&key);
        let policies = known.unwrap_or_else(|| {
            let made = policies(&index, &planned);
            let weight = made.len() * index.turns.len() * 8;
            self.cache.put(key, made, weight)
        });
        Ok(Object::new()
            .with("sums", sums.value(Some(profile)))
            .with("turns", bars(&costs))
            .with("policies", policy_values(&index, &policies))
            .with("pictures", pictures(&costs))
            .with("misses", misses(&index, profile))
            .value())
    }
}

/// Returns the size of a bucket of turns.
fn bucket(index: &SessionIndex) -> usize {
    index.turns.len().div_ceil(MAX_BARS).max(1)
}

/// Returns the cost of each turn, or of ranges of turns.
fn bars(costs: &Costs<'_>) -> Vec<Value> {
    let chunks = costs.index.turns.chunks(bucket(costs.index));
    let bars = chunks.filter_map(|chunk| {
        let (first, last) = (chunk.first()?, chunk.last()?);
        let sum =
            |of: &dyn Fn(&TurnFacts) -> Option<f64>| chunk.iter().map(of).sum::<Option<f64>>();
        let pictures = sum(&|turn| costs.of_turn(turn));
        let input = sum(&|turn| turn.row.cost.usd);
        let known = chunk.iter().filter_map(|turn| turn.row.outcome.as_ref()?.output_usd);
        let answer = known.reduce(|sum, one| sum + one);
        let words = input.zip(pictures).map(|(input, pictures)| (input - pictures).max(0.0));
        let (price, cache) = (costs.profile.price, &costs.profile.cache);
        let again =
            chunk.iter().filter_map(|turn| turn.tokens(costs.index.before(turn.row.number)).again);
        let again = again.reduce(|sum, one| sum + one).zip(price);
        let again = again.map(|(again, price)| price.of(again as f64 * cache.write));
        let tokens: u64 = chunk.iter().map(|turn| turn.tokens(None).all()).sum();
        let bar = Object::new()
            .with("from", first.row.number)
            .with("to", last.row.number)
            .with("reported", chunk.iter().all(TurnFacts::is_reported))
            .maybe("usd", sum(&TurnFacts::usd).map(dollars))
            .maybe("pictures", pictures.zip(input).map(|(one, most)| dollars(one.min(most))))
            .maybe("words", words.map(dollars))
            .maybe("answer", answer.map(dollars))
            .maybe("again", again.filter(|again| *again > 0.0).map(dollars))
            .with("tokens", tokens);
        Some(bar.value())
    });
    bars.collect()
}

/// Returns the cost so far after each turn under other policies, in US dollars: of a session with as
/// many turns and the averages of this one, as `photic simulate` computes it.
fn policies(index: &SessionIndex, planned: &PlannedTurn) -> Vec<(&'static str, Vec<f64>)> {
    let profile = &planned.profile;
    let steps = index.turns.len();
    let Some(price) = profile.price.filter(|_| steps <= MAX_STEPS) else { return Vec::new() };
    let setting = setting(index, planned);
    let usd = |paid: Vec<f64>| paid.into_iter().map(|tokens| price.of(tokens)).collect();
    vec![
        ("all", usd(run(&setting, Contender::Photic(Retention::All)).paid)),
        ("priced", usd(run(&setting, Contender::Photic(Retention::Priced)).paid)),
        ("optimum", usd(optimum(&setting).paid)),
    ]
}

/// Returns a session with the averages of a recorded one.
fn setting(index: &SessionIndex, planned: &PlannedTurn) -> Setting {
    let profile = &planned.profile;
    let steps = index.turns.len();
    let images: Vec<u64> = planned
        .media
        .iter()
        .filter_map(|one| one.image.tokens)
        .filter(|tokens| *tokens > 0)
        .collect();
    let words: u64 = planned.words.iter().sum::<usize>() as u64;
    let average = images.iter().sum::<u64>().checked_div(images.len() as u64).unwrap_or(0);
    let session = Session {
        steps,
        system: text_tokens(planned.settings as u64),
        text: text_tokens(words) / steps.max(1) as u64,
        image: average,
        notice: NOTICE.0,
        every: steps.checked_div(images.len()).unwrap_or(steps).max(1),
    };
    let room = MaxLoad {
        images: profile.limits.images.map(u64::from),
        tokens: profile.limits.context_tokens,
        ..MaxLoad::default()
    };
    let floor = Policy::default().floor.max(1);
    Setting { session, floor, cache: Cache::from(&profile.cache), room }
}

/// Returns the policies as JSON, with one value for each bar, and what was paid.
fn policy_values(index: &SessionIndex, policies: &[(&'static str, Vec<f64>)]) -> Vec<Value> {
    if policies.is_empty() {
        return Vec::new();
    }
    let size = bucket(index);
    let each = |values: &[f64]| -> Vec<f64> {
        values.chunks(size).filter_map(|chunk| chunk.last().copied()).map(dollars).collect()
    };
    let paid = index.turns.iter().scan(0.0, |sum, turn| {
        *sum += turn.row.cost.usd.unwrap_or(0.0);
        Some(*sum)
    });
    let paid: Vec<f64> = paid.collect();
    let text = |name: &str| match name {
        "paid" => "the input as charged, or as expected",
        "all" => "a session of these averages in which every picture stays",
        "priced" => "a session of these averages in which pictures are left out when that pays",
        _ => "the least that a session of these averages could have cost, known afterwards",
    };
    let value = |name: &str, usd: &[f64]| {
        Object::new().with("name", name).with("text", text(name)).with("usd", each(usd)).value()
    };
    let others = policies.iter().map(|(name, usd)| value(name, usd));
    std::iter::once(value("paid", &paid)).chain(others).collect()
}

/// Returns the pictures by cost, dearest first.
fn pictures(costs: &Costs<'_>) -> Vec<Value> {
    let sums = costs.sums();
    let mut all: Vec<_> = costs.index.pictures.iter().zip(sums).collect();
    all.sort_by(|one, other| {
        other.1.weight().total_cmp(&one.1.weight()).then(one.0.number.cmp(&other.0.number))
    });
    let last = costs.index.turns.last();
    let row =
        |(picture, sum): (&photic_store::record::SessionPicture, super::costs::PictureSum)| {
            Object::new()
                .with("picture", picture.number)
                .with("label", label(costs.index, picture))
                .with("digest", digest_text(&picture.digest))
                .maybe("usd", sum.usd.map(dollars))
                .with("tokens", sum.tokens)
                .with("turns_shown", sum.turns)
                .with("letter", last.map_or('.', |turn| turn.letter(picture.number)))
                .value()
        };
    all.into_iter().take(MAX_PICTURES).map(row).collect()
}

/// Returns the turns in which the cache lost something.
fn misses(index: &SessionIndex, profile: &Profile) -> Vec<Value> {
    let each = index.turns.iter().filter_map(|turn| {
        let previous = index.before(turn.row.number)?;
        let lost = turn.first(Some(previous));
        let first = lost.or_else(|| unread(previous, turn, Some(profile)))?;
        let again = turn.tokens(Some(previous)).again.filter(|again| *again > 0);
        let usd = again.zip(profile.price).map(|(again, price)| {
            price.of(again as f64 * (profile.cache.write - profile.cache.read).max(0.0))
        });
        let miss = Object::new()
            .with("n", turn.row.number)
            .with("first", first.value())
            .maybe("again", again)
            .maybe("usd", usd.map(dollars))
            .with("reported", turn.is_reported());
        Some(miss.value())
    });
    each.collect()
}
