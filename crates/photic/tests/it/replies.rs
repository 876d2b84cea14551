//! Replies: read from one wire, written for the others.

use photic::Wire;
use photic_testkit::oracle;

use crate::golden::{cases, compare};

#[test]
fn every_reply_reads_the_same_on_every_wire() {
    let cases = cases("reply.json");
    assert!(cases.len() >= 12);
    let mut failures = Vec::new();
    for (name, (case, body)) in &cases {
        let original = oracle::reply(case.wire.name(), body);
        for wire in Wire::ALL {
            let lowered = photic::lower_reply(&photic::lift_reply(case.wire, body), wire).to_vec();
            failures.extend(compare(name, wire, body, &lowered).err());
            if wire == case.wire {
                assert_eq!(lowered, *body);
            }
            let Ok(original) = &original else { continue };
            if photic::lift_reply(wire, &lowered).error.is_some() {
                continue; // an error in the words of that wire
            }
            match oracle::reply(wire.name(), &lowered) {
                Err(violations) => failures.push(format!("{name} → {wire}: {violations:#?}")),
                Ok(reply) => {
                    let calls = |reply: &oracle::Reply| -> Vec<_> {
                        // The hosted computer tool is a call like any other elsewhere.
                        let calls = reply.calls.iter().filter(|call| call.name != "computer");
                        calls.map(|call| (call.id.clone(), call.name.clone())).collect()
                    };
                    if reply.texts.concat().replace('\n', "")
                        != original.texts.concat().replace('\n', "")
                    {
                        failures.push(format!(
                            "{name} → {wire}: {:?} became {:?}",
                            original.texts, reply.texts
                        ));
                    }
                    if calls(&reply) != calls(original) {
                        failures.push(format!(
                            "{name} → {wire}: {:?} became {:?}",
                            original.calls, reply.calls
                        ));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn counts_past_any_count_do_not_overflow() {
    let most = u64::MAX;
    let chat = format!(
        r#"{{"object":"chat.completion","choices":[{{"message":{{"role":"assistant","content":"a"}}}}],"usage":{{"prompt_tokens":{most},"completion_tokens":{most},"prompt_tokens_details":{{"cached_tokens":{most}}}}}}}"#
    );
    let anthropic = format!(
        r#"{{"type":"message","content":[],"usage":{{"input_tokens":{most},"output_tokens":{most},"cache_read_input_tokens":{most},"cache_creation_input_tokens":{most}}}}}"#
    );
    let responses = format!(
        r#"{{"object":"response","output":[],"usage":{{"input_tokens":{most},"output_tokens":{most},"input_tokens_details":{{"cached_tokens":{most},"cache_write_tokens":{most}}}}}}}"#
    );
    for (wire, body) in
        [(Wire::OpenAiChat, chat), (Wire::Anthropic, anthropic), (Wire::OpenAiResponses, responses)]
    {
        for to in Wire::ALL {
            photic::lower_reply(&photic::lift_reply(wire, body.as_bytes()), to);
        }
    }
}
