//! Stage **read**: reads the whole body of a turn, and the parameters in its path and headers.

use std::sync::Arc;

use http::request::Parts;
use hyper::body::Incoming;
use photic::retention::Retention;
use photic::wire::PathParams;
use photic::{Finding, Transcript};

use super::picking::Picking;
use crate::config::NamedPrefix;
use crate::http::{Body, Bounds, Endpoint, Failure, Route, drain, headers};
use crate::memory::{Buffers, Share};
use crate::tenant::{Caller, Identity};
use crate::upstream::Picked;

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
    pub(super) endpoint: Endpoint,
    /// The path prefix that chooses the upstream.
    pub(super) prefix: Option<NamedPrefix>,
    pub(super) body: Body,
    /// The model and the kind of reply, on wires whose path names them.
    pub(super) params: PathParams,
    /// The retention that the caller chose for this request.
    pub(super) retention: Option<Retention>,
    /// The caller that lessons and cached images belong to.
    pub(super) identity: Identity,
    /// The upstream that it was picked for, if its model has several.
    pub(super) picking: Picking,
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
        let endpoint = route.endpoint().unwrap_or_else(|| route.wire().into());
        let params = endpoint.params(head.uri.path());
        let retention = match repair {
            Repair::On => headers::retention(&head.headers)?,
            Repair::Off => None,
        };
        let prefix = head.extensions.get().cloned();
        let identity = caller.identity.clone();
        let picking = Picking::default();
        Ok(Self { endpoint, prefix, body, params, retention, identity, picking })
    }

    /// Returns the request as it is sent again, to a picked upstream.
    pub(super) fn again(&self, picked: Picked) -> Self {
        Self {
            endpoint: self.endpoint,
            prefix: self.prefix.clone(),
            body: self.body.clone(),
            params: self.params.clone(),
            retention: self.retention,
            identity: self.identity.clone(),
            picking: self.picking.again(picked),
        }
    }

    /// Lifts the body into a transcript.
    pub(super) fn lift(&self) -> (Transcript<'_>, Vec<Finding>) {
        self.body.lift(self.endpoint.wire, &self.params)
    }
}
