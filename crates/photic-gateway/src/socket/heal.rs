//! Heals a frame that the upstream rejected because of its images.

use std::sync::Arc;

use bytes::Bytes;
use photic_net::websocket::Kind;

use super::conversation::Parent;
use super::create::whole;
use super::lanes::{LaneName, SentTurn};
use super::session::{EndOfResponse, Session};
use crate::turn::{FrameHealing, FrameRejection};

impl Session {
    /// Repairs a rejected frame further, and sends it with the whole conversation before it, on the
    /// same lane: the upstream forgets what a rejected frame continued. If nothing helps, returns the
    /// rejection that the client is told.
    pub(super) async fn heal(
        self: Arc<Self>,
        lane: LaneName,
        mut turn: SentTurn,
        status: u16,
        rejection: Bytes,
    ) -> Option<(Bytes, EndOfResponse)> {
        let healing = self.try_healing(&mut turn, status, &rejection).await;
        if healing == FrameHealing::Healed {
            turn.parent = Parent::None;
            turn.rejection.get_or_insert((status, rejection));
            let pieces = turn.frame.pieces();
            turn.frame.describe(&mut turn.guard.log);
            // The writer is taken first: a later frame of the lane must not be written before.
            let mut writer = self.to_upstream.lock().await;
            let _writing = self.activity.writing(pieces.iter().map(Bytes::len).sum());
            self.lanes().send(lane, turn);
            // If this fails, the connection has ended, and its reader knows.
            let _ = writer.message(Kind::Text, &pieces).await;
            drop(writer);
            self.changed.notify_waiters();
            return None;
        }
        // The first rejection is about the frame as the client sent it.
        let first = turn.rejection.take().filter(|_| healing == FrameHealing::NothingHelps);
        let (status, told) = first.unwrap_or((status, rejection));
        self.end(turn, status, &told).await;
        let ending = {
            let mut lanes = self.lanes();
            lanes.give_up_healing(&lane);
            self.begin_ending(&mut lanes)
        };
        self.changed.notify_waiters();
        Some((told, ending))
    }

    async fn try_healing(
        &self,
        turn: &mut SentTurn,
        status: u16,
        rejection: &Bytes,
    ) -> FrameHealing {
        let before = match &turn.parent {
            Parent::None => None,
            Parent::Known(exchange) => {
                match whole(exchange, &turn.inbound, &turn.admitted.share).await {
                    Ok(Some(body)) => Some(body),
                    Ok(None) | Err(_) => return FrameHealing::NothingHelps,
                }
            }
            Parent::Unknown => return FrameHealing::NothingHelps,
        };
        let rejected = FrameRejection {
            status,
            text: String::from_utf8_lossy(rejection).into_owned(),
            quotable: self.credentials.quotable.clone(),
        };
        let SentTurn { frame, admitted, .. } = turn;
        self.turns.heal_frame(frame, before, rejected, admitted).await
    }
}
