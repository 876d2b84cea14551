//! Cases of requests that go out on the wire they came in on: what worked still works.

use photic::retention::Retention;
use photic::{Lowered, Policy, Wire, profile};
use photic_testkit::{image, oracle};
use serde_json::json;

use super::body;
use crate::harness;

/// Lowers a body to its own wire, for a model, and hands what came out to `judge`.
fn lowered<T>(
    wire: Wire,
    model: &str,
    body: &[u8],
    policy: &Policy,
    judge: impl FnOnce(&Lowered<'_>) -> T,
) -> T {
    let profile = profile::resolve(wire, Some(model), None);
    let (transcript, _) = photic::lift(wire, body);
    let plan = photic::plan(photic::survey(&transcript), &profile, policy);
    judge(&photic::lower(&transcript, &plan))
}

/// Asserts that a body goes out as it came, and that nothing is said to have been done.
fn goes_out_as_it_came(wire: Wire, model: &str, body: &[u8]) {
    for policy in [Policy::hands_off(), Policy::default()] {
        lowered(wire, model, body, &policy, |lowered| {
            let decisions = &lowered.decisions;
            assert!(lowered.body.to_vec() == body, "{wire} {model}: {decisions:?}");
            assert!(decisions.is_empty(), "{wire} {model}: {decisions:?}");
        });
    }
}

#[test]
fn a_film_in_a_request_to_gemini_goes_out_as_it_came() {
    goes_out_as_it_came(Wire::Gemini, "gemini-2.5-pro", &body("gemini_inline_video"));
}

#[test]
fn a_table_in_a_request_to_responses_goes_out_as_it_came() {
    goes_out_as_it_came(Wire::OpenAiResponses, "gpt-5.4", &body("responses_input_file_csv"));
}

/// A picture by a path, in a request that a chat endpoint gets.
fn by_path() -> Vec<u8> {
    let part = r#"{"type":"image_url","image_url":{"url":"file:///data/shot.png"}}"#;
    format!(r#"{{"model":"m","messages":[{{"role":"user","content":[{part}]}}]}}"#).into_bytes()
}

#[test]
fn a_path_goes_to_a_server_that_may_open_it() {
    for host in [None, Some("vllm.internal:8000"), Some("localhost:8080")] {
        let profile = profile::resolve(Wire::OpenAiChat, Some("qwen3-vl"), host);
        let body = by_path();
        let run = harness::lower_with(Wire::OpenAiChat, &body, &profile, &Policy::hands_off());
        assert!(run.body == body, "{host:?}");
    }
}

#[test]
fn a_path_is_not_sent_where_it_means_nothing() {
    for (model, host) in [("gpt-4o", None), ("grok-4", Some("api.x.ai"))] {
        let profile = profile::resolve(Wire::OpenAiChat, Some(model), host);
        let run = harness::lower_with(Wire::OpenAiChat, &by_path(), &profile, &Policy::hands_off());
        let text = String::from_utf8(run.body).unwrap();
        assert!(text.contains("[image not shown") && !text.contains("/data/shot"), "{text}");
    }
}

#[test]
fn a_path_that_a_tool_returned_is_not_opened_for_it() {
    let body = String::from_utf8(by_path()).unwrap().replace(
        r#"[{"role":"user","#,
        r#"[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","#,
    );
    let profile = profile::resolve(Wire::OpenAiChat, Some("m"), None);
    let run =
        harness::lower_with(Wire::OpenAiChat, body.as_bytes(), &profile, &Policy::hands_off());
    let text = String::from_utf8(run.body).unwrap();
    assert!(text.contains("[image not shown") && !text.contains("/data/shot"), "{text}");
}

#[test]
fn whatever_is_no_picture_goes_out_as_it_came() {
    let table = image::base64(b"a,b\n1,2\n");
    let film = image::base64(&[&b"\0\0\0\x18ftypmp42\0\0\0\0isommp42"[..], &[7; 64]].concat());
    let sound = image::base64(&[&b"\0\0\0\x18ftypM4A \0\0\0\0M4A mp42"[..], &[7; 64]].concat());
    let chat = |part: serde_json::Value| {
        (Wire::OpenAiChat, json!({"messages": [{"role": "user", "content": [part]}]}))
    };
    let gemini = |label: &str, data: &str| {
        let part = json!({"inlineData": {"mimeType": label, "data": data}});
        (Wire::Gemini, json!({"contents": [{"role": "user", "parts": [part]}]}))
    };
    let responses = |name: &str, label: &str| {
        let url = format!("data:{label};base64,{table}");
        let part = json!({"type": "input_file", "filename": name, "file_data": url});
        (Wire::OpenAiResponses, json!({"input": [{"role": "user", "content": [part]}]}))
    };
    let audio = |format: &str, data: &str| {
        chat(json!({"type": "input_audio", "input_audio": {"format": format, "data": data}}))
    };
    let bodies = [
        responses(
            "a.docx",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        responses("a.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        responses("a.json", "application/json"),
        responses("a.md", "text/markdown"),
        responses("a.py", "text/x-python"),
        responses("a.rtf", "application/rtf"),
        audio("flac", &table),
        audio("ogg", &table),
        audio("aac", &table),
        audio("pcm16", &table),
        audio("m4a", &sound),
        chat(
            json!({"type": "file", "file": {"filename": "a.mp4", "file_data": format!("data:video/mp4;base64,{film}")}}),
        ),
        chat(json!({"type": "audio", "mimeType": "audio/mp4", "data": sound})),
        chat(
            json!({"type": "video_url", "video_url": {"url": format!("data:video/mp4;base64,{film}")}}),
        ),
        gemini("audio/L16;rate=16000", &table),
        gemini("audio/mp4", &sound),
        gemini("video/quicktime", &film),
        gemini("text/x-python", &table),
        gemini("application/json", &table),
        gemini("text/xml", &table),
        gemini("text/css", &table),
        gemini("chemical/x-pdb", &table),
        (
            Wire::Gemini,
            json!({"contents": [
                {"role": "user", "parts": [{"text": "go"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "x"},
                    "parts": [{"inlineData": {"mimeType": "video/mp4", "data": film}}]}}]},
            ]}),
        ),
        (
            Wire::Ollama,
            json!({"messages": [{"role": "user", "content": "x", "images": [sound, film]}]}),
        ),
    ];
    for (wire, body) in bodies {
        goes_out_as_it_came(wire, "some-model", &serde_json::to_vec(&body).unwrap());
    }
}

#[test]
fn gemini_takes_both_alphabets_of_base64() {
    let picture = image::png_noise(40, 30, 3);
    let safe = image::base64(&picture).replace('+', "-").replace('/', "_");
    assert!(safe.contains(['-', '_']));
    for data in [safe.as_str(), safe.trim_end_matches('=')] {
        let part = json!({"inlineData": {"mimeType": "image/png", "data": data}});
        let body = json!({"contents": [{"role": "user", "parts": [part]}]});
        let body = serde_json::to_vec(&body).unwrap();
        goes_out_as_it_came(Wire::Gemini, "gemini-2.5-pro", &body);
        let profile = profile::resolve(Wire::Gemini, Some("gemini-2.5-pro"), None);
        assert_eq!(harness::codes(&harness::check(Wire::Gemini, &body, &profile)), [""; 0]);
    }
}

#[test]
fn a_drawing_that_no_endpoint_takes_is_shown_as_its_source() {
    let drawing = image::svg(40, 30, [1, 2, 3]);
    let heavy = [b"<svg xmlns='x'>".to_vec(), vec![b' '; 20_000]].concat();
    for (bytes, is_told) in [(&drawing, true), (&heavy, false)] {
        let url = image::data_url("image/svg+xml", bytes);
        let body = json!({"messages": [
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]});
        let profile = profile::resolve(Wire::OpenAiChat, Some("gpt-4o"), None);
        let body = serde_json::to_vec(&body).unwrap();
        let run = harness::lower_with(Wire::OpenAiChat, &body, &profile, &Policy::hands_off());
        let text = String::from_utf8(run.body).unwrap();
        assert_eq!(text.contains("<svg"), is_told, "{text}");
        assert!(text.contains("you have not seen it"), "{text}");
    }
}

#[test]
fn a_small_model_that_takes_one_picture_gets_one() {
    for model in ["llama3.2-vision", "llama3.2-vision:11b"] {
        let profile = profile::resolve(Wire::Ollama, Some(model), None);
        assert_eq!(profile.limits.images, Some(1), "{model}: {}", profile.id);
    }
}

/// Asserts that the strict provider takes what is lowered, and hands over what it sees.
fn accepted(wire: Wire, model: &str, name: &str, policy: &Policy) -> (Vec<u8>, oracle::Seen) {
    let profile = profile::resolve(wire, Some(model), None);
    let input = body(name);
    let out = lowered(wire, model, &input, policy, |lowered| {
        let out = lowered.body.to_vec();
        assert!(!lowered.decisions.is_empty() || out == input, "{name}: changed in silence");
        out
    });
    let seen = harness::seen(name, wire, &out, &harness::rules(&profile));
    (out, seen)
}

#[test]
fn no_mark_of_a_shorter_life_stands_before_a_longer_one() {
    for retention in [Retention::Priced, Retention::All] {
        let mut policy = Policy::default();
        policy.retention = retention;
        policy.marks = true;
        accepted(Wire::Anthropic, "claude-opus-5", "ttl_1h_after_5m", &policy);
    }
}

#[test]
fn a_search_result_holds_no_picture() {
    let model = "claude-sonnet-4-5";
    let (out, seen) =
        accepted(Wire::Anthropic, model, "search_result_gets_image", &Policy::hands_off());
    let out: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let blocks = &out["messages"][2]["content"][0]["content"];
    assert_eq!(blocks[0]["content"][0]["type"], "text");
    // The picture is shown beside it.
    assert_eq!(seen.images.len(), 1);
    assert_eq!(seen.images[0].owner.as_deref(), Some("t1"));
}

#[test]
fn nothing_stands_beside_the_results_that_code_waits_for() {
    let name = "programmatic_call_gets_siblings";
    let (out, seen) = accepted(Wire::Anthropic, "claude-sonnet-4-5", name, &Policy::hands_off());
    let out: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(out["messages"][2]["content"].as_array().unwrap().len(), 1);
    assert!(seen.results[0].text.starts_with("boom"), "{}", seen.results[0].text);
}
