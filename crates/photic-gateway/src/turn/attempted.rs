//! A request that was sent to one upstream, with its answer.

use std::sync::Arc;

use http::Response;

use super::client_words::Recovering;
use super::lower::OutboundRequest;
use super::recall::RecalledRequest;
use super::send::AnsweredRequest;
use crate::http::ReplyBody;

/// A request that was sent to one upstream.
#[derive(Debug)]
pub(super) enum Attempted {
    Sent(Box<SentRequest>),
    /// The answer is the estimate of the gateway.
    Estimated(Box<Response<ReplyBody>>),
}

/// A request that an upstream answered.
#[derive(Debug)]
pub(super) struct SentRequest {
    pub(super) answered: AnsweredRequest,
    pub(super) outbound: OutboundRequest,
    pub(super) to_record: Option<Arc<RecalledRequest>>,
    pub(super) recovering: Option<Recovering>,
}
