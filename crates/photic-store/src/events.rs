//! News of a record for programs that show it: new turns, outcomes and choices.
//!
//! Publishing never waits: the latest events are kept in a ring, and a listener that falls behind is
//! told so. The record is the truth and events are hints, so nothing is lost with one.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use photic::{Choice, Digest};

use crate::handle::Tenant;
use crate::record::SessionId;

/// Number of latest events that are kept.
const MAX_EVENTS: usize = 1024;
/// Maximum number of listeners.
const MAX_LISTENERS: usize = 64;

/// A channel for events of one process. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Events {
    shared: Arc<Shared>,
}

/// An event, and the number by which a listener can go on after it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordEvent {
    /// Its number. It grows, and begins at 1 in each process.
    pub id: u64,
    /// The tenant whose session it is about.
    pub tenant: Tenant,
    /// The session. `None` for a request that belongs to none.
    pub session: Option<SessionId>,
    /// The change.
    pub change: RecordChange,
}

/// A change of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordChange {
    /// A request is on its way to its provider. Its session may not be known yet.
    Opened {
        /// The id of the request in logs and traces.
        request: u64,
        /// Bytes of the request.
        bytes: u64,
    },
    /// A turn was written.
    Turn {
        /// Its number.
        number: u64,
    },
    /// The outcome of a request was written.
    Outcome {
        /// The number of its turn, if it has one.
        turn: Option<u64>,
        /// The id of the request in logs and traces.
        request: u64,
    },
    /// The user chose something for a picture, or took it back.
    Choice {
        /// The picture.
        picture: Digest,
        /// The choice.
        choice: Option<Choice>,
    },
    /// Something was learned about an endpoint, so that later requests are made differently.
    Lesson,
    /// The session was forgotten.
    Gone,
}

/// A listener was too slow, or asked for events that are gone: it missed some, and has to read the
/// record again. It goes on with the next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("some events are gone; read the record again")]
pub struct Missed;

/// A listener for events.
#[derive(Debug)]
pub struct EventListener {
    shared: Arc<Shared>,
    /// The number of the next event.
    next: u64,
    has_missed: bool,
}

#[derive(Debug, Default)]
struct Shared {
    ring: Mutex<Ring>,
    listeners: AtomicUsize,
}

#[derive(Debug, Default)]
struct Ring {
    /// The latest events, in order.
    events: VecDeque<RecordEvent>,
    /// The number of the last event.
    last: u64,
    /// Listeners that wait for the next event.
    wakers: Vec<Waker>,
}

impl Events {
    /// Publishes an event. Never waits. Without listeners this costs next to nothing.
    pub fn publish(&self, tenant: &Tenant, session: Option<&SessionId>, change: RecordChange) {
        let mut ring = self.shared.ring();
        ring.last += 1;
        let event = RecordEvent {
            id: ring.last,
            tenant: tenant.clone(),
            session: session.cloned(),
            change,
        };
        // First, so that the ring never has room for more.
        if ring.events.len() >= MAX_EVENTS {
            ring.events.pop_front();
        }
        ring.events.push_back(event);
        let wakers = std::mem::take(&mut ring.wakers);
        drop(ring);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Returns the number of the last event, or 0 if there was none.
    pub fn last(&self) -> u64 {
        self.shared.ring().last
    }

    /// Listens for events: those after the event with this number, or those from now on. Returns
    /// `None` if there are too many listeners.
    pub fn listen(&self, after: Option<u64>) -> Option<EventListener> {
        let added =
            self.shared.listeners.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |listeners| {
                (listeners < MAX_LISTENERS).then_some(listeners + 1)
            });
        added.ok()?;
        let last = self.last();
        // A number of another process may be greater.
        let has_missed = after.is_some_and(|after| after > last);
        let next = after.filter(|_| !has_missed).unwrap_or(last) + 1;
        Some(EventListener { shared: Arc::clone(&self.shared), next, has_missed })
    }
}

impl EventListener {
    /// Returns the next event of all tenants. Waits until there is one.
    ///
    /// # Errors
    ///
    /// Fails once with [`Missed`] if events between the last one and the next are gone.
    pub async fn next(&mut self) -> Result<RecordEvent, Missed> {
        poll_fn(|context| {
            if std::mem::take(&mut self.has_missed) {
                return Poll::Ready(Err(Missed));
            }
            let mut ring = self.shared.ring();
            let first = ring.last + 1 - ring.events.len() as u64;
            if self.next < first {
                self.next = first;
                return Poll::Ready(Err(Missed));
            }
            let place = usize::try_from(self.next - first).unwrap_or(usize::MAX);
            if let Some(event) = ring.events.get(place) {
                self.next += 1;
                return Poll::Ready(Ok(event.clone()));
            }
            if !ring.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
                ring.wakers.push(context.waker().clone());
            }
            Poll::Pending
        })
        .await
    }
}

impl Drop for EventListener {
    fn drop(&mut self) {
        self.shared.listeners.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Shared {
    fn ring(&self) -> MutexGuard<'_, Ring> {
        // Every change of the ring is whole.
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait::wait;

    fn turn(events: &Events, number: u64) {
        events.publish(&Tenant::local(), None, RecordChange::Turn { number });
    }

    fn number(event: Result<RecordEvent, Missed>) -> u64 {
        match event.unwrap().change {
            RecordChange::Turn { number } => number,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_listener_gets_what_comes_and_goes_on_where_it_was() {
        let events = Events::default();
        turn(&events, 1);
        let mut new = events.listen(None).unwrap();
        let mut old = events.listen(Some(0)).unwrap();
        turn(&events, 2);
        assert_eq!(number(wait(new.next())), 2);
        assert_eq!([number(wait(old.next())), number(wait(old.next()))], [1, 2]);
        drop(old);
        turn(&events, 3);
        let mut again = events.listen(Some(2)).unwrap();
        assert_eq!(number(wait(again.next())), 3);
    }

    #[test]
    fn a_listener_that_waits_is_woken() {
        let events = Events::default();
        let mut listener = events.listen(None).unwrap();
        let waiting = std::thread::spawn(move || number(wait(listener.next())));
        turn(&events, 7);
        assert_eq!(waiting.join().unwrap(), 7);
    }

    #[test]
    fn who_is_too_slow_is_told_and_goes_on() {
        let events = Events::default();
        let mut slow = events.listen(None).unwrap();
        let published = MAX_EVENTS as u64 + 10;
        (1..=published).for_each(|number| turn(&events, number));
        assert_eq!(wait(slow.next()), Err(Missed));
        assert_eq!(number(wait(slow.next())), 11);
        // A number of another process.
        let mut other = events.listen(Some(published + 5)).unwrap();
        assert_eq!(wait(other.next()), Err(Missed));
        turn(&events, 0);
        assert_eq!(number(wait(other.next())), 0);
    }

    #[test]
    fn listeners_are_limited() {
        let events = Events::default();
        let listeners: Vec<_> = (0..MAX_LISTENERS).map(|_| events.listen(None).unwrap()).collect();
        assert!(events.listen(None).is_none());
        drop(listeners);
        assert!(events.listen(None).is_some());
    }
}
