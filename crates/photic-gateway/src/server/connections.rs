//! How many connections there are, and which of them may be closed for another.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Connections beyond the limit that are still answered: with the gateway's health, or with the
/// advice to come again.
const SPARE: usize = 64;

/// A limit on connections, in all and of one peer.
#[derive(Debug)]
pub(crate) struct ConnectionLimit {
    most: usize,
    per_peer: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    all: HashMap<u64, Entry>,
    /// Numbers rise: the lowest is the oldest.
    next: u64,
    spare: usize,
}

#[derive(Debug)]
struct Entry {
    peer: IpAddr,
    state: Arc<ConnectionState>,
    is_spare: bool,
}

/// What a connection is doing.
#[derive(Debug, Default)]
pub(crate) struct ConnectionState {
    phase: AtomicU8,
    /// Whether the other side has yet to take what was written.
    is_unread: AtomicBool,
    evicted: Notify,
}

/// The parts of a connection's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing of the next request is here.
    Waiting,
    /// The head of a request is arriving.
    Head,
    /// A request is being answered.
    Busy,
}

/// A place among the connections, until it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    limit: Arc<ConnectionLimit>,
    number: u64,
    pub(crate) state: Arc<ConnectionState>,
    /// Whether it is one beyond the limit.
    pub(crate) is_spare: bool,
    /// Who connected.
    pub(crate) peer: IpAddr,
}

impl ConnectionLimit {
    pub(crate) fn new(most: usize, per_peer: usize) -> Arc<Self> {
        let (most, per_peer) = (most.max(1), per_peer.max(1));
        Arc::new(Self { most, per_peer, open: Mutex::default() })
    }

    /// A place for a connection. Where there is none, the oldest connection that has not stated a
    /// request is closed for it; where all have, it gets one of the few beyond the limit; where
    /// those are taken, nothing.
    pub(crate) fn take(self: &Arc<Self>, peer: IpAddr) -> Option<ConnectionPermit> {
        let mut open = self.open();
        let per_peer = if peer.is_loopback() { usize::MAX } else { self.per_peer };
        let of_peer = open.all.values().filter(|one| one.peer == peer && !one.is_spare).count();
        let taken = open.all.len() - open.spare;
        let mut is_spare = false;
        if of_peer >= per_peer {
            is_spare = !open.evict(|one| one.peer == peer && !one.is_spare);
        } else if taken >= self.most {
            is_spare = !open.evict(|one| !one.is_spare);
        }
        if is_spare && open.spare >= SPARE && !open.evict(|one| one.is_spare) {
            return None;
        }
        let (number, state) = (open.next, Arc::new(ConnectionState::default()));
        open.next += 1;
        open.spare += usize::from(is_spare);
        open.all.insert(number, Entry { peer, state: Arc::clone(&state), is_spare });
        Some(ConnectionPermit { limit: Arc::clone(self), number, state, is_spare, peer })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Closes the oldest of these connections that has not stated a request, if there is one.
    fn evict(&mut self, which: impl Fn(&Entry) -> bool) -> bool {
        let idle = self
            .all
            .iter()
            .filter(|(_, one)| which(one) && one.state.may_go())
            .map(|(number, _)| *number)
            .min();
        let Some(number) = idle else { return false };
        self.remove(number);
        true
    }

    fn remove(&mut self, number: u64) {
        if let Some(gone) = self.all.remove(&number) {
            self.spare -= usize::from(gone.is_spare);
            gone.state.evicted.notify_one();
        }
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.limit.open().remove(self.number);
    }
}

impl ConnectionState {
    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Relaxed) {
            0 => Phase::Waiting,
            1 => Phase::Head,
            _ => Phase::Busy,
        }
    }

    pub(crate) fn set(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    pub(crate) fn set_unread(&self, is_unread: bool) {
        self.is_unread.store(is_unread, Ordering::Relaxed);
    }

    /// Whether nobody loses anything but a connection.
    fn may_go(&self) -> bool {
        self.phase() != Phase::Busy && !self.is_unread.load(Ordering::Relaxed)
    }

    /// Done when the connection has to make room for another.
    pub(crate) async fn evicted(&self) {
        self.evicted.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const FAR: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const FARTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    #[tokio::test]
    async fn the_oldest_without_a_request_makes_room() {
        let limit = ConnectionLimit::new(3, 3);
        let all: Vec<ConnectionPermit> = (0..3).map(|_| limit.take(NEAR).unwrap()).collect();
        all[0].state.set(Phase::Busy);
        all[1].state.set(Phase::Head);
        all[2].state.set_unread(true);
        let fourth = limit.take(NEAR).unwrap();
        assert!(!fourth.is_spare);
        all[1].state.evicted().await;
        assert_eq!(limit.open().all.len(), 3);
        drop(all);
        assert_eq!(limit.open().all.len(), 1);
    }

    #[test]
    fn where_all_are_busy_a_few_are_told_so() {
        let limit = ConnectionLimit::new(2, 2);
        let busy: Vec<ConnectionPermit> = (0..2).map(|_| limit.take(NEAR).unwrap()).collect();
        for one in &busy {
            one.state.set(Phase::Busy);
        }
        let spare: Vec<ConnectionPermit> = (0..SPARE).map(|_| limit.take(NEAR).unwrap()).collect();
        assert!(spare.iter().all(|one| one.is_spare));
        for one in &spare {
            one.state.set(Phase::Busy);
        }
        assert!(limit.take(NEAR).is_none());
        spare[7].state.set(Phase::Waiting);
        assert!(limit.take(NEAR).unwrap().is_spare);
        drop(spare);
        drop(busy);
        assert!(!limit.take(NEAR).unwrap().is_spare);
        let open = limit.open();
        assert_eq!((open.all.len(), open.spare), (0, 0));
    }

    #[test]
    fn one_peer_does_not_take_all_places() {
        let limit = ConnectionLimit::new(10, 2);
        let far: Vec<ConnectionPermit> = (0..3).map(|_| limit.take(FAR).unwrap()).collect();
        assert_eq!(limit.open().all.len(), 2, "its oldest went");
        for one in &far {
            one.state.set(Phase::Busy);
        }
        assert!(limit.take(FAR).unwrap().is_spare);
        assert!(!limit.take(FARTHER).unwrap().is_spare);
        let near: Vec<ConnectionPermit> = (0..5).map(|_| limit.take(NEAR).unwrap()).collect();
        assert!(near.iter().all(|one| !one.is_spare), "loopback is no single caller");
    }
}
