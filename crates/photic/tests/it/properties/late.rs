//! The one thing that conversations are spared: on the flat wire an output may come after the model
//! has spoken again.
//!
//! That is legal there and goes out as it came. But the turn before had to say that there was no
//! result, so its bytes are no prefix of the next: the exception that ARCHITECTURE.md names.

use super::talk::{Event, Talk};

/// Drops answers that come after the model has spoken again, and second answers, which could be
/// such.
pub(super) fn drop_late(talk: &mut Talk) {
    let mut open: Vec<usize> = Vec::new();
    talk.events.retain(|event| match event {
        Event::Assistant(turn) => {
            open = turn.calls.iter().map(|call| call.number).collect();
            true
        }
        Event::Answer(answer) => answer.call.is_none_or(|call| open.contains(&call)),
        Event::User(_) | Event::Operator { .. } => true,
    });
    for (at, event) in talk.events.iter_mut().enumerate() {
        if let Event::Answer(answer) = event
            && answer.call.is_none()
        {
            answer.id = format!("stranger_at_{at}");
        }
    }
}
