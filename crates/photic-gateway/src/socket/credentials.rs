//! The credentials of a socket.

use std::net::IpAddr;
use std::sync::Arc;

use http::HeaderMap;

use crate::http::Failure;
use crate::tenant::{Admission, Admitted, KeyPlace};

/// The head of the request that opened the socket. Each response is admitted by it.
#[derive(Debug)]
pub(super) struct Credentials {
    pub(super) admission: Arc<Admission>,
    pub(super) headers: HeaderMap,
    pub(super) query: Option<String>,
    pub(super) peer: IpAddr,
    /// Texts of the head that the upstream may quote.
    pub(super) quotable: Vec<String>,
}

impl Credentials {
    /// Admits a response.
    pub(super) async fn admit(&self) -> Result<Admitted, Failure> {
        let Self { admission, headers, query, peer, .. } = self;
        admission.admit(headers, query.as_deref(), *peer, KeyPlace::OwnHeader).await
    }
}
