//! Lists the members of a body of the sample wire that the reader ignores.

use crate::json::Value;
use crate::lower::Unread;

pub(super) fn unread<'a>(root: Value<'_, 'a>, unread: &mut Unread<'a>) {
    for turn in root.get("turns").into_iter().flat_map(Value::items) {
        unread.object(turn, &["who", "says", "calls", "answers"]);
        for part in turn.get("says").into_iter().flat_map(Value::items) {
            unread.object(part, &["text", "png"]);
        }
    }
}
