//! Choices of the user, and what gave way before: they change only what they name.

use std::collections::{BTreeMap, BTreeSet};

use photic::retention::Retention;
use photic::{
    Choice, Former, Gone, MediaId, Plan, Policy, Prepared, Profile, Reason, Transcript, Wire,
};
use photic_testkit::image;
use serde_json::json;

/// A session of so many turns with a picture of a tool in each.
fn session(turns: u32) -> Vec<u8> {
    let mut messages = vec![json!({"role": "user", "content": "go on"})];
    for turn in 0..turns {
        let id = format!("c{turn}");
        let call = json!({"type": "tool_use", "id": id, "name": "shot", "input": {}});
        messages.push(json!({"role": "assistant", "content": [call]}));
        let data = image::base64(&image::png(1280, 800, [turn as u8, 1, 2]));
        let source = json!({"type": "base64", "media_type": "image/png", "data": data});
        let content = json!([{"type": "image", "source": source}]);
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": content});
        messages.push(json!({"role": "user", "content": [result]}));
    }
    json!({"model": "claude-opus-5", "max_tokens": 9, "messages": messages}).to_string().into()
}

fn policy(retention: Retention) -> Policy {
    let mut policy = Policy::default();
    policy.retention = retention;
    policy.marks = false;
    policy.pixels = true;
    policy
}

fn planned<'p>(transcript: &Transcript<'_>, profile: &'p Profile, policy: &Policy) -> Plan<'p> {
    let mut survey = photic::survey(transcript);
    survey.identify(transcript);
    photic::plan(survey, profile, policy)
}

fn shown(plan: &Plan<'_>) -> BTreeSet<MediaId> {
    MediaId::first(plan.fates.len()).filter(|&id| plan.fates[id].is_shown()).collect()
}

#[test]
fn a_choice_changes_nothing_but_the_picture_it_names() {
    let profile = photic::profile::resolve(Wire::Anthropic, Some("claude-opus-5"), None);
    for retention in [Retention::Priced, Retention::Newest(4), Retention::Turns(3)] {
        let mut retired = 0;
        for turns in [5, 9, 14] {
            let body = session(turns);
            let (transcript, _) = photic::lift(Wire::Anthropic, &body);
            let mut policy = policy(retention);
            let usual = planned(&transcript, &profile, &policy);
            let before = shown(&usual);
            retired += usual.ledger.retired.len();
            let digest = |id: MediaId| usual.survey.sightings[id].digest.unwrap();
            for id in MediaId::first(turns as usize).step_by(2) {
                for choice in [Choice::Drop, Choice::Pin, Choice::Shrink { max_edge: 300 }] {
                    policy.choices = BTreeMap::from([(digest(id), choice)]);
                    let after = shown(&planned(&transcript, &profile, &policy));
                    let mut wanted = before.clone();
                    match choice {
                        Choice::Drop => drop(wanted.remove(&id)),
                        Choice::Pin => drop(wanted.insert(id)),
                        Choice::Shrink { .. } => {}
                    }
                    assert_eq!(after, wanted, "{retention}, {turns} turns, {choice:?} {id}");
                }
            }
        }
        assert!(retired > 4, "{retention}: nothing was retired");
    }
}

#[test]
fn what_gave_way_stays_away_unless_it_is_pinned() {
    let profile = photic::profile::resolve(Wire::Anthropic, Some("claude-opus-5"), None);
    let body = session(9);
    let (transcript, _) = photic::lift(Wire::Anthropic, &body);
    let mut policy = policy(Retention::All);
    let all = planned(&transcript, &profile, &policy);
    assert_eq!(shown(&all).len(), 9);
    let digest = |id: MediaId| all.survey.sightings[id].digest.unwrap();
    let gone = |id, reason| (id, Gone { digest: digest(id), reason });
    let [first, second, sixth] = [0, 1, 5].map(MediaId::new);
    // The last of them is another picture than the one that stood there.
    let other = Gone { digest: digest(second), reason: Reason::Retired };
    policy.retired = BTreeMap::from([
        gone(first, Reason::OverCount),
        gone(second, Reason::Retired),
        (sixth, other),
    ]);
    let plan = planned(&transcript, &profile, &policy);
    assert_eq!(shown(&plan), MediaId::first(9).skip(2).collect());
    // The words in its place are those that stood there before.
    assert_eq!(plan.fates[0].reason(), Reason::OverCount);
    policy.choices.insert(digest(first), Choice::Pin);
    assert!(shown(&planned(&transcript, &profile, &policy)).contains(&first));
    // A record keeps the policy.
    let kept: Policy = serde_json::from_str(&serde_json::to_string(&policy).unwrap()).unwrap();
    assert_eq!(kept, policy);
}

#[test]
fn a_request_is_compared_with_what_was_sent() {
    let profile = photic::profile::resolve(Wire::Anthropic, Some("claude-opus-5"), None);
    let usual = policy(Retention::All);
    let (first, second) = (session(8), session(9));
    let (transcript, _) = photic::lift(Wire::Anthropic, &first);
    let sent = planned(&transcript, &profile, &usual);
    let former = Former::of(&sent, &Prepared::new(), &[]);
    let kept: Former = serde_json::from_str(&serde_json::to_string(&former).unwrap()).unwrap();
    assert_eq!(kept, former);
    let (transcript, _) = photic::lift(Wire::Anthropic, &second);
    let mut survey = photic::survey(&transcript);
    survey.identify(&transcript);
    survey.former = Some(former);
    // From now on the third is dropped: it was sent, whatever a plan would do today.
    let mut dropped = usual.clone();
    dropped.choices.insert(survey.sightings[2].digest.unwrap(), Choice::Drop);
    let ledger = photic::plan(survey.clone(), &profile, &dropped).ledger;
    assert_eq!(ledger.changed.map(|change| change.media), Some(MediaId::new(2)));
    let unknown = planned(&transcript, &profile, &dropped).ledger;
    assert_eq!(unknown.changed, None);
    let same = photic::plan(survey.clone(), &profile, &usual).ledger;
    assert_eq!(same.changed, None);
    assert!(same.reusable_tokens > ledger.reusable_tokens);
    // Another model has another cache.
    survey.former.as_mut().unwrap().profile = "another".to_owned();
    assert_eq!(photic::plan(survey, &profile, &usual).ledger.reusable_tokens, 0);
}

/// The endpoint keeps what is marked, and nothing else.
#[test]
fn without_a_mark_everything_is_read_at_the_full_price() {
    let profile = photic::profile::resolve(Wire::Anthropic, Some("claude-opus-5"), None);
    let body = session(8);
    let (transcript, _) = photic::lift(Wire::Anthropic, &body);
    let ledger = planned(&transcript, &profile, &policy(Retention::All)).ledger;
    let price = profile.price.unwrap();
    assert!((ledger.usd.unwrap() - price.of(ledger.tokens as f64)).abs() < 1e-9);
    let marked = String::from_utf8(body).unwrap().replacen(
        "\"type\":\"tool_result\"",
        "\"cache_control\":{\"type\":\"ephemeral\"},\"type\":\"tool_result\"",
        1,
    );
    let (transcript, _) = photic::lift(Wire::Anthropic, marked.as_bytes());
    let cached = planned(&transcript, &profile, &policy(Retention::All)).ledger;
    assert!(cached.usd.unwrap() < ledger.usd.unwrap() / 2.0);
}
