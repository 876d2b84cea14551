//! Passes the frames of the upstream on, and observes them.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use photic::Wire;
use photic::reply::find_usage;
use photic_net::websocket::Kind;
use tokio::task::{Id, JoinError, JoinSet};

use super::client_frame::items;
use super::conversation::{Added, Parent};
use super::ending::{Ending, Side};
use super::incoming::{Arrived, Messages};
use super::lanes::{LaneName, SentTurn};
use super::server_frame::{Event, ServerFrame, joined};
use super::session::{EndOfResponse, Session};
use crate::turn::blames_media;

/// Bytes at the end of a frame that contain the usage.
const TAIL: usize = 4 << 10;

/// The effect of a frame on the turns of its lane.
#[derive(Debug)]
enum Observed {
    Nothing,
    /// A response began. Its frame was accepted.
    Began(LaneName),
    /// A response ended.
    Ended(Box<SentTurn>, u16, EndOfResponse),
    /// A frame was rejected, and may be healed. Nothing is passed on for now.
    Rejected(LaneName, Box<SentTurn>, u16),
}

/// The next step of a frame that was observed.
enum Next {
    /// It is passed on. If a response ends with it, the socket stays open until then.
    Pass(Option<EndOfResponse>),
    /// It is withheld, and its turn is healed.
    Heal(LaneName, Box<SentTurn>, u16),
}

/// The frames that are healed, each with the rejection that the client is told if nothing helps.
#[derive(Debug, Default)]
struct Healing {
    tasks: JoinSet<Option<(Bytes, EndOfResponse)>>,
    /// The rejections of those that were not healed yet.
    withheld: BTreeMap<Id, Bytes>,
}

impl Healing {
    fn begin(&mut self, session: Arc<Session>, rejected: (LaneName, SentTurn, u16), bytes: Bytes) {
        let (lane, turn, status) = rejected;
        let first = turn.rejection.as_ref().map_or(&bytes, |(_, first)| first).clone();
        let task = self.tasks.spawn(session.heal(lane, turn, status, bytes));
        self.withheld.insert(task.id(), first);
    }

    /// Waits for the next frame that was not healed. Returns `None` at once if none is being healed.
    async fn next(&mut self) -> Option<(Bytes, Option<EndOfResponse>)> {
        while let Some(done) = self.tasks.join_next_with_id().await {
            if let Some(told) = self.told(done) {
                return Some(told);
            }
        }
        None
    }

    /// Returns the rejection that the client is told after a frame was healed or not.
    fn told(
        &mut self,
        done: Result<(Id, Option<(Bytes, EndOfResponse)>), JoinError>,
    ) -> Option<(Bytes, Option<EndOfResponse>)> {
        match done {
            Ok((id, told)) => {
                self.withheld.remove(&id);
                told.map(|(rejection, ending)| (rejection, Some(ending)))
            }
            // It was given up, or it failed.
            Err(error) => Some((self.withheld.remove(&error.id())?, None)),
        }
    }
}

impl Session {
    /// Passes messages of the upstream on, one after the other.
    pub(super) async fn downlink(self: Arc<Self>, messages: &mut Messages) -> Ending {
        let mut healing = Healing::default();
        let ending = self.pass_all(messages, &mut healing).await;
        // Without its upstream no frame is healed. The client is told why each was rejected.
        healing.tasks.abort_all();
        while let Some((rejection, _ending)) = healing.next().await {
            if self.pass(Kind::Text, rejection).await.is_err() {
                break;
            }
        }
        ending
    }

    async fn pass_all(self: &Arc<Self>, messages: &mut Messages, healing: &mut Healing) -> Ending {
        loop {
            let mut next = std::pin::pin!(messages.next());
            let arrived = loop {
                tokio::select! {
                    // A rejection is told before the frames of a later response.
                    biased;
                    Some((rejection, _ending)) = healing.next() => {
                        if let Err(ending) = self.pass(Kind::Text, rejection).await {
                            return ending;
                        }
                    }
                    arrived = &mut next => break arrived,
                }
            };
            let passed = match arrived {
                Err(fault) => Err(Ending::Fault(Side::Upstream, fault)),
                Ok(Arrived::Message(kind, body)) => {
                    self.watchers.metrics.sockets.frames_out.add(1);
                    match self.observe(kind, &body.bytes).await {
                        Next::Pass(_ending) => self.pass(kind, body.bytes).await,
                        Next::Heal(lane, turn, status) => {
                            healing.begin(Arc::clone(self), (lane, *turn, status), body.bytes);
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
        let _writing = self.activity.writing(bytes.len());
        writer.message(kind, &[bytes]).await.map_err(Ending::write)
    }

    /// Observes a frame.
    async fn observe(self: &Arc<Self>, kind: Kind, bytes: &Bytes) -> Next {
        let observed = if kind == Kind::Text {
            self.note(&ServerFrame::read(bytes), bytes)
        } else {
            Observed::Nothing
        };
        match observed {
            Observed::Nothing => Next::Pass(None),
            Observed::Began(lane) => {
                let lessons = self.lanes().running(&lane).map(|turn| turn.frame.take_lessons());
                if let Some(lessons) = lessons.flatten() {
                    self.turns.remember(lessons).await;
                }
                Next::Pass(None)
            }
            Observed::Ended(turn, status, ending) => {
                self.end(*turn, status, bytes).await;
                self.changed.notify_waiters();
                Next::Pass(Some(ending))
            }
            Observed::Rejected(lane, turn, status) => Next::Heal(lane, turn, status),
        }
    }

    fn note(self: &Arc<Self>, frame: &ServerFrame<'_>, bytes: &[u8]) -> Observed {
        let blames_media = match &frame.event {
            Event::Rejected { status } => blames_media(*status, &String::from_utf8_lossy(bytes)),
            Event::Other | Event::Began(_) | Event::Item(_) | Event::Ended { .. } => false,
        };
        let mut guard = self.lanes();
        let lanes = &mut *guard;
        lanes.touch();
        let lane = frame.lane.as_ref().map(|lane| lane.clone().into_owned());
        let (turn, status) = match &frame.event {
            Event::Other => return Observed::Nothing,
            Event::Began(id) => {
                let Some(turn) = lanes.running(&lane) else { return Observed::Nothing };
                turn.response = Some(id.clone().into_owned());
                return Observed::Began(lane);
            }
            Event::Item(item) => {
                lanes.add_item(&lane, item);
                return Observed::Nothing;
            }
            Event::Ended { id, .. } if lanes.is_other(&lane, id) => return Observed::Nothing,
            Event::Ended { id, output } => {
                if lanes.running(&lane).is_some_and(|turn| turn.items.is_empty()) {
                    for item in output {
                        lanes.add_item(&lane, item);
                    }
                }
                let Some(mut turn) = lanes.end(&lane) else { return Observed::Nothing };
                turn.response = Some(id.clone().into_owned());
                (turn, 200)
            }
            Event::Rejected { status } => {
                let healed = if blames_media { lanes.begin_healing(&lane) } else { None };
                if let Some(turn) = healed {
                    return Observed::Rejected(lane, Box::new(turn), *status);
                }
                let Some(turn) = lanes.end(&lane) else { return Observed::Nothing };
                lanes.broke_off(&turn);
                (turn, *status)
            }
        };
        Observed::Ended(Box::new(turn), status, self.begin_ending(lanes))
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

    /// Adds a response to its conversation, if that is known, there is room, and its items can be sent
    /// again.
    fn remember(&self, id: String, parent: Parent, sent: &[Bytes], output: &[Bytes], images: u32) {
        if matches!(parent, Parent::Unknown) {
            return;
        }
        let length: usize = sent.iter().map(Bytes::len).sum();
        if !self.lanes().conversations.has_room(length as u64) {
            self.lanes().conversations.forget();
            return;
        }
        let whole = if let [one] = sent { one.clone() } else { sent.concat().into() };
        let Some(input) = items(&whole) else { return };
        let output = output.iter().map(|item| std::str::from_utf8(item).unwrap_or_default());
        let Some(output) = joined(output) else { return };
        self.lanes().conversations.add(id, parent, Added { input, output, images });
    }
}
