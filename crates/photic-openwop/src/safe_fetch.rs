//! The safe-fetch endpoint of the test suite: blocked addresses are not dialed, and connections are
//! not upgraded.
//!
//! Headers of the caller are never sent; they are only checked for upgrades.

use std::net::IpAddr;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::discovery::METHODS;
use crate::exchange::Answer;
use crate::failure::Failure;
use crate::host::{FetchError, Host, Wanted};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    url: String,
    init: Option<Init>,
    simulate_rebind_to: Option<String>,
}

#[derive(Deserialize)]
struct Init {
    method: Option<String>,
    headers: Option<Value>,
}

/// Fetches a URL and answers with the outcome.
pub(crate) async fn fetch<H: Host>(
    host: &H,
    tenant: &H::Tenant,
    body: &[u8],
) -> Result<Answer, Failure> {
    let Request { url, init, simulate_rebind_to } =
        serde_json::from_slice(body).map_err(|error| Failure::unreadable("fetch", &error))?;
    let (method, headers) = init.map_or((None, None), |init| (init.method, init.headers));
    if headers.is_some_and(|headers| upgrades(&headers)) {
        return Ok(blocked("upgrade"));
    }
    let method = method.map_or_else(|| "GET".to_owned(), |method| method.to_ascii_uppercase());
    if !METHODS.contains(&method.as_str()) {
        return Err(Failure::invalid("the methods of `httpClient` are those it advertises"));
    }
    let resolves_to = simulate_rebind_to.map(|to| to.trim().parse::<IpAddr>()).transpose();
    let resolves_to =
        resolves_to.map_err(|_| Failure::invalid("`simulateRebindTo` is an IP address"))?;
    let wanted = Wanted { url: &url, most: host.limits().fetched, resolves_to };
    match host.fetch(tenant, wanted).await {
        Ok(found) => Ok(Answer::json(200, &json!({"outcome": "fetched", "status": found.status}))),
        Err(FetchError::Blocked) => Ok(blocked("ssrf")),
        Err(FetchError::TooLarge | FetchError::Failed) => Err(Failure::FetchFailed),
    }
}

fn blocked(why: &str) -> Answer {
    Answer::json(200, &json!({"outcome": "blocked", "blocked": why}))
}

/// Returns whether headers, as an object or as pairs, ask for a protocol upgrade.
fn upgrades(headers: &Value) -> bool {
    let asks = |name: &str, value: &Value| match name.trim().to_ascii_lowercase().as_str() {
        "upgrade" | "http2-settings" => true,
        "connection" => {
            let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            let mut words =
                values.iter().filter_map(Value::as_str).flat_map(|value| value.split(','));
            words.any(|word| word.trim().eq_ignore_ascii_case("upgrade"))
        }
        _ => false,
    };
    match headers {
        Value::Object(entries) => entries.iter().any(|(name, value)| asks(name, value)),
        Value::Array(pairs) => pairs.iter().filter_map(Value::as_array).any(|pair| {
            let name = pair.first().and_then(Value::as_str).unwrap_or_default();
            pair.get(1).is_some_and(|value| asks(name, value))
        }),
        _ => false,
    }
}
