//! The envelope of every refusal: flat, closed, and without internal details.

use photic_openwop::{CallError, HostError, OpenwopRequest};
use serde_json::{Value, json};

use crate::host::{CALL, ENDPOINT, FETCH, Fake, KEY, MEDIA, SURFACE, WRAP, json_of};
use crate::schema::complaints;

fn envelope() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["error", "message"],
        "properties": {
            "error": {"type": "string", "minLength": 1},
            "message": {"type": "string", "minLength": 1},
            "details": {"type": "object"},
        },
    })
}

#[test]
fn every_refusal_is_flat() {
    let host = Fake::default();
    let calls = [
        (CALL, "{"),
        (CALL, "[]"),
        (CALL, "{}"),
        (CALL, r#"{"messages":[]}"#),
        (CALL, r#"{"messages":"x"}"#),
        (CALL, r#"{"messages":[{"role":"user"}]}"#),
        (CALL, r#"{"messages":[{"role":"user","content":7}]}"#),
        (CALL, r#"{"messages":[{"role":"tool","content":"x"}]}"#),
        (CALL, r#"{"messages":[{"role":"user","content":[7]}]}"#),
        (CALL, r#"{"messages":[{"role":"user","content":[{}]}]}"#),
        (CALL, r#"{"messages":[{"role":"user","content":[{"type":"video"}]}]}"#),
        (CALL, r#"{"messages":[{"role":"user","content":[{"type":"text"}]}]}"#),
        (CALL, r#"{"messages":[{"role":"user","content":"x"}],"provider":"nobody"}"#),
        (CALL, r#"{"messages":[{"role":"user","content":"x"}],"temperature":"warm"}"#),
        (CALL, r#"{"messages":[{"role":"user","content":"x"}],"maxTokens":0}"#),
        (CALL, r#"{"messages":[{"role":"user","content":"x"}],"stopSequences":[1]}"#),
        (CALL, r#"{"messages":[{"role":"user","content":"x"}],"responseSchema":1}"#),
        (WRAP, "{}"),
        (FETCH, "{}"),
        (FETCH, r#"{"url":"http://nowhere.invalid/"}"#),
        (FETCH, r#"{"url":"http://example.com/","init":{"method":"POST"}}"#),
        (FETCH, r#"{"url":"http://example.com/","simulateRebindTo":"x"}"#),
        (SURFACE, "{}"),
        (SURFACE, r#"{"tenantId":"a","surface":"kv","op":"get","args":{"key":"k"}}"#),
        (SURFACE, r#"{"tenantId":"a","surface":"blob","op":"burn","args":{"key":"k"}}"#),
        (SURFACE, r#"{"tenantId":"a","surface":"blob","op":"get","args":{}}"#),
        (SURFACE, r#"{"tenantId":"","surface":"blob","op":"get","args":{"key":"k"}}"#),
        (MEDIA, ""),
        ("/v1/host/sample/nothing", "{}"),
    ];
    for (path, body) in calls {
        let answer =
            host.ask(OpenwopRequest { bearer: Some(KEY), ..OpenwopRequest::post(path, body) });
        assert!(answer.status >= 400, "{path} {body}: {}", answer.status);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let found = complaints(&envelope(), &json_of(&answer));
        assert_eq!(found, Vec::<String>::new(), "{path} {body}");
    }
}

#[test]
fn nobody_asks_without_a_key() {
    let host = Fake::with_model();
    for path in [CALL, WRAP, FETCH, SURFACE, MEDIA] {
        for bearer in [None, Some("pk_wrong")] {
            // Whatever else is wrong, and however it is spelled.
            let answer = host.ask(OpenwopRequest { bearer, ..OpenwopRequest::post(path, "{") });
            assert_eq!(answer.status, 401, "{path}");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
            assert_eq!(json_of(&answer)["error"], "unauthenticated");
        }
    }
}

#[test]
fn a_path_says_what_it_takes() {
    let host = Fake::default();
    for (path, allowed) in [(CALL, "POST"), ("/v1/host/media/mr_x", "GET, DELETE")] {
        let answer = host.ask(OpenwopRequest {
            method: "PATCH",
            bearer: Some(KEY),
            ..OpenwopRequest::get(path)
        });
        assert_eq!((answer.status, answer.header("allow")), (405, Some(allowed)));
    }
    // Unknown paths are the same for every method.
    let nobody = host.ask(OpenwopRequest {
        method: "PATCH",
        bearer: Some(KEY),
        ..OpenwopRequest::get("/v1/host/media/")
    });
    assert_eq!((nobody.status, nobody.header("allow")), (404, None));
    for (path, ours) in [
        ("/.well-known/openwop", true),
        ("/v1/host/sample/anything", true),
        ("/conformance/seams/sample/ai/call", true),
        ("/v1/host/media", true),
        ("/v1/host/media/x", true),
        ("/v1/host/mediator", false),
        ("/v1/messages", false),
        ("/.well-known/openwops", false),
    ] {
        assert_eq!(photic_openwop::is_ours(path), ours, "{path}");
    }
    for (path, public) in [
        ("/.well-known/openwop", true),
        ("/v1/host/media/shown/x", true),
        ("/v1/host/media/x", false),
        (CALL, false),
    ] {
        assert_eq!(photic_openwop::is_public(path), public, "{path}");
    }
}

#[test]
fn models_fail_by_the_codes_of_the_contract_and_tell_no_endpoint() {
    let quota = HostError::Quota { retry_after_s: 9 };
    for (error, status, code) in [
        (CallError::Unavailable, 502, "provider_unavailable"),
        (CallError::QuotaExhausted, 429, "provider_quota_exhausted"),
        (CallError::ProviderNotSupported, 400, "provider_not_supported"),
        (CallError::ModelNotSupported, 400, "model_not_supported"),
        (CallError::CredentialRefused, 403, "credential_forbidden"),
        (CallError::ContentTooLong, 413, "content_too_long"),
        (CallError::InvalidImage, 400, "invalid_image"),
        (CallError::Rejected, 502, "provider_rejected"),
        (CallError::Host(HostError::Unavailable), 503, "host_unavailable"),
        (CallError::Host(quota), 429, "rate_limited"),
    ] {
        let host = Fake { fails: Some(error), ..Fake::with_model() };
        let body = json!({"messages": [{"role": "user", "content": "ping"}]}).to_string();
        let answer =
            host.ask(OpenwopRequest { bearer: Some(KEY), ..OpenwopRequest::post(CALL, body) });
        let told = json_of(&answer);
        assert_eq!((answer.status, &told["error"]), (status, &json!(code)));
        assert_eq!(complaints(&envelope(), &told), Vec::<String>::new());
        let retry = (error == CallError::Host(quota)).then_some("9");
        assert_eq!(answer.header("retry-after"), retry);
    }
    // Answers reveal nothing either: the fake completion contains the location of its server.
    let host = Fake::with_model();
    let (status, answer) = host.call(&json!([{"type": "text", "text": "ping"}]));
    let location = ENDPOINT.split_once("://").unwrap().1.split(':').next().unwrap();
    assert_eq!(status, 200);
    assert!(!answer.to_string().contains(location), "{answer}");
}

#[test]
fn a_store_that_is_away_is_said_to_be() {
    for (trouble, status, code) in [
        (HostError::Unavailable, 503, "host_unavailable"),
        (HostError::Busy, 503, "host_unavailable"),
        (HostError::NoStore, 404, "host_capability_missing"),
        (HostError::NotTaken, 415, "unsupported_media_type"),
    ] {
        let host = Fake { trouble: Some(trouble), ..Fake::default() };
        let content_type = Some("image/png");
        let asked = OpenwopRequest::post(MEDIA, crate::host::PNG);
        let answer = host.ask(OpenwopRequest { bearer: Some(KEY), content_type, ..asked });
        assert_eq!((answer.status, &json_of(&answer)["error"]), (status, &json!(code)));
    }
}
