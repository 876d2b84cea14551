//! Headers on a reply that tell the caller what was done to its request.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use photic::rejection::Class;

use crate::observe::{Facts, Fixes};
use crate::record::Turn;

/// How many things were fixed, on replies.
const FIXES: HeaderName = HeaderName::from_static("x-photic-fixes");
/// What was fixed, on replies.
const FIXED: HeaderName = HeaderName::from_static("x-photic-fixed");
/// How many media the request leaves out for want of room, or by its policy, by reason; on replies.
const RETIRED: HeaderName = HeaderName::from_static("x-photic-retired");
/// What was found and could not be repaired, by code; on replies.
const UNREPAIRED: HeaderName = HeaderName::from_static("x-photic-unrepaired");
/// What a provider refused before it took the request, on replies.
const HEALED: HeaderName = HeaderName::from_static("x-photic-healed");

/// Which turn of which session a reply is, where that is known before its first byte.
const TURN: HeaderName = HeaderName::from_static("x-photic-turn");
/// Says on a reply what was done to its request.
pub(super) fn say_fixes(headers: &mut HeaderMap, fixes: &Fixes) {
    if fixes.count() == 0 {
        headers.insert(FIXES, HeaderValue::from_static("0"));
        return;
    }
    headers.insert(FIXES, HeaderValue::from(fixes.count()));
    if let Ok(list) = HeaderValue::from_str(&fixes.list()) {
        headers.insert(FIXED, list);
    }
}

/// Says on a reply what its request leaves out, and what was found in it and stayed as it was.
pub(super) fn say_left(headers: &mut HeaderMap, facts: &Facts) {
    for (name, counts) in [(RETIRED, &facts.retired), (UNREPAIRED, &facts.unrepaired)] {
        let each: Vec<String> =
            counts.iter().map(|(name, count)| format!("{name}={count}")).collect();
        if !each.is_empty()
            && let Ok(value) = HeaderValue::from_str(&each.join(", "))
        {
            headers.insert(name, value);
        }
    }
}

/// Says which turn a reply is.
pub(super) fn say_turn(headers: &mut HeaderMap, turn: &Turn) {
    let value = format!("{}/{}", turn.session, turn.number);
    if let Ok(value) = HeaderValue::from_str(&value) {
        headers.insert(TURN, value);
    }
}

/// Says on a reply which rejections its request was healed of.
pub(super) fn say_healed(headers: &mut HeaderMap, healed: &[Class]) {
    let names: Vec<String> = healed
        .iter()
        .filter_map(|class| serde_json::to_value(class).ok()?.as_str().map(str::to_owned))
        .collect();
    if !names.is_empty()
        && let Ok(names) = HeaderValue::from_str(&names.join(", "))
    {
        headers.insert(HEALED, names);
    }
}
