//! A model whose price nobody knows: what is planned for it is enough, and the plan says that it is
//! a guess.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic::profile::{Basis, Profile, Rule};
use photic::{Policy, Wire};
use serde_json::{Value, json};

/// The header of a PNG: nobody here looks further.
fn png(width: u32, height: u32) -> String {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
    STANDARD.encode(bytes)
}

/// A session in which a tool returned these pictures, one a turn.
fn session(sizes: &[(u32, u32)]) -> Vec<u8> {
    let turn = |(number, &(width, height)): (usize, &(u32, u32))| -> [Value; 2] {
        let id = format!("call_{number}");
        let address = format!("data:image/png;base64,{}", png(width, height));
        let arguments = json!({"name": "look", "arguments": "{}"});
        let call = json!({"id": id, "type": "function", "function": arguments});
        [
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": id,
                   "content": [{"type": "image_url", "image_url": {"url": address}}]}),
        ]
    };
    let opening = json!({"role": "user", "content": "Look around."});
    let turns = sizes.iter().enumerate().flat_map(turn);
    let messages: Vec<Value> = std::iter::once(opening).chain(turns).collect();
    json!({"model": "nobody-knows-this", "messages": messages}).to_string().into_bytes()
}

#[test]
fn a_budget_holds_whichever_rule_the_model_follows() {
    let sizes = [(1280, 800), (1920, 1080), (3000, 400), (512, 512), (800, 2400), (1024, 1024)];
    let sizes = sizes.repeat(4);
    let body = session(&sizes);
    let profile = Profile::generic(Wire::OpenAiChat);
    let (transcript, _) = photic::lift(Wire::OpenAiChat, &body);
    for budget in [5_000, 12_000, 40_000] {
        let mut policy = Policy::default();
        policy.room.image_tokens = Some(budget);
        let plan = photic::plan(photic::survey(&transcript), &profile, &policy);
        let shown: Vec<(u32, u32)> = (0..sizes.len())
            .filter(|&id| plan.fates[id].is_shown())
            .map(|id| plan.survey.sightings[id].header.size.unwrap())
            .collect();
        assert!(!shown.is_empty() && plan.ledger.images == shown.len());
        assert!(plan.ledger.image_tokens < plan.ledger.most_image_tokens);
        assert!(plan.ledger.most_image_tokens <= budget, "{:?}", plan.ledger);
        assert_eq!(plan.ledger.basis, Basis::Unknown);
        for model in ["claude-opus-5", "gpt-5.4", "gpt-4o", "pixtral-large", "qwen2.5-vl-72b"] {
            let known = photic::profile::resolve(Wire::OpenAiChat, Some(model), None);
            let cost: u64 = shown.iter().map(|&(w, h)| known.image_tokens(w, h, None)).sum();
            assert!(cost <= budget, "{model}: {cost} of {budget} for {shown:?}");
        }
    }
}

/// A part may say how closely to look at it, and what that costs is planned.
#[test]
fn a_resolution_is_priced() {
    let profile = photic::profile::resolve(Wire::Gemini, Some("gemini-3-pro"), None);
    let cost = |level: &str| {
        let mut part = json!({"inlineData": {"mimeType": "image/png", "data": png(1280, 800)}});
        if !level.is_empty() {
            part["mediaResolution"] = json!({"level": format!("MEDIA_RESOLUTION_{level}")});
        }
        let body = json!({"contents": [{"role": "user", "parts": [part]}]}).to_string();
        let (transcript, _) = photic::lift(Wire::Gemini, body.as_bytes());
        photic::plan(photic::survey(&transcript), &profile, &Policy::default()).ledger.image_tokens
    };
    let prices = ["", "LOW", "MEDIUM", "HIGH", "ULTRA_HIGH", "NONE_SUCH"].map(cost);
    assert_eq!(prices, [1120, 280, 560, 1120, 2240, 1120]);
    // What another wire asked for is not said here, so it costs what nothing costs.
    let address = format!("data:image/png;base64,{}", png(1280, 800));
    let part = json!({"type": "image_url", "image_url": {"url": address, "detail": "low"}});
    let body = json!({"messages": [{"role": "user", "content": [part]}]}).to_string();
    let (transcript, _) = photic::lift(Wire::OpenAiChat, body.as_bytes());
    let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
    assert_eq!(plan.ledger.image_tokens, 1120);
}

#[test]
fn a_plan_says_how_its_tokens_are_known() {
    let body = session(&[(1280, 800)]);
    let (transcript, _) = photic::lift(Wire::OpenAiChat, &body);
    let said = |profile: &Profile| {
        let plan = photic::plan(photic::survey(&transcript), profile, &Policy::default());
        serde_json::to_value(&plan.ledger).unwrap()["basis"].clone()
    };
    let of = |model| photic::profile::resolve(Wire::OpenAiChat, Some(model), None);
    assert_eq!(said(&of("nobody-knows-this")), "unknown");
    assert_eq!(said(&of("gpt-6")), "assumed");
    assert_eq!(said(&of("claude-opus-5")), "published");
    assert_eq!(of("nobody-knows-this").tokens, Rule::Unknown);
}
