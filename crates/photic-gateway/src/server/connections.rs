//! Limits the number of connections, and closes idle ones for new ones.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::http::HoldPlace;

/// Connections beyond the limit that are still answered, with the gateway's status or with 503.
const MAX_SPARE: usize = 64;

/// A limit on connections, in total and of one peer.
#[derive(Debug)]
pub(crate) struct ConnectionLimit {
    max: usize,
    max_per_peer: usize,
    open: Mutex<Open>,
}

/// The open connections.
#[derive(Debug, Default)]
struct Open {
    /// By number. The lowest number is the oldest connection.
    all: HashMap<u64, Entry>,
    /// The number of the next connection.
    next: u64,
    /// Number of connections beyond the limit.
    spare: usize,
}

#[derive(Debug)]
struct Entry {
    peer: IpAddr,
    state: Arc<ConnectionState>,
    is_spare: bool,
}

/// The state of a connection.
#[derive(Debug, Default)]
pub(crate) struct ConnectionState {
    phase: AtomicU8,
    /// Set while the client has not read everything that was written.
    is_unread: AtomicBool,
    /// Set if it became a socket, which is busy until it ends.
    is_socket: AtomicBool,
    /// The number of requests that are being answered. By HTTP/2 there may be several.
    running: AtomicUsize,
    evicted: Notify,
}

/// The phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No byte of the next request has arrived.
    Waiting,
    /// The head of a request is arriving.
    Head,
    /// A request is being answered.
    Busy,
}

/// Permits a connection until it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    limit: Arc<ConnectionLimit>,
    number: u64,
    pub(crate) state: Arc<ConnectionState>,
    /// Set if the connection is beyond the limit.
    pub(crate) is_spare: bool,
    /// The address of the client.
    pub(crate) peer: IpAddr,
}

impl ConnectionLimit {
    /// Creates a limit of connections in total, and of one peer.
    pub(crate) fn new(max: usize, max_per_peer: usize) -> Arc<Self> {
        let (max, max_per_peer) = (max.max(1), max_per_peer.max(1));
        Arc::new(Self { max, max_per_peer, open: Mutex::default() })
    }

    /// Returns a permit for a connection.
    ///
    /// If the limit is reached, the oldest connection without a request is closed for it. If all have
    /// one, the permit is one of [`MAX_SPARE`] beyond the limit. If those are taken, too, it returns
    /// `None`.
    pub(crate) fn take(self: &Arc<Self>, peer: IpAddr) -> Option<ConnectionPermit> {
        let mut open = self.open();
        let per_peer = if peer.is_loopback() { usize::MAX } else { self.max_per_peer };
        let of_peer = open.all.values().filter(|one| one.peer == peer && !one.is_spare).count();
        let taken = open.all.len() - open.spare;
        let mut is_spare = false;
        if of_peer >= per_peer {
            is_spare = !open.evict(|one| one.peer == peer && !one.is_spare);
        } else if taken >= self.max {
            is_spare = !open.evict(|one| !one.is_spare);
        }
        if is_spare && open.spare >= MAX_SPARE && !open.evict(|one| one.is_spare) {
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
    /// Closes the oldest of these connections that has no request. Returns `true` if there was one.
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

impl HoldPlace for ConnectionPermit {
    fn upgraded(&self) {
        self.state.is_socket.store(true, Ordering::Relaxed);
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.limit.open().remove(self.number);
    }
}

impl ConnectionState {
    /// Returns the phase.
    pub(crate) fn phase(&self) -> Phase {
        if self.is_socket.load(Ordering::Relaxed) || self.running.load(Ordering::Relaxed) > 0 {
            return Phase::Busy;
        }
        match self.phase.load(Ordering::Relaxed) {
            0 => Phase::Waiting,
            1 => Phase::Head,
            _ => Phase::Busy,
        }
    }

    /// Sets the phase.
    pub(crate) fn set(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    /// Counts a request that is being answered.
    pub(crate) fn begin(&self) {
        self.running.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a request that is answered. The next one may begin.
    pub(crate) fn end(&self) {
        self.set(Phase::Waiting);
        self.running.fetch_sub(1, Ordering::Relaxed);
    }

    /// Sets if the client has still to read what was written.
    pub(crate) fn set_unread(&self, is_unread: bool) {
        self.is_unread.store(is_unread, Ordering::Relaxed);
    }

    /// Returns `true` if the connection can be closed without losing a request or a reply.
    fn may_go(&self) -> bool {
        self.phase() != Phase::Busy && !self.is_unread.load(Ordering::Relaxed)
    }

    /// Waits until the connection must be closed for another one.
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
        let spare: Vec<ConnectionPermit> =
            (0..MAX_SPARE).map(|_| limit.take(NEAR).unwrap()).collect();
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
