//! Rule 4: a conversation without a fault is left alone, to the byte, and nothing is found in it.

use photic::Wire;
use photic::profile::MediaKind;
use photic_testkit::oracle;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::exam::{Exam, trials_at_home};
use super::pictures::{Dress, Picture};
use super::profiles::{Twist, rules};
use super::sayable;
use super::talk::{Answer, Content, Event, Piece, REMOTE, Talk, Turn};
use crate::harness::{STAYS, check, codes};

proptest! {
    #![proptest_config(super::config())]

    #[test]
    fn nothing_is_found_where_nothing_is_wrong(trial in trials_at_home(4)) {
        faultless(&trial.sketch.build(), trial.from)?;
    }
}

pub(super) fn faultless(talk: &Talk, wire: Wire) -> Result<(), TestCaseError> {
    let mut talk = talk.clone();
    sayable::adapt(&mut talk, wire);
    let exam = Exam::of(purified(&talk, wire), wire, wire, Twist::Generic);
    let (_, violations) = oracle::look(wire.name(), &exam.input, &rules(&exam.profile));
    if let Some(first) = violations.first() {
        return exam.fail(format!("the test is wrong, a provider objects: {first}"));
    }
    let found = codes(&check(wire, &exam.input, &exam.profile));
    // Said of prose that quotes the beginning of a data URL; nothing is done about it.
    if let Some(code) = found.into_iter().find(|code| !STAYS.contains(code)) {
        return exam.fail(format!("`{code}` is found"));
    }
    if exam.body != exam.input {
        return exam.fail("changed");
    }
    Ok(())
}

/// The conversation as a careful client of the wire would send it.
pub(super) fn purified(talk: &Talk, wire: Wire) -> Talk {
    let mut events = Vec::new();
    for event in &talk.events {
        match event {
            Event::User(pieces) => events.push(Event::User(said(pieces, wire, true))),
            Event::Operator { developer, words, .. } => {
                let (developer, words) = (*developer, worded(words));
                events.push(Event::Operator { developer, words, picture: None });
            }
            Event::Assistant(turn) => {
                let mut turn = Turn { picture: None, ..turn.clone() };
                turn.words = turn.words.filter(|words| !words.trim().is_empty());
                if turn.words.is_none() && turn.refusal.is_none() && turn.calls.is_empty() {
                    turn.words = Some("well".to_owned());
                }
                let numbers: Vec<usize> = turn.calls.iter().map(|call| call.number).collect();
                turn.calls.iter_mut().for_each(|call| call.id = format!("call_{}", call.number));
                let begins = events.iter().all(|event| matches!(event, Event::Operator { .. }));
                if begins {
                    events.push(Event::User(vec![Piece::Words("begin".to_owned())]));
                }
                events.push(Event::Assistant(turn));
                let answers = numbers.into_iter().map(|number| answered(talk, wire, number));
                events.extend(answers.map(Event::Answer));
            }
            Event::Answer(_) => {}
        }
    }
    Talk { events, style: talk.style }
}

fn answered(talk: &Talk, wire: Wire, number: usize) -> Answer {
    let given = talk.events.iter().find_map(|event| match event {
        Event::Answer(answer) if answer.call == Some(number) => Some(answer),
        _ => None,
    });
    let has_flag = matches!(wire, Wire::Anthropic | Wire::Gemini | Wire::BedrockConverse);
    let error = given.is_some_and(|answer| answer.error) && has_flag;
    let takes_media = matches!(wire, Wire::Anthropic | Wire::OpenAiResponses) && !error;
    let pieces = given.map(|answer| answer.content.pieces()).unwrap_or_default();
    let pieces = pieces.iter().filter(|piece| !matches!(piece, Piece::Strange(_))).cloned();
    let content = Content::Pieces(said(&pieces.collect::<Vec<_>>(), wire, takes_media));
    Answer { call: Some(number), id: format!("call_{number}"), error, content }
}

/// The pieces that a provider takes, and something to say if there are none.
fn said(pieces: &[Piece], wire: Wire, takes_media: bool) -> Vec<Piece> {
    let clean = |picture: &Picture| {
        let profile = Twist::Generic.profile(wire);
        picture.is_showable()
            && profile.accepts_type(MediaKind::Image, picture.media_type())
            && matches!(picture.dress, Dress::Proper | Dress::Address)
    };
    let mut kept: Vec<Piece> = pieces
        .iter()
        .filter(|piece| match piece {
            Piece::Words(words) => !words.trim().is_empty(),
            Piece::Picture(picture) => takes_media && clean(picture),
            Piece::Paper(name) => takes_media && !name.contains(REMOTE),
            Piece::Strange(_) => true,
            Piece::Serialized(..) => false,
        })
        .cloned()
        .collect();
    if kept.is_empty() {
        kept.push(Piece::Words("so".to_owned()));
    }
    kept
}

fn worded(words: &str) -> String {
    if words.trim().is_empty() { "be good".to_owned() } else { words.to_owned() }
}
