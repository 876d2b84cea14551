//! Cases of translation to another wire: nothing is lost without a decision, and what is sent is
//! accepted by a provider that refuses what real ones refuse.

use photic::{Did, Policy, Profile, Wire};
use photic_testkit::oracle::{self, Rules, Violation};

use super::body;
use crate::conservation::{endpoints, losses};
use crate::harness;

/// The models that bodies are led to.
pub(crate) fn models(wire: Wire) -> &'static [&'static str] {
    match wire {
        Wire::OpenAiChat | Wire::OpenAiResponses => {
            &["gpt-4o", "gpt-4.1-mini", "gpt-5", "gpt-5.4", "gpt-5-mini", "gpt-6", "o3", "o4-mini"]
        }
        Wire::Anthropic => &[
            "claude-3-5-haiku",
            "claude-sonnet-4-5",
            "claude-opus-4-6",
            "claude-opus-4-8",
            "claude-opus-5",
            "claude-opus-5-5",
            "claude-fable-5-1",
        ],
        Wire::Gemini => &["gemini-2.5-pro", "gemini-3-pro"],
        Wire::BedrockConverse => &[
            "anthropic.claude-sonnet-4-5",
            "anthropic.claude-opus-4-8",
            "anthropic.claude-opus-5-5",
            "amazon.nova-pro-v1:0",
        ],
        Wire::Ollama => &["gemma3:4b", "gpt-oss:20b"],
        _ => unreachable!("only the six wires are tested here"),
    }
}

/// A body for a model, as a host sends it: the model is named where the wire names it.
pub(crate) fn led(from: Wire, body: &[u8], profile: &Profile, model: &'static str) -> Vec<u8> {
    let (mut transcript, _) = photic::lift(from, body);
    transcript.settings.model = Some(photic::json::Str::plain(model));
    let plan = photic::plan(photic::survey(&transcript), profile, &Policy::hands_off());
    photic::lower(&transcript, &plan).body.to_vec()
}

/// The provider of a model, which refuses all that the real one refuses.
pub(crate) fn strict(profile: &Profile, model: &'static str) -> Rules {
    Rules {
        settings: true,
        strict_unknown: profile.wire != Wire::Ollama,
        model: Some(model),
        ..harness::rules(profile)
    }
}

/// What the strict providers of all models on other wires have against a body.
pub(crate) fn refused(name: &str, from: Wire, body: &[u8]) -> Vec<String> {
    let mut refused = Vec::new();
    for to in Wire::ALL.into_iter().filter(|to| *to != from) {
        for model in models(to) {
            let profile = photic::profile::resolve(to, Some(model), None);
            let lowered = led(from, body, &profile, model);
            let judged = oracle::read_with(to.name(), &lowered, &strict(&profile, model));
            let against = judged.err().unwrap_or_default();
            refused.extend(against.iter().map(|one| {
                let body = String::from_utf8_lossy(&lowered);
                let shown: String = body.chars().take(700).collect();
                format!("{name}: {from} → {to}, {model}: {one}\n    {shown}")
            }));
        }
    }
    refused
}

const ACCEPTED: [&str; 4] =
    ["cross_settings_chat", "unknown_fields_chat", "anthropic_to_gpt5", "gemini_toolconfig"];
const EXOTIC: [&str; 3] = ["exotic_anthropic", "responses_exotic", "legacy_and_openrouter_chat"];

#[test]
fn a_strict_provider_accepts_them_on_every_other_wire() {
    let mut against = Vec::new();
    for name in ACCEPTED.iter().chain(&EXOTIC) {
        // One case holds a number that the provider of the tests cannot read.
        let text = String::from_utf8(body(name)).unwrap().replace("1e400", "1e30");
        let body = text.into_bytes();
        let from = photic::detect(&body).unwrap();
        against.extend(refused(name, from, &body));
    }
    assert!(against.is_empty(), "{}\n{}", against.len(), against.join("\n"));
}

#[test]
fn nothing_of_them_is_lost_without_a_decision() {
    let mut lost = Vec::new();
    for name in ACCEPTED.iter().chain(&EXOTIC) {
        let body = body(name);
        let from = photic::detect(&body).unwrap();
        for to in Wire::ALL.into_iter().filter(|to| *to != from) {
            lost.extend(endpoints(to).iter().flat_map(|profile| losses(from, &body, profile)));
        }
    }
    assert!(lost.is_empty(), "{}\n{}", lost.len(), lost.join("\n"));
}

/// The decisions about a case for a model, as `name pointer: sentence`.
fn decisions(case: &str, to: Wire, model: &str) -> Vec<String> {
    let body = body(case);
    let profile = photic::profile::resolve(to, Some(model), None);
    let (transcript, _) = photic::lift(photic::detect(&body).unwrap(), &body);
    let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::hands_off());
    let lowered = photic::lower(&transcript, &plan);
    let at = |did: &photic::Decision| did.at.as_ref().map_or("-".to_owned(), ToString::to_string);
    lowered
        .decisions
        .iter()
        .filter(|decision| !matches!(decision.did, Did::Hoisted | Did::Rewrote))
        .map(|decision| format!("{} {}", at(decision), decision.did.says()))
        .collect()
}

#[test]
fn each_decision_names_the_place_and_the_reason() {
    let settings = decisions("cross_settings_chat", Wire::Anthropic, "claude-sonnet-4-5");
    for wanted in [
        "/top_p field `top_p` left out: it contradicts `temperature`, which is sent",
        "/stop/0 field `stop` left out: this model refuses it (",
        "/max_tokens field `max_tokens` left out: it contradicts `max_completion_tokens`",
        "/seed field `seed` left out: this wire has no word for it",
        "/tools/2/function/parameters field `type` added: this wire demands it",
        "/messages/1/name field `name` left out: this wire has no word for it",
        "/messages/1/content/1/image_url/detail field `detail` left out: this wire has no word",
        "/tool_choice field `tool_choice` changed: this wire can only say something wider",
    ] {
        assert!(settings.iter().any(|did| did.starts_with(wanted)), "{wanted}\n{settings:#?}");
    }
    let newest = decisions("cross_settings_chat", Wire::Anthropic, "claude-opus-5");
    let refused = "/temperature field `temperature` left out: this model refuses it (Claude";
    assert!(newest.iter().any(|did| did.starts_with(refused)), "{newest:#?}");
    let unknown = decisions("unknown_fields_chat", Wire::Anthropic, "claude-opus-5");
    let wanted =
        "/chat_template_kwargs field `chat_template_kwargs` left out: this endpoint refuses fields";
    assert!(unknown.iter().any(|did| did.starts_with(wanted)), "{unknown:#?}");
    let names = decisions("gemini_toolconfig", Wire::OpenAiChat, "gpt-4o");
    let wanted = "/tools/0/functionDeclarations/0/name field `name` changed: it is called `a_b_c_";
    assert!(names.iter().any(|did| did.starts_with(wanted)), "{names:#?}");
}

/// What version 0.1.0 sent for the cases; the strict provider refuses all of it.
#[test]
fn what_the_first_release_sent_is_refused() {
    let sent: [(Wire, &'static str, &str, &str); 8] = [
        (
            Wire::Anthropic,
            "claude-sonnet-4-5",
            r#"{"model":"claude-sonnet-4-5","temperature":0.7,"top_p":0.9,"max_tokens":600,"stop_sequences":["\n","END"],"messages":[{"role":"user","content":"hi"}]}"#,
            "setting_refused",
        ),
        (
            Wire::Anthropic,
            "claude-opus-5",
            r#"{"model":"claude-opus-5","temperature":0.7,"max_tokens":600,"messages":[{"role":"user","content":"hi"}]}"#,
            "setting_refused",
        ),
        (
            Wire::Anthropic,
            "claude-sonnet-4-5",
            r#"{"model":"claude-sonnet-4-5","max_tokens":600,"tools":[{"name":"innertype","input_schema":{"properties":{"x":{"type":"string"}},"required":["x"]}}],"messages":[{"role":"user","content":"hi"}]}"#,
            "tool_schema",
        ),
        (
            Wire::Anthropic,
            "claude-sonnet-4-5",
            r#"{"model":"claude-sonnet-4-5","min_p":0.1,"chat_template_kwargs":{},"max_tokens":4096,"messages":[{"role":"user","content":"hi"}]}"#,
            "unknown_field",
        ),
        (
            Wire::OpenAiChat,
            "gpt-5.4",
            r#"{"model":"gpt-5.4","temperature":0,"top_p":0.9,"stop":["END"],"max_completion_tokens":100,"messages":[{"role":"user","content":"hi"}]}"#,
            "setting_refused",
        ),
        (
            Wire::OpenAiChat,
            "gpt-4o",
            r#"{"model":"gpt-4o","anthropic_version":"bedrock-2023-05-31","betas":["y"],"messages":[{"role":"user","content":"hi"}]}"#,
            "unknown_field",
        ),
        (
            Wire::OpenAiChat,
            "gpt-4o",
            r#"{"model":"gpt-4o","tools":[{"type":"function","function":{"name":"a.b:c","parameters":{"type":"object"}}}],"messages":[{"role":"user","content":"x"}]}"#,
            "tool_name",
        ),
        (
            Wire::BedrockConverse,
            "anthropic.claude-sonnet-4-5",
            r#"{"min_p":0.1,"messages":[{"role":"user","content":[{"text":"hi"}]}]}"#,
            "unknown_field",
        ),
    ];
    for (wire, model, body, code) in sent {
        let profile = photic::profile::resolve(wire, Some(model), None);
        let judged = oracle::read_with(wire.name(), body.as_bytes(), &strict(&profile, model));
        let against: Vec<Violation> = judged.err().unwrap_or_default();
        assert!(against.iter().any(|one| one.code == code), "{body}\n{against:#?}");
    }
}

#[test]
fn a_newer_version_of_the_api_refuses_sampling() {
    let body = br#"{"model":"x","temperature":0.5,"messages":[{"role":"user","content":"hi"}]}"#;
    let mut profile = photic::profile::resolve(Wire::Anthropic, Some("claude-sonnet-4-5"), None);
    let model = "claude-sonnet-4-5";
    let rules = |profile: &Profile| Rules { version: Some("2026-10-21"), ..strict(profile, model) };
    let before = led(Wire::OpenAiChat, body, &profile, model);
    assert!(oracle::read_with("anthropic", &before, &strict(&profile, model)).is_ok());
    assert!(oracle::read_with("anthropic", &before, &rules(&profile)).is_err());
    profile.at_version("2023-06-01");
    assert_eq!(led(Wire::OpenAiChat, body, &profile, model), before);
    profile.at_version("2026-10-21");
    let after = led(Wire::OpenAiChat, body, &profile, model);
    assert!(oracle::read_with("anthropic", &after, &rules(&profile)).is_ok());
}

/// Names that a wire refuses are given back in replies, whole and streamed.
#[test]
fn renamed_tools_get_their_names_back() {
    let body = body("gemini_toolconfig");
    let profile = photic::profile::resolve(Wire::OpenAiChat, Some("gpt-4o"), None);
    let (transcript, _) = photic::lift(Wire::Gemini, &body);
    let names = photic::renamed_tools(&transcript, &profile);
    let [tool] = names.as_slice() else { panic!("{names:?}") };
    assert_eq!((tool.name.as_str(), tool.free_text), ("a.b:c", false));
    let new = tool.sent.clone();
    let call = format!(
        r#"{{"id":"c1","type":"function","function":{{"name":"{new}","arguments":"{{}}"}}}}"#
    );
    let reply = format!(
        r#"{{"id":"1","model":"gpt-4o","choices":[{{"index":0,"finish_reason":"tool_calls","message":{{"role":"assistant","content":null,"tool_calls":[{call}]}}}}]}}"#
    );
    let mut lifted = photic::lift_reply(Wire::OpenAiChat, reply.as_bytes());
    lifted.rename_calls(&names);
    let whole = photic::lower_reply(&lifted, Wire::Gemini).to_vec();
    let whole = String::from_utf8(whole).unwrap();
    assert!(whole.contains(r#""name":"a.b:c""#) && !whole.contains(new.as_str()), "{whole}");
    let streamed = format!(
        "data: {{\"id\":\"1\",\"model\":\"gpt-4o\",\"choices\":[{{\"index\":0,\"delta\":{{\"role\":\"assistant\",\"tool_calls\":[{}]}}}}]}}\n\ndata: {{\"id\":\"1\",\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"tool_calls\"}}]}}\n\ndata: [DONE]\n\n",
        call.replacen('{', "{\"index\":0,", 1)
    );
    let mut stream = photic::Stream::new(Wire::OpenAiChat, Wire::Gemini).renaming(names);
    let mut events = stream.feed(streamed.as_bytes());
    events.extend(stream.finish());
    let events = String::from_utf8(events).unwrap();
    assert!(events.contains(r#""name":"a.b:c""#), "{events}");
}
