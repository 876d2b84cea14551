//! The parts of a gateway that follow its settings, and can be replaced while it serves.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use http::Response;

use crate::config::Config;
use crate::dispatch::{Dispatcher, Entry, ListenerKind};
use crate::future::BoxFuture;
use crate::http::ReplyBody;
use crate::tenant::CallerKeys;

/// The parts that follow the settings.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) dispatcher: Arc<Dispatcher>,
    /// For the listener of clients.
    pub(crate) public: Arc<Entry>,
    /// For the listener of operators.
    pub(crate) admin: Arc<Entry>,
    pub(super) config: Config,
    pub(super) callers: Option<CallerKeys>,
}

/// The current parts.
#[derive(Debug)]
pub(crate) struct Live {
    current: Mutex<Arc<Served>>,
    /// The number of replacements.
    generation: AtomicU64,
}

/// Reloads the settings for an operator.
pub(crate) trait AnswerReload: Send + Sync {
    /// Reloads the settings, and renders what came of it.
    fn answer(&self) -> BoxFuture<'_, Response<ReplyBody>>;
}

/// The parts as a connection has seen them.
#[derive(Debug)]
pub(crate) struct Seen {
    live: Arc<Live>,
    last: Mutex<(u64, Arc<Served>)>,
}

impl Live {
    pub(super) fn new(served: Served) -> Arc<Self> {
        Arc::new(Self { current: Mutex::new(Arc::new(served)), generation: AtomicU64::new(0) })
    }

    /// Returns the current parts.
    pub(super) fn current(&self) -> Arc<Served> {
        Arc::clone(&self.current.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the parts. Running requests end with those that they began with.
    pub(super) fn replace(&self, served: Served) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(served);
        self.generation.fetch_add(1, Ordering::Release);
    }
}

impl Seen {
    pub(super) fn new(live: &Arc<Live>) -> Self {
        let generation = live.generation.load(Ordering::Acquire);
        Self { live: Arc::clone(live), last: Mutex::new((generation, live.current())) }
    }

    /// Returns the parts for a request that begins now.
    pub(super) fn now(&self) -> Arc<Served> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = self.live.generation.load(Ordering::Acquire);
        if last.0 != generation {
            *last = (generation, self.live.current());
        }
        Arc::clone(&last.1)
    }
}

impl Served {
    /// Returns the properties of a listener.
    pub(super) fn entry(&self, kind: ListenerKind) -> &Arc<Entry> {
        match kind {
            ListenerKind::Admin => &self.admin,
            ListenerKind::Both | ListenerKind::Public => &self.public,
        }
    }
}
