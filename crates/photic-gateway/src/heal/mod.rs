//! A rejection that blames media is an instruction: the request is planned again within it and
//! sent again, at most twice, and never once a byte of a reply was passed on.
//!
//! What was tried is remembered only if it helped, for whoever asked, and only if the rejection said
//! it in its own words: one that quotes the request may be obeyed, but proves nothing. A request
//! without media is sent once, and its rejection is not even read.

mod diagnose;
mod read;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use photic::Wire;
use photic::rejection::{Class, Said, classify};
use photic_net::Outgoing;

use diagnose::Diagnosis;

use crate::failure::Failure;
use crate::fetching::FetchedInputs;
use crate::fix::{OutboundRequest, RepairLevel, Supplies};
use crate::fixes::Fixes;
use crate::intake::Body;
use crate::learned::{Entry, Evidence, Lesson};
use crate::memory::Share;
use crate::pixel_work::Allowance;
use crate::proxy::Proxy;
use crate::reply::Stream;
use crate::watch::Outcome;

/// How often a request is sent again.
const RETRIES: usize = 2;

/// A turn of a conversation, as far as sending it goes.
pub(crate) struct Turn<'t> {
    /// The wire of whoever asks.
    pub(crate) caller: Wire,
    /// The body that came in.
    pub(crate) body: Body,
    /// What is sent with it.
    pub(crate) headers: HeaderMap,
    /// Where it goes.
    pub(crate) path: &'t str,
    pub(crate) query: Option<&'t str>,
    /// The memory that it is charged to.
    pub(crate) share: &'t Share,
}

/// A request that was answered, one way or the other.
pub(crate) struct Sent {
    /// As it was sent last. Its pieces are gone, and with them the buffer of the body.
    pub(crate) order: OutboundRequest,
    pub(crate) reply: Response<Stream>,
    /// For a request that carried media.
    pub(crate) outcome: Option<Outcome>,
}

/// The rejection that a request got before anything was tried.
struct First {
    reply: Response<Stream>,
    fixes: Fixes,
}

/// What was tried against rejections.
#[derive(Clone, Debug, Default)]
struct Tried {
    entries: Vec<Entry>,
    /// Whether some of it rests on words that the request holds itself.
    is_echo: bool,
}

/// Sends a request, and again where a rejection says how.
pub(crate) async fn send(
    proxy: &Arc<Proxy>,
    mut turn: Turn<'_>,
    mut order: OutboundRequest,
) -> Result<Sent, Failure> {
    if order.carried.is_none() {
        let pieces = std::mem::take(&mut order.pieces);
        let headers = std::mem::take(&mut turn.headers);
        // Whoever reads the body no more gives its buffer back.
        turn.body = Body::default();
        let reply = turn.post(proxy, &order, headers, pieces).await?;
        order.let_go();
        return Ok(Sent { order, reply, outcome: None });
    }
    // A rejection has to be read, and what a reply cost: neither may come compressed.
    turn.headers.remove(ACCEPT_ENCODING);
    let mut outcome = Outcome::default();
    let mut tried = Tried::default();
    let mut first: Option<First> = None;
    loop {
        // What can be made again from names is not held while the model thinks.
        let by_name = !turn.body.recalled.media.is_empty();
        let pieces = if by_name { std::mem::take(&mut order.pieces) } else { order.pieces.clone() };
        let reply = turn.post(proxy, &order, turn.headers.clone(), pieces).await?;
        let status = reply.status();
        if !says_why(status) {
            if status.is_success() && !tried.entries.is_empty() && !tried.is_echo {
                remember(proxy, tried.entries).await;
            }
            order.let_go();
            return Ok(Sent { order, reply, outcome: Some(outcome) });
        }
        let (reply, text) = read::whole(reply).await;
        let rejection = text.map(|text| (classify(Some(status.as_u16()), &text), text));
        let is_ours =
            rejection.as_ref().is_some_and(|(rejection, _)| rejection.class != Class::Unrelated);
        let can_try = outcome.healed.len() < RETRIES;
        if let Some((rejection, answer)) = rejection.filter(|_| is_ours && can_try) {
            let (status, tries) = (status.as_u16(), outcome.healed.len());
            outcome.healed.push(rejection.class);
            let diagnosis = Diagnosis { status, answer, rejection, tries };
            if let Some(better) = again(proxy, &turn, &mut order, &mut tried, diagnosis).await {
                let fixes = std::mem::replace(&mut order, better).fixes;
                first.get_or_insert(First { reply, fixes });
                continue;
            }
            outcome.healed.pop();
        }
        order.let_go();
        // Nothing helped. The first rejection is about the request as it was meant; but one that
        // is not about media says what would still be wrong.
        return Ok(match first.filter(|_| is_ours) {
            Some(First { reply, fixes }) => {
                outcome.healed.clear();
                order.fixes = fixes;
                Sent { order, reply, outcome: Some(outcome) }
            }
            None => Sent { order, reply, outcome: Some(outcome) },
        });
    }
}

impl Turn<'_> {
    /// What an endpoint may quote beside the body: the address, and every header.
    fn spoken(&self) -> Vec<String> {
        let headers = self.headers.iter().flat_map(|(name, value)| {
            [name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()]
        });
        let address = std::iter::once(self.path).chain(self.query).map(str::to_owned);
        headers.chain(address).collect()
    }

    async fn post(
        &self,
        proxy: &Proxy,
        order: &OutboundRequest,
        headers: HeaderMap,
        pieces: Vec<Bytes>,
    ) -> Result<Response<Stream>, Failure> {
        let uri = order.upstream.route(self.path, self.query).ok_or(Failure::BadPath)?;
        let signed = order.upstream.signer().map(|_| pieces.clone()).unwrap_or_default();
        let mut outgoing = Request::new(Outgoing::pieces(pieces));
        *outgoing.method_mut() = Method::POST;
        *outgoing.uri_mut() = uri;
        *outgoing.headers_mut() = headers;
        // The client writes the length of what it sends.
        outgoing.headers_mut().remove(CONTENT_LENGTH);
        if let Some(signer) = order.upstream.signer() {
            let (mut head, body) = outgoing.into_parts();
            signer.sign(&mut head, &signed).await?;
            outgoing = Request::from_parts(head, body);
        }
        drop(signed);
        proxy.send(order.upstream.host(), outgoing).await
    }
}

/// Whether a reply of this status may be about what was sent. Some local servers call a picture
/// they cannot read a fault of their own.
fn says_why(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 404 | 406 | 413 | 415 | 422 | 500)
}

/// The request as it should have been, if that is another one; what was tried gets longer.
async fn again(
    proxy: &Arc<Proxy>,
    turn: &Turn<'_>,
    order: &mut OutboundRequest,
    tried: &mut Tried,
    diagnosis: Diagnosis,
) -> Option<OutboundRequest> {
    let (caller, body, wire) = (turn.caller, turn.body.clone(), order.wire);
    let (host, model) = (order.upstream.host().to_owned(), order.carried.as_ref()?.model.clone());
    let (pieces, before, mut all) = (order.pieces.clone(), tried.clone(), tried.clone());
    let teacher = turn.body.identity.clone();
    let entry = move |lesson, said: &str| {
        let (host, model, teacher) = (host.clone(), model.clone(), teacher.clone());
        let evidence = Evidence::now(diagnosis.status, said);
        Entry { host, model, wire: None, lesson, teacher, evidence }
    };
    let mut found = FetchedInputs::default();
    if diagnosis.rejection.class == Class::FetchFailed {
        // What the provider could not fetch, we perhaps can.
        all.entries.push(entry(Lesson::NoAddresses, ""));
        found = proxy.workshop.gather_trying(caller, &body, &all.entries, turn.share).await.ok()?;
        all.entries.pop();
    }
    let fetched = found.has_pictures();
    // Mostly at hand since the first time.
    let mut gathered = if fetched {
        found
    } else {
        proxy.workshop.gather_trying(caller, &body, &all.entries, turn.share).await.ok()?
    };
    let spoken = turn.spoken();
    let shared = Arc::clone(proxy);
    let held = gathered.take_charges();
    let work = move |allowance: &Allowance| {
        let effort = RepairLevel::Full(Supplies::with_pixels(&gathered, allowance));
        // Both requests are compared, each in one piece.
        if !allowance.made(2 * body.bytes.len() as u64) {
            return None;
        }
        let order = |tried: &[Entry]| shared.workshop.order(caller, &body, effort, tried).ok();
        let sent = if pieces.is_empty() { order(&before.entries)?.pieces } else { pieces }.concat();
        let mut said: Vec<Said<'_>> = spoken.iter().map(|text| Said::Text(text)).collect();
        said.push(Said::Json(&sent));
        let own = diagnosis.in_own_words(&said);
        let lessons = if fetched {
            all.is_echo |= own.rejection.class != diagnosis.rejection.class;
            vec![Lesson::NoAddresses]
        } else {
            let lessons = diagnosis.lessons(wire, &sent);
            let is_own =
                own.rejection == diagnosis.rejection || own.lessons(wire, &sent) == lessons;
            all.is_echo |= !is_own;
            lessons
        };
        let said = &own.rejection.text;
        all.entries.extend(lessons.into_iter().map(|lesson| entry(lesson, said)));
        let better = order(&all.entries)?;
        // The same request would get the same answer.
        (better.pieces.concat() != sent).then_some((better, all))
    };
    // Work that fails takes this attempt with it, and nothing else.
    let (done, charge) = proxy.pixels.run(turn.share, work).await.ok()?;
    let (mut better, all) = done?;
    better.held = held;
    better.held.push(charge);
    *tried = all;
    Some(better)
}

/// Before the reply is passed on: what helped once is known for the next request.
async fn remember(proxy: &Arc<Proxy>, tried: Vec<Entry>) {
    let shared = Arc::clone(proxy);
    let _ = tokio::task::spawn_blocking(move || shared.workshop.learned.remember(&tried)).await;
}
