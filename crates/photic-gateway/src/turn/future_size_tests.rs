//! Tests that the futures between the stages of a turn are small.
//!
//! A future is moved when it is created, and holds everything that lives across its waits. One that
//! holds another large one is moved with it, for each request. Such futures are boxed.

use std::net::IpAddr;
use std::sync::Arc;

use http::request::Parts;
use http::{HeaderMap, Request};
use hyper::body::Incoming;

use super::heal::Healer;
use super::lower::{OutboundRequest, RequestToRecord};
use super::read::{InboundRequest, Repair};
use super::recall::RecalledRequest;
use super::record::TurnRecorder;
use super::send::{Delivery, send};
use super::turns::Turns;
use crate::dispatch::{Dispatcher, Entry};
use crate::http::{Body, Route};
use crate::media::MissingInputs;
use crate::memory::Share;
use crate::observe::RequestLog;
use crate::tenant::Admitted;
use crate::upstream::UpstreamClient;

/// Maximum size of a future in bytes.
const MAX_SIZE: usize = 2 << 10;

/// Returns the size of the futures that a function creates. It is not called.
fn size<A, F: Future>(_: impl FnOnce(A) -> F) -> usize {
    size_of::<F>()
}

type Turned<'t> = (&'t Turns, Route, Repair, &'t Admitted, &'t mut RequestLog);
type Healed<'t> = (Healer<'t>, Delivery<'t>, Arc<RecalledRequest>, &'t mut OutboundRequest);
type Recorded<'t> = (&'t TurnRecorder, Arc<RecalledRequest>, RequestToRecord, MissingInputs, Share);

#[test]
fn every_hand_over_is_small() {
    let sizes = [
        (
            "answer a request",
            size(|(this, request, entry, peer): (Arc<Dispatcher>, _, Arc<Entry>, IpAddr)| {
                this.answer(request, entry, peer, false)
            }),
        ),
        (
            "forward it",
            size(
                |(this, route, request, peer, log): (Arc<Dispatcher>, _, _, _, &'static mut _)| {
                    this.forward(route, request, peer, log)
                },
            ),
        ),
        (
            "answer a turn",
            size(
                |((turns, route, repair, admitted, log), request): (
                    Turned<'static>,
                    Request<Incoming>,
                )| { turns.answer(route, repair, request, admitted, log) },
            ),
        ),
        (
            "answer a turn that was read",
            size(
                |((turns, route, repair, admitted, log), read): (
                    Turned<'static>,
                    (&'static mut Parts, Body),
                )| { turns.answer_read(route, repair, read, admitted, log) },
            ),
        ),
        (
            "repair",
            size(
                |(turns, inbound, admitted): (
                    &'static Turns,
                    &'static Arc<InboundRequest>,
                    &'static Admitted,
                )| { turns.repair(inbound, admitted) },
            ),
        ),
        (
            "send",
            size(
                |(client, delivery, outbound): (
                    &'static UpstreamClient,
                    Delivery<'static>,
                    &'static mut OutboundRequest,
                )| { send(client, delivery, outbound) },
            ),
        ),
        (
            "heal",
            size(|(healer, delivery, recalled, outbound): Healed<'static>| {
                healer.send(delivery, recalled, outbound)
            }),
        ),
        (
            "post",
            size(
                |(delivery, client, outbound, headers): (
                    &'static Delivery<'static>,
                    &'static UpstreamClient,
                    &'static OutboundRequest,
                    HeaderMap,
                )| { delivery.post(client, outbound, headers, Vec::new()) },
            ),
        ),
        (
            "record",
            size(|(recorder, recalled, request, missing, share): Recorded<'static>| {
                recorder.record(recalled, request, missing, share, None)
            }),
        ),
        (
            "go on with a conversation",
            size(
                |(turns, inbound, admitted): (
                    &'static Turns,
                    &'static Arc<InboundRequest>,
                    &'static Admitted,
                )| { turns.continued(inbound, admitted) },
            ),
        ),
    ];
    let large: Vec<_> = sizes.iter().filter(|(_, size)| *size > MAX_SIZE).collect();
    assert!(large.is_empty(), "box what they hold: {large:?} of {sizes:?}");
}
