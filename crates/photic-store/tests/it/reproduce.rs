//! Bodies and lowered requests come back byte for byte: all recorded and golden requests, on every
//! wire, with everything a host knows besides the body.

use std::collections::BTreeMap;
use std::path::Path;

use photic::media::Payload;
use photic::retention::Retention;
use photic::{
    Choice, FetchResult, Lowered, Made, MediaId, Plan, Policy, Prepared, Profile, Reason, Wire,
};
use photic_store::contract::picture;
use photic_store::{FinishedTurn, LocalStore, SentBody, SentHashes, SessionId, wait};
use serde_json::{Value, json};

use crate::directory::TestDirectory;

/// Returns all request bodies among the fixtures of `photic`.
fn fixtures() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../photic/tests");
    let mut open = vec![root.join("wires"), root.join("captured")];
    let mut found = Vec::new();
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "json") {
                found.push((path.display().to_string(), std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

fn append(
    store: &LocalStore,
    id: &SessionId,
    transcript: &photic::Transcript<'_>,
    plan: &Plan<'_>,
    policy: &Policy,
    prepared: &Prepared,
) -> (u64, Vec<u8>) {
    let lowered: Lowered<'_> = photic::lower_prepared(transcript, plan, prepared);
    let done = FinishedTurn {
        shed: &[],
        transcript,
        plan,
        policy,
        prepared,
        sent: SentBody::of(&lowered.body),
        hashes: Some(&SentHashes::of(transcript, &lowered, plan.profile.wire)),
        conversation_key: None,
        remembered: &BTreeMap::new(),
        time: 1,
    };
    (wait(store.append(id, &done)).unwrap(), lowered.body.to_vec())
}

#[test]
fn every_fixture_comes_back_on_every_wire() {
    let place = TestDirectory::in_memory();
    let store = LocalStore::open(&*place).unwrap();
    let id = wait(store.begin("fixtures")).unwrap();
    let mut policy = Policy::default();
    policy.retention = Retention::Newest(1);
    let (mut turns, mut blobs) = (0, 0);
    for (name, body) in fixtures() {
        let Some(wire) = photic::detect(&body) else { continue };
        let (transcript, _) = photic::lift(wire, &body);
        for to in Wire::ALL {
            let profile = Profile::generic(to);
            let plan = photic::plan(photic::survey(&transcript), &profile, &policy);
            let none = Prepared::new();
            let (number, sent) = append(&store, &id, &transcript, &plan, &policy, &none);
            assert!(wait(store.body(&id, number)).unwrap() == body, "{name}");
            let view = wait(store.lower(&id, number));
            let view = view.unwrap_or_else(|error| panic!("{name} to {to}: {error}"));
            assert!(view.body == sent, "{name}");
            turns += 1;
            blobs += view.read.len();
        }
    }
    println!("{turns} turns reproduced, {blobs} blobs read");
    assert!(turns > 200 && blobs > 100, "{turns} {blobs}");
}

/// Creates a body with three pictures by URL, of which the last is unreachable.
fn by_address() -> Vec<u8> {
    let part = |n: u32| {
        json!({"type": "image_url",
        "image_url": {"url": format!("https://a.example/{n}.png")}})
    };
    let mut messages = vec![json!({"role": "user", "content": "look"})];
    for n in 0..3 {
        messages.push(json!({"role": "user", "content": [part(n)]}));
        messages.push(json!({"role": "assistant", "content": "seen"}));
    }
    json!({"model": "m", "messages": messages}).to_string().into_bytes()
}

#[test]
fn what_was_fetched_and_what_was_not_comes_back() {
    let place = TestDirectory::new();
    let store = LocalStore::open(&*place).unwrap();
    let id = wait(store.begin("fetched")).unwrap();
    let body = by_address();
    let (mut transcript, _) = photic::lift(Wire::OpenAiChat, &body);
    for n in 0..2 {
        let payload = Payload::encode(&picture(n, 5000));
        transcript.put_fetched(MediaId::new(n as usize), FetchResult::Bytes(payload));
    }
    transcript.put_fetched(MediaId::new(2), FetchResult::Withheld(Reason::FetchForbidden));
    let mut profile = Profile::generic(Wire::OpenAiChat);
    profile.accepts.sources = vec![photic::profile::Source::Data];
    let mut policy = Policy::default();
    let digest = blake3_of(&picture(0, 5000));
    policy.choices.insert(digest, Choice::Drop);
    let mut survey = photic::survey(&transcript);
    survey.identify(&transcript);
    let plan = photic::plan(survey, &profile, &policy);
    let (number, sent) = append(&store, &id, &transcript, &plan, &policy, &Prepared::new());
    let text = String::from_utf8(sent.clone()).unwrap();
    assert!(text.contains("its address may not be fetched"), "{text}");
    assert_eq!(wait(store.body(&id, number)).unwrap(), body);
    let view = wait(store.lower(&id, number)).unwrap();
    assert!(view.body == sent);
    // The user dropped the first picture, so only the second was read.
    assert_eq!(view.read, [photic_store::BlobId::of(&picture(1, 5000))]);
    let images = wait(store.images(&id)).unwrap();
    assert!(images[0].handle.is_some() && images[2].handle.is_none());
}

fn blake3_of(bytes: &[u8]) -> [u8; 32] {
    *photic_store::BlobId::of(bytes).as_bytes()
}

/// Creates a conversation with pictures of tools.
fn with_pictures(count: u64) -> Value {
    let mut talk = photic_store::contract::Conversation::new("look");
    for seed in 0..count {
        talk.look(&picture(seed, 4000));
    }
    serde_json::from_slice(&talk.body()).unwrap()
}

#[test]
fn what_a_host_held_back_comes_back_held_back() {
    let place = TestDirectory::new();
    let store = LocalStore::open(&*place).unwrap();
    let id = wait(store.begin("quarantine")).unwrap();
    let body = with_pictures(3).to_string().into_bytes();
    let (transcript, _) = photic::lift(Wire::OpenAiChat, &body);
    let (profile, policy) = (Profile::generic(Wire::OpenAiChat), Policy::hands_off());
    let mut survey = photic::survey(&transcript);
    survey.sightings[1].withheld = Some(Reason::Unreadable);
    let plan = photic::plan(survey, &profile, &policy);
    let (number, sent) = append(&store, &id, &transcript, &plan, &policy, &Prepared::new());
    let view = wait(store.lower(&id, number)).unwrap();
    assert!(view.body == sent);
    assert!(!view.read.contains(&photic_store::BlobId::of(&picture(1, 4000))));
    assert_eq!(view.read.len(), 2);
}

#[test]
fn pictures_go_by_their_handles_and_that_takes_a_word() {
    let place = TestDirectory::new();
    let store = LocalStore::open(&*place).unwrap();
    let id = wait(store.begin("names")).unwrap();
    let body = with_pictures(4).to_string().into_bytes();
    let (transcript, _) = photic::lift(Wire::OpenAiChat, &body);
    let profile = Profile::generic(Wire::OpenAiChat);
    let mut policy = Policy::default();
    policy.retention = Retention::Newest(1);
    for odd in [false, true] {
        let mut survey = photic::survey(&transcript);
        survey.identify(&transcript);
        for sighting in &mut survey.sightings {
            let handle = wait(store.name(&sighting.digest.unwrap())).unwrap();
            sighting.reference = Some(handle.as_str().to_owned());
        }
        if odd {
            survey.sightings[0].reference = Some("the-first-one".to_owned());
        }
        let plan = photic::plan(survey, &profile, &policy);
        let (number, sent) = append(&store, &id, &transcript, &plan, &policy, &Prepared::new());
        let text = String::from_utf8(sent.clone()).unwrap();
        let handle = wait(store.name(&blake3_of(&picture(1, 4000)))).unwrap();
        assert!(text.contains(handle.as_str()) && text.contains("the-first-one") == odd, "{text}");
        assert!(wait(store.lower(&id, number)).unwrap().body == sent);
        let circumstances = wait(store.turn(&id, number)).unwrap().circumstances;
        let kept: Value = serde_json::from_str(&circumstances).unwrap();
        assert_eq!(kept["handles"] == true, !odd, "{circumstances}");
        // The handle in the conversation resolves to the picture.
        let issued = store.record.resolve(&store.tenant, &handle).unwrap().unwrap();
        assert_eq!(store.blobs.get(&issued.blob).unwrap(), picture(1, 4000));
        assert_eq!(issued.facts.size, Some((1280, 800)));
    }
}

/// The encoder changed between two turns: each turn keeps its pictures.
#[test]
fn what_was_made_later_does_not_change_what_was_shown_before() {
    let place = TestDirectory::new();
    let store = LocalStore::open(&*place).unwrap();
    let id = wait(store.begin("made")).unwrap();
    let body = with_pictures(2).to_string().into_bytes();
    let (transcript, _) = photic::lift(Wire::OpenAiChat, &body);
    let mut profile = Profile::generic(Wire::OpenAiChat);
    profile.limits.edge = Some(640);
    let mut policy = Policy::default();
    policy.pixels = true;
    let made = |seed: u64| {
        let base64 = Payload::encode(&picture(seed, 900)).base64().to_vec();
        let base64 = String::from_utf8(base64).unwrap();
        Made { media_type: "image/png".to_owned(), base64, size: (640, 400) }
    };
    let mut turns = Vec::new();
    for seeds in [[Some(100), Some(101)], [Some(200), None], [Some(100), Some(101)]] {
        let plan = photic::plan(photic::survey(&transcript), &profile, &policy);
        assert_eq!(plan.recipes.len(), 2);
        let prepared = MediaId::first(seeds.len()).zip(seeds);
        let prepared = prepared.filter_map(|(id, seed)| Some((id, made(seed?)))).collect();
        turns.push(append(&store, &id, &transcript, &plan, &policy, &prepared));
    }
    assert!(turns[0].1 != turns[1].1 && turns[0].1 == turns[2].1);
    for (number, sent) in &turns {
        let view = wait(store.lower(&id, *number)).unwrap();
        assert!(view.body == *sent, "{number}");
        assert!(view.read.iter().all(|blob| *blob != photic_store::BlobId::of(&picture(0, 4000))));
    }
}

/// A changed input of a turn is noticed.
#[test]
fn a_view_that_cannot_be_reproduced_is_an_error() {
    let place = TestDirectory::new();
    let store = LocalStore::open(&*place).unwrap();
    let id = wait(store.begin("changed")).unwrap();
    let body = with_pictures(2).to_string().into_bytes();
    let (transcript, _) = photic::lift(Wire::OpenAiChat, &body);
    let (profile, policy) = (Profile::generic(Wire::OpenAiChat), Policy::default());
    let plan = photic::plan(photic::survey(&transcript), &profile, &policy);
    // The body of a version that writes another notice.
    let other = String::from_utf8(body.clone()).unwrap().replacen("\"look\"", "\"Look\"", 1);
    let (another, _) = photic::lift(Wire::OpenAiChat, other.as_bytes());
    let lowered = photic::lower(&another, &plan);
    let none = Prepared::new();
    let done = FinishedTurn {
        shed: &[],
        transcript: &transcript,
        plan: &plan,
        policy: &policy,
        prepared: &none,
        sent: SentBody::of(&lowered.body),
        hashes: Some(&SentHashes::of(&transcript, &lowered, plan.profile.wire)),
        conversation_key: None,
        remembered: &BTreeMap::new(),
        time: 1,
    };
    let number = wait(store.append(&id, &done)).unwrap();
    let view = wait(store.lower(&id, number));
    assert!(matches!(view, Err(photic_store::Error::NotReproduced(1))), "{view:?}");
    assert_eq!(wait(store.body(&id, number)).unwrap(), body);
}

/// The handle of a picture resolves however the client wrote it.
#[test]
fn every_handle_leads_to_its_picture() {
    let place = TestDirectory::new();
    let store = LocalStore::open(&*place).unwrap();
    let id = wait(store.begin("handles")).unwrap();
    let (tiny, broken, plain) = (picture(1, 60), picture(2, 3000), picture(3, 3000));
    let base64 =
        |bytes: &[u8]| String::from_utf8(Payload::encode(bytes).base64().to_vec()).unwrap();
    let lines: String = base64(&broken)
        .as_bytes()
        .chunks(76)
        .fold(String::new(), |text, line| text + &String::from_utf8_lossy(line) + "\n");
    let part = |data: &str| {
        json!({"type": "image_url",
        "image_url": {"url": format!("data:image/png;base64,{data}")}})
    };
    let body = json!({"model": "m", "messages": [{"role": "user", "content":
        [part(&base64(&tiny)), part(&lines), part(&base64(&plain))]}]});
    let body = body.to_string().into_bytes();
    let (transcript, _) = photic::lift(Wire::OpenAiChat, &body);
    let (profile, policy) = (Profile::generic(Wire::OpenAiChat), Policy::default());
    let plan = photic::plan(photic::survey(&transcript), &profile, &policy);
    let (number, sent) = append(&store, &id, &transcript, &plan, &policy, &Prepared::new());
    assert_eq!(wait(store.body(&id, number)).unwrap(), body);
    assert!(wait(store.lower(&id, number)).unwrap().body == sent);
    let images = wait(store.images(&id)).unwrap();
    assert_eq!(images.len(), 3);
    for (image, bytes) in images.iter().zip([tiny, broken, plain]) {
        let handle = image.handle.as_ref().unwrap();
        let issued = store.record.resolve(&store.tenant, handle).unwrap().unwrap();
        assert_eq!(store.blobs.get(&issued.blob).unwrap(), bytes);
    }
    let session = wait(store.session(&id)).unwrap();
    assert_eq!((session.images, session.blobs), (3, 4), "one is kept as it was written, too");
}
