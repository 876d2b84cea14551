//! Passes the frames of the upstream on, and observes them.

use std::sync::Arc;

use bytes::Bytes;
use photic::Wire;
use photic::reply::find_usage;
use photic_net::websocket::Kind;
use tokio::task::JoinSet;

use super::client_frame::items;
use super::conversation::{Exchange, Parent};
use super::ending::{Ending, Side};
use super::incoming::{Arrived, Messages};
use super::lanes::{LaneName, SentTurn};
use super::server_frame::{Event, ServerFrame, joined};
use super::session::Session;

/// Bytes at the end of a frame that contain the usage.
const TAIL: usize = 4 << 10;

/// The effect of a frame on the turns of its lane.
#[derive(Debug)]
enum Observed {
    Nothing,
    /// A response began. Its frame was accepted.
    Began(LaneName),
    /// A response ended.
    Ended(SentTurn, u16),
    /// A frame was rejected, and may be healed. Nothing is passed on.
    Rejected(LaneName, SentTurn, u16),
}

impl Session {
    /// Passes messages of the upstream on, one after the other.
    pub(super) async fn downlink(self: Arc<Self>, messages: &mut Messages) -> Ending {
        let mut healing: JoinSet<Option<Bytes>> = JoinSet::new();
        loop {
            let mut next = std::pin::pin!(messages.next());
            let arrived = loop {
                tokio::select! {
                    arrived = &mut next => break arrived,
                    Some(healed) = healing.join_next() => {
                        // A frame that could not be healed is told now.
                        if let Ok(Some(rejection)) = healed
                            && let Err(ending) = self.pass(Kind::Text, rejection).await
                        {
                            return ending;
                        }
                    }
                }
            };
            let passed = match arrived {
                Err(fault) => Err(Ending::Fault(Side::Upstream, fault)),
                Ok(Arrived::Message(kind, body)) => {
                    self.watchers.metrics.sockets.frames_out.add(1);
                    match self.observe(kind, &body.bytes).await {
                        None => self.pass(kind, body.bytes).await,
                        Some((lane, turn, status)) => {
                            let this = Arc::clone(&self);
                            healing.spawn(this.heal(lane, turn, status, body.bytes));
                            Ok(())
                        }
                    }
                }
                Ok(control) => self.mirror(Side::Client, control).await,
            };
            if let Err(ending) = passed {
                return ending;
            }
        }
    }

    /// Writes a message to the client.
    async fn pass(&self, kind: Kind, bytes: Bytes) -> Result<(), Ending> {
        let mut writer = self.to_client.lock().await;
        writer.message(kind, &[bytes]).await.map_err(Ending::write)
    }

    /// Observes a frame. Returns the turn that it rejects, if that may be healed.
    async fn observe(&self, kind: Kind, bytes: &Bytes) -> Option<(LaneName, SentTurn, u16)> {
        let observed = if kind == Kind::Text {
            self.note(&ServerFrame::read(bytes))
        } else {
            Observed::Nothing
        };
        match observed {
            Observed::Nothing => None,
            Observed::Began(lane) => {
                let lessons = self.lanes().running(&lane).map(|turn| turn.frame.take_lessons());
                if let Some(lessons) = lessons.flatten() {
                    self.turns.remember(lessons).await;
                }
                None
            }
            Observed::Ended(turn, status) => {
                self.end(turn, status, bytes).await;
                self.changed.notify_waiters();
                None
            }
            Observed::Rejected(lane, turn, status) => Some((lane, turn, status)),
        }
    }

    fn note(&self, frame: &ServerFrame<'_>) -> Observed {
        let mut lanes = self.lanes();
        lanes.touch();
        let lane = frame.lane.as_ref().map(|lane| lane.clone().into_owned());
        match &frame.event {
            Event::Other => Observed::Nothing,
            Event::Began(id) => match lanes.running(&lane) {
                Some(turn) => {
                    turn.response = Some(id.clone().into_owned());
                    Observed::Began(lane)
                }
                None => Observed::Nothing,
            },
            Event::Item(item) => {
                let has_room = lanes.running(&lane).map(|turn| turn.item_bytes + item.len() as u64);
                if has_room.is_some_and(|bytes| lanes.conversations.has_room(bytes))
                    && let Some(turn) = lanes.running(&lane)
                {
                    turn.item_bytes += item.len() as u64;
                    turn.items.push(Bytes::copy_from_slice(item.as_bytes()));
                }
                Observed::Nothing
            }
            Event::Ended { id, output } => match lanes.end(&lane) {
                Some(mut turn) => {
                    turn.response = Some(id.clone().into_owned());
                    if turn.items.is_empty() {
                        turn.items.extend(output.clone());
                    }
                    Observed::Ended(turn, 200)
                }
                None => Observed::Nothing,
            },
            Event::Rejected { status } => match lanes.begin_healing(&lane) {
                Some(turn) => Observed::Rejected(lane, turn, *status),
                None => match lanes.end(&lane) {
                    Some(turn) => Observed::Ended(turn, *status),
                    None => Observed::Nothing,
                },
            },
        }
    }

    /// Notes the end of a turn: in its conversation, in the log and in the audit.
    pub(super) async fn end(&self, turn: SentTurn, status: u16, last: &[u8]) {
        let SentTurn { mut guard, admitted, frame, parent, response, items: output, .. } = turn;
        guard.log.bytes_out = last.len() as u64;
        if status == 200
            && let Some(id) = response
        {
            let images = parent.images() + frame.images();
            self.remember(id, parent, &frame.pieces(), &output, images);
        }
        let usage =
            find_usage(Wire::OpenAiResponses, b"", &last[last.len().saturating_sub(TAIL)..]);
        self.turns.frame_ended(frame, usage, &admitted.caller, &mut guard.log).await;
        guard.ended_frame(status);
    }

    /// Adds a response to its conversation, if that is known and there is room.
    fn remember(&self, id: String, parent: Parent, sent: &[Bytes], output: &[Bytes], images: u32) {
        let parent = match parent {
            Parent::None => None,
            Parent::Known(exchange) => Some(exchange),
            Parent::Unknown => return,
        };
        let length: usize = sent.iter().map(Bytes::len).sum();
        if !self.lanes().conversations.has_room(length as u64) {
            self.lanes().conversations.forget();
            return;
        }
        let whole = if let [one] = sent { one.clone() } else { sent.concat().into() };
        let Some(input) = items(&whole) else { return };
        let output = output.iter().filter_map(|item| std::str::from_utf8(item).ok());
        let exchange = Exchange { parent, input, output: joined(output), images };
        self.lanes().conversations.add(id, exchange);
    }
}
