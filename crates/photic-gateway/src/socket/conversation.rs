//! The conversations of a socket, as far as they are remembered to be sent again.
//!
//! The upstream names each response, and a later frame continues one by its name. Each response is
//! kept with the items that were sent for it, as they were sent, and the items of the reply.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use crate::memory::{Charge, Share, Use};

/// Maximum bytes that a socket remembers.
const MAX_BYTES: u64 = 64 << 20;
/// Maximum number of responses that a socket remembers.
const MAX_RESPONSES: usize = 4096;
/// Bytes that a response takes beside its items.
const OVERHEAD: u64 = 256;

/// A response, with the items before and after it.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) parent: Option<Arc<Exchange>>,
    /// The items that were sent, as JSON without brackets.
    pub(super) input: Bytes,
    /// The items of the reply.
    pub(super) output: Bytes,
    /// Number of images in the conversation up to here.
    pub(super) images: u32,
}

/// The conversation that a frame continues.
#[derive(Clone, Debug)]
pub(super) enum Parent {
    /// It begins one.
    None,
    /// It continues this one.
    Known(Arc<Exchange>),
    /// It continues one that is not remembered.
    Unknown,
}

/// The conversations that a socket remembers.
#[derive(Debug)]
pub(super) struct SocketConversations {
    responses: HashMap<String, Arc<Exchange>>,
    charge: Charge,
    max: u64,
}

impl Exchange {
    /// Returns the items of the conversation up to here, in order.
    pub(super) fn items(&self) -> Vec<Bytes> {
        let mut items = Vec::new();
        let mut next = Some(self);
        while let Some(exchange) = next {
            items.push(exchange.output.clone());
            items.push(exchange.input.clone());
            next = exchange.parent.as_deref();
        }
        items.reverse();
        items
    }
}

impl Parent {
    /// Returns the number of images in the conversation.
    pub(super) fn images(&self) -> u32 {
        match self {
            Self::Known(exchange) => exchange.images,
            Self::None | Self::Unknown => 0,
        }
    }
}

impl SocketConversations {
    /// Remembers within the share of a caller.
    pub(super) fn new(share: &Share) -> Self {
        let max = MAX_BYTES.min(share.assured() / 4);
        Self { responses: HashMap::new(), charge: share.nothing(Use::Sockets), max }
    }

    /// Returns the conversation that ends with a response.
    pub(super) fn parent(&self, previous: Option<&str>) -> Parent {
        match previous {
            None => Parent::None,
            Some(id) => self.responses.get(id).cloned().map_or(Parent::Unknown, Parent::Known),
        }
    }

    /// Returns `true` if items of this size may be remembered.
    pub(super) const fn has_room(&self, bytes: u64) -> bool {
        self.charge.bytes() + bytes <= self.max
    }

    /// Remembers a response. If there is no room for it, everything is forgotten.
    pub(super) fn add(&mut self, id: String, exchange: Exchange) {
        let bytes = (id.len() + exchange.input.len() + exchange.output.len()) as u64 + OVERHEAD;
        let has_room = self.has_room(bytes) && self.responses.len() < MAX_RESPONSES;
        if has_room && self.charge.try_grow(bytes) {
            self.responses.insert(id, Arc::new(exchange));
        } else {
            self.forget();
        }
    }

    /// Forgets everything.
    pub(super) fn forget(&mut self) {
        self.responses.clear();
        self.charge.shrink_to(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{CallerIds, MemoryBudget};

    fn exchange(
        parent: Option<Arc<Exchange>>,
        input: &'static str,
        output: &'static str,
    ) -> Exchange {
        Exchange { parent, input: Bytes::from(input), output: Bytes::from(output), images: 0 }
    }

    #[test]
    fn a_conversation_is_its_items_in_order() {
        let budget = MemoryBudget::new(0);
        let mut all = SocketConversations::new(&budget.share(CallerIds::default().of("one")));
        assert!(matches!(all.parent(None), Parent::None));
        assert!(matches!(all.parent(Some("a")), Parent::Unknown));
        all.add("a".to_owned(), exchange(None, "1", "2"));
        let Parent::Known(first) = all.parent(Some("a")) else { panic!("not remembered") };
        all.add("b".to_owned(), exchange(Some(first), "3", ""));
        let Parent::Known(second) = all.parent(Some("b")) else { panic!("not remembered") };
        assert_eq!(second.items().concat(), b"123");
    }

    #[test]
    fn over_its_bound_everything_is_forgotten_and_paid_back() {
        let budget = MemoryBudget::new(0);
        let share = budget.share(CallerIds::default().of("one"));
        let mut all = SocketConversations::new(&share);
        let large = Bytes::from(vec![b'1'; 4 << 20]);
        let of = |input: &Bytes| Exchange { input: input.clone(), ..exchange(None, "", "") };
        all.add("a".to_owned(), of(&large));
        assert!(budget.used()[Use::Sockets as usize] > 4 << 20);
        all.add("b".to_owned(), of(&large));
        assert!(matches!(all.parent(Some("a")), Parent::Unknown));
        assert!(matches!(all.parent(Some("b")), Parent::Unknown));
        assert_eq!(budget.used(), [0; 6]);
    }
}
