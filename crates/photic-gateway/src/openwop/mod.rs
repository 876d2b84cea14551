//! The gateway as an openwop host: what the protocol needs, from what is there. Calls take the way
//! of every conversation; media are those that tenants upload; addresses are fetched by the guard.
//!
//! A tenant's key goes no further, and nothing that an upstream says of itself comes back.

mod desk;
mod objects;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use photic_net::fetch::{Fetch, Resolve, Resolving, Rules, System};
use photic_openwop::{Answer, HostError, Limits, Modality, OpenwopRequest, TrustBasis};
use tokio::sync::{Mutex, Semaphore};

pub(crate) use objects::Objects;

use crate::account::RequestLog;
use crate::config::{Config, ConfigError, FetchMode};
use crate::failure::Failure;
use crate::intake;
use crate::proxy::Proxy;
use crate::reply::ReplyBody;
use desk::OpenwopHost;

const VERSION: HeaderName = HeaderName::from_static("openwop-version");
/// How many addresses are fetched at once, for all calls together.
const AT_ONCE: usize = 8;
/// When to try again, where nobody knows better.
const LATER_S: u32 = 60;

/// What the operator made of it.
#[derive(Debug)]
pub(crate) struct Openwop {
    modalities: Vec<Modality>,
    limits: Limits,
    providers: Vec<String>,
    model: Option<String>,
    basis: TrustBasis,
    /// Nothing, where nothing may be fetched.
    fetch: Option<(Rules, Fetch)>,
    fetches: Semaphore,
    objects: Option<Objects>,
}

/// A name that goes by one address, whatever it is called.
#[derive(Debug)]
struct Only(IpAddr);

impl Resolve for Only {
    fn resolve<'a>(&'a self, _: &'a str) -> Resolving<'a> {
        Box::pin(async move { Ok(vec![self.0]) })
    }
}

impl Openwop {
    /// The host, where one is wanted; with objects, if they are still there on the next request.
    pub(crate) fn new(
        config: &Config,
        objects: Option<Objects>,
    ) -> Result<Option<Self>, ConfigError> {
        let (own, fetch) = (&config.openwop, &config.fetch);
        if !own.enabled {
            return Ok(None);
        }
        let known = [Modality::Image, Modality::Audio, Modality::Document];
        let mut modalities = Vec::new();
        for name in &own.modalities {
            let found = known.into_iter().find(|known| known.name() == name);
            modalities.push(found.ok_or_else(|| ConfigError::Value {
                key: "openwop.modalities".to_owned(),
                problem: format!("`{name}` is none of `image`, `audio` and `document`"),
            })?);
        }
        let mib = |mib: u32| (mib.max(1) as usize) << 20;
        let rules = Rules {
            hosts: fetch.hosts.clone(),
            not_hosts: fetch.not_hosts.clone(),
            private: fetch.private.clone(),
            max_bytes: mib(fetch.max_mib),
            total: Duration::from_secs(fetch.timeout_s.into()),
            // What bytes are is looked at where they are used.
            ..Rules::new(|_| true)
        };
        let guarded = Fetch::new(rules.clone(), Arc::new(System));
        Ok(Some(Self {
            modalities,
            limits: Limits {
                part: mib(own.part_mib),
                // As bytes; in a body they would be base64.
                call: mib(config.limits.body_mib) / 4 * 3,
                object: objects.as_ref().map(|_| objects::LARGEST),
                fetched: mib(fetch.max_mib),
                fetch_ms: fetch.timeout_s.saturating_mul(1000),
            },
            providers: own.providers.clone(),
            model: own.model.clone(),
            basis: if own.trust_callers { TrustBasis::Caller } else { TrustBasis::Nobody },
            fetch: (fetch.mode != FetchMode::Never).then_some((rules, guarded)),
            fetches: Semaphore::new(AT_ONCE),
            objects,
        }))
    }
}

/// Answers a request of the protocol.
pub(crate) async fn answer(
    proxy: &Arc<Proxy>,
    openwop: &Openwop,
    request: Request<Incoming>,
    peer: IpAddr,
    account: &mut RequestLog,
) -> Response<ReplyBody> {
    let (parts, mut incoming) = request.into_parts();
    let path = parts.uri.path();
    let path = path.strip_suffix('/').unwrap_or(path);
    let admitted = if photic_openwop::is_public(path) {
        Ok(None)
    } else {
        match proxy.admit(&parts.headers, None, peer, true).await {
            Ok(admitted) => Ok(Some(Arc::new(admitted))),
            Err(Failure::NoKey) => Ok(None),
            Err(failure) => Err(of_store(&failure)),
        }
    };
    let mut body = bytes::Bytes::new();
    if let Ok(Some(admitted)) = &admitted {
        match intake::read(&mut incoming, proxy.bounds, &proxy.buffers, &admitted.share).await {
            Ok(read) => body = read.bytes,
            Err(failure) => {
                intake::drain(incoming);
                return flat(&failure);
            }
        }
    } else {
        intake::drain(incoming);
    }
    account.bytes_in = body.len() as u64;
    let value = |name: HeaderName| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let asked = OpenwopRequest {
        method: parts.method.as_str(),
        path,
        // Whoever it is was found out above.
        bearer: None,
        version: value(VERSION),
        if_none_match: value(header::IF_NONE_MATCH),
        content_type: value(header::CONTENT_TYPE),
        body,
    };
    let desk = OpenwopHost {
        proxy,
        openwop,
        admitted,
        headers: for_providers(parts.headers.clone()),
        account: Mutex::new(account),
    };
    told(photic_openwop::answer(&desk, asked).await)
}

/// What went wrong before the protocol was asked, in its envelope.
pub(crate) fn flat(failure: &Failure) -> Response<ReplyBody> {
    let body = serde_json::json!({"error": failure.code(), "message": failure.to_string()});
    let mut response = Response::new(ReplyBody::whole(body.to_string()));
    *response.status_mut() = failure.status();
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

fn told(answer: Answer) -> Response<ReplyBody> {
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

/// What a provider may see of the headers of a call: its own key, and nothing about the call.
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

fn of_store(failure: &Failure) -> HostError {
    match failure {
        Failure::OverQuota(over) => {
            let seconds = over.retry_after.map(|after| after.as_secs().max(1));
            let retry_after_s = seconds.and_then(|seconds| u32::try_from(seconds).ok());
            HostError::Quota { retry_after_s: retry_after_s.unwrap_or(LATER_S) }
        }
        Failure::NoRoom => HostError::Busy,
        Failure::NoStore => HostError::NoStore,
        Failure::NotAPicture => HostError::NotTaken,
        _ => HostError::Unavailable,
    }
}
