//! Stage **record**: writes an answered turn to the store while its reply is sent.

use std::sync::Arc;

use photic_store::{Error, LeftOutMessages, WrittenMessages};
use tokio::sync::oneshot;

use super::known_messages::RecordedPart;
use super::lower::{RequestToRecord, lower};
use super::pipeline::Pipeline;
use super::prepare::{PreparedRequest, Supplies};
use super::recall::RecalledRequest;
use crate::media::{Allowance, MissingInputs, PixelWork};
use crate::memory::{Share, Use};
use crate::observe::Tally;
use crate::record::{Conclusion, Made, Recorder, Turn};

/// Writes turns to the store.
#[derive(Clone, Debug)]
pub(crate) struct TurnRecorder {
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) pixels: Arc<PixelWork>,
    pub(crate) tally: Arc<Tally>,
}

impl TurnRecorder {
    /// Begins to write a turn. Its outcome is written after it. Writing continues while the reply is
    /// sent, unless replies wait for it. In that case, the turn is returned if it was written in time.
    pub(super) async fn record(
        &self,
        recalled: Arc<RecalledRequest>,
        request: RequestToRecord,
        missing: MissingInputs,
        share: Share,
        conclusion: Option<&mut Conclusion>,
    ) -> Option<Turn> {
        let place = self.recorder.queue().await?;
        let (tell, told) = oneshot::channel();
        if let Some(conclusion) = conclusion {
            conclusion.wait_for(told);
        }
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
            return None;
        }
        self.recorder.acknowledged(async { writing.await.ok().flatten() }).await
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
            let share = share.clone();
            let work = move || match self.append_part(&recalled, &request, &share) {
                Some(appended) => self.finish(&request, appended),
                None => self.append(&recalled, &request, None),
            };
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

    /// Writes a turn of which some messages are left out, because the record has them. Returns `None`
    /// if nothing was written, because that is not certain.
    fn append_part(
        &self,
        recalled: &RecalledRequest,
        request: &RequestToRecord,
        share: &Share,
    ) -> Option<Result<(Turn, WrittenMessages), Error>> {
        let RecordedPart { before, left_out } = request.part.as_ref()?;
        let (messages, written) = (request.messages.as_ref()?, before.written()?);
        let body = &recalled.inbound.body.bytes;
        let mut charge = share.nothing(Use::Bodies);
        if !charge.try_grow((body.len() - left_out.bytes()) as u64) {
            return None;
        }
        let shortened = left_out.clone().cut_out_of(body);
        let left_out = LeftOutMessages { written, left_out };
        let appended =
            self.pipeline.plan_part(recalled, &request.target, &shortened, messages, |made| {
                let made = request.made(made);
                self.recorder.append(&recalled.context, &made, body.len(), Some(left_out))
            });
        // The session was deleted since, or has other messages.
        let is_certain = |appended: &Result<_, Error>| {
            !matches!(appended, Err(Error::NotContinued(_) | Error::NoSession(_)))
        };
        appended.filter(is_certain)
    }

    /// Keeps the keys of the messages of a turn that was written, and counts one that was not.
    fn finish(
        &self,
        request: &RequestToRecord,
        appended: Result<(Turn, WrittenMessages), Error>,
    ) -> Option<Turn> {
        let Ok((turn, written)) = appended else { return self.recorder.lose() };
        if let Some(messages) = &request.messages {
            messages.set_written(written);
        }
        Some(turn)
    }

    fn append(
        &self,
        recalled: &RecalledRequest,
        request: &RequestToRecord,
        supplies: Option<Supplies<'_>>,
    ) -> Option<Turn> {
        let (recorder, bytes) = (&self.recorder, recalled.inbound.body.bytes.len());
        let RequestToRecord { sent, target, .. } = request;
        let appended = self.pipeline.remake(recalled, target, supplies, |made, lowered| {
            // An image that was fetched or prepared again may differ, and the record must not contain
            // one that was not sent.
            let is_same =
                |body: &photic::json::Segments<'_>| photic_store::SentBody::of(body) == *sent;
            if lowered.as_ref().is_some_and(|lowered| !is_same(&lowered.lowered.body)) {
                return recorder.lose();
            }
            // The hashes of a part are not those of the whole, and a translated request has none yet.
            let is_missing = request.part.is_some() || request.hashes.is_none();
            let hashes = if is_missing { lower(made).hashes(self.pipeline.keep()) } else { None };
            let mut made = request.made(made);
            made.hashes = hashes.as_deref().or(made.hashes);
            let appended = recorder.append(&recalled.context, &made, bytes, None);
            self.finish(request, appended)
        });
        appended.flatten()
    }
}

impl RequestToRecord {
    /// Returns what the record needs of a request that was made again.
    fn made<'m, 'a>(&'m self, made: &'m PreparedRequest<'a>) -> Made<'m, 'a> {
        Made {
            transcript: &made.transcript,
            plan: &made.plan,
            policy: &made.policy,
            prepared: &made.prepared,
            named: &made.named,
            sent: self.sent,
            hashes: self.hashes.as_deref(),
            shed: &self.shed,
        }
    }
}
