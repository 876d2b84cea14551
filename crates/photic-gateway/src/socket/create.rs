//! Repairs and sends the frames that begin responses.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use photic::Wire;
use photic_net::websocket::Kind;
use serde_json::json;

use super::client_frame::{Create, items, with_input};
use super::conversation::{Exchange, Parent};
use super::ending::Ending;
use super::incoming::SMALL;
use super::lanes::{LaneName, SentTurn};
use super::session::Session;
use crate::http::{Body, Failure, Refusal, Route};
use crate::memory::{NoRoom, Share, Use, charged};
use crate::observe::RequestGuard;
use crate::tenant::Admitted;
use crate::turn::FrameTurn;

impl Session {
    /// Repairs and sends a frame that begins a response.
    pub(super) async fn create(&self, create: Create, body: Body) -> Result<(), Ending> {
        let Create { lane, previous, has_conversation } = create;
        let route = Route::Turn(Wire::OpenAiResponses.into());
        if self.is_stopping.load(Ordering::Relaxed) {
            // The socket is closed as soon as the running responses have ended.
            let guard = RequestGuard::begin_frame(&self.watchers, route);
            return self.refuse(lane, guard, &Refusal::Stopping.into()).await;
        }
        loop {
            let changed = self.changed.notified();
            if self.lanes().may_send(&lane) {
                break;
            }
            changed.await;
        }
        let mut guard = RequestGuard::begin_frame(&self.watchers, route);
        guard.log.bytes_in = body.bytes.len() as u64;
        let parent = if has_conversation {
            Parent::Unknown
        } else {
            self.lanes().conversations.parent(previous.as_deref())
        };
        let turn = match self.repaired(&mut guard, parent, body).await {
            Ok(turn) => turn,
            Err(failure) => return self.refuse(lane, guard, &failure).await,
        };
        let (admitted, inbound, frame, parent) = turn;
        self.watchers.metrics.sockets.repaired.add(frame.is_changed().into());
        frame.describe(&mut guard.log);
        let log = &guard.log;
        self.turns.tally.add_cost(log.bytes_in, log.bytes_sent, log.begun.elapsed());
        let pieces = frame.pieces();
        let items_charge = admitted.share.nothing(Use::Sockets);
        let turn = SentTurn {
            guard,
            admitted,
            frame,
            inbound,
            parent,
            response: None,
            items: Vec::new(),
            items_charge,
            rejection: None,
        };
        self.send_turn(lane, turn, &pieces).await
    }

    /// Adds a turn to its lane and sends it. Waits while a frame before it on the lane is healed,
    /// which may have begun since the turn was read.
    async fn send_turn(
        &self,
        lane: LaneName,
        turn: SentTurn,
        pieces: &[Bytes],
    ) -> Result<(), Ending> {
        let mut writer = loop {
            let changed = self.changed.notified();
            // Frames are written in the order of their lane, so the writer is taken before.
            let writer = self.to_upstream.lock().await;
            {
                let mut lanes = self.lanes();
                if lanes.may_send(&lane) {
                    // Added first: the reply may be faster than this task.
                    lanes.send(lane, turn);
                    break writer;
                }
            }
            drop(writer);
            changed.await;
        };
        let _writing = self.activity.writing(pieces.iter().map(Bytes::len).sum());
        writer.message(Kind::Text, pieces).await.map_err(Ending::write)
    }

    /// Admits and repairs a frame. If it has more images than the upstream accepts together with those
    /// before it, the whole conversation is planned and sent.
    async fn repaired(
        &self,
        guard: &mut RequestGuard,
        parent: Parent,
        body: Body,
    ) -> Result<(Admitted, Bytes, FrameTurn, Parent), Failure> {
        let admitted = self.credentials.admit(body.bytes.len() as u64).await?;
        guard.log.caller.clone_from(&admitted.caller.named);
        let body = kept(body, &admitted.share).await?;
        let inbound = body.bytes.clone();
        let frame = self.repair(body, &admitted).await?;
        guard.log.upstream = Some((Arc::clone(&self.upstream), Wire::OpenAiResponses));
        if !Arc::ptr_eq(frame.upstream(), &self.upstream) {
            return Err(Refusal::NoSocket.into());
        }
        let images = frame.images();
        let is_crowded = images > 0
            && frame.max_images().is_some_and(|most| parent.images().saturating_add(images) > most);
        if let Parent::Known(exchange) = &parent
            && is_crowded
            && let Some(whole) = whole(exchange, &inbound, &admitted.share).await?
        {
            let inbound = whole.bytes.clone();
            let frame = self.repair(whole, &admitted).await?;
            return Ok((admitted, inbound, frame, Parent::None));
        }
        Ok((admitted, inbound, frame, parent))
    }

    async fn repair(&self, body: Body, admitted: &Admitted) -> Result<FrameTurn, Failure> {
        self.turns.repair_frame(body, self.prefix.clone(), self.retention, admitted).await
    }

    /// Answers a frame with a failure of the gateway.
    async fn refuse(
        &self,
        lane: LaneName,
        mut guard: Box<RequestGuard>,
        failure: &Failure,
    ) -> Result<(), Ending> {
        let status = failure.status().as_u16();
        let mut frame = json!({"type": "error", "status": status});
        if let (Some(frame), serde_json::Value::Object(body)) =
            (frame.as_object_mut(), failure.error_body(Wire::OpenAiResponses))
        {
            frame.extend(lane.map(|lane| ("stream_id".to_owned(), lane.into())));
            frame.extend(body);
        }
        guard.log.fail(failure);
        guard.ended_frame(status);
        let mut writer = self.to_client.lock().await;
        let written = writer.message(Kind::Text, &[frame.to_string().into()]).await;
        written.map_err(Ending::write)
    }
}

/// Returns a frame that is charged until its response has ended. A small one was not charged yet, and
/// shares a buffer with others.
async fn kept(body: Body, share: &Share) -> Result<Body, NoRoom> {
    if body.bytes.len() > SMALL {
        return Ok(body);
    }
    let charge = share.charge(Use::Bodies, body.bytes.len() as u64).await?;
    Ok(charged(Bytes::copy_from_slice(&body.bytes), charge).into())
}

/// Returns a frame with the whole conversation before it, or `None` if it has no input.
pub(super) async fn whole(
    before: &Exchange,
    frame: &Bytes,
    share: &Share,
) -> Result<Option<Body>, NoRoom> {
    let mut all = before.items();
    let length: usize = all.iter().map(Bytes::len).sum::<usize>() + frame.len();
    // The frame is copied twice: its items, and the whole.
    let mut charge = share.charge(Use::Bodies, (length + frame.len()) as u64).await?;
    let Some(own) = items(frame) else { return Ok(None) };
    all.push(own);
    let Some(whole) = with_input(frame, &all) else { return Ok(None) };
    drop(all);
    charge.shrink_to(whole.len() as u64);
    Ok(Some(charged(whole.into(), charge).into()))
}
