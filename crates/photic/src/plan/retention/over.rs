//! Compares the load of a request with its limits.

use super::load::{Load, MaxLoad, NOTICE};

/// The reason why a view was retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The policy: the price, or the chosen window.
    Policy,
    /// The endpoint takes no more images or documents in one request.
    Count,
    /// The request would hold more bytes or tokens than the endpoint takes.
    Budget,
}

/// The limits that a load exceeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each limit is exceeded or not")]
pub(super) struct Over {
    pub(super) images: bool,
    pub(super) documents: bool,
    pub(super) crowd: bool,
    pub(super) image_tokens: bool,
    pub(super) tokens: bool,
    pub(super) bytes: bool,
}

impl Over {
    /// Compares a load with the room there is. If heavy images are made lighter (`squeezed`), what
    /// that saves does not count. If no image is large any more (`crowded`), there is no crowd.
    pub(super) fn of(load: &Load, room: &MaxLoad, squeezed: bool, crowded: bool) -> Self {
        let over = |most: Option<u64>, is: u64| most.is_some_and(|most| is > most);
        let saved = if squeezed { load.spare } else { 0 };
        Self {
            images: over(room.images, load.images),
            documents: over(room.documents, load.documents),
            crowd: !crowded && over(room.crowd, load.crowd) && load.large > 0,
            image_tokens: over(room.image_tokens, load.most_image_tokens()),
            tokens: over(room.tokens, load.most_tokens()),
            bytes: over(room.bytes, load.bytes.saturating_sub(saved)),
        }
    }

    pub(super) const fn any(self) -> bool {
        self.images
            || self.documents
            || self.crowd
            || self.image_tokens
            || self.tokens
            || self.bytes
    }

    /// Returns the reason that is stated for what is retired.
    pub(super) const fn cause(self) -> Cause {
        if self.images || self.documents || self.crowd { Cause::Count } else { Cause::Budget }
    }

    /// Returns `true` if retiring something of this load helps against an exceeded limit.
    pub(super) const fn is_helped_by(self, load: &Load) -> bool {
        (self.images && load.images > 0)
            || (self.documents && load.documents > 0)
            || (self.crowd && load.crowd > 0)
            || (self.image_tokens && load.image_tokens > 0)
            || (self.tokens && load.tokens > NOTICE.0)
            || (self.bytes && load.bytes > NOTICE.1)
    }
}
