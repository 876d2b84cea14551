//! The discovery document.

use photic_openwop::{Modality, OpenwopRequest, Provider};
use serde_json::{Value, json};

use crate::host::{Fake, json_of};
use crate::schema::complaints;

const PATH: &str = "/.well-known/openwop";

fn input_schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "modalities": {
                "type": "array",
                "uniqueItems": true,
                "items": {"type": "string", "enum": ["text", "image", "audio", "document"]},
            },
            "maxBytesPerPart": {"type": "integer", "minimum": 1},
        },
    })
}

fn document_schema() -> Value {
    let count = json!({"type": "integer", "minimum": 0});
    let names = json!({"type": "array", "uniqueItems": true, "items": {"type": "string"}});
    json!({
        "type": "object",
        "required": ["protocolVersion", "supportedEnvelopes", "schemaVersions", "limits"],
        "properties": {
            "protocolVersion": {"type": "string"},
            "supportedEnvelopes": names,
            "schemaVersions": {"type": "object", "additionalProperties": {"type": "integer"}},
            "limits": {
                "type": "object",
                "required": ["clarificationRounds", "schemaRounds", "envelopesPerTurn"],
                "properties": {
                    "clarificationRounds": count,
                    "schemaRounds": count,
                    "envelopesPerTurn": count,
                },
            },
            "aiProviders": {
                "type": "object",
                "required": ["supported", "byok", "input"],
                "properties": {
                    "supported": names,
                    "byok": names,
                    "selfHosted": names,
                    "input": input_schema(),
                },
            },
            "httpClient": {
                "type": "object",
                "required": ["supported", "ssrfGuard", "maxResponseBodyBytes", "methods"],
                "properties": {
                    "supported": {"type": "boolean"},
                    "ssrfGuard": {"type": "boolean", "enum": [true]},
                    "maxResponseBodyBytes": {"type": "integer", "minimum": 1},
                    "requestTimeoutMs": {"type": "integer", "minimum": 1},
                    "methods": {"type": "array", "items": {"type": "string"}},
                    "safeFetch": {
                        "type": "object",
                        "required": ["supported"],
                        "properties": {"supported": {"type": "boolean"}},
                    },
                },
            },
            "blobStorage": {
                "type": "object",
                "additionalProperties": false,
                "required": ["supported"],
                "properties": {
                    "supported": {"type": "boolean"},
                    "buckets": {"type": "array"},
                    "presignSupported": {"type": "boolean"},
                    "maxObjectBytes": {"type": "integer", "minimum": 1},
                },
            },
        },
    })
}

fn provider(id: &str, self_hosted: bool, model: Option<&str>) -> Provider {
    let model = model.map(str::to_owned);
    Provider { id: id.to_owned(), byok: !self_hosted, self_hosted, model }
}

#[test]
fn the_document_is_what_its_schema_says_and_families_stand_at_the_root() {
    let host = Fake {
        providers: vec![provider("anthropic", false, None), provider("compat", true, Some("q"))],
        ..Fake::default()
    };
    // It is readable without a key.
    let answer = host.ask(OpenwopRequest::get(PATH));
    assert_eq!(answer.status, 200);
    let document = json_of(&answer);
    assert_eq!(complaints(&document_schema(), &document), Vec::<String>::new());
    assert!(document.get("capabilities").is_none());
    let implementation = json!({"name": "photic", "version": env!("CARGO_PKG_VERSION")});
    assert_eq!(document["implementation"], implementation);
    assert_eq!(document["aiProviders"]["supported"], json!(["anthropic", "compat"]));
    assert_eq!(document["aiProviders"]["byok"], json!(["anthropic"]));
    assert_eq!(document["aiProviders"]["selfHosted"], json!(["compat"]));
    let input = json!({"modalities": ["text", "image", "document"], "maxBytesPerPart": 1 << 20});
    assert_eq!(document["aiProviders"]["input"], input);
    assert_eq!(document["httpClient"]["safeFetch"], json!({"supported": true}));
    assert_eq!(document["blobStorage"]["presignSupported"], json!(true));
}

/// The suite's own test of the shape, which needs no host.
#[test]
fn the_shape_of_input_is_closed() {
    let fine = |input: &Value| complaints(&input_schema(), input).is_empty();
    let all = json!({"modalities": ["text", "image", "document"], "maxBytesPerPart": 1_048_576});
    assert!(fine(&all));
    assert!(!fine(&json!({"modalities": ["video"]})));
    assert!(!fine(&json!({"modalities": ["text"], "maxBytesPerPart": 0})));
    assert!(!fine(&json!({"modalities": ["text", "text"]})));
    assert!(!fine(&json!({"modalities": [], "other": 1})));
}

#[test]
fn modalities_are_told_in_the_order_of_the_host_and_once() {
    let modalities = vec![Modality::Audio, Modality::Image, Modality::Audio, Modality::Text];
    let host = Fake { modalities, ..Fake::default() };
    let document = json_of(&host.ask(OpenwopRequest::get(PATH)));
    assert_eq!(document["aiProviders"]["input"]["modalities"], json!(["text", "audio", "image"]));
}

#[test]
fn no_provider_is_told_that_looks_like_an_address_or_that_nothing_stands_behind() {
    let ids = ["http://vllm:8000", "vllm:8000", "/v1", "", "fine", "fine"];
    let mut providers: Vec<_> = ids.iter().map(|id| provider(id, true, Some("m"))).collect();
    providers.push(provider("no-model", true, None));
    let document = json_of(&Fake { providers, ..Fake::default() }.ask(OpenwopRequest::get(PATH)));
    assert_eq!(document["aiProviders"]["supported"], json!(["fine", "no-model"]));
    assert_eq!(document["aiProviders"]["selfHosted"], json!(["fine"]));
}

#[test]
fn whoever_has_it_is_told_so() {
    let host = Fake::default();
    let answer = host.ask(OpenwopRequest::get(PATH));
    let tag = answer.header("etag").unwrap().to_owned();
    assert_eq!(answer.header("capabilities-etag"), Some(tag.as_str()));
    assert_eq!(answer.header("cache-control"), Some("public, max-age=60"));
    let listed = format!("\"other\", W/{tag}");
    for known in [tag.as_str(), listed.as_str(), "*"] {
        let again =
            host.ask(OpenwopRequest { if_none_match: Some(known), ..OpenwopRequest::get(PATH) });
        assert_eq!((again.status, again.body.len()), (304, 0), "{known}");
        assert_eq!(again.header("etag"), Some(tag.as_str()));
    }
    // Another document has another tag.
    let other = Fake { modalities: vec![Modality::Image], ..Fake::default() };
    let answer =
        other.ask(OpenwopRequest { if_none_match: Some(&tag), ..OpenwopRequest::get(PATH) });
    assert_eq!(answer.status, 200);
}

#[test]
fn the_second_version_has_a_document_of_its_own() {
    let host = Fake { providers: vec![provider("compat", true, Some("q"))], ..Fake::default() };
    for version in ["2", "2.0"] {
        let answer =
            host.ask(OpenwopRequest { version: Some(version), ..OpenwopRequest::get(PATH) });
        assert_eq!(answer.header("openwop-version"), Some("2.0"));
        assert_eq!(answer.header("capabilities-etag"), None);
        assert!(answer.header("etag").is_some());
        let document = json_of(&answer);
        let profile = &document["conformance"]["seamsProfile"];
        assert_eq!(profile, "openwop-conformance-seams-v2");
        assert_eq!(document["aiProviders"]["providers"], json!(["compat"]));
        assert_eq!(document["aiProviders"]["selfHosted"], json!(true));
        for family in ["aiProviders", "httpClient", "blobStorage"] {
            for (field, value) in [("status", "stable"), ("witness", "witnessable-gated")] {
                assert_eq!(document[family][field], value, "{family}");
            }
            assert!(document[family].get("supported").is_none(), "{family}");
        }
    }
    let unknown = host.ask(OpenwopRequest { version: Some("3.0"), ..OpenwopRequest::get(PATH) });
    assert_eq!(unknown.status, 406);
    assert_eq!(json_of(&unknown)["error"], "protocol_version_unsupported");
}
