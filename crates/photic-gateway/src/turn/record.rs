//! Stage **record**: writes an answered turn to the store while its reply is sent.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::lower::RequestToRecord;
use super::pipeline::Pipeline;
use super::prepare::Supplies;
use super::recall::RecalledRequest;
use crate::media::{Allowance, MissingInputs, PixelWork};
use crate::memory::Share;
use crate::observe::Tally;
use crate::record::{Bill, Made, Recorder, Turn};

/// Writes turns to the store.
#[derive(Clone, Debug)]
pub(crate) struct TurnRecorder {
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) pixels: Arc<PixelWork>,
    pub(crate) tally: Arc<Tally>,
}

impl TurnRecorder {
    /// Begins to write a turn. Writing continues while the reply is sent, unless replies wait for it.
    /// In that case, the turn is returned if it was written in time.
    pub(super) async fn record(
        &self,
        recalled: Arc<RecalledRequest>,
        request: RequestToRecord,
        missing: MissingInputs,
        share: Share,
    ) -> (Option<Turn>, Option<Bill>) {
        let Some(place) = self.recorder.queue().await else { return (None, None) };
        let (tell, told) = oneshot::channel();
        let profile = Arc::clone(&request.target.profile);
        let bill = self.recorder.open_bill(recalled.context.tenant.clone(), profile, told);
        let this = self.clone();
        let writing = tokio::spawn(async move {
            let counts_sessions = this.pipeline.counts_usage();
            let tally = Arc::clone(&this.tally);
            let kept = this.write(recalled, request, &missing, &share).await;
            // The sessions of a command are few. Those of a server would fill the memory.
            if counts_sessions {
                tally.record(kept.as_ref());
            }
            drop(place);
            let _ = tell.send(kept.clone());
            kept
        });
        if !self.recorder.acknowledge {
            return (None, bill);
        }
        (self.recorder.acknowledged(async { writing.await.ok().flatten() }).await, bill)
    }

    /// Writes a turn. The images that it was sent with are usually cached. If not, they are prepared
    /// again like for any request.
    async fn write(
        self,
        recalled: Arc<RecalledRequest>,
        request: RequestToRecord,
        missing: &MissingInputs,
        share: &Share,
    ) -> Option<Turn> {
        if request.is_settled {
            let work = move || self.append(&recalled, &request, None);
            return tokio::task::spawn_blocking(work).await.ok().flatten();
        }
        let inputs = self.pipeline.fetcher.fetch(&recalled, missing, share).await.ok()?;
        let pixels = Arc::clone(&self.pixels);
        let work = move |allowance: &Allowance| {
            let supplies = Supplies { inputs: &inputs, pixels: Some(allowance) };
            self.append(&recalled, &request, Some(supplies))
        };
        pixels.run(share, work).await.ok()?.0
    }

    fn append(
        &self,
        recalled: &RecalledRequest,
        request: &RequestToRecord,
        supplies: Option<Supplies<'_>>,
    ) -> Option<Turn> {
        let recorder = &self.recorder;
        let RequestToRecord { sent, target, shed, .. } = request;
        let appended = self.pipeline.remake(recalled, target, supplies, |made, lowered| {
            // An image that was fetched or prepared again may differ, and the record must not contain
            // one that was not sent.
            let is_same =
                |body: &photic::json::Segments<'_>| photic_store::SentBody::of(body) == *sent;
            if lowered.as_ref().is_some_and(|lowered| !is_same(&lowered.lowered.body)) {
                return recorder.lose();
            }
            let made = Made {
                transcript: &made.transcript,
                plan: &made.plan,
                policy: &made.policy,
                prepared: &made.prepared,
                named: &made.named,
                sent: *sent,
                shed,
            };
            recorder.append(&recalled.context, &made)
        });
        appended.flatten()
    }
}
