//! The list of models: those of all upstreams and the names of `[[model]]`, as one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use photic::Wire;
use photic_net::Outgoing;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::dispatcher::Dispatcher;
use crate::config::Family;
use crate::http::{Failure, ReplyBody, headers, without_version};
use crate::upstream::{Upstream, UpstreamClient, pass_on};

/// Longest time until an upstream has sent its list.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest list of an upstream.
const MAX_LIST: usize = 4 << 20;
/// The upstreams whose lists are missing.
const MISSING: HeaderName = HeaderName::from_static("x-photic-missing");

/// The models of an upstream, as it describes them.
type Models = Vec<(String, Value)>;

impl Dispatcher {
    /// Returns `true` if a request asks for the list of models, or for one of it, and the gateway
    /// answers that itself.
    pub(super) fn is_model_list(&self, method: &Method, path: &str) -> bool {
        self.upstreams.models().merge && *method == Method::GET && asked(path).is_some()
    }

    /// Answers with the models of all upstreams, in the format of a wire.
    pub(super) async fn list_models(
        &self,
        head: &Parts,
        wire: Wire,
    ) -> Result<Response<ReplyBody>, Failure> {
        let mut asking = JoinSet::new();
        let upstreams = self.upstreams.iter().filter(|upstream| !upstream.is_behind_prefix());
        // The key of the caller is meant for one host.
        let usual = self.upstreams.choose_for_other(wire, None);
        let usual = usual.or_else(|| self.upstreams.iter().next());
        for (index, upstream) in upstreams.enumerate() {
            let Some(mut request) = request(upstream, head, wire) else { continue };
            if usual.is_some_and(|usual| usual.host() != upstream.host()) {
                upstream.drop_undecided_keys(request.headers_mut());
            }
            let (client, upstream) = (Arc::clone(&self.client), Arc::clone(upstream));
            asking.spawn(async move {
                let list = timeout(LIST_TIMEOUT, list(&client, &upstream, request)).await;
                (index, upstream, list.ok().flatten())
            });
        }
        let mut answered = asking.join_all().await;
        answered.sort_by_key(|(index, ..)| *index);
        let (mut all, mut missing) = (BTreeMap::new(), Vec::new());
        for name in self.upstreams.routes().into_iter().flat_map(|routes| routes.names()) {
            all.entry(name.to_owned()).or_insert((Value::Null, "photic".to_owned()));
        }
        for (_, upstream, models) in answered {
            match models {
                None => missing.push(upstream.name().to_owned()),
                Some(models) => {
                    let served = models.into_iter().filter(|(id, _)| self.serves(&upstream, id));
                    for (id, model) in served {
                        all.entry(id).or_insert((model, upstream.name().to_owned()));
                    }
                }
            }
        }
        let show = &self.upstreams.models().show;
        all.retain(|id, _| show.is_empty() || photic::profile::specificity(show, id).is_some());
        let mut response = written(&all, wire, asked(head.uri.path()).unwrap_or_default());
        if let Ok(names) = HeaderValue::from_str(&missing.join(", "))
            && !missing.is_empty()
        {
            response.headers_mut().insert(MISSING, names);
        }
        Ok(response)
    }

    /// Returns `true` if requests for a model of an upstream's list would be sent to it.
    fn serves(&self, upstream: &Upstream, id: &str) -> bool {
        match upstream.fits(id) {
            Some(fits) => fits,
            None => !self.upstreams.models().deny_unmatched,
        }
    }
}

/// Returns the id of the model that a path asks for: empty for the whole list.
fn asked(path: &str) -> Option<&str> {
    let rest = without_version(path).trim_end_matches('/').strip_prefix("/models")?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
}

/// Returns the request for the list of an upstream, or `None` if it has none, or the key of the caller
/// is not for it.
fn request(upstream: &Upstream, head: &Parts, wire: Wire) -> Option<Request<Outgoing>> {
    let speaks = upstream.wire().unwrap_or(wire);
    let (path, query) = match Family::of(speaks) {
        Family::ANTHROPIC => ("/v1/models", Some("limit=1000")),
        Family::GOOGLE => ("/v1beta/models", Some("pageSize=1000")),
        Family::OLLAMA => ("/api/tags", None),
        Family::OPENAI => ("/v1/models", None),
        _ => return None,
    };
    upstream.check_key(&head.headers, head.uri.query()).ok()?;
    let mut sent = head.headers.clone();
    headers::request(&mut sent);
    if Family::of(speaks) != Family::of(wire) {
        headers::translate(&mut sent, speaks, head.uri.query());
        upstream.drop_foreign_key(&mut sent, speaks);
    }
    upstream.set_credentials(&mut sent, speaks);
    sent.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let mut request = Request::new(Outgoing::empty());
    *request.uri_mut() = upstream.route(path, query)?;
    *request.headers_mut() = sent;
    Some(request)
}

/// Asks an upstream for its models.
async fn list(
    client: &UpstreamClient,
    upstream: &Upstream,
    request: Request<Outgoing>,
) -> Option<Models> {
    let reply = client.send(upstream, request).await.ok()?;
    if !reply.status().is_success() {
        return None;
    }
    let body = Limited::new(pass_on(reply).into_body(), MAX_LIST).collect().await.ok()?.to_bytes();
    let body: Value = serde_json::from_slice(&body).ok()?;
    let models = body.get("data").or_else(|| body.get("models"))?.as_array()?;
    let named = models.iter().filter_map(|model| {
        let id = ["id", "model", "name"].iter().find_map(|name| model.get(name)?.as_str())?;
        Some((id.strip_prefix("models/").unwrap_or(id).to_owned(), model.clone()))
    });
    Some(named.collect())
}

/// Writes a list, or one model of it.
fn written(
    all: &BTreeMap<String, (Value, String)>,
    wire: Wire,
    asked: &str,
) -> Response<ReplyBody> {
    let is_anthropic = Family::of(wire) == Family::ANTHROPIC;
    let one = |id: &str, (model, owner): &(Value, String)| {
        if is_anthropic {
            let own = |name: &str| model.get(name).cloned();
            let day = || json!("1970-01-01T00:00:00Z");
            json!({
                "type": "model", "id": id,
                "display_name": own("display_name").unwrap_or_else(|| json!(id)),
                "created_at": own("created_at").unwrap_or_else(day),
            })
        } else {
            let own = |name: &str| model.get(name).cloned();
            json!({
                "id": id, "object": "model",
                "created": own("created").unwrap_or_else(|| json!(0)),
                "owned_by": own("owned_by").unwrap_or_else(|| json!(owner)),
            })
        }
    };
    let id = asked.replace("%2F", "/").replace("%2f", "/").replace("%3A", ":");
    let body = if asked.is_empty() {
        let data: Vec<Value> = all.iter().map(|(id, model)| one(id, model)).collect();
        if is_anthropic {
            let (first, last) = (all.keys().next(), all.keys().next_back());
            json!({"data": data, "has_more": false, "first_id": first, "last_id": last})
        } else {
            json!({"object": "list", "data": data})
        }
    } else if let Some(model) = all.get(&id) {
        one(&id, model)
    } else {
        return Failure::NoSuchModel.render(wire);
    };
    let mut response = Response::new(ReplyBody::whole(body.to_string()));
    *response.status_mut() = StatusCode::OK;
    let json = HeaderValue::from_static("application/json");
    *response.headers_mut() = HeaderMap::from_iter([(CONTENT_TYPE, json)]);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_lists() {
        for (path, expected) in [
            ("/v1/models", Some("")),
            ("/models/", Some("")),
            ("/v1/models/gpt-5", Some("gpt-5")),
            ("/v1/models/vendor/m", Some("vendor/m")),
            ("/v1/modelsx", None),
            ("/v1beta/models", None),
            ("/v1/chat/completions", None),
        ] {
            assert_eq!(asked(path), expected, "{path}");
        }
    }
}
