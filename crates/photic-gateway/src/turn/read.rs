//! Stage **read**: reads the whole body of a turn, and the parameters in its path and headers.

use std::sync::Arc;

use http::request::Parts;
use hyper::body::Incoming;
use photic::Wire;
use photic::retention::Retention;
use photic::wire::PathParams;
use photic::{Finding, Transcript};

use crate::http::{Body, Bounds, Failure, Route, drain, headers, path_params};
use crate::memory::{Buffers, Share};
use crate::tenant::{Caller, Identity};

/// Selects if a request is repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repair {
    /// It is read, planned, and rewritten if that is needed.
    On,
    /// It is sent unchanged. It is read only to find the upstream for its model.
    Off,
}

/// A turn that was read.
#[derive(Debug)]
pub(crate) struct InboundRequest {
    pub(super) wire: Wire,
    pub(super) body: Body,
    /// The model and the kind of reply, on wires whose path names them.
    pub(super) params: PathParams,
    /// The retention that the caller chose for this request.
    pub(super) retention: Option<Retention>,
    /// The caller that lessons and cached images belong to.
    pub(super) identity: Identity,
}

/// Reads the body of a request.
pub(super) async fn read(
    mut incoming: Incoming,
    bounds: Bounds,
    buffers: &Arc<Buffers>,
    share: &Share,
) -> Result<Body, Failure> {
    let body = crate::http::read(&mut incoming, bounds, buffers, share).await;
    body.inspect_err(|_| drain(incoming))
}

impl InboundRequest {
    /// Joins a body with the parameters in the head of its request.
    ///
    /// # Errors
    ///
    /// Fails if the head names an unknown policy.
    pub(super) fn new(
        head: &Parts,
        body: Body,
        route: Route,
        repair: Repair,
        caller: &Caller,
    ) -> Result<Self, Failure> {
        let wire = route.wire();
        let params = path_params(wire, head.uri.path());
        let retention = match repair {
            Repair::On => headers::retention(&head.headers)?,
            Repair::Off => None,
        };
        Ok(Self { wire, body, params, retention, identity: caller.identity.clone() })
    }

    /// Lifts the body into a transcript.
    pub(super) fn lift(&self) -> (Transcript<'_>, Vec<Finding>) {
        self.body.lift(self.wire, &self.params)
    }
}
