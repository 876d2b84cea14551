//! Cases of the default policy: what was in sight stays in sight.

use photic::retention::Retention;
use photic::{Policy, Profile, Wire};

use super::body;
use crate::harness::{Run, lower_with, rules, seen};

/// Lowers a case on its own wire and returns what the model sees of it, picture by picture.
fn lowered(name: &str, wire: Wire, model: &str, policy: &Policy) -> (usize, String) {
    let profile: Profile = photic::profile::resolve(wire, Some(model), None);
    let Run { body } = lower_with(wire, &body(name), &profile, policy);
    let seen = seen(name, wire, &body, &rules(&profile));
    (seen.images.len(), String::from_utf8(body).unwrap())
}

fn policy(retention: Retention) -> Policy {
    let mut policy = Policy::default();
    policy.retention = retention;
    policy
}

#[test]
fn six_photos_of_a_short_question_are_all_in_sight() {
    for policy in [Policy::default(), policy(Retention::Priced)] {
        let (images, _) =
            lowered("six_photos_three_hidden", Wire::Anthropic, "claude-opus-5", &policy);
        assert_eq!(images, 6, "{}", policy.retention);
    }
}

#[test]
fn no_notice_asks_to_call_a_tool_again() {
    let name = "retired_side_effect_tool";
    let shown = |policy: &Policy| lowered(name, Wire::OpenAiChat, "gpt-4o", policy);
    let (all, body) = shown(&Policy::default());
    assert!(!body.contains("not shown"), "{body}");
    for retention in [Retention::Newest(1), Retention::Turns(0)] {
        let (few, body) = shown(&policy(retention));
        assert!(few < all, "{retention}: {few} of {all}");
        assert!(body.contains("it was left out of this request; you cannot see it]"), "{body}");
        assert!(!body.contains("again to see it"), "{body}");
    }
}
