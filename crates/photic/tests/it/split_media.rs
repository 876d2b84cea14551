//! A body and its media part and come together again, and a plan can be made in between.

use std::collections::BTreeMap;

use photic::media::Source;
use photic::retention::Retention;
use photic::transcript::MediaId;
use photic::{Choice, Fate, Form, MediaStub, Policy, Profile, Reason, Wire};
use serde_json::{Value, json};

use crate::captured::captures;
use crate::golden::cases;

/// What a record would keep: the segments without their media, and what it remembers of these.
struct KeptParts {
    texts: Vec<(Vec<u8>, Vec<Piece>)>,
    memories: BTreeMap<MediaId, MediaStub>,
}

struct Piece {
    at: usize,
    form: Form,
    media: MediaId,
    /// What a blob would hold.
    blob: Vec<u8>,
}

fn keep(wire: Wire, body: &[u8]) -> KeptParts {
    let (transcript, _) = photic::lift(wire, body);
    let mut memories = BTreeMap::new();
    let mut texts = Vec::new();
    for segment in photic::split_media(&transcript).segments() {
        let (mut text, mut pieces, mut end) = (Vec::new(), Vec::new(), 0);
        for cut in &segment.cuts {
            text.extend_from_slice(&segment.raw[end..cut.range.start]);
            end = cut.range.end;
            let raw = &segment.raw[cut.range.clone()];
            let blob = match (cut.form, &transcript.media[cut.media].source) {
                (Form::Text, _) => raw.to_vec(),
                (Form::Base64, Source::Data(payload)) => payload.decode(),
                (Form::Base64, other) => panic!("cut out of {other:?}"),
            };
            pieces.push(Piece { at: text.len(), form: cut.form, media: cut.media, blob });
            memories.insert(cut.media, photic::remember(&transcript, cut.media).unwrap());
        }
        text.extend_from_slice(&segment.raw[end..]);
        texts.push((text, pieces));
    }
    KeptParts { texts, memories }
}

impl KeptParts {
    /// The body, with the bytes of those media that are wanted and stand-ins for the others.
    fn body(&self, wanted: impl Fn(MediaId) -> bool) -> Vec<u8> {
        let mut body = Vec::new();
        for (text, pieces) in &self.texts {
            let mut end = 0;
            for piece in pieces {
                body.extend_from_slice(&text[end..piece.at]);
                end = piece.at;
                match piece.form {
                    Form::Text => body.extend_from_slice(&piece.blob),
                    Form::Base64 if wanted(piece.media) => {
                        let payload = photic::media::Payload::encode(&piece.blob);
                        body.extend_from_slice(payload.base64());
                    }
                    Form::Base64 => {
                        body.extend_from_slice(self.memories[&piece.media].head.as_bytes());
                    }
                }
            }
            body.extend_from_slice(&text[end..]);
        }
        body
    }

    fn remembered(&self) -> BTreeMap<MediaId, &MediaStub> {
        self.memories.iter().map(|(&id, memory)| (id, memory)).collect()
    }

    fn cuts(&self, form: Form) -> usize {
        self.texts.iter().flat_map(|(_, pieces)| pieces).filter(|piece| piece.form == form).count()
    }
}

/// Pictures that all begin alike and are noise further on: only the whole tells one from another.
fn png(seed: u32, bytes: usize) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    png.extend_from_slice(&[0, 0, 5, 0, 0, 0, 3, 32, 8, 2, 0, 0, 0, 0, 0, 0, 0]);
    png.extend((bytes as u32 - 33 - 12 - 12).to_be_bytes());
    png.extend(b"IDAT");
    png.extend_from_slice(&[0; 1_000]);
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    while png.len() < bytes - 16 {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        png.push((state >> 11) as u8);
    }
    png.extend(b"\0\0\0\0\0\0\0\0IEND\xaeB\x60\x82");
    png
}

/// Its size stands behind so much metadata.
fn jpeg(metadata: usize) -> Vec<u8> {
    let mut jpeg = b"\xff\xd8".to_vec();
    for _ in 0..metadata.div_ceil(60_000) {
        jpeg.extend_from_slice(b"\xff\xe2\xea\x62");
        jpeg.extend(std::iter::repeat_n(b'm', 60_000));
    }
    jpeg.extend_from_slice(
        b"\xff\xc0\0\x11\x08\x02\x58\x03\x20\x03\x01\x22\0\x02\x11\x01\x03\x11\x01",
    );
    jpeg.extend_from_slice(b"\xff\xda\0\x0c\x03\x01\0\x02\x11\x03\x11\0\x3f\0");
    jpeg.extend(std::iter::repeat_n(7, 5_000));
    jpeg.extend_from_slice(b"\xff\xd9");
    jpeg
}

fn base64(bytes: &[u8]) -> String {
    String::from_utf8(photic::media::Payload::encode(bytes).base64().to_vec()).unwrap()
}

/// A conversation with pictures in every way that clients write them.
fn every_way() -> Vec<u8> {
    let picture = |seed| base64(&png(seed, 9_000));
    let url = |seed| format!("data:image/png;base64,{}", picture(seed));
    let call = |id: &str| {
        json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": id, "type": "function", "function": {"name": "shot", "arguments": "{}"}}]})
    };
    let result =
        |id: &str, content: Value| json!({"role": "tool", "tool_call_id": id, "content": content});
    let broken = picture(6)
        .as_bytes()
        .chunks(76)
        .map(|line| String::from_utf8_lossy(line) + "\n")
        .collect::<String>();
    let far = format!("data:image/jpeg;base64,{}", base64(&jpeg(130_000)));
    let mcp = json!([{"type": "image", "data": picture(4), "mimeType": "image/png"}]).to_string();
    let body = json!({"model": "gpt-4o", "messages": [
        {"role": "system", "content": "Look."},
        {"role": "user", "content": [{"type": "text", "text": "here"},
            {"type": "image_url", "image_url": {"url": url(1), "detail": "high"}}]},
        call("a"), result("a", json!(json!({"note": "shot", "screenshot": url(2)}).to_string())),
        call("b"), result("b", json!(picture(3))),
        call("c"), result("c", json!(mcp)),
        call("d"), result("d", json!([{"type": "image_url", "image_url": {"url": url(5)}}])),
        call("e"), result("e", json!([{"type": "image_url", "image_url": {"url": url(5)}}])),
        call("f"), result("f", json!([{"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{broken}")}}])),
        call("g"), result("g", json!([{"type": "image_url", "image_url": {"url": far}}])),
        {"role": "user", "content": "and now?"},
    ]});
    // As PHP writes it, in one place.
    let (escaped, plain) = (url(1).replace('/', "\\/"), url(1));
    body.to_string().replacen(&plain, &escaped, 1).into_bytes()
}

fn plain_survey(wire: Wire, body: &[u8]) -> String {
    let (transcript, _) = photic::lift(wire, body);
    format!("{:#?}", photic::survey(&transcript))
}

/// The survey of a body with stand-ins, after remembering.
fn recalled(wire: Wire, body: &[u8], kept: &KeptParts) -> String {
    let (transcript, _) = photic::lift(wire, body);
    let mut survey = photic::survey(&transcript);
    survey.recall(&transcript, &kept.remembered());
    // The plain one was not asked.
    survey.sightings.iter_mut().for_each(|sighting| sighting.digest = None);
    format!("{survey:#?}")
}

fn all_bodies() -> Vec<(String, Wire, Vec<u8>)> {
    let golden = cases("in.json").into_iter();
    let golden = golden.map(|(name, (case, body))| (name, case.wire, body));
    let captured = captures().into_iter().map(|(one, body)| (one.client, one.wire, body));
    let mut all: Vec<_> = golden.chain(captured).collect();
    all.push(("every way".to_owned(), Wire::OpenAiChat, every_way()));
    all
}

#[test]
fn what_was_cut_apart_comes_together_byte_for_byte() {
    let mut cut = 0;
    for (name, wire, body) in all_bodies() {
        let kept = keep(wire, &body);
        cut += kept.memories.len();
        assert_eq!(kept.body(|_| true), body, "{name}");
    }
    assert!(cut > 100, "only {cut} media were cut out of all fixtures");
}

#[test]
fn a_stand_in_is_surveyed_as_what_it_stands_for() {
    for (name, wire, body) in all_bodies() {
        let kept = keep(wire, &body);
        assert_eq!(
            recalled(wire, &kept.body(|_| false), &kept),
            plain_survey(wire, &body),
            "{name}"
        );
    }
}

#[test]
fn every_way_of_writing_a_picture_is_cut() {
    let body = every_way();
    let kept = keep(Wire::OpenAiChat, &body);
    assert_eq!((kept.cuts(Form::Base64), kept.cuts(Form::Text)), (6, 2));
    let words: usize = kept.texts.iter().map(|(text, _)| text.len()).sum();
    assert!(words < 4_000, "{words} bytes of {} are left", body.len());
    // Of a picture, its header and its end are enough, wherever its size hides.
    let long = kept.memories.values().filter(|memory| memory.head.len() > 256).count();
    assert_eq!(long, 0);
}

#[test]
fn the_last_turn_lowers_from_what_is_shown_alone() {
    let body = every_way();
    let kept = keep(Wire::OpenAiChat, &body);
    let mut policy = Policy::default();
    policy.retention = Retention::Newest(2);
    for wire in Wire::ALL {
        let profile = Profile::generic(wire);
        let lower = |body: &[u8], recall: bool| {
            let (transcript, _) = photic::lift(Wire::OpenAiChat, body);
            let mut survey = photic::survey(&transcript);
            if recall {
                survey.recall(&transcript, &kept.remembered());
            }
            let plan = photic::plan(survey, &profile, &policy);
            let shown: Vec<bool> = plan.fates.iter().map(|fate| fate.is_shown()).collect();
            (photic::lower(&transcript, &plan).body.to_vec(), shown)
        };
        let (_, shown) = lower(&kept.body(|_| false), true);
        assert_eq!(shown.iter().filter(|shown| **shown).count(), 3, "two views and the user's own");
        let (lowered, _) = lower(&kept.body(|id| shown[id.index()]), true);
        assert!(lowered == lower(&body, false).0, "{wire:?}");
    }
}

/// The fates of the media of a body under choices of the user.
fn fates(
    choices: &[(usize, Choice)],
    retention: Retention,
    pixels: bool,
) -> Vec<(Fate, Option<u32>)> {
    let body = every_way();
    let (transcript, _) = photic::lift(Wire::OpenAiChat, &body);
    let mut survey = photic::survey(&transcript);
    survey.identify(&transcript);
    let mut policy = Policy::default();
    policy.retention = retention;
    policy.pixels = pixels;
    for &(media, choice) in choices {
        policy.choices.insert(survey.sightings[media].digest.unwrap(), choice);
    }
    let text = serde_json::to_string(&policy).unwrap();
    assert_eq!(serde_json::from_str::<Policy>(&text).unwrap(), policy, "{text}");
    let profile = Profile::generic(Wire::OpenAiChat);
    let plan = photic::plan(survey, &profile, &policy);
    let edge = |id| plan.recipes.get(&MediaId::new(id)).and_then(|recipe| recipe.fit().max_edge);
    plan.fates.iter().enumerate().map(|(id, fate)| (*fate, edge(id))).collect()
}

#[test]
fn what_the_user_drops_is_left_out_wherever_it_stands() {
    let plain = fates(&[], Retention::All, false);
    let dropped = fates(&[(4, Choice::Drop), (0, Choice::Drop)], Retention::All, false);
    for (id, (fate, _)) in dropped.iter().enumerate() {
        if [0, 4, 5].contains(&id) {
            assert_eq!(*fate, Fate::Elide(Reason::Dropped), "{id}");
        } else {
            assert_eq!(*fate, plain[id].0, "{id}");
        }
    }
}

#[test]
fn what_the_user_pins_stays_in_sight() {
    let plain = fates(&[], Retention::Newest(1), false);
    assert_eq!(plain[2].0, Fate::Elide(Reason::Retired));
    let pinned = fates(&[(2, Choice::Pin)], Retention::Newest(1), false);
    assert!(pinned[2].0.is_shown());
    assert_eq!(plain[3].0, pinned[3].0);
}

#[test]
fn what_the_user_shrinks_is_made_smaller() {
    let choice = Choice::Shrink { max_edge: 640 };
    let shrunk = fates(&[(2, choice)], Retention::All, true);
    assert_eq!(shrunk[2].1, Some(640));
    assert_eq!(shrunk[3].1, None);
    let large_enough = fates(&[(2, Choice::Shrink { max_edge: 4_000 })], Retention::All, true);
    assert_eq!(large_enough[2].1, None);
    // Nobody there to make it: it stays as it is.
    let blind = fates(&[(2, choice)], Retention::All, false);
    assert!(blind[2].0.is_shown() && blind[2].1.is_none());
}

#[test]
fn what_the_host_keeps_under_a_name_can_be_seen_again() {
    let body = every_way();
    let (transcript, _) = photic::lift(Wire::OpenAiChat, &body);
    let profile = Profile::generic(Wire::OpenAiChat);
    let mut policy = Policy::default();
    policy.retention = Retention::Newest(1);
    let lower = |named: bool| {
        let mut survey = photic::survey(&transcript);
        if named {
            survey.sightings[0].reference = Some("img_7k2m".to_owned());
        }
        let plan = photic::plan(survey, &profile, &policy);
        let lowered = photic::lower(&transcript, &plan).body.to_vec();
        (plan.fates[0], String::from_utf8(lowered).unwrap())
    };
    assert!(lower(false).0.is_shown());
    let (fate, text) = lower(true);
    assert_eq!(fate, Fate::Elide(Reason::Retired));
    assert!(text.contains("call view with source img_7k2m to see it]"), "{text}");
}

/// Conversations in which a picture comes again in a way that is not found by looking at its text,
/// or in a place that is not after the first.
fn twins() -> Vec<(&'static str, Vec<u8>)> {
    let image = |text: &str| {
        let url = format!("data:image/png;base64,{text}");
        json!({"type": "input_image", "image_url": url})
    };
    let said = |parts: Vec<Value>| json!({"role": "user", "content": parts});
    let body = |input: Vec<Value>| json!({ "input": input }).to_string();
    let (one, other) = (base64(&png(1, 4_000)), base64(&png(2, 4_000)));
    let stray = one.replace("g==", "h==");
    assert_ne!(stray, one);
    // SplitBody in one byte, in none of the places that are looked at.
    let alike: Vec<String> = (0..6)
        .map(|seed| {
            let mut bytes = png(1, 4_000);
            bytes[100] = seed;
            base64(&bytes)
        })
        .collect();
    let again = [0, 5, 5].map(|which: usize| &alike[which]);
    let mcp = |text: &String| json!({"type": "image", "data": text, "mimeType": "image/png"});
    let two = json!([mcp(&one), mcp(&other)]).to_string();
    let call = json!({"type": "function_call", "call_id": "c", "name": "shot", "arguments": "{}"});
    let result = json!({"type": "function_call_output", "call_id": "c", "output": two});
    let in_one_string = body(vec![call, result, said(vec![image(&other)])]);
    let slashed = two.replace('/', "\\/");
    // As long as a stand-in, and the same.
    let head = photic::remember(
        &photic::lift(Wire::OpenAiResponses, body(vec![said(vec![image(&one)])]).as_bytes()).0,
        MediaId::new(0),
    );
    let head = head.unwrap().head;
    vec![
        ("stray bits", body(vec![said(vec![image(&one), image(&stray), image(&one)])])),
        (
            "many alike",
            body(vec![said(alike.iter().chain(again).map(|text| image(text)).collect())]),
        ),
        (
            "the second stands before the first",
            json!({"input": [said(vec![image(&one)])],
                "instructions": format!("data:image/png;base64,{one}")})
            .to_string(),
        ),
        (
            "two in one string that is kept whole",
            in_one_string.replace(
                json!(two).to_string().trim_matches('"'),
                json!(slashed).to_string().trim_matches('"'),
            ),
        ),
        (
            "what is here looks like what stands for another",
            body(vec![said(vec![image(&one), image(&head)])]),
        ),
    ]
    .into_iter()
    .map(|(name, body)| (name, body.into_bytes()))
    .collect()
}

#[test]
fn twins_are_the_same_whether_the_bytes_are_here_or_remembered() {
    let wire = Wire::OpenAiResponses;
    for (name, body) in twins() {
        let kept = keep(wire, &body);
        let survey = photic::survey(&photic::lift(wire, &body).0);
        let twins = survey.sightings.iter().filter(|one| one.twin.is_some()).count();
        assert_eq!(twins == 0, name.starts_with("what is here"), "{name}");
        let plain = plain_survey(wire, &body);
        for (what, here) in [("none", vec![]), ("the first", vec![0]), ("all", (0..9).collect())] {
            let body = kept.body(|id| here.contains(&id.index()));
            assert!(recalled(wire, &body, &kept) == plain, "{name}, {what} here");
        }
    }
}
