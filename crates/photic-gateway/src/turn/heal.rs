//! Stage **heal**: repairs a request further after a rejection that blames its media.
//!
//! The request is planned again under the lessons of the rejection and sent again, at most twice, and
//! never after a byte of a reply was passed on.
//!
//! The lessons are remembered only if the attempt succeeded, for the caller that made it, and only if
//! they follow from the endpoint's own words. A rejection that quotes the request proves nothing.

use std::sync::Arc;
use std::time::Instant;

use http::{Response, StatusCode};
use photic::rejection::{Class, Said, classify};
use photic_store::record::Attempt;

use super::diagnosis::Diagnosis;
use super::lower::OutboundRequest;
use super::pipeline::Pipeline;
use super::recall::RecalledRequest;
use super::rejection_text;
use super::reply_headers::class_name;
use super::send::{AnsweredRequest, Delivery, length, milliseconds};
use crate::http::{Failure, Stream};
use crate::learned::{Entry, Evidence, Lesson};
use crate::media::{Allowance, FetchedInputs, PixelWork};
use crate::memory::Share;
use crate::observe::{Fixes, Outcome};
use crate::upstream::UpstreamClient;

/// Maximum number of times that a request is sent again.
pub(super) const MAX_RETRIES: usize = 2;

/// The parts of the gateway that healing needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Healer<'h> {
    pub(super) client: &'h UpstreamClient,
    pub(super) pipeline: &'h Arc<Pipeline>,
    pub(super) pixels: &'h PixelWork,
}

/// The circumstances in which a rejected request is healed.
#[derive(Debug)]
pub(super) struct Circumstances<'c> {
    /// The memory that it is charged to.
    pub(super) share: &'c Share,
    /// Texts beside the body that the endpoint may have quoted.
    pub(super) quotable: Vec<String>,
    /// Set if the rejected body was the whole request. If not, it was the end of it, and the whole is
    /// sent instead.
    pub(super) was_whole: bool,
}

/// The rejection that a request got before anything was tried.
#[derive(Debug)]
struct FirstRejection {
    reply: Response<Stream>,
    fixes: Fixes,
}

/// The lessons that were tried against rejections.
#[derive(Clone, Debug, Default)]
pub(super) struct Tried {
    pub(super) entries: Vec<Entry>,
    /// Set if some of them follow from words that the rejection may have quoted from the request.
    pub(super) is_echo: bool,
}

impl Healer<'_> {
    /// Sends a request with media, and sends it again if a rejection can be healed. The request is then
    /// the one that was sent last, without its body.
    pub(super) async fn send(
        self,
        mut delivery: Delivery<'_>,
        recalled: Arc<RecalledRequest>,
        outbound: &mut OutboundRequest,
    ) -> Result<AnsweredRequest, Failure> {
        // Rejections and the usage of replies are read.
        delivery.reads_reply();
        let mut outcome = Outcome::default();
        let mut tried = Tried::default();
        let mut first: Option<FirstRejection> = None;
        loop {
            // A body that can be made again from references is not held while the model answers.
            let by_reference = !recalled.context.media.is_empty();
            let pieces = if by_reference {
                std::mem::take(&mut outbound.pieces)
            } else {
                outbound.pieces.clone()
            };
            let headers = delivery.headers.clone();
            let (bytes, begun) = (length(&pieces), Instant::now());
            let reply = Box::pin(delivery.post(self.client, outbound, headers, pieces)).await;
            let status = reply.as_ref().ok().map(|reply| reply.status().as_u16());
            outbound.attempts.push(Attempt::new(status, bytes, milliseconds(begun)));
            let reply = reply?;
            let status = reply.status();
            if !may_blame_media(status) {
                if status.is_success() && !tried.entries.is_empty() && !tried.is_echo {
                    self.remember(tried.entries).await;
                }
                outbound.drop_body();
                return Ok(AnsweredRequest { reply, outcome: Some(outcome) });
            }
            let (reply, text) = Box::pin(rejection_text::read(reply)).await;
            let rejection = text.map(|text| (classify(Some(status.as_u16()), &text), text));
            if let Some((rejection, _)) = &rejection
                && let Some(attempt) = outbound.attempts.pop()
            {
                let class = class_name(rejection.class).unwrap_or_default();
                let says = without_secrets(&rejection.text, &delivery.quotable());
                outbound.attempts.push(attempt.rejected(&class, &says));
            }
            let is_ours = rejection
                .as_ref()
                .is_some_and(|(rejection, _)| rejection.class != Class::Unrelated);
            let can_try = outcome.healed.len() < MAX_RETRIES;
            if let Some((rejection, answer)) = rejection.filter(|_| is_ours && can_try) {
                let (status, tries) = (status.as_u16(), outcome.healed.len());
                outcome.healed.push(rejection.class);
                let diagnosis = Diagnosis { status, answer, rejection, tries };
                let around = Circumstances {
                    share: delivery.share,
                    quotable: delivery.quotable(),
                    was_whole: true,
                };
                let healing = self.heal(around, &recalled, outbound, &mut tried, diagnosis);
                let better = Box::pin(healing).await;
                if let Some(better) = better {
                    let before = std::mem::replace(outbound, better);
                    outbound.attempts = before.attempts;
                    let fixes = before.fixes;
                    first.get_or_insert(FirstRejection { reply, fixes });
                    continue;
                }
                outcome.healed.pop();
            }
            outbound.drop_body();
            // Nothing helped. The client gets the first rejection, which is about the request as it
            // sent it, unless the last one is about something other than media.
            return Ok(match first.filter(|_| is_ours) {
                Some(FirstRejection { reply, fixes }) => {
                    outcome.healed.clear();
                    outbound.fixes = fixes;
                    AnsweredRequest { reply, outcome: Some(outcome) }
                }
                None => AnsweredRequest { reply, outcome: Some(outcome) },
            });
        }
    }

    /// Repairs the request under the lessons of a rejection, and adds them to `tried`. Returns `None`
    /// if that does not change the request.
    pub(super) async fn heal(
        self,
        around: Circumstances<'_>,
        recalled: &Arc<RecalledRequest>,
        outbound: &OutboundRequest,
        tried: &mut Tried,
        diagnosis: Diagnosis,
    ) -> Option<OutboundRequest> {
        let Circumstances { share, quotable, was_whole } = around;
        let wire = outbound.wire;
        let host = outbound.upstream.host().to_owned();
        let model = outbound.media.as_ref()?.model.clone();
        let (pieces, before, mut all) = (outbound.pieces.clone(), tried.clone(), tried.clone());
        let teacher = recalled.inbound.identity.clone();
        let entry = move |lesson, said: &str| {
            let (host, model, teacher) = (host.clone(), model.clone(), teacher.clone());
            let evidence = Evidence::now(diagnosis.status, said);
            Entry { host, model, wire: None, lesson, teacher, evidence }
        };
        let pipeline = self.pipeline;
        let mut found = FetchedInputs::default();
        if diagnosis.rejection.class == Class::FetchFailed {
            // The gateway may be able to fetch an address that the provider cannot.
            all.entries.push(entry(Lesson::NoAddresses, ""));
            let fetched = pipeline.fetch_trying(recalled, &all.entries, share);
            found = fetched.await.ok()?;
            all.entries.pop();
        }
        let fetched = found.remote.is_found();
        // Usually cached since the first attempt.
        let mut inputs = if fetched {
            found
        } else {
            pipeline.fetch_trying(recalled, &all.entries, share).await.ok()?
        };
        let (shared, recalled) = (Arc::clone(pipeline), Arc::clone(recalled));
        let charges = inputs.take_charges();
        let work = move |allowance: &Allowance| {
            // Both requests are compared, each in one piece.
            if !allowance.made(2 * recalled.inbound.body.bytes.len() as u64) {
                return None;
            }
            let repair = |tried: &[Entry]| shared.repair(&recalled, &inputs, allowance, tried);
            let sent =
                if pieces.is_empty() { repair(&before.entries)?.pieces } else { pieces }.concat();
            // The end of a conversation was sent, and the whole was judged.
            let whole =
                if was_whole { None } else { Some(repair(&before.entries)?.pieces.concat()) };
            let mut said: Vec<Said<'_>> = quotable.iter().map(|text| Said::Text(text)).collect();
            said.push(Said::Json(whole.as_ref().unwrap_or(&sent)));
            let own = diagnosis.in_own_words(&said);
            let lessons = if fetched {
                all.is_echo |= own.rejection.class != diagnosis.rejection.class;
                vec![Lesson::NoAddresses]
            } else {
                let (mut lessons, mut judged) = (diagnosis.lessons(wire, &sent), &sent);
                if let Some(whole) = whole.as_ref().filter(|_| lessons.is_empty()) {
                    (lessons, judged) = (diagnosis.lessons(wire, whole), whole);
                }
                let is_own =
                    own.rejection == diagnosis.rejection || own.lessons(wire, judged) == lessons;
                all.is_echo |= !is_own;
                lessons
            };
            let said = &own.rejection.text;
            all.entries.extend(lessons.into_iter().map(|lesson| entry(lesson, said)));
            let better = repair(&all.entries)?;
            // An unchanged request would be rejected again.
            (better.pieces.concat() != whole.unwrap_or(sent)).then_some((better, all))
        };
        // If the job fails, only this attempt is lost.
        let (done, charge) = self.pixels.run(share, work).await.ok()?;
        let (mut better, all) = done?;
        better.charges = charges;
        better.charges.push(charge);
        *tried = all;
        Some(better)
    }

    /// Remembers lessons before the reply is passed on, because the next request needs them.
    pub(super) async fn remember(self, tried: Vec<Entry>) {
        let learned = Arc::clone(&self.pipeline.planner.learned);
        let _ = tokio::task::spawn_blocking(move || learned.remember(&tried)).await;
    }
}

/// Length from which a word of a header may be a secret.
const SECRET_LENGTH: usize = 16;

/// Removes the words of headers and of the query from a provider's sentence, because one of them may be
/// a key.
fn without_secrets(says: &str, quotable: &[String]) -> String {
    let words = quotable.iter().flat_map(|text| text.split([' ', '&', '=', ';', ',']));
    let words = words.filter(|word| word.len() >= SECRET_LENGTH);
    words.fold(says.to_owned(), |says, word| says.replace(word, "…"))
}

/// Returns `true` if a reply of this status may be about the media that were sent. Some local servers
/// answer 500 to an image that they cannot decode.
pub(super) fn may_blame_media(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 404 | 406 | 413 | 415 | 422 | 500)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_a_provider_quotes_is_not_kept() {
        let quotable =
            ["Bearer sk-proj-0123456789abcdef", "text/plain", "key=AIzaSy0123456789abcdef&x=1"];
        let quotable = quotable.map(str::to_owned);
        let said = "no image for sk-proj-0123456789abcdef (AIzaSy0123456789abcdef) of text/plain";
        assert_eq!(without_secrets(said, &quotable), "no image for … (…) of text/plain");
    }
}
