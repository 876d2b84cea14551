//! Choices, a heal and a lesson in the middle of a recorded session change only what they name, and
//! the recorded price is that of the provider's own usage.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use photic::profile::Limits;
use photic::{Choice, Digest, Wire};
use photic_mock::Options;
use photic_store::{LocalStore, PreviousTurn, SessionId, wait};
use photic_testkit::image;
use serde_json::{Value, json};

use crate::caller::Reply;
use crate::gateway;
use crate::poisoned::{Recorded, ask};

const TURNS: usize = 16;
const MODEL: &str = "claude-opus-5";
/// The turn whose image is too long for the provider: it is rejected, and healed.
const HEALED: usize = 12;

/// Returns the image of a turn. Turns are counted from 1.
fn shot(turn: usize) -> Vec<u8> {
    let width = if turn == HEALED { 1400 } else { 980 };
    image::png(width, 900, [turn as u8 * 9, 40, 90])
}

/// Returns the request of a turn: one tool image for each turn, and a cache breakpoint at the end.
fn request(turn: usize, marks: bool) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "go on until it works"})];
    for number in 1..=turn {
        let id = format!("c{number}");
        let call = json!({"type": "tool_use", "id": id, "name": "shot", "input": {}});
        messages.push(json!({"role": "assistant", "content": [call]}));
        let data = image::base64(&shot(number));
        let source = json!({"type": "base64", "media_type": "image/png", "data": data});
        let picture = json!({"type": "image", "source": source});
        let words = json!({"type": "text", "text": format!("step {number}: it does not work yet")});
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": [words, picture]});
        messages.push(json!({"role": "user", "content": [result]}));
    }
    if marks {
        messages[2 * turn]["content"][0]["cache_control"] = json!({"type": "ephemeral"});
    }
    json!({"model": MODEL, "max_tokens": 100, "messages": messages})
}

fn digest(turn: usize) -> Digest {
    *blake3::hash(&shot(turn)).as_bytes()
}

/// Returns the unchanged images of a body, by turn, and the number of images that were changed.
fn pictures(body: &[u8]) -> (BTreeSet<usize>, usize) {
    let (transcript, _) = photic::lift(Wire::Anthropic, body);
    let mut survey = photic::survey(&transcript);
    survey.identify(&transcript);
    let turn = |one: Option<Digest>| (1..=TURNS).find(|turn| Some(digest(*turn)) == one);
    let turns: Vec<Option<usize>> = survey.sightings.iter().map(|one| turn(one.digest)).collect();
    let made = turns.iter().filter(|turn| turn.is_none()).count();
    (turns.into_iter().flatten().collect(), made)
}

/// Returns the price of a reply's input by its usage, in US dollars.
fn charged(reply: &Reply) -> f64 {
    let usage = &reply.json()["usage"];
    let count = |name: &str| usage[name].as_u64().unwrap_or(0) as f64;
    let profile = photic::profile::resolve(Wire::Anthropic, Some(MODEL), None);
    let paid = count("input_tokens")
        + count("cache_read_input_tokens") * profile.cache.read
        + count("cache_creation_input_tokens") * profile.cache.write;
    paid * profile.price.unwrap().input_usd_per_million / 1e6
}

/// Waits for the session to have so many turns, the last of them billed.
async fn billed(directory: &Path, turns: u64, usd: f64) -> (LocalStore, SessionId) {
    let begun = Instant::now();
    loop {
        let store = LocalStore::open(directory).unwrap();
        let sessions = store.sessions().await.unwrap();
        if let [session] = sessions.as_slice()
            && session.turns == turns
        {
            let turn = store.turn(&session.id, turns).await.unwrap();
            if turn.sums.usd.is_some_and(|is| (is - usd).abs() < 1e-9) {
                return (store, session.id.clone());
            }
            let late = begun.elapsed() > Duration::from_mins(1);
            assert!(!late, "turn {turns}: {:?} recorded, {usd} by usage", turn.sums.usd);
        }
        assert!(begun.elapsed() < Duration::from_secs(90), "{sessions:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn play(retention: &str, marks: bool) {
    let name = format!("mid-session-{}-{marks}", retention.replace(['(', ')'], ""));
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&name);
    let _ = std::fs::remove_dir_all(&directory);
    let limits = Limits { edge: Some(1000), ..Limits::default() };
    let recorded = Recorded::start(Options { limits: Some(limits), ..Options::default() }).await;
    let settings = format!(
        "[learned]\npath = '{0}/learned.json'\n[policy]\nretention = '{retention}'\n\
         [record]\ndirectory = '{0}/record'\n",
        directory.display()
    );
    let gateway = gateway(recorded.address, &settings).await;
    let record = directory.join("record");
    let (mut hidden, mut pinned) = (BTreeSet::new(), BTreeSet::new());
    let mut sent: Vec<Vec<u8>> = Vec::new();
    let mut compared = 0;
    for turn in 1..=TURNS {
        let body = request(turn, marks);
        let reply = ask(gateway, "/v1/messages", &body).await;
        let said = String::from_utf8_lossy(&reply.body).into_owned();
        assert_eq!(reply.status, 200, "{name}, turn {turn}: {said}");
        assert_eq!(reply.header("x-photic-healed").is_some(), turn == HEALED, "{name}, {turn}");
        let went = recorded.taken().pop().unwrap();
        let fixes: usize = reply.header("x-photic-fixes").unwrap().parse().unwrap();
        let is_other = went != body.to_string().as_bytes();
        assert_eq!(is_other, fixes > 0, "{name}, turn {turn}: {fixes} fixes");
        // The recorded price is the provider's, and the estimate is near it.
        let usd = charged(&reply);
        let (store, id) = billed(&record, turn as u64, usd).await;
        let kept = store.turn(&id, turn as u64).await.unwrap();
        let estimate = PreviousTurn::of(&kept).unwrap().estimated_usd.unwrap();
        let off = (estimate - usd).abs() / usd;
        let (shown, made) = pictures(&went);
        // A provider's cache contains only prefixes that end at a breakpoint. If something changed
        // before the breakpoint of the last turn, the estimate is too low.
        let (before, made_before) = sent.last().map(|body| pictures(body)).unwrap_or_default();
        let is_comparable = !marks || (before.is_subset(&shown) && made == made_before);
        compared += usize::from(is_comparable);
        if is_comparable {
            // Text is estimated by the bytes of its JSON, so small requests are less exact.
            assert!(off < 0.3, "{name}, turn {turn}: {estimate} estimated, {usd} by usage");
        }
        // Elided images stay elided, except those that the user pinned.
        let back: Vec<&usize> = shown.iter().filter(|one| hidden.contains(*one)).collect();
        assert!(
            back.iter().all(|one| pinned.contains(*one)),
            "{name}, turn {turn}: {back:?} came back"
        );
        // The healed image, and from turn 9 on the one that the user shrank.
        assert!(made <= 2, "{name}, turn {turn}: {made} changed");
        hidden.extend((1..=turn).filter(|one| !shown.contains(one) && *one != HEALED && *one != 8));
        assert!(
            shown.contains(&turn) || turn == HEALED,
            "{name}, turn {turn}: the newest is hidden"
        );
        sent.push(went);
        let choose = |number: usize, choice| {
            wait(store.choose(&id, &digest(number), Some(choice))).unwrap();
        };
        match turn {
            8 => choose(8, Choice::Shrink { max_edge: 300 }),
            10 => {
                let before = pictures(&sent[turn - 1]).0;
                let is_priced = retention == "priced";
                assert!(is_priced || before.len() < turn, "{name}: nothing gave way before");
                choose(*before.iter().next().unwrap(), Choice::Drop);
                choose(2, Choice::Pin);
                pinned.insert(2);
            }
            14 => choose(14, Choice::Drop),
            _ => {}
        }
    }
    assert!(pictures(&sent[TURNS - 1]).0.contains(&2), "{name}: the pinned one is shown");
    assert!(!pictures(&sent[TURNS - 1]).0.contains(&14), "{name}: the dropped one is not");
    assert!(hidden.len() > 4, "{name}: only {hidden:?} gave way");
    assert!(compared >= 4, "{name}: only {compared} estimates were compared");
    // Every turn can be replayed.
    let store = LocalStore::open(&record).unwrap();
    let id = store.sessions().await.unwrap()[0].id.clone();
    for (number, went) in (1..).zip(&sent) {
        assert!(store.lower(&id, number).await.unwrap().body == *went, "{name}, turn {number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn choices_heals_and_lessons_change_only_what_they_name_by_count() {
    play("newest(4)", true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn choices_heals_and_lessons_change_only_what_they_name_by_price() {
    play("priced", true).await;
}

/// The endpoint caches only up to breakpoints: without them everything costs the full price.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_without_marks_is_billed_at_the_full_price() {
    play("newest(4)", false).await;
}
