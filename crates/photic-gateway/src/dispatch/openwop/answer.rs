//! Answers requests of the openwop protocol.
//!
//! Calls pass through the stages of a turn, media are those that tenants upload, and URLs are fetched
//! under the gateway's rules. A tenant's key is never sent to an upstream, and error texts of an
//! upstream are never sent to the client.

use std::net::IpAddr;
use std::sync::Arc;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use photic_openwop::{Answer, OpenwopRequest};
use tokio::sync::Mutex;

use super::host::OpenwopHost;
use super::objects::Objects;
use super::settings::{Settings, of_store};
use crate::config::{Config, ConfigError};
use crate::http::{Failure, ReplyBody, drain, read};
use crate::media::MediaLibrary;
use crate::observe::RequestLog;
use crate::tenant::KeyPlace;
use crate::turn::Turns;

/// The header with the version of the protocol.
const VERSION: HeaderName = HeaderName::from_static("openwop-version");

/// The gateway as an openwop host.
#[derive(Debug)]
pub(crate) struct Openwop {
    settings: Settings,
    /// Set if the gateway has a store.
    library: Option<Arc<MediaLibrary>>,
}

impl Openwop {
    /// Creates the host if it is enabled. `objects` live in this process, so they are set only if the
    /// next request reaches this process, too.
    pub(crate) fn new(
        config: &Config,
        objects: Option<Objects>,
        library: Option<Arc<MediaLibrary>>,
    ) -> Result<Option<Self>, ConfigError> {
        let settings = Settings::new(config, objects)?;
        Ok(settings.map(|settings| Self { settings, library }))
    }
}

impl Openwop {
    /// Answers a request of the protocol.
    pub(in crate::dispatch) async fn answer(
        &self,
        turns: &Turns,
        request: Request<Incoming>,
        peer: IpAddr,
        log: &mut RequestLog,
    ) -> Response<ReplyBody> {
        let (parts, mut incoming) = request.into_parts();
        let path = parts.uri.path();
        let path = path.strip_suffix('/').unwrap_or(path);
        let admitted = if photic_openwop::is_public(path) {
            Ok(None)
        } else {
            let place = KeyPlace::OwnHeaderOrBearer;
            match turns.admission.admit(&parts.headers, None, peer, place).await {
                Ok(admitted) => Ok(Some(Arc::new(admitted))),
                Err(Failure::NoKey | Failure::NoCallerKey | Failure::Token(_)) => Ok(None),
                Err(failure) => Err(of_store(&failure)),
            }
        };
        let mut body = bytes::Bytes::new();
        if let Ok(Some(admitted)) = &admitted {
            let bounds = turns.client.bounds();
            match read(&mut incoming, bounds, &turns.buffers, &admitted.share).await {
                Ok(read) => body = read.bytes,
                Err(failure) => {
                    drain(incoming);
                    return flat(&failure);
                }
            }
        } else {
            drain(incoming);
        }
        log.bytes_in = body.len() as u64;
        if let Ok(Some(admitted)) = &admitted {
            log.caller.clone_from(&admitted.caller.named);
        }
        let value =
            |name: HeaderName| parts.headers.get(name).and_then(|value| value.to_str().ok());
        let asked = OpenwopRequest {
            method: parts.method.as_str(),
            path,
            // The caller was identified above.
            bearer: None,
            version: value(VERSION),
            if_none_match: value(header::IF_NONE_MATCH),
            content_type: value(header::CONTENT_TYPE),
            body,
        };
        let host = OpenwopHost {
            turns,
            settings: &self.settings,
            library: self.library.as_deref(),
            admitted,
            headers: for_providers(parts.headers.clone()),
            log: Mutex::new(log),
        };
        response(photic_openwop::answer(&host, asked).await)
    }
}

/// Renders a failure of the gateway in the error format of the protocol.
pub(in crate::dispatch) fn flat(failure: &Failure) -> Response<ReplyBody> {
    let body = serde_json::json!({"error": failure.code(), "message": failure.to_string()});
    let mut response = Response::new(ReplyBody::whole(body.to_string()));
    *response.status_mut() = failure.status();
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// Converts an answer of the protocol to an HTTP response.
fn response(answer: Answer) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::whole(answer.body));
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in answer.headers {
        let name = HeaderName::try_from(name);
        if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// Removes the headers of a call that the provider must not see. Its own key stays.
fn for_providers(mut headers: HeaderMap) -> HeaderMap {
    for name in [
        VERSION,
        header::ACCEPT,
        header::ACCEPT_ENCODING,
        header::CONTENT_ENCODING,
        header::CONTENT_LENGTH,
        header::IF_NONE_MATCH,
    ] {
        headers.remove(name);
    }
    let own = |value: &HeaderValue| value.as_bytes().starts_with(b"Bearer pk_");
    if headers.get(header::AUTHORIZATION).is_some_and(own) {
        headers.remove(header::AUTHORIZATION);
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers
}
