//! One unit of a conversation that is being lowered.

use crate::transcript::{Message, Part};

/// One unit of the lowered conversation.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    /// Index of the unit in the transcript; `None` for a unit that was added.
    pub(crate) origin: Option<usize>,
    /// `true` if it differs from that unit.
    pub(crate) touched: bool,
    pub(crate) message: Message<'a>,
}

impl<'a> Step<'a> {
    /// Returns `true` if a call or result in it got a new id.
    pub(super) fn is_renamed(&self) -> bool {
        self.message.parts.iter().any(|part| match part {
            Part::Call(call) => call.renamed,
            Part::Result(result) => result.renamed,
            _ => false,
        })
    }

    pub(super) const fn ours(message: Message<'a>) -> Self {
        Self { origin: None, touched: true, message }
    }
}
