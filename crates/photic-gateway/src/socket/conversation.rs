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
    parent: Option<Arc<Exchange>>,
    added: Added,
    /// The generation of the conversations that it belongs to.
    generation: u64,
    /// Held as long as a turn or a later response refers to it.
    _charge: Charge,
}

/// The items that a response adds to its conversation.
#[derive(Debug, Default)]
pub(super) struct Added {
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
    /// Raised when everything is forgotten. What a turn still knows of before does not come back.
    generation: u64,
    /// Bytes of the responses of this generation.
    bytes: u64,
    share: Share,
    max: u64,
}

impl Exchange {
    /// Returns the items of the conversation up to here, in order.
    pub(super) fn items(&self) -> Vec<Bytes> {
        let mut items = Vec::new();
        let mut next = Some(self);
        while let Some(exchange) = next {
            items.push(exchange.added.output.clone());
            items.push(exchange.added.input.clone());
            next = exchange.parent.as_deref();
        }
        items.reverse();
        items
    }
}

impl Drop for Exchange {
    /// Drops the exchanges before it one after the other. Each inside the next, those of a long
    /// conversation would overflow the stack.
    fn drop(&mut self) {
        let mut next = self.parent.take();
        while let Some(exchange) = next {
            next = Arc::into_inner(exchange).and_then(|mut last| last.parent.take());
        }
    }
}

impl Parent {
    /// Returns the number of images in the conversation.
    pub(super) fn images(&self) -> u32 {
        match self {
            Self::Known(exchange) => exchange.added.images,
            Self::None | Self::Unknown => 0,
        }
    }
}

impl SocketConversations {
    /// Remembers within the share of a caller.
    pub(super) fn new(share: &Share) -> Self {
        let max = MAX_BYTES.min(share.assured() / 4);
        let share = share.clone();
        Self { responses: HashMap::new(), generation: 0, bytes: 0, share, max }
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
        self.bytes + bytes <= self.max
    }

    /// Remembers a response, unless what it continues is not remembered any more. If there is no room
    /// for it, everything is forgotten.
    pub(super) fn add(&mut self, id: String, parent: Parent, added: Added) {
        let generation = self.generation;
        let parent = match parent {
            Parent::None => None,
            Parent::Known(exchange) if exchange.generation == generation => Some(exchange),
            Parent::Known(_) | Parent::Unknown => return,
        };
        let bytes = (id.len() + added.input.len() + added.output.len()) as u64 + OVERHEAD;
        let has_room = self.has_room(bytes) && self.responses.len() < MAX_RESPONSES;
        let mut charge = self.share.nothing(Use::Sockets);
        if has_room && charge.try_grow(bytes) {
            let exchange = Exchange { parent, added, generation, _charge: charge };
            self.bytes += bytes;
            self.responses.insert(id, Arc::new(exchange));
        } else {
            self.forget();
        }
    }

    /// Forgets a response. Those that continue it stay.
    pub(super) fn forget_response(&mut self, id: &str) {
        // Its bytes still count: those that continue it refer to them.
        self.responses.remove(id);
    }

    /// Forgets everything.
    pub(super) fn forget(&mut self) {
        self.responses.clear();
        self.generation += 1;
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{CallerIds, MemoryBudget};

    fn added(input: &'static str, output: &'static str) -> Added {
        Added { input: Bytes::from(input), output: Bytes::from(output), images: 0 }
    }

    #[test]
    fn a_conversation_is_its_items_in_order() {
        let budget = MemoryBudget::new(0);
        let mut all = SocketConversations::new(&budget.share(CallerIds::default().of("one")));
        assert!(matches!(all.parent(None), Parent::None));
        assert!(matches!(all.parent(Some("a")), Parent::Unknown));
        all.add("a".to_owned(), Parent::None, added("1", "2"));
        all.add("b".to_owned(), all.parent(Some("a")), added("3", ""));
        let Parent::Known(second) = all.parent(Some("b")) else { panic!("not remembered") };
        assert_eq!(second.items().concat(), b"123");
        all.add("c".to_owned(), Parent::Unknown, added("4", ""));
        assert!(matches!(all.parent(Some("c")), Parent::Unknown));
        all.forget_response("a");
        assert!(matches!(all.parent(Some("a")), Parent::Unknown));
        assert!(matches!(all.parent(Some("b")), Parent::Known(_)));
    }

    #[test]
    fn over_its_bound_everything_is_forgotten_and_paid_back() {
        let budget = MemoryBudget::new(0);
        let share = budget.share(CallerIds::default().of("one"));
        let mut all = SocketConversations::new(&share);
        let large = Bytes::from(vec![b'1'; 4 << 20]);
        let of = |input: &Bytes| Added { input: input.clone(), ..Added::default() };
        all.add("a".to_owned(), Parent::None, of(&large));
        assert!(budget.used()[Use::Sockets as usize] > 4 << 20);
        all.add("b".to_owned(), Parent::None, of(&large));
        assert!(matches!(all.parent(Some("a")), Parent::Unknown));
        assert!(matches!(all.parent(Some("b")), Parent::Unknown));
        assert_eq!(budget.used(), [0; 6]);
    }

    /// A turn may run while everything is forgotten. What it continues stays charged until it ends,
    /// and does not come back with its response.
    #[test]
    fn what_a_running_turn_keeps_is_charged_and_stays_forgotten() {
        let budget = MemoryBudget::new(0);
        let mut all = SocketConversations::new(&budget.share(CallerIds::default().of("one")));
        let input = Bytes::from(vec![b'1'; 1 << 20]);
        all.add("a".to_owned(), Parent::None, Added { input, ..Added::default() });
        let running = all.parent(Some("a"));
        all.forget();
        assert!(budget.used()[Use::Sockets as usize] > 1 << 20);
        all.add("b".to_owned(), running, added("2", "3"));
        assert!(matches!(all.parent(Some("b")), Parent::Unknown));
        assert_eq!(budget.used(), [0; 6]);
    }

    #[test]
    fn a_long_conversation_is_dropped_without_recursion() {
        let budget = MemoryBudget::new(0);
        let mut all = SocketConversations::new(&budget.share(CallerIds::default().of("one")));
        for at in 0..MAX_RESPONSES {
            let parent = all.parent(at.checked_sub(1).map(|at| at.to_string()).as_deref());
            all.add(at.to_string(), parent, added("1", "2"));
        }
        let last = all.parent(Some(&(MAX_RESPONSES - 1).to_string()));
        all.forget();
        // Less than the drops of all of them inside each other would take.
        let small = std::thread::Builder::new().stack_size(64 << 10);
        small.spawn(move || drop(last)).unwrap().join().unwrap();
        assert_eq!(budget.used(), [0; 6]);
    }
}
