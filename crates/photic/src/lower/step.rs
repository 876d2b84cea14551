//! One unit of a conversation on its way out.

use crate::transcript::{Message, Part};

/// One unit of the lowered conversation.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    /// The unit of the transcript it is; `None` for one of our own.
    pub(crate) origin: Option<usize>,
    /// Whether it differs from that unit.
    pub(crate) touched: bool,
    pub(crate) message: Message<'a>,
}

impl<'a> Step<'a> {
    /// Whether a call or result in it goes by another id than it came with.
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
