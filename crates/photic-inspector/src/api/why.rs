//! Reasons why a cache could not be read: what changed in a request since the one before.

use photic::Profile;

use super::index::TurnFacts;
use super::letters::{is_shown, of};
use super::object::Object;

/// The first change of a request since the one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FirstChange {
    pub(crate) byte: Option<usize>,
    pub(crate) message: Option<u64>,
    pub(crate) why: &'static str,
    pub(crate) text: String,
    pub(crate) pictures: Vec<u32>,
}

impl FirstChange {
    /// Returns the change as JSON.
    pub(crate) fn value(&self) -> serde_json::Value {
        Object::new()
            .maybe("byte", self.byte)
            .maybe("message", self.message)
            .with("why", self.why)
            .with("text", &self.text)
            .maybe("pictures", Some(&self.pictures).filter(|pictures| !pictures.is_empty()))
            .value()
    }
}

/// Returns the first change of a turn since another one. `None` if it begins with all of it.
pub(crate) fn first_change(
    previous: &TurnFacts,
    turn: &TurnFacts,
    known: Option<(usize, Option<usize>)>,
    is_compared: bool,
) -> Option<FirstChange> {
    if !turn.may_differ(previous) || (is_compared && known.is_none()) {
        return None;
    }
    let by_hash = turn.row.change.map(|change| change.same);
    let (byte, message) = match known {
        Some((byte, message)) => (Some(byte), message.map(|message| message as u64)),
        None => (None, by_hash),
    };
    // Before the first message: tools, settings or a system prompt.
    if (known.is_some() && message.is_none())
        || (known.is_none() && turn.row.change.is_some_and(|change| change.is_frame_changed))
    {
        let models = (model(previous), model(turn));
        let (why, text) = match models {
            (Some(before), Some(now)) if before != now => {
                ("model", format!("the model changed from {before} to {now}"))
            }
            _ => ("setting", "the agent changed its tools, settings or instructions".to_owned()),
        };
        return Some(FirstChange { byte, message: None, why, text, pictures: Vec::new() });
    }
    let (why, text, pictures) = fate_change(previous, turn)
        .unwrap_or_else(|| ("client", "the agent changed its own history".to_owned(), Vec::new()));
    Some(FirstChange { byte, message, why, text, pictures })
}

fn model(turn: &TurnFacts) -> Option<&str> {
    let outcome = turn.row.outcome.as_ref().and_then(|outcome| outcome.model.as_deref());
    outcome.or_else(|| turn.extras.as_ref().and_then(|extras| extras.model.as_deref()))
}

/// Returns the change of the fates of pictures that both turns have: of the first one that changed,
/// and all that changed like it.
fn fate_change(previous: &TurnFacts, turn: &TurnFacts) -> Option<(&'static str, String, Vec<u32>)> {
    let kind = |number: u32| {
        let (before, now) = (of(&previous.letters, number), turn.letter(number));
        match (before, now) {
            ('.', _) | (_, '.') => None,
            _ if before == now => None,
            (before, 'r' | 'o' | 'f') if is_shown(before) => Some("retired"),
            (before, 'd') if is_shown(before) => Some("dropped"),
            (before, 'e') if is_shown(before) => Some("repeated"),
            (before, 'c') if is_shown(before) => Some("fate"),
            (before, now) if !is_shown(before) && is_shown(now) => Some("came_back"),
            ('s', _) | (_, 's') => Some("remade"),
            // Shown in the same place: pinning changes no byte.
            ('k' | 'p', 'k' | 'p') => None,
            (before, now) if is_shown(before) || is_shown(now) => Some("fate"),
            _ => None,
        }
    };
    let most = previous.letters.len().max(turn.letters.len()) as u32;
    let changed: Vec<(u32, &'static str)> =
        (1..=most).filter_map(|number| Some((number, kind(number)?))).collect();
    let why = changed.first()?.1;
    let alike = changed.iter().filter(|(_, kind)| *kind == why);
    let pictures: Vec<u32> = alike.map(|(number, _)| *number).collect();
    let named = named(&pictures);
    let text = match why {
        "retired" => format!("{named} left out to save room or cost"),
        "dropped" => format!("you dropped {named}"),
        "repeated" => format!("{named} shown once more later, so not repeated"),
        "remade" => format!("{named} sent as another picture"),
        "came_back" => format!("{named} came back into sight"),
        _ => format!("{named} placed differently"),
    };
    Some((why, text, pictures))
}

/// Returns the names of pictures: `#7`, `#7 and #9`, `8 pictures`.
pub(crate) fn named(pictures: &[u32]) -> String {
    match pictures {
        [one] => format!("#{one}"),
        [one, other] => format!("#{one} and #{other}"),
        many => format!("{} pictures", many.len()),
    }
}

/// Returns the reason why nothing was read from the cache although the request begins with the one
/// before it.
pub(crate) fn unread(
    previous: &TurnFacts,
    turn: &TurnFacts,
    profile: Option<&Profile>,
) -> Option<FirstChange> {
    let usage = |turn: &TurnFacts| turn.row.outcome.as_ref().map(|outcome| outcome.usage);
    let (before, now) = (usage(previous)?, usage(turn)?);
    if now.cache_read? > 0 {
        return None;
    }
    let cache = profile.map(|profile| &profile.cache);
    let pause = turn.row.time.saturating_sub(previous.row.time) / 1000;
    let had = before.cache_read.unwrap_or(0) + before.cache_write.unwrap_or(0);
    let (why, text) = match cache {
        Some(cache) if before.input.is_some_and(|input| input < cache.min_tokens) => {
            ("too_short", format!("prefixes below {} tokens are not kept", cache.min_tokens))
        }
        Some(cache)
            if had > 0 && cache.ttl_seconds.is_some_and(|most| pause > most.cast_signed()) =>
        {
            let most = cache.ttl_seconds.unwrap_or(0);
            ("expired", format!("{pause} s passed, and the cache keeps {most} s"))
        }
        _ if had == 0 => ("not_marked", "nothing of the turn before was kept".to_owned()),
        _ => return None,
    };
    let pictures = Vec::new();
    Some(FirstChange { byte: None, message: None, why, text, pictures })
}
