//! Headers of a reply that tell the client how its request was changed.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use photic::rejection::Class;

use crate::observe::{Facts, Fixes};
use crate::record::Turn;
use crate::upstream::Trail;

/// Number of fixes.
const FIXES: HeaderName = HeaderName::from_static("x-photic-fixes");
/// The fixes, with their counts.
const FIXED: HeaderName = HeaderName::from_static("x-photic-fixed");
/// Number of media that the request leaves out, by reason.
const RETIRED: HeaderName = HeaderName::from_static("x-photic-retired");
/// Findings that could not be repaired, by code.
const UNREPAIRED: HeaderName = HeaderName::from_static("x-photic-unrepaired");
/// Fields that refer to pictures which are not in the body, so that they could not be planned.
const UNPLANNED: HeaderName = HeaderName::from_static("x-photic-unplanned");
/// Rejections by the provider before it accepted the request.
const HEALED: HeaderName = HeaderName::from_static("x-photic-healed");

/// The upstream that answered a request of a `[[model]]`, and those that failed before.
const UPSTREAM: HeaderName = HeaderName::from_static("x-photic-upstream");

/// Session and number of the turn, if it was recorded before the first byte of the reply.
const TURN: HeaderName = HeaderName::from_static("x-photic-turn");

/// Adds the headers about fixes.
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

/// Adds the headers about media that the request leaves out, about findings not repaired, and about
/// media that could not be planned.
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
    if !facts.unplanned.is_empty()
        && let Ok(value) = HeaderValue::from_str(&facts.unplanned.join(", "))
    {
        headers.insert(UNPLANNED, value);
    }
}

/// Adds the header that names the upstream.
pub(crate) fn say_upstream(headers: &mut HeaderMap, trail: &Trail) {
    if let Ok(value) = HeaderValue::from_str(&trail.to_string()) {
        headers.insert(UPSTREAM, value);
    }
}

/// Adds the header that names the turn.
pub(super) fn say_turn(headers: &mut HeaderMap, turn: &Turn) {
    let value = format!("{}/{}", turn.session, turn.number);
    if let Ok(value) = HeaderValue::from_str(&value) {
        headers.insert(TURN, value);
    }
}

/// Returns the stable name of the class of a rejection.
pub(super) fn class_name(class: Class) -> Option<String> {
    serde_json::to_value(class).ok()?.as_str().map(str::to_owned)
}

/// Adds the header about rejections that were healed.
pub(super) fn say_healed(headers: &mut HeaderMap, healed: &[Class]) {
    let names: Vec<String> = healed.iter().copied().filter_map(class_name).collect();
    if !names.is_empty()
        && let Ok(names) = HeaderValue::from_str(&names.join(", "))
    {
        headers.insert(HEALED, names);
    }
}
