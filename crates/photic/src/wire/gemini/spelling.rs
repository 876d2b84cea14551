//! Names and values that Google spells in two ways.

use crate::json::{Str, Value};
use crate::tokens::Detail;

/// Returns the member of either spelling.
pub(super) fn either<'d, 'a>(
    value: Value<'d, 'a>,
    camel: &str,
    snake: &str,
) -> Option<Value<'d, 'a>> {
    value.get(camel).or_else(|| value.get(snake)).filter(|value| !value.is_null())
}

/// Returns the level that a resolution names, for a part or for the whole request.
pub(super) fn level_of(name: &Str<'_>) -> Option<Detail> {
    match &*name.decode() {
        "MEDIA_RESOLUTION_LOW" => Some(Detail::Low),
        "MEDIA_RESOLUTION_MEDIUM" => Some(Detail::Medium),
        "MEDIA_RESOLUTION_HIGH" => Some(Detail::High),
        "MEDIA_RESOLUTION_ULTRA_HIGH" => Some(Detail::Original),
        _ => None,
    }
}
