//! The edges of every limit, from both sides, with and without a host that prepares images.
//!
//! Over the edge nothing is ever refused by the provider: without pixels something gives way, with
//! pixels it shrinks.

use photic::profile::{Capability, Profile};
use photic::{Wire, profile};

use super::WRITTEN;
use super::choice::{Choice, Keep};
use super::frames::Frame;
use super::histories::{Call, History, Manner, Turn};
use super::random::Trial;
use super::subject::{self, PIXELS};

/// Uploads in one message, then one view in each turn.
fn history(wire: Wire, uploads: &[Frame], views: &[Frame]) -> History {
    let mut turns = vec![Turn::User { frames: uploads.to_vec(), papers: 0 }];
    for (at, frame) in views.iter().enumerate() {
        let call =
            Call { number: at + 1, frames: vec![*frame], manner: Manner::Typed, paper: false };
        turns.push(Turn::Model { frame: None, calls: vec![call] });
    }
    History { wire, turns, detail: None, marks: 0 }
}

fn frames(first: u32, count: usize, size: (u32, u32)) -> Vec<Frame> {
    (0..count).map(|at| Frame::png(first + at as u32, size.0, size.1)).collect()
}

/// A profile that sees, with no limits but those that the test sets.
fn unlimited(wire: Wire) -> Profile {
    let mut profile = Profile::generic(wire);
    profile.limits = profile::Limits::default();
    profile.sight.images = Capability::Yes;
    profile
}

/// Everything that can be kept is kept, so that only limits decide.
fn all(pixels: bool) -> Choice {
    let keep = if subject::POLICIES { Keep::All } else { Keep::Priced };
    Choice { keep, ..Choice::pixels(pixels) }
}

/// The request is taken; the numbers of what is seen.
#[track_caller]
fn seen(history: History, profile: &Profile, choice: Choice) -> Vec<u32> {
    let trial = Trial::of(history, profile.clone(), choice);
    if let Err(failure) = trial.judge() {
        panic!("{failure}");
    }
    trial.shown.into_iter().collect()
}

/// For every wire and every kind of host.
fn everywhere(test: impl Fn(Wire, bool)) {
    for wire in WRITTEN {
        for &pixels in PIXELS {
            test(wire, pixels);
        }
    }
}

fn numbers(range: std::ops::RangeInclusive<u32>) -> Vec<u32> {
    range.collect()
}

/// The first-party endpoint of the wire that has the cliff.
fn crowded() -> Profile {
    let profile = profile::resolve(Wire::Anthropic, Some("claude-opus-5"), None);
    let crowd = profile.limits.crowd.unwrap();
    assert_eq!((crowd.above, crowd.edge, profile.limits.edge), (20, 2000, Some(8000)));
    profile
}

#[test]
fn the_twenty_first_image_at_2001_px() {
    let profile = crowded();
    for &pixels in PIXELS {
        let twenty = history(Wire::Anthropic, &[], &frames(1, 20, (2001, 1200)));
        assert_eq!(seen(twenty, &profile, all(pixels)), numbers(1..=20), "{pixels}");
        let more = history(Wire::Anthropic, &[], &frames(1, 21, (2001, 1200)));
        let shown = seen(more, &profile, all(pixels));
        // Shrunk, all of them stay; otherwise as few as possible go, the oldest first.
        let expected = if pixels { numbers(1..=21) } else { numbers(2..=21) };
        if pixels || !subject::POLICIES {
            assert_eq!(shown, expected, "{pixels}");
        } else {
            // A batch goes, so that the next one is some turns away.
            assert!(!shown.is_empty() && shown == numbers(shown[0]..=21), "{shown:?}");
        }
        let fitting = history(Wire::Anthropic, &[], &frames(1, 21, (2000, 2000)));
        assert_eq!(seen(fitting, &profile, all(pixels)), numbers(1..=21), "{pixels}");
    }
}

#[test]
fn uploads_at_2001_px_are_a_crowd_too() {
    let profile = crowded();
    for &pixels in PIXELS {
        let twenty = history(Wire::Anthropic, &frames(1, 20, (1200, 2001)), &[]);
        assert_eq!(seen(twenty, &profile, all(pixels)), numbers(1..=20), "{pixels}");
        let more = history(Wire::Anthropic, &frames(1, 21, (1200, 2001)), &[]);
        let shown = seen(more, &profile, all(pixels));
        assert_eq!(shown.len(), if pixels { 21 } else { 20 }, "{pixels}");
    }
}

#[test]
fn one_large_view_among_many_small_ones() {
    // Twenty-five small views and a large one: the one that the model asked for last is seen.
    if !subject::POLICIES {
        return;
    }
    let profile = crowded();
    for &pixels in PIXELS {
        let mut views = frames(1, 25, (800, 600));
        views.push(Frame::png(26, 3000, 2000));
        let shown = seen(history(Wire::Anthropic, &[], &views), &profile, all(pixels));
        assert!(shown.contains(&26), "{shown:?}");
        let shown =
            seen(history(Wire::Anthropic, &[views[25]], &views[..25]), &profile, all(pixels));
        assert!(shown.contains(&26), "an upload among views: {shown:?}");
    }
}

#[test]
fn documents_count_towards_the_crowd_where_they_do() {
    let bedrock = Profile::by_id("anthropic-bedrock").unwrap();
    assert!(bedrock.limits.crowd.unwrap().counts_documents);
    for &pixels in PIXELS {
        for (papers, images) in [(1, 19), (2, 19), (1, 20)] {
            let frames = frames(1, images, (2001, 20));
            let turns = vec![Turn::User { frames, papers }];
            let history = History { wire: Wire::Anthropic, turns, detail: None, marks: 0 };
            let shown = seen(history, &bedrock, all(pixels)).len();
            let fits = if pixels { images } else { images.min(20 - papers) };
            assert_eq!(shown, fits, "{papers} {images} {pixels}");
        }
    }
}

#[test]
fn a_side_of_8000_and_of_8001_px() {
    everywhere(|wire, pixels| {
        let mut profile = unlimited(wire);
        profile.limits.edge = Some(8000);
        for size in [(8000, 100), (100, 8000), (8000, 8000)] {
            let shown = seen(history(wire, &[], &frames(1, 1, size)), &profile, all(pixels));
            assert_eq!(shown, [1], "{wire} {size:?}");
        }
        for size in [(8001, 100), (100, 8001), (8001, 8001)] {
            for uploads in [0, 1] {
                let one = frames(1, 1, size);
                let (uploads, views) = one.split_at(uploads);
                let shown = seen(history(wire, uploads, views), &profile, all(pixels)).len();
                assert_eq!(shown, usize::from(pixels), "{wire} {size:?}");
            }
        }
    });
}

#[test]
fn the_shortest_side() {
    everywhere(|wire, pixels| {
        let mut profile = unlimited(wire);
        profile.limits.min_edge = Some(28);
        for (size, fits) in [((28, 28), true), ((27, 4000), false), ((1, 1), false)] {
            let history = history(wire, &[], &frames(1, 1, size));
            let trial = Trial::of(history, profile.clone(), all(pixels));
            trial.judge().unwrap();
            // A preparer may enlarge, but need not.
            assert!(trial.shown.contains(&1) || !fits, "{wire} {size:?}");
            assert!(fits || pixels || trial.shown.is_empty(), "{wire} {size:?}");
        }
    });
}

#[test]
fn bytes_of_one_image_after_base64() {
    everywhere(|wire, pixels| {
        for most in [4000u64, 5000, 40_000] {
            let mut profile = unlimited(wire);
            profile.limits.image_base64_bytes = Some(most);
            // Base64 comes in fours: three bytes make them, the next byte begins four more.
            let full = most as usize / 4 * 3;
            for (weight, fits) in [(full - 1, true), (full, true), (full + 1, false)] {
                let frame = Frame::png(1, 640, 480).weighing(weight);
                assert_eq!(frame.base64().len() <= most as usize, fits);
                let shown = seen(history(wire, &[], &[frame]), &profile, all(pixels));
                assert_eq!(shown.len(), usize::from(fits || pixels), "{wire} {most} {weight}");
            }
        }
    });
}

#[test]
fn bytes_of_one_image_before_base64() {
    everywhere(|wire, pixels| {
        let mut profile = unlimited(wire);
        profile.limits.image_raw_bytes = Some(4001);
        for (weight, fits) in [(4000, true), (4001, true), (4002, false)] {
            let frame = Frame::png(1, 640, 480).weighing(weight);
            let shown = seen(history(wire, &[], &[frame]), &profile, all(pixels));
            assert_eq!(shown.len(), usize::from(fits || pixels), "{wire} {weight}");
        }
    });
}

#[test]
fn bytes_of_the_whole_request() {
    everywhere(|wire, pixels| {
        let views = [3000, 3000, 3000].map(|weight| Frame::png(1, 640, 480).weighing(weight));
        let views: Vec<Frame> =
            (1..).zip(views).map(|(number, frame)| Frame { number, ..frame }).collect();
        let history = || history(wire, &[], &views);
        let whole = Trial::of(history(), unlimited(wire), all(false)).outcome.body.len() as u64;
        for (most, fits) in [(whole + 1, true), (whole, true), (whole - 1, false)] {
            let mut profile = unlimited(wire);
            profile.limits.request_bytes = Some(most);
            let shown = seen(history(), &profile, all(pixels));
            // Past the edge, pictures may shrink, and so may marks; else one of them goes.
            let all = shown.len() == 3;
            let why = format!("{wire} {most}: {shown:?}");
            assert!(all == fits || (subject::POLICIES && !fits), "{why}");
            assert!(shown.contains(&3), "{wire} {most}: {shown:?}");
        }
    });
}

#[test]
fn numbers_of_images() {
    everywhere(|wire, pixels| {
        for most in [1usize, 5, 8, 10, 20, 50, 100, 600, 1500] {
            // Every element of the longest ones is the same as of the shorter ones.
            if most > 100 && (wire, pixels) != (Wire::Anthropic, PIXELS[0]) && most != 600 {
                continue;
            }
            let mut profile = unlimited(wire);
            profile.limits.images = Some(most as u32);
            let last = most as u32;
            let at = seen(history(wire, &[], &frames(1, most, (64, 48))), &profile, all(pixels));
            assert_eq!(at, numbers(1..=last), "{wire} {most} {pixels}");
            let over =
                seen(history(wire, &[], &frames(1, most + 1, (64, 48))), &profile, all(pixels));
            assert!(over.contains(&(last + 1)), "{wire} {most} {pixels}: the newest is not seen");
            if !subject::POLICIES {
                assert_eq!(over, numbers(2..=last + 1), "{wire} {most}");
            } else if !pixels {
                // A batch goes at once, the oldest of it first.
                assert_eq!(over, numbers(over[0]..=last + 1), "{wire} {most}");
            }
        }
    });
}

#[test]
fn no_image_at_all() {
    everywhere(|wire, pixels| {
        let mut profile = unlimited(wire);
        profile.limits.images = Some(0);
        let shown = seen(
            history(wire, &frames(1, 2, (9, 9)), &frames(3, 2, (9, 9))),
            &profile,
            all(pixels),
        );
        assert_eq!(shown, [0u32; 0], "{wire}");
    });
}

#[test]
fn one_image_larger_than_everything() {
    everywhere(|wire, pixels| {
        let mut profile = unlimited(wire);
        profile.limits.request_bytes = Some(20_000);
        profile.limits.edge = Some(2000);
        let giant = Frame::png(1, 20_000, 20_000).weighing(300_000);
        for uploads in [0, 1] {
            let giant = [giant];
            let (uploads, views) = giant.split_at(uploads);
            let shown = seen(history(wire, uploads, views), &profile, all(pixels));
            assert_eq!(shown.len(), usize::from(pixels), "{wire} {pixels}");
            // Beside it, what is small is seen all the same.
            let views = [views, &[Frame::png(2, 640, 480)]].concat();
            let shown = seen(history(wire, uploads, &views), &profile, all(pixels));
            assert!(shown.contains(&2), "{wire} {pixels}: {shown:?}");
        }
    });
}

#[test]
fn uploads_alone_over_the_limit() {
    everywhere(|wire, pixels| {
        for most in [1usize, 5, 8, 20] {
            let mut profile = unlimited(wire);
            profile.limits.images = Some(most as u32);
            for extra in [1, 7] {
                let uploads = frames(1, most + extra, (640, 480));
                let shown = seen(history(wire, &uploads, &[]), &profile, all(pixels));
                if pixels {
                    // Where few are allowed, several become one.
                    assert!(shown.len() >= most, "{wire} {most}+{extra}: {shown:?}");
                } else {
                    assert_eq!(shown.len(), most, "{wire} {most}+{extra}");
                }
            }
        }
    });
}

#[test]
fn fifteen_uploads_and_six_frames() {
    everywhere(|wire, pixels| {
        for most in [20, 16, 15, 8] {
            let mut profile = unlimited(wire);
            profile.limits.images = Some(most);
            let (uploads, views) = (frames(1, 15, (640, 480)), frames(16, 6, (640, 480)));
            for count in 1..=6 {
                let newest = 15 + count as u32;
                for choice in [Choice::pixels(pixels), all(pixels)] {
                    let history = history(wire, &uploads, &views[..count]);
                    let shown = seen(history, &profile, choice);
                    assert!(shown.contains(&newest), "{wire} {most}: blind on frame {newest}");
                }
                let shown = seen(history(wire, &uploads, &views[..count]), &profile, all(pixels));
                // Frames go before uploads do.
                let floor = if subject::POLICIES { 3.min(count) } else { 1 };
                if most as usize >= 15 + floor {
                    assert!(numbers(1..=15).iter().all(|own| shown.contains(own)), "{shown:?}");
                }
            }
        }
    });
}

#[test]
fn one_result_with_twenty_five_images() {
    everywhere(|wire, pixels| {
        let mut profile = unlimited(wire);
        profile.limits.images = Some(20);
        let call = Call {
            number: 1,
            frames: frames(1, 25, (640, 480)),
            manner: Manner::Typed,
            paper: false,
        };
        let turns = vec![
            Turn::User { frames: Vec::new(), papers: 0 },
            Turn::Model { frame: None, calls: vec![call] },
        ];
        let history = History { wire, turns, detail: None, marks: 0 };
        let shown = seen(history, &profile, all(pixels));
        assert!(shown.len() >= 20 && shown.contains(&25), "{wire} {pixels}: {shown:?}");
    });
}

#[test]
fn patches_are_counted_after_the_resize() {
    // 174 × 173 patches are too many at `original`, which this model assumes; `high` makes them few.
    let profile = profile::resolve(Wire::OpenAiResponses, Some("gpt-5.6"), Some("api.openai.com"));
    assert_eq!(profile.limits.patches, Some(30_000));
    for &pixels in PIXELS {
        for (size, detail, fits) in [
            ((5536, 5536), Some("original"), true),
            ((5537, 5536), Some("original"), false),
            ((20_000, 20_000), Some("high"), true),
            ((20_000, 20_000), Some("low"), true),
        ] {
            let views = frames(1, 1, size);
            let history = History { detail, ..history(Wire::OpenAiResponses, &[], &views) };
            let trial = Trial::of(history, profile.clone(), all(pixels));
            trial.judge().unwrap();
            let shown = trial.shown.contains(&1);
            // The planner before policies counts before the resize.
            if subject::POLICIES || detail == Some("original") {
                assert_eq!(shown, fits || pixels, "{size:?} {detail:?}");
            }
        }
    }
}

#[test]
fn a_list_of_texts_where_a_string_is_demanded() {
    let body = br#"{"model":"m","messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"shown"}]}]}"#;
    for id in ["groq", "ollama-chat"] {
        let profile = Profile::by_id(id).unwrap();
        let outcome = subject::lower(Wire::OpenAiChat, body, &profile, &Choice::default());
        let rules = super::rules::rules(&profile);
        let (_, violations) =
            photic_testkit::oracle::look(Wire::OpenAiChat.name(), &outcome.body, &rules);
        assert!(violations.is_empty(), "{id}: {violations:?}");
    }
}
