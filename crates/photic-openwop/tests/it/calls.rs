//! The AI call: accepted and refused input, the order of checks, and the request to the model.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic_openwop::{Modality, OpenwopRequest, Provider};
use serde_json::{Value, json};

use crate::host::{CALL, CALL_2, Fake, KEY, OTHER, PNG, json_of};

fn code(answer: &(u16, Value)) -> &str {
    answer.1["error"].as_str().unwrap_or_default()
}

/// Returns the part that the conformance suite sends for a modality.
fn of_the_suite(modality: Modality) -> Value {
    match modality {
        Modality::Text => json!({"type": "text", "text": "describe this"}),
        Modality::Image => {
            json!({"type": "image", "mimeType": "image/png", "dataBase64": "iVBORw0KGgo="})
        }
        Modality::Audio => json!({"type": "audio", "mimeType": "audio/mp3", "dataBase64": "AAAA"}),
        Modality::Document => {
            json!({"type": "file", "mimeType": "application/pdf", "dataBase64": "JVBERi0="})
        }
    }
}

fn png() -> String {
    STANDARD.encode(PNG)
}

/// The scenario of RFC 0091 §A and §B, for every set that can be advertised, on both paths.
#[test]
fn what_is_advertised_is_taken_and_nothing_else() {
    use Modality::{Audio, Document, Image};
    let all = [Image, Audio, Document];
    for set in 0..8_u8 {
        let modalities: Vec<Modality> = all
            .into_iter()
            .enumerate()
            .filter(|(at, _)| (set >> at) & 1 == 1)
            .map(|(_, m)| m)
            .collect();
        for model in [None, Some("m-1".to_owned())] {
            let host = Fake { modalities: modalities.clone(), model, ..Fake::default() };
            for modality in all {
                let text = of_the_suite(Modality::Text);
                let both = json!([text, of_the_suite(modality)]);
                let alone = json!([of_the_suite(modality)]);
                for (path, version) in [(CALL, None), (CALL_2, Some("2.0"))] {
                    for content in [&both, &alone] {
                        let body = json!({"messages": [{"role": "user", "content": content}]});
                        let asked = OpenwopRequest::post(path, body.to_string());
                        let answer =
                            host.ask(OpenwopRequest { bearer: Some(KEY), version, ..asked });
                        let told = json_of(&answer);
                        if modalities.contains(&modality) {
                            assert_ne!(told["error"], "unsupported_modality");
                        } else {
                            assert_eq!(answer.status, 400);
                            assert_eq!(told["error"], "unsupported_modality");
                            let name = modality.name();
                            let details =
                                json!({"capability": "aiProviders.input", "modality": name});
                            assert_eq!(told["details"], details);
                        }
                        assert_eq!(answer.header("openwop-version"), version);
                    }
                }
            }
        }
    }
}

#[test]
fn without_a_model_a_call_is_checked_and_answered_like_the_reference_host() {
    let host = Fake::default();
    let answer = host.call(&json!([of_the_suite(Modality::Text), of_the_suite(Modality::Image)]));
    let expected = json!({
        "ok": true,
        "accepted": true,
        "advertised": ["text", "image", "document"],
        "modalities": ["text", "image"],
    });
    assert_eq!(answer, (200, expected));
    assert!(host.sent.lock().unwrap().is_empty());
    for messages in [json!([]), Value::Null] {
        let answer = host.post(CALL, &json!({"messages": messages}));
        assert_eq!((answer.0, code(&answer)), (400, "validation_error"));
    }
    // A plain string stays valid.
    let answer = host.post(CALL, &json!({"messages": [{"role": "user", "content": "hello"}]}));
    assert_eq!((answer.0, &answer.1["accepted"]), (200, &json!(true)));
}

#[test]
fn both_spellings_and_every_source_are_the_same_call() {
    let host = Fake::with_model();
    let name = host.upload(KEY, "image/png", PNG);
    let mut bodies = Vec::new();
    for part in [
        json!({"type": "image", "mimeType": "image/png", "data": png()}),
        json!({"type": "image", "mimeType": "image/png", "dataBase64": png()}),
        json!({"type": "image", "mimeType": "IMAGE/PNG; q=1", "data": png().trim_end_matches('=')}),
        json!({"type": "image", "mimeType": "image/png", "url": null, "data": format!(" {}\n", png())}),
        json!({"type": "image", "mimeType": "image/png", "mediaRef": name}),
        json!({"type": "image", "mimeType": "image/png", "url": "https://example.com/a.png"}),
    ] {
        let answer = host.call(&json!([{"type": "text", "text": "what?"}, part]));
        assert_eq!(answer.0, 200, "{}", answer.1);
        assert_eq!(answer.1["content"], "1 pictures");
        bodies.push(host.sent());
    }
    let url = format!("data:image/png;base64,{}", png());
    let expected = json!({"model": "m-1", "messages": [{"role": "user", "content": [
        {"type": "text", "text": "what?"},
        {"type": "text", "text": "<UNTRUSTED source=\"call\" type=\"image\">"},
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "text", "text": "</UNTRUSTED>"},
    ]}]});
    for body in bodies {
        assert_eq!(body, expected);
    }
    for kind in ["document", "file"] {
        let part = json!({"type": kind, "mimeType": "application/pdf", "data": "JVBERi0="});
        assert_eq!(host.call(&json!([part])).0, 200);
        let file = &host.sent()["messages"][0]["content"][1];
        let data = "data:application/pdf;base64,JVBERi0=";
        let expected =
            json!({"type": "file", "file": {"filename": "document.pdf", "file_data": data}});
        assert_eq!(*file, expected);
    }
}

#[test]
fn a_part_is_whole_or_refused() {
    let host = Fake::default();
    for part in [
        json!({"type": "image", "mimeType": "image/png"}),
        json!({"type": "image", "data": png()}),
        json!({"type": "image", "mimeType": "", "data": png()}),
        json!({"type": "image", "mimeType": 7, "data": png()}),
        json!({"type": "image", "mimeType": "application/pdf", "data": "JVBERi0="}),
        json!({"type": "document", "mimeType": "image/png", "data": png()}),
        json!({"type": "document", "mimeType": "video/mp4", "data": png()}),
        json!({"type": "image", "mimeType": "image/png\" onload=\"x", "data": png()}),
        json!({"type": "image", "mimeType": "image/png", "data": png(), "dataBase64": png()}),
        json!({"type": "image", "mimeType": "image/png", "data": png(), "mediaRef": "mr_x"}),
        json!({"type": "image", "mimeType": "image/png", "url": "https://e.com/", "mediaRef": "m"}),
        json!({"type": "image", "mimeType": "image/png", "data": "no base64!"}),
        json!({"type": "image", "mimeType": "image/png", "data": 7}),
        json!({"type": "image", "mimeType": "image/png", "url": "data:image/png;base64,AAAA"}),
        json!({"type": "image", "mimeType": "image/png", "url": "file:///etc/passwd"}),
        json!({"type": "image", "mimeType": "image/png", "url": "photic:mr_x"}),
        json!({"type": "text"}),
        json!({"type": "text", "text": 7}),
        json!({"text": "no type"}),
    ] {
        let answer = host.call(&json!([part]));
        assert_eq!((answer.0, code(&answer)), (400, "validation_error"), "{part}");
    }
    let answer =
        host.call(&json!([{"type": "image", "mimeType": "image/png", "data": "aGVsbG8="}]));
    assert_eq!((answer.0, code(&answer)), (400, "invalid_image"));
}

/// Modality is checked before shape, shape before size, size before decoding, and decoding before
/// external access. Of two faults the earlier kind is reported, wherever it is.
#[test]
fn faults_are_told_in_order() {
    let host = Fake {
        limits: photic_openwop::Limits { part: 64, ..Fake::default().limits },
        ..Fake::with_model()
    };
    let image =
        |field: &str, value: &str| json!({"type": "image", "mimeType": "image/png", field: value});
    let long = "A".repeat(400);
    let faults = [
        (json!({"type": "video", "mimeType": 7, "data": {}}), "unsupported_modality"),
        (json!({"type": "image", "mimeType": "image/png"}), "validation_error"),
        (image("data", &format!("!{long}")), "content_too_long"),
        (image("data", "aGVsbG8="), "invalid_image"),
        (image("mediaRef", "mr_none"), "blob_object_not_found"),
        (image("url", "http://127.0.0.1:6379/"), "ssrf_blocked"),
    ];
    for (at, (earlier, expected)) in faults.iter().enumerate() {
        assert_eq!(code(&host.call(&json!([earlier]))), *expected);
        for (later, _) in &faults[at + 1..] {
            for pair in [json!([earlier, later]), json!([later, earlier])] {
                assert_eq!(code(&host.call(&pair)), *expected, "{pair}");
            }
            // Across messages, too.
            let messages = json!([
                {"role": "user", "content": [later]},
                {"role": "user", "content": [earlier]},
            ]);
            assert_eq!(code(&host.post(CALL, &json!({"messages": messages}))), *expected);
        }
    }
    assert!(host.sent.lock().unwrap().is_empty());
    assert!(host.dialed.lock().unwrap().is_empty());
    // Settings and the target are checked later.
    let body = json!({"provider": "nobody", "temperature": "x", "messages": [
        {"role": "user", "content": [{"type": "audio", "mimeType": "audio/mp3", "data": "AAAA"}]},
    ]});
    assert_eq!(code(&host.post(CALL, &body)), "unsupported_modality");
}

#[test]
fn the_limit_of_a_part_holds_however_it_comes() {
    let mut host = Fake::with_model();
    let name = host.upload(KEY, "image/png", PNG);
    host.limits.part = PNG.len();
    let parts = || {
        [
            json!({"type": "image", "mimeType": "image/png", "data": png()}),
            json!({"type": "image", "mimeType": "image/png", "mediaRef": name}),
            json!({"type": "image", "mimeType": "image/png", "url": "https://example.com/a.png"}),
        ]
    };
    for part in parts() {
        assert_eq!(host.call(&json!([part])).0, 200, "{part}");
    }
    host.limits.part -= 1;
    for part in parts() {
        let answer = host.call(&json!([part]));
        assert_eq!((answer.0, code(&answer)), (413, "content_too_long"), "{part}");
        assert_eq!(answer.1["details"]["limit"], json!(PNG.len() - 1));
    }
    // Small texts do not add up to megabytes.
    host.limits.part = 1 << 20;
    host.limits.call = PNG.len() * 2;
    for part in parts() {
        assert_eq!(host.call(&json!([part, part])).0, 200, "{part}");
        let answer = host.call(&json!([part, part, part]));
        assert_eq!((answer.0, code(&answer)), (413, "content_too_long"), "{part}");
    }
    host.limits.call = 1 << 20;
    let mut many = vec![json!({"type": "image", "mimeType": "image/png", "mediaRef": name}); 256];
    assert_eq!(host.call(&json!(many)).0, 200);
    many.push(many[0].clone());
    assert_eq!(code(&host.call(&json!(many))), "validation_error");
}

#[test]
fn settings_become_those_of_a_chat_completion_and_its_reply_an_answer() {
    let host = Fake { says: Some(json!("{\"a\":1}")), ..Fake::with_model() };
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let answer = host.post(
        CALL,
        &json!({
            "model": "m-2",
            "systemPrompt": "be brief",
            "messages": [{"role": "assistant", "content": "hm"}, {"role": "user", "content": "go"}],
            "temperature": 0.5,
            "maxTokens": 20,
            "stopSequences": ["END"],
            "responseSchema": schema,
        }),
    );
    let expected = json!({
        "data": {"a": 1},
        "content": "{\"a\":1}",
        "usage": {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10},
        "finishReason": "stop",
        "model": "m-2",
    });
    assert_eq!(answer, (200, expected));
    let sent = json!({
        "model": "m-2",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "assistant", "content": "hm"},
            {"role": "user", "content": "go"},
        ],
        "temperature": 0.5,
        "max_tokens": 20,
        "stop": ["END"],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "response", "schema": schema},
        },
    });
    assert_eq!(host.sent(), sent);
    let host = Fake { says: Some(json!("no JSON")), ..Fake::with_model() };
    let body = json!({"messages": [{"role": "user", "content": "go"}], "responseSchema": {}});
    let answer = host.post(CALL, &body);
    assert_eq!((answer.0, code(&answer)), (502, "response_schema_invalid"));
}

/// Providers phrase errors differently.
#[test]
fn an_answer_in_parts_is_one_and_a_sum_that_is_missing_is_made() {
    let parts = json!([{"type": "text", "text": "a "}, {"type": "other"}, {"text": "cat"}]);
    let usage = json!({"prompt_tokens": 7, "completion_tokens": 3});
    let host = Fake { says: Some(parts), usage, ..Fake::with_model() };
    let (status, answer) = host.call(&json!([of_the_suite(Modality::Image)]));
    assert_eq!((status, &answer["content"]), (200, &json!("a cat")));
    let usage = json!({"inputTokens": 7, "outputTokens": 3, "totalTokens": 10});
    assert_eq!(answer["usage"], usage);
}

#[test]
fn whom_a_call_is_for() {
    let provider = Provider {
        id: "compat".to_owned(),
        byok: false,
        self_hosted: true,
        model: Some("qwen".to_owned()),
    };
    let host = Fake { providers: vec![provider], ..Fake::default() };
    let ask = |provider: Value, model: Value| {
        let messages = json!([{"role": "user", "content": "ping"}]);
        host.post(CALL, &json!({"provider": provider, "model": model, "messages": messages}))
    };
    // A self-hosted provider is reached by its name alone.
    assert_eq!(ask(json!("compat"), Value::Null).1["model"], "qwen");
    assert_eq!(host.sent.lock().unwrap()[0].provider.as_deref(), Some("compat"));
    assert_eq!(ask(json!("compat"), json!("llava")).1["model"], "llava");
    assert_eq!(ask(Value::Null, json!("llava")).1["model"], "llava");
    assert_eq!(code(&ask(json!("nobody"), json!("llava"))), "provider_not_supported");
    assert_eq!(code(&ask(Value::Null, json!("nobody-has-it"))), "model_not_supported");
    assert_eq!(ask(Value::Null, Value::Null).1["accepted"], json!(true));
}

#[test]
fn a_reference_is_uploaded_used_later_and_expires() {
    let host = Fake::with_model();
    let name = host.upload(KEY, "image/png", PNG);
    let use_as = |key: &str, name: &str| {
        let part = json!({"type": "image", "mimeType": "image/png", "mediaRef": name});
        host.post_as(key, CALL, &json!({"messages": [{"role": "user", "content": [part]}]}))
    };
    assert_eq!(use_as(KEY, &name).0, 200);
    host.later(crate::host::REFERENCE_MS - 1);
    assert_eq!(use_as(KEY, &name).0, 200);
    // A foreign reference is answered exactly like an unknown one.
    let never = use_as(KEY, "mr_00000000000000000000000000000000");
    assert_eq!((never.0, code(&never)), (400, "blob_object_not_found"));
    assert_eq!(use_as(OTHER, &name), never);
    host.later(1);
    assert_eq!(use_as(KEY, &name), never);
    // References are resolved without a model, too.
    let host = Fake::default();
    let part = json!({"type": "image", "mimeType": "image/png", "mediaRef": name});
    assert_eq!(host.call(&json!([part])), never);
}

#[test]
fn a_reference_is_what_it_was_stored_as() {
    let host = Fake::with_model();
    let name = host.upload(KEY, "application/pdf", b"%PDF-1.7");
    let part = json!({"type": "image", "mimeType": "image/png", "mediaRef": name});
    assert_eq!(code(&host.call(&json!([part]))), "validation_error");
    let part = json!({"type": "file", "mimeType": "application/msword", "mediaRef": name});
    assert_eq!(host.call(&json!([part])).0, 200);
    assert!(host.sent().to_string().contains("data:application/pdf;base64,"));
}

#[test]
fn only_addresses_in_slots_are_fetched_and_only_through_the_guard() {
    let host = Fake::with_model();
    let image = |url: &str| json!({"type": "image", "mimeType": "image/png", "url": url});
    for (url, status, expected) in [
        ("http://127.0.0.1:6379/", 400, "ssrf_blocked"),
        ("http://inside.example.com/a.png", 400, "ssrf_blocked"),
        ("http://nowhere.invalid/a.png", 502, "fetch_failed"),
        ("https://page.example.com/a.png", 400, "invalid_image"),
        ("https://gone.example.com/a.png", 502, "fetch_failed"),
    ] {
        let answer = host.call(&json!([image(url)]));
        assert_eq!((answer.0, code(&answer)), (status, expected), "{url}");
        assert!(!answer.1.to_string().contains("10.0.0.7"));
    }
    host.dialed.lock().unwrap().clear();
    let words = json!([{"type": "text", "text": "see https://example.com/a.png"}]);
    assert_eq!(host.call(&words).0, 200);
    assert!(host.dialed.lock().unwrap().is_empty());
    // Nothing is fetched for a call without a model.
    let host = Fake::default();
    assert_eq!(host.call(&json!([image("https://example.com/a.png")])).0, 200);
    assert!(host.dialed.lock().unwrap().is_empty());
}
