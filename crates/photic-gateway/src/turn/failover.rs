//! Sends a request of a `[[model]]` again, to its other upstreams or to the same one.
//!
//! It is planned and lowered again for each, because the other upstream may have another wire and other
//! limits. It is done only before the first byte of a reply was passed on: a reply in JSON is read whole
//! first, if it is not large, and of any other the first piece.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, Response, StatusCode};

use super::read::{InboundRequest, Repair};
use super::translate::is_stream;
use super::turns::{Attempted, Turns};
use crate::http::{Failure, Resting, Route, Stream};
use crate::memory::{Share, Use, charged};
use crate::observe::RequestLog;
use crate::tenant::Admitted;
use crate::upstream::{Cause, ModelRoutes, Picked, Trail, Upstream};

/// Length of a reply up to which it is read whole before it is passed on.
const MAX_HELD: usize = 4 << 20;

/// A request that can be sent again.
pub(super) struct Again<'t> {
    pub(super) turns: &'t Turns,
    pub(super) routes: Arc<ModelRoutes>,
    pub(super) route: Route,
    pub(super) repair: Repair,
    pub(super) admitted: &'t Admitted,
    /// The headers as the caller sent them.
    pub(super) headers: HeaderMap,
}

impl Again<'_> {
    /// Sends a request again until an upstream answers it. Returns the last answer or failure, and the
    /// upstreams that were asked, if its model has some of its own.
    pub(super) async fn until_answered(
        self,
        mut attempted: Result<Attempted, Failure>,
        mut inbound: Arc<InboundRequest>,
        head: &mut Parts,
        log: &mut RequestLog,
    ) -> (Result<Attempted, Failure>, Option<Trail>) {
        let Some(first) = inbound.picking.picked() else { return (attempted, None) };
        let mut trail = Trail::new(first);
        while let Some(picked) = inbound.picking.picked().cloned() {
            let cause = self.judge(&mut attempted, &picked.candidate().upstream).await;
            let Some(cause) = cause else { break };
            let Some(next) = trail.next(&self.routes, &picked, cause, |_| true) else { break };
            let times = trail.times(next.index);
            if times > 0 {
                tokio::time::sleep(self.routes.backoff(times)).await;
            }
            // The reply of the one that failed is not read further.
            drop(attempted);
            inbound = Arc::new(inbound.again(next));
            head.headers.clone_from(&self.headers);
            let (turns, admitted) = (self.turns, self.admitted);
            let request = (self.route, self.repair);
            attempted = turns.attempt(request, Arc::clone(&inbound), head, admitted, log).await;
        }
        (attempted, Some(trail))
    }

    /// Returns the reason for which another upstream may do better, or `None` if the answer stands.
    async fn judge(
        &self,
        attempted: &mut Result<Attempted, Failure>,
        upstream: &Upstream,
    ) -> Option<Cause> {
        let reply = match attempted {
            Ok(Attempted::Estimated(_)) => return None,
            Ok(Attempted::Sent(sent)) => Ok(&mut sent.answered.reply),
            Err(failure) => Err(&*failure),
        };
        judge(reply, upstream, &self.routes, &self.admitted.share).await
    }
}

/// Returns the reason for which another upstream may do better, or `None` if a reply or failure stands.
/// The health of the upstream is changed by it.
pub(crate) async fn judge(
    reply: Result<&mut Response<Stream>, &Failure>,
    upstream: &Upstream,
    routes: &ModelRoutes,
    share: &Share,
) -> Option<Cause> {
    let cause = match reply {
        Ok(reply) => {
            let cause = of_reply(reply, upstream, share).await;
            let is_of_caller = !upstream.has_own_credentials() && upstream.signer().is_none();
            if cause == Some(Cause::RateLimited) && is_of_caller {
                // The limit of one caller says nothing about the others.
                return cause;
            }
            let pause = cause.and_then(|_| pause(reply.headers()));
            if let Some(pause) = pause {
                upstream.health().pause(pause);
                return cause;
            }
            cause
        }
        Err(failure) => Some(of_failure(failure)?),
    };
    match cause {
        None => upstream.health().succeeded(),
        Some(_) => upstream.health().failed(routes.rules().health),
    }
    cause
}

impl Turns {
    /// Waits until the end of the pause that an upstream asked for.
    ///
    /// # Errors
    ///
    /// Fails if that is too far.
    pub(crate) async fn wait_for(&self, picked: &Picked) -> Result<(), Failure> {
        let most = self.pipeline.planner.upstreams.routes();
        if most.is_none_or(|routes| picked.pause > routes.rules().wait) {
            let seconds = picked.pause.as_secs_f64().ceil() as u64;
            return Err(Failure::Resting(Resting { seconds }));
        }
        tokio::time::sleep(picked.pause).await;
        Ok(())
    }
}

/// Returns the cause of a failure, or `None` if it is not the upstream's.
const fn of_failure(failure: &Failure) -> Option<Cause> {
    match failure {
        Failure::Unreachable { cause, .. } => Some(Cause::NoConnection(*cause)),
        Failure::NoAnswer(_) => Some(Cause::NoAnswer),
        Failure::Closed(_) => Some(Cause::Closed),
        Failure::ReplyEncoding(_) => Some(Cause::NotAReply),
        Failure::NoCredentials => Some(Cause::KeyRefused),
        _ => None,
    }
}

/// Returns the reason for which a reply is not passed on if another upstream can be asked.
async fn of_reply(
    reply: &mut Response<Stream>,
    upstream: &Upstream,
    share: &Share,
) -> Option<Cause> {
    let cause = Cause::of_status(reply.status(), upstream.key_owner());
    if cause != Cause::Answered {
        return Some(cause);
    }
    if !reply.status().is_success() || reply.status() == StatusCode::NO_CONTENT {
        return None;
    }
    let cause = if is_page(reply) { Some(Cause::NotAReply) } else { held(reply, share).await };
    if let Some(cause) = cause {
        upstream.attempts().add(cause);
    }
    cause
}

/// Returns `true` for a success that is a page for people, as proxies send it.
fn is_page(reply: &Response<Stream>) -> bool {
    let media_type =
        reply.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let is_text = media_type.starts_with(b"text/html") || media_type.starts_with(b"text/plain");
    reply.status() == StatusCode::OK && is_text
}

/// Reads the first piece of a reply, or all of a short one that is JSON. Returns the reason for which it
/// is not passed on, if there is one. What was read is put back in any case, because the last reply is
/// passed on whatever it is.
async fn held(reply: &mut Response<Stream>, share: &Share) -> Option<Cause> {
    let (is_stream, is_json) = (is_stream(reply.headers()), is_json(reply));
    let stream = reply.body_mut();
    let (mut read, mut charge) = (BytesMut::new(), share.nothing(Use::Replies));
    let mut failure = None;
    while read.len() < MAX_HELD {
        match poll_fn(|context| stream.poll(context)).await {
            None => break,
            Some(Err(broken)) => {
                failure = Some(broken);
                break;
            }
            Some(Ok(frame)) => {
                let Ok(data) = frame.into_data() else { continue };
                read.extend_from_slice(&data);
            }
        }
        let has_room = charge.reach(read.len() as u64).await.is_ok();
        // A list in JSON is a stream of Gemini.
        let is_list = read.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
        if !has_room || is_list || (!is_json && !read.is_empty()) {
            break;
        }
    }
    let first = read.iter().find(|byte| !byte.is_ascii_whitespace());
    let cause = if failure.is_some() {
        Some(Cause::BrokeOff)
    } else if read.is_empty() || (is_json && !matches!(first, Some(b'{' | b'['))) {
        // A stream without a single event, and an empty reply, answer nothing.
        Some(Cause::NotAReply)
    } else if is_stream && read.starts_with(b"event: error") {
        Some(Cause::ServerError)
    } else {
        None
    };
    let read: Bytes = read.freeze();
    stream.put_back(charged(read, charge), failure);
    cause
}

fn is_json(reply: &Response<Stream>) -> bool {
    let media_type = reply.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    media_type.is_some_and(|media_type| media_type.starts_with(b"application/json"))
}

/// Returns the pause that a reply asks for.
fn pause(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let millis = text("retry-after-ms").and_then(|text| text.trim().parse().ok());
    if let Some(millis) = millis {
        return Some(Duration::from_millis(millis));
    }
    let text = text(RETRY_AFTER.as_str())?.trim();
    match text.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::now()).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_read_in_every_form() {
        let of = |list: &[(&'static str, &str)]| {
            let list = list.iter().map(|(name, value)| {
                (http::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
            });
            pause(&list.collect())
        };
        assert_eq!(of(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
        let both = [("retry-after", "7"), ("retry-after-ms", "250")];
        assert_eq!(of(&both), Some(Duration::from_millis(250)));
        let later = SystemTime::now() + Duration::from_secs(100);
        let later = of(&[("retry-after", &httpdate::fmt_http_date(later))]).unwrap();
        assert!((90..=100).contains(&later.as_secs()), "{later:?}");
        assert_eq!(of(&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")]), None);
        assert_eq!(of(&[("retry-after", "soon")]), None);
        assert_eq!(of(&[]), None);
    }
}
