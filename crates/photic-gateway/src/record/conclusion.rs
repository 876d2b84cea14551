//! The outcome of a request that is being answered. It is written when the reply has ended.

use std::sync::Arc;

use photic_store::events::RecordChange;
use photic_store::record::{RequestOutcome, StoredReply};
use photic_store::{Events, SessionId, Tenant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::backend::StoreBackend;
use super::written_turn::Turn;

/// The outcome of a request that is being answered, as far as it is known to the record.
#[derive(Debug)]
pub(crate) struct Conclusion {
    pub(super) backend: Arc<dyn StoreBackend>,
    pub(super) events: Events,
    pub(super) tenant: Tenant,
    /// The name of the client's software.
    pub(super) agent: Option<String>,
    /// The session that the request continues, if it is known.
    pub(super) session: Option<SessionId>,
    /// Told the turn when it is written, or that it is not.
    pub(super) turn: Option<oneshot::Receiver<Option<Turn>>>,
    /// One permit for each outcome that may be written at once.
    pub(super) writing: Arc<Semaphore>,
    /// One permit for each KiB of replies that may wait to be written.
    pub(super) room: Arc<Semaphore>,
    pub(super) _permit: OwnedSemaphorePermit,
}

impl Conclusion {
    /// Sets the session that the request continues, and publishes that it is on its way.
    pub(crate) fn opened(&mut self, session: Option<&SessionId>, request: u64, bytes: u64) {
        self.session = session.cloned();
        self.events.publish(&self.tenant, session, RecordChange::Opened { request, bytes });
    }

    /// Sets the turn that is being written.
    pub(crate) fn wait_for(&mut self, turn: oneshot::Receiver<Option<Turn>>) {
        self.turn = Some(turn);
    }

    /// Returns `true` if the request is being recorded as a turn.
    pub(crate) const fn has_turn(&self) -> bool {
        self.turn.is_some()
    }

    /// Writes the outcome, after the turn if there is one. `request` is the id of the request. Returns
    /// at once. If too many bytes of replies wait already, the reply is left out.
    pub(crate) fn write(
        mut self,
        request: u64,
        mut outcome: RequestOutcome,
        reply: Option<StoredReply>,
    ) {
        // Without a runtime the gateway is gone.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        outcome.agent = self.agent.take();
        let kibibytes = reply.as_ref().map_or(0, |reply| reply.bytes.len().div_ceil(1 << 10));
        let kibibytes = u32::try_from(kibibytes).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).try_acquire_many_owned(kibibytes).ok();
        let reply = reply.filter(|_| room.is_some());
        runtime.spawn(async move {
            // The whole of it, so that the gateway waits for this when it stops.
            let mut this = self;
            let written = match this.turn.take() {
                None => None,
                Some(turn) => turn.await.ok().flatten(),
            };
            match written {
                Some(Turn { session, number }) => {
                    (outcome.session, outcome.turn) = (Some(session), Some(number));
                }
                None => outcome.session = this.session.take(),
            }
            // A record that is slow must not take every thread and connection.
            let _place = Arc::clone(&this.writing).acquire_owned().await;
            let concluded = this.backend.conclude(&this.tenant, &outcome, reply.as_ref()).await;
            drop(room);
            // A lost outcome is a gap in what can be shown, and nothing else.
            if concluded.is_ok() {
                let change = RecordChange::Outcome { turn: outcome.turn, request };
                this.events.publish(&this.tenant, outcome.session.as_ref(), change);
            }
        });
    }

    /// Publishes that something was learned about the endpoint.
    pub(crate) fn learned(&self) {
        self.events.publish(&self.tenant, self.session.as_ref(), RecordChange::Lesson);
    }
}
