//! The discovery document of the host, for both versions of the protocol. Every capability is at
//! the root of the document. Only what is served is advertised.

use serde_json::{Map, Value, json};

use crate::exchange::{Answer, Version};
use crate::host::{Host, Limits, Provider};
use crate::modality::Modality;

/// Methods of the guarded fetch. Others are refused.
pub(crate) const METHODS: [&str; 1] = ["GET"];

/// Answers with the document, or with `304` if the client has it.
pub(crate) fn discover<H: Host>(host: &H, version: Version, if_none_match: Option<&str>) -> Answer {
    let document = match version {
        Version::One => first(host),
        Version::Two => second(host),
    };
    let tag = format!("\"{}\"", &blake3::hash(document.to_string().as_bytes()).to_hex()[..32]);
    let known = if_none_match.is_some_and(|known| knows(known, &tag));
    let answer = if known {
        Answer { status: 304, headers: Vec::new(), body: bytes::Bytes::new() }
    } else {
        Answer::json(200, &document)
    };
    let answer = match version {
        Version::One => answer.with("Capabilities-Etag", &*tag),
        Version::Two => answer,
    };
    answer
        .with("ETag", tag)
        .with("Cache-Control", "public, max-age=60")
        .with("Vary", "OpenWOP-Version")
}

fn knows(if_none_match: &str, tag: &str) -> bool {
    let known = if_none_match.split(',').map(str::trim);
    known
        .map(|known| known.strip_prefix("W/").unwrap_or(known))
        .any(|known| known == tag || known == "*")
}

fn first<H: Host>(host: &H) -> Value {
    let limits = host.limits();
    json!({
        "protocolVersion": "1.0",
        "protocolVersions": ["1.0", "2.0"],
        "preferredVersion": "1.0",
        "implementation": implementation(),
        // The host runs no workflows, so it emits nothing and plays no rounds.
        "supportedEnvelopes": [],
        "schemaVersions": {},
        "limits": {"clarificationRounds": 0, "schemaRounds": 0, "envelopesPerTurn": 0},
        "aiProviders": merged(json!({"supported": ids(host, |_| true)}), providers(host)),
        "httpClient": merged(json!({"supported": true, "safeFetch": {"supported": true}}), client(limits)),
        "blobStorage": match limits.object {
            Some(most) => merged(json!({"supported": true}), storage(most)),
            None => json!({"supported": false}),
        },
    })
}

fn second<H: Host>(host: &H) -> Value {
    let limits = host.limits();
    let record = json!({"status": "stable", "since": "2.0", "witness": "witnessable-gated"});
    let family = |facets| merged(record.clone(), facets);
    let mut ai = providers(host);
    ai["selfHosted"] = json!(!ids(host, is_own).is_empty());
    ai["providers"] = json!(ids(host, |_| true));
    let mut document = json!({
        "protocolVersions": ["1.0", "2.0"],
        "preferredVersion": "1.0",
        "implementation": implementation(),
        "conformance": {"seamsProfile": "openwop-conformance-seams-v2"},
        "aiProviders": family(ai),
        "httpClient": family(merged(json!({"safeFetch": {}}), client(limits))),
    });
    // The format has no "not supported": a missing capability is left out.
    if let Some(most) = limits.object {
        document["blobStorage"] = family(storage(most));
    }
    document
}

fn storage(most: usize) -> Value {
    json!({"presignSupported": true, "maxObjectBytes": most})
}

fn implementation() -> Value {
    json!({"name": "photic", "version": env!("CARGO_PKG_VERSION")})
}

fn providers<H: Host>(host: &H) -> Value {
    let modalities = [Modality::Text].into_iter();
    let media = host.modalities().iter().copied().filter(|kind| *kind != Modality::Text);
    let mut names: Vec<&str> = Vec::new();
    for kind in modalities.chain(media) {
        if !names.contains(&kind.name()) {
            names.push(kind.name());
        }
    }
    json!({
        "byok": ids(host, |provider| provider.byok),
        "selfHosted": ids(host, is_own),
        "input": {"modalities": names, "maxBytesPerPart": host.limits().part},
    })
}

/// Returns whether the operator hosts the provider. Advertising it promises that a call which names
/// only the provider reaches it.
fn is_own(provider: &Provider) -> bool {
    provider.self_hosted && provider.model.is_some()
}

/// Returns the names of providers. Names that look like URLs are left out.
fn ids<H: Host>(host: &H, which: impl Fn(&Provider) -> bool) -> Vec<String> {
    let named = |id: &str| !id.is_empty() && !id.contains([':', '/', '\\', ' ']);
    let all = host.providers().into_iter();
    let mut ids: Vec<String> = Vec::new();
    for provider in all.filter(|provider| named(&provider.id) && which(provider)) {
        if !ids.contains(&provider.id) {
            ids.push(provider.id);
        }
    }
    ids
}

fn client(limits: Limits) -> Value {
    json!({
        "ssrfGuard": true,
        "maxResponseBodyBytes": limits.fetched,
        "requestTimeoutMs": limits.fetch_ms,
        "methods": METHODS,
    })
}

fn merged(first: Value, second: Value) -> Value {
    let entries = [first, second].into_iter().filter_map(|value| match value {
        Value::Object(entries) => Some(entries),
        _ => None,
    });
    Value::Object(entries.flatten().collect::<Map<String, Value>>())
}
