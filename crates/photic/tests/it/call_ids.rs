//! Ids of calls that a wire wants unique and short.

use photic::{Policy, Profile, Wire};
use serde_json::{Value, json};

/// Lowers a request for its own wire.
fn lowered(body: &[u8]) -> Vec<u8> {
    let profile = Profile::generic(Wire::Anthropic);
    let (transcript, _) = photic::lift(Wire::Anthropic, body);
    let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
    photic::lower(&transcript, &plan).body.to_vec()
}

#[test]
fn an_id_that_comes_again_gets_one_that_is_no_longer_than_allowed() {
    for length in [1, 62, 63, 64] {
        let id = "t".repeat(length);
        let mut messages = vec![json!({"role": "user", "content": "Look."})];
        for _ in 0..3 {
            messages.push(json!({"role": "assistant", "content": [
                {"type": "tool_use", "id": id, "name": "look", "input": {}}]}));
            messages.push(json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": "done"}]}));
        }
        let body = json!({"model": "m", "max_tokens": 9, "messages": messages}).to_string();
        let once = lowered(body.as_bytes());
        let written: Value = serde_json::from_slice(&once).unwrap();
        let ids: Vec<&str> = (1..7)
            .map(|index| &written["messages"][index]["content"][0])
            .filter_map(|part| part["id"].as_str().or(part["tool_use_id"].as_str()))
            .collect();
        assert_eq!(ids.len(), 6);
        assert!(ids.iter().all(|id| id.len() <= 64), "{ids:?}");
        assert!(ids.chunks(2).all(|pair| pair[0] == pair[1]), "{ids:?}");
        assert!(ids[0] != ids[2] && ids[2] != ids[4] && ids[0] != ids[4], "{ids:?}");
        assert!(lowered(&once) == once, "lowering twice is lowering once");
    }
}
