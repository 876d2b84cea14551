//! Headers of requests and replies that pass through the gateway.
//!
//! Headers of one connection are removed, headers of another wire are translated, and all others are
//! passed on.

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use photic::Wire;
use photic::retention::Retention;
use photic::wire::Http;

use super::failure::Failure;

/// Passes a request through unchanged.
pub(crate) const OFF: HeaderName = HeaderName::from_static("x-photic-off");
/// Names the retention policy of this request.
const POLICY: HeaderName = HeaderName::from_static("x-photic-policy");
/// Holds the key of a tenant. It is never sent to an upstream.
pub(crate) const TENANT_KEY: HeaderName = HeaderName::from_static("x-photic-key");

/// Holds the key of clients of Azure OpenAI, on the wires of OpenAI.
const AZURE_KEY: &str = "api-key";

/// Headers that concern only one connection (RFC 9110, section 7.6.1).
const HOP_BY_HOP: [HeaderName; 8] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Returns `true` if the request must pass through unchanged.
pub(crate) fn is_off(headers: &HeaderMap) -> bool {
    headers.get(OFF).is_some_and(|value| !matches!(value.as_bytes(), b"" | b"0" | b"false"))
}

/// Returns the policy that the caller chose for this request, if any.
///
/// # Errors
///
/// Fails if there is no policy of that name.
pub(crate) fn retention(headers: &HeaderMap) -> Result<Option<Retention>, Failure> {
    let Some(value) = headers.get(POLICY) else { return Ok(None) };
    let named = value.to_str().ok().map(str::trim).and_then(Retention::from_name);
    named.map(Some).ok_or(Failure::UnknownPolicy)
}

/// Removes the headers of a request that are not passed on. The HTTP client sets host and length.
pub(crate) fn request(headers: &mut HeaderMap) {
    hop(headers);
    headers.remove(header::HOST);
    // Already answered: the server sends `100 Continue` when the body is read.
    headers.remove(header::EXPECT);
    headers.remove(OFF);
    headers.remove(POLICY);
    headers.remove(TENANT_KEY);
}

/// Removes the headers of a reply that are not passed on.
pub(crate) fn reply(headers: &mut HeaderMap) {
    hop(headers);
}

/// Translates the headers of a request for another wire.
///
/// The key moves to the header in which that wire expects it. Compressed replies are no longer
/// accepted, because a compressed reply cannot be translated. Gemini's key may come in the query.
pub(crate) fn translate(headers: &mut HeaderMap, to: Wire, query: Option<&str>) {
    headers.remove(header::ACCEPT_ENCODING);
    headers.remove(header::CONTENT_ENCODING);
    let key = take_key(headers, query);
    let own = to.http();
    drop_all(headers, |name| {
        let is_of =
            |http: &Http| http.header_prefixes.iter().any(|it| name.as_str().starts_with(it));
        let is_foreign = Wire::ALL.iter().any(|wire| is_of(wire.http()));
        is_foreign && (own.signs_requests || !is_of(own))
    });
    for (name, value) in own.required_headers {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    let (name, before) = to.key_header();
    let value = key.map(|key| [before.as_bytes(), &key].concat());
    if let Some(mut value) = value.and_then(|value| HeaderValue::from_bytes(&value).ok()) {
        value.set_sensitive(true);
        headers.insert(name, value);
    }
}

/// Removes and returns the key of a request, from whichever header or parameter holds it. A signature
/// is not a key, because it is valid for one body only.
fn take_key(headers: &mut HeaderMap, query: Option<&str>) -> Option<Vec<u8>> {
    let bearer = headers.remove(header::AUTHORIZATION);
    let bearer = bearer.as_ref().and_then(|bearer| {
        let (scheme, key) = bearer.as_bytes().split_at_checked("Bearer ".len())?;
        scheme.eq_ignore_ascii_case(b"Bearer ").then(|| key.to_vec())
    });
    let names = Wire::ALL.iter().map(|wire| wire.key_header().0).chain([AZURE_KEY]);
    let in_headers: Vec<_> = names.filter_map(|name| headers.remove(name)).collect();
    let in_header = in_headers.first().map(|key| key.as_bytes().to_vec());
    let mut pairs = query.into_iter().flat_map(|query| query.split('&'));
    let in_query = pairs.find_map(|pair| pair.strip_prefix("key="));
    bearer.or(in_header).or_else(|| in_query.map(|key| key.as_bytes().to_vec()))
}

/// Removes the headers that concern only one connection.
fn hop(headers: &mut HeaderMap) {
    // Headers that `Connection` lists concern only this connection, too.
    if headers.contains_key(header::CONNECTION) {
        let named: Vec<HeaderName> = headers
            .get_all(header::CONNECTION)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .filter_map(|name| name.trim().parse().ok())
            .collect();
        for name in named {
            headers.remove(name);
        }
    }
    // Usually there are none, and looking is cheaper than removing.
    if headers.keys().any(|name| HOP_BY_HOP.contains(name)) {
        for name in &HOP_BY_HOP {
            headers.remove(name);
        }
    }
}

fn drop_all(headers: &mut HeaderMap, which: impl Fn(&HeaderName) -> bool) {
    let names: Vec<HeaderName> = headers.keys().filter(|name| which(name)).cloned().collect();
    for name in names {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(list: &[(&'static str, &'static str)]) -> HeaderMap {
        list.iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn what_concerns_one_connection_stays_behind() {
        let mut map = headers(&[
            ("connection", "keep-alive, x-mine"),
            ("x-mine", "1"),
            ("te", "trailers"),
            ("host", "gateway"),
            ("expect", "100-continue"),
            ("x-photic-off", "1"),
            ("authorization", "Bearer k"),
            ("x-other", "stays"),
        ]);
        request(&mut map);
        assert_eq!(map, headers(&[("authorization", "Bearer k"), ("x-other", "stays")]));
    }

    #[test]
    fn keys_go_where_the_wire_looks_for_them() {
        let mut map =
            headers(&[("x-api-key", "k"), ("anthropic-beta", "x"), ("accept-encoding", "br")]);
        translate(&mut map, Wire::OpenAiChat, None);
        assert_eq!(map, headers(&[("authorization", "Bearer k")]));
        translate(&mut map, Wire::Anthropic, None);
        assert_eq!(map, headers(&[("x-api-key", "k"), ("anthropic-version", "2023-06-01")]));
        translate(&mut map, Wire::Gemini, None);
        assert_eq!(map, headers(&[("x-goog-api-key", "k")]));
        translate(&mut map, Wire::Ollama, None);
        assert_eq!(map, headers(&[("authorization", "Bearer k")]));
        let mut map = headers(&[("api-key", "k")]);
        translate(&mut map, Wire::Anthropic, None);
        assert_eq!(map, headers(&[("x-api-key", "k"), ("anthropic-version", "2023-06-01")]));
        // A signature is valid only for the body that was signed, so it is not passed on.
        let mut map = headers(&[("authorization", "AWS4-HMAC-SHA256 x"), ("x-amz-date", "y")]);
        translate(&mut map, Wire::OpenAiChat, Some("alt=sse&key=q"));
        assert_eq!(map, headers(&[("authorization", "Bearer q")]));
    }

    #[test]
    fn a_policy_is_chosen_by_name() {
        let chosen = |name: &'static str| retention(&headers(&[("x-photic-policy", name)]));
        assert_eq!(chosen("priced").unwrap(), Some(Retention::Priced));
        assert_eq!(chosen(" newest(4) ").unwrap(), Some(Retention::Newest(4)));
        assert_eq!(retention(&HeaderMap::new()).unwrap(), None);
        for wrong in ["", "Priced", "newest", "some"] {
            let says = chosen(wrong).unwrap_err().to_string();
            assert!(says.contains("priced, turns(K), newest(N), all"), "{says}");
        }
        let mut map = headers(&[("x-photic-policy", "all")]);
        request(&mut map);
        assert!(map.is_empty());
    }

    #[test]
    fn off_means_off() {
        assert!(is_off(&headers(&[("x-photic-off", "1")])));
        assert!(!is_off(&headers(&[("x-photic-off", "0")])));
        assert!(!is_off(&HeaderMap::new()));
    }
}
