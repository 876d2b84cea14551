//! HTTP connections of a bucket, made with photic-net like all others.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt as _;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
    HttpResponse, HttpResponseBody, HttpService,
};
use photic_net::{Client, Error, Outgoing, Timeouts};

/// A change of the body after the request was signed.
pub(crate) type Tampering = Arc<dyn Fn(Vec<Bytes>) -> Vec<Bytes> + Send + Sync>;

/// Connections to the server of a bucket. Clones share them.
#[derive(Clone)]
pub(crate) struct Connections {
    client: Client,
    tampering: Option<Tampering>,
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connections")
            .field("tampers", &self.tampering.is_some())
            .finish_non_exhaustive()
    }
}

impl Default for Connections {
    fn default() -> Self {
        let timeouts = Timeouts {
            connect: Duration::from_secs(3),
            answer: Duration::from_secs(30),
            ..Timeouts::default()
        };
        Self { client: Client::new(timeouts), tampering: None }
    }
}

impl Connections {
    /// Creates connections that change bodies, to test whether the server detects it.
    pub(crate) fn tampering(with: Tampering) -> Self {
        Self { tampering: Some(with), ..Self::default() }
    }
}

impl HttpConnector for Connections {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Connections {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (head, body) = request.into_parts();
        let mut body = pieces(body).await?;
        if let Some(tampering) = &self.tampering {
            body = tampering(body);
        }
        let request = Request::from_parts(head, Outgoing::pieces(body));
        let reply = self.client.send(request).await.map_err(|error| {
            let kind = match error {
                Error::Connect { .. } => HttpErrorKind::Connect,
                Error::Timeout => HttpErrorKind::Timeout,
                Error::Closed(_) => HttpErrorKind::Request,
                Error::TooLarge | Error::BodyBrokeOff => HttpErrorKind::Unknown,
            };
            HttpError::new(kind, error)
        })?;
        let (head, body) = reply.into_parts();
        let body = body.map_err(|error| HttpError::new(HttpErrorKind::Interrupted, error));
        Ok(HttpResponse::from_parts(head, HttpResponseBody::new(body)))
    }
}

/// Collects the chunks of a body without copying them.
async fn pieces(mut body: HttpRequestBody) -> Result<Vec<Bytes>, HttpError> {
    let mut pieces = Vec::new();
    while let Some(frame) = body.frame().await {
        pieces.extend(frame?.into_data());
    }
    Ok(pieces)
}
