//! What a provider keeps, removes or changes by itself: it is said, it passes untouched on its own
//! wire, and on another wire it is done here or named.

use photic::{Did, Effect, Fate, Plan, Policy, Profile, Reason, Transcript, Wire, retention};
use photic_testkit::{image, oracle};
use serde_json::{Value, json};

use crate::harness;

fn bytes(body: &Value) -> Vec<u8> {
    serde_json::to_vec(body).unwrap()
}

fn planned<'p>(transcript: &Transcript<'_>, profile: &'p Profile, policy: &Policy) -> Plan<'p> {
    photic::plan(photic::survey(transcript), profile, policy)
}

/// The effect, the field, and whether the request is half of one.
type Noted = (Effect, &'static str, bool);

/// A request of each kind: its wire, its body, and the notes about it.
fn noted() -> Vec<(Wire, Value, Vec<Noted>)> {
    let said = json!([{"role": "user", "content": "go on"}]);
    let edits =
        |edit: &str| json!({"messages": said, "context_management": {"edits": [{"type": edit}]}});
    let picture = |setting: &str| {
        json!({"type": "image", "source": {"type": "url", "url": "https://a.example/p.png"},
            "transformations": {"oversized_image": setting}})
    };
    vec![
        (
            Wire::OpenAiResponses,
            json!({"input": "go on", "previous_response_id": "resp_1"}),
            vec![(Effect::Continues, "previous_response_id", true)],
        ),
        (
            Wire::OpenAiResponses,
            json!({"input": "go on", "conversation": {"id": "conv_1"}}),
            vec![(Effect::Continues, "conversation", true)],
        ),
        (
            Wire::OpenAiResponses,
            json!({"input": [{"type": "item_reference", "id": "msg_1"}]}),
            vec![(Effect::Continues, "item_reference", true)],
        ),
        (
            Wire::OpenAiResponses,
            json!({"input": [{"type": "compaction", "encrypted_content": "x"},
                {"role": "user", "content": [{"type": "input_image", "file_id": "file-1"}]}]}),
            vec![(Effect::Folded, "compaction", true), (Effect::Stored, "file_id", false)],
        ),
        (
            Wire::OpenAiResponses,
            json!({"input": "hi", "image": {"context_compression": "auto"},
                "context_management": [{"type": "compaction", "compact_threshold": 1000}]}),
            vec![
                (Effect::Compacts, "compaction", false),
                (Effect::CompressesImages, "context_compression", false),
            ],
        ),
        (
            Wire::OpenAiResponses,
            json!({"input": "hi", "image": {"context_compression": "disabled"},
                "previous_response_id": null}),
            vec![],
        ),
        (
            Wire::Anthropic,
            json!({"messages": said, "thread": {"type": "continue", "previous_message_id": "m"}}),
            vec![(Effect::Continues, "thread", true)],
        ),
        (Wire::Anthropic, json!({"messages": said, "thread": {"type": "create"}}), vec![]),
        (
            Wire::Anthropic,
            json!({"messages": [{"role": "assistant", "content": [
                {"type": "compaction", "content": "They looked at charts."}]}]}),
            vec![(Effect::Folded, "compaction", false)],
        ),
        (
            Wire::Anthropic,
            edits("clear_tool_uses_20250919"),
            vec![(Effect::ClearsResults, "clear_tool_uses_20250919", false)],
        ),
        (
            Wire::Anthropic,
            edits("clear_thinking_20251015"),
            vec![(Effect::ClearsThinking, "clear_thinking_20251015", false)],
        ),
        (
            Wire::Anthropic,
            edits("compact_20260112"),
            vec![(Effect::Compacts, "compact_20260112", false)],
        ),
        (
            Wire::Anthropic,
            json!({"messages": said, "compaction": {"type": "summarize"}}),
            vec![(Effect::Compacts, "compaction", false)],
        ),
        (
            Wire::Anthropic,
            json!({"messages": [{"role": "user", "content": [picture("downsize"), picture("error"),
                {"type": "tool_result", "tool_use_id": "t", "content": [picture("downsize")]}]}]}),
            vec![
                (Effect::DownsizesImages, "oversized_image", false),
                (Effect::DownsizesImages, "oversized_image", false),
            ],
        ),
        (
            Wire::Gemini,
            json!({"contents": [], "cachedContent": "cachedContents/1"}),
            vec![(Effect::Continues, "cachedContent", true)],
        ),
    ]
}

#[test]
fn what_the_provider_does_by_itself_is_noted() {
    for (wire, body, expected) in noted() {
        let body = bytes(&body);
        let (transcript, _) = photic::lift(wire, &body);
        let notes = photic::notes(&transcript);
        let found: Vec<_> =
            notes.iter().map(|note| (note.effect, note.field.as_str(), note.is_half)).collect();
        assert_eq!(found, expected, "{}", String::from_utf8_lossy(&body));
        let profile = Profile::generic(wire);
        let plan = planned(&transcript, &profile, &Policy::default());
        let mut effects: Vec<Effect> = expected.iter().map(|(effect, ..)| *effect).collect();
        effects.sort();
        effects.dedup();
        assert_eq!(plan.ledger.effects, effects);
        // A note is not a problem.
        let codes = harness::codes(&harness::check(wire, &body, &profile));
        assert!(!codes.iter().any(|code| code.contains("server")), "{codes:?}");
    }
}

#[test]
fn requests_that_continue_elsewhere_pass_their_own_wire_untouched() {
    for (wire, body, _) in noted() {
        // Two of these bodies have other faults, which are repaired.
        let body = bytes(&body);
        let (transcript, findings) = photic::lift(wire, &body);
        if !findings.is_empty() {
            continue;
        }
        let profile = Profile::generic(wire);
        let plan = planned(&transcript, &profile, &Policy::default());
        let lowered = photic::lower(&transcript, &plan);
        assert!(lowered.body.is(&body), "{:?}", lowered.decisions);
    }
}

#[test]
fn a_thread_that_begins_loses_its_field_by_a_decision_on_another_wire() {
    let body = br#"{"messages":[{"role":"user","content":"hi"}],"thread":{"type":"create"}}"#;
    let (transcript, _) = photic::lift(Wire::Anthropic, body);
    let profile = Profile::generic(Wire::OpenAiChat);
    let lowered = photic::lower(&transcript, &planned(&transcript, &profile, &Policy::default()));
    let is_thread = |did: &Did| matches!(did, Did::LeftOutField(field) if field.field == "thread");
    assert!(lowered.decisions.iter().any(|one| is_thread(&one.did)), "{:?}", lowered.decisions);
    assert!(!String::from_utf8_lossy(&lowered.body.to_vec()).contains("thread"));
}

#[test]
fn a_summary_of_earlier_messages_is_read_on_every_wire() {
    let body = json!({"model": "m", "max_tokens": 9, "messages": [
        {"role": "assistant", "content": [
            {"type": "compaction", "content": "They looked at charts.", "signature": "c2ln"}]},
        {"role": "user", "content": "Which one was red?"}]});
    let body = bytes(&body);
    let (transcript, _) = photic::lift(Wire::Anthropic, &body);
    for to in Wire::ALL {
        let profile = Profile::generic(to);
        let lowered =
            photic::lower(&transcript, &planned(&transcript, &profile, &Policy::default()));
        let text = String::from_utf8(lowered.body.to_vec()).unwrap();
        assert!(text.contains("They looked at charts."), "{to}: {text}");
        assert_eq!(text.contains("c2ln"), to == Wire::Anthropic, "{to}: {text}");
    }
}

/// A session of Messages with so many tool results, each a text and a picture, and an edit.
fn session(results: usize, edit: Option<Value>) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "look"})];
    for turn in 0..results {
        let tool = if turn % 4 == 3 { "memory" } else { "shot" };
        let data = image::base64(&image::png_noise(320, 200, turn as u64 + 1));
        messages.push(json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": format!("t{turn}"), "name": tool, "input": {}}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": format!("t{turn}"), "content": [
                {"type": "text", "text": format!("outcome {turn}")},
                {"type": "image", "source":
                    {"type": "base64", "media_type": "image/png", "data": data}}]}]}));
    }
    let mut body = json!({"model": "m", "max_tokens": 9, "messages": messages});
    if let Some(edit) = edit {
        body["context_management"] = json!({"edits": [edit]});
    }
    body
}

/// The results that a session keeps on another wire, and the pictures that are seen.
fn kept(edit: Value, to: Wire) -> (Vec<usize>, usize, usize) {
    let body = bytes(&session(8, Some(edit)));
    let (transcript, _) = photic::lift(Wire::Anthropic, &body);
    let profile = Profile::generic(to);
    let plan = planned(&transcript, &profile, &Policy::default());
    let lowered = photic::lower(&transcript, &plan);
    let sent = lowered.body.to_vec();
    let again = photic::lower(&transcript, &planned(&transcript, &profile, &Policy::default()));
    assert_eq!(again.body.to_vec(), sent, "the same request gives the same bytes");
    let seen = oracle::read_with(to.name(), &sent, &harness::rules(&profile)).unwrap();
    assert_eq!(seen.images.len(), plan.ledger.images, "{to}");
    let text = String::from_utf8(sent).unwrap();
    let kept = (0..8).filter(|turn| text.contains(&format!("outcome {turn}"))).collect();
    let cleared = lowered.decisions.iter().filter(|one| one.did == Did::ClearedResult).count();
    assert_eq!(text.matches("old tool result was cleared").count(), cleared, "{to}");
    (kept, seen.images.len(), cleared)
}

#[test]
fn old_tool_results_are_cleared_on_wires_that_cannot_do_it() {
    let clear = |more: Value| {
        let mut edit = json!({"type": "clear_tool_uses_20250919"});
        edit.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        edit
    };
    let uses = |value: u64| json!({"type": "tool_uses", "value": value});
    let tokens = |value: u64| json!({"type": "input_tokens", "value": value});
    for to in Wire::ALL.into_iter().filter(|to| *to != Wire::Anthropic) {
        let all: Vec<usize> = (0..8).collect();
        assert_eq!(kept(clear(json!({})), to), (all.clone(), 8, 0), "far below 100,000 tokens");
        let edit = clear(json!({"trigger": uses(5), "keep": uses(2)}));
        assert_eq!(kept(edit, to), (vec![6, 7], 2, 6), "{to}");
        let edit = clear(json!({"trigger": uses(8), "keep": uses(2)}));
        assert_eq!(kept(edit, to), (all.clone(), 8, 0), "{to}: not more than the trigger");
        let edit = clear(json!({"trigger": tokens(100)}));
        assert_eq!(kept(edit, to), (vec![5, 6, 7], 3, 5), "{to}: three stay unless it is said");
        let edit = clear(json!({"trigger": uses(1), "exclude_tools": ["memory"]}));
        assert_eq!(kept(edit, to), (vec![3, 4, 5, 6, 7], 5, 3), "{to}");
        let edit = clear(json!({"trigger": uses(1), "clear_at_least": tokens(1_000_000)}));
        assert_eq!(kept(edit, to), (all, 8, 0), "{to}: it would save too little");
    }
}

#[test]
fn the_provider_clears_on_its_own_wire_and_the_price_leaves_the_same_pictures_alone() {
    let policy = {
        let mut policy = Policy::default();
        policy.retention = retention::Retention::Newest(2);
        policy
    };
    let profile = Profile::generic(Wire::Anthropic);
    let retired = |edit: Option<Value>| {
        let body = bytes(&session(8, edit));
        let (transcript, _) = photic::lift(Wire::Anthropic, &body);
        let plan = planned(&transcript, &profile, &policy);
        let retired = |fate: &&Fate| **fate == Fate::Elide(Reason::Retired);
        (
            plan.fates.iter().filter(retired).count(),
            photic::lower(&transcript, &plan).body.is(&body),
        )
    };
    assert_eq!(retired(None), (6, false));
    let edit = json!({"type": "clear_tool_uses_20250919"});
    assert_eq!(retired(Some(edit)), (0, true), "two evictors would remove each other's pictures");
    let edit = json!({"type": "clear_tool_uses_20250919", "exclude_tools": ["shot"]});
    assert_eq!(retired(Some(edit)).0, 4, "what the provider leaves alone may be retired");
}

/// Results of calls that code made: pictures that are far too large, and too many of them.
#[test]
fn pictures_that_only_code_reads_are_neither_resized_nor_hoisted_nor_counted() {
    let picture = image::base64(&image::png_noise(9000, 16, 3));
    let block = json!({"type": "image", "source":
        {"type": "base64", "media_type": "image/png", "data": picture}});
    let mut messages = vec![json!({"role": "user", "content": "go"})];
    for turn in 0..30 {
        let id = format!("t{turn}");
        messages.push(json!({"role": "assistant", "content": [
            {"type": "server_tool_use", "id": format!("s{turn}"), "name": "code_execution", "input": {}},
            {"type": "tool_use", "id": id, "name": "shot", "input": {},
             "caller": {"type": "code_execution_20260120", "tool_id": format!("s{turn}")}}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": [block]}]}));
    }
    let body = bytes(&json!({"model": "m", "max_tokens": 9, "messages": messages}));
    let (transcript, _) = photic::lift(Wire::Anthropic, &body);
    let profile = photic::profile::resolve(Wire::Anthropic, Some("claude-sonnet-4-5"), None);
    let mut policy = Policy::default();
    policy.pixels = true;
    let plan = planned(&transcript, &profile, &policy);
    assert_eq!((plan.ledger.images, plan.ledger.image_tokens), (0, 0));
    assert!(plan.recipes.is_empty() && plan.fates.iter().all(|fate| fate.is_shown()));
    assert!(photic::lower(&transcript, &plan).body.is(&body));
    let output = json!({"type": "function_call_output", "call_id": "c", "caller":
        {"type": "program", "caller_id": "p"},
        "output": [{"type": "input_image", "image_url": format!("data:image/png;base64,{picture}")}]});
    let call = json!({"type": "function_call", "call_id": "c", "name": "shot", "arguments": "{}",
        "caller": {"type": "program", "caller_id": "p"}});
    let body = bytes(&json!({"model": "m", "input": [call, output]}));
    let (transcript, _) = photic::lift(Wire::OpenAiResponses, &body);
    let profile = Profile::generic(Wire::OpenAiResponses);
    let plan = planned(&transcript, &profile, &policy);
    assert_eq!((plan.ledger.images, plan.recipes.len()), (0, 0));
    assert!(photic::lower(&transcript, &plan).body.is(&body));
}
