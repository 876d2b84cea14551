//! Rule 3: whose a picture is can be told from the lowered body alone, and different owners make
//! different bytes.

use photic_testkit::oracle::{Image, Seen, Slot};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::exam::{Exam, Trial, trials, trials_among};
use super::lost::Album;
use super::profiles::Twist;
use super::talk::{Answer, Content, Event, Owner, Piece, Talk};
use photic::profile::Placement;

const SHOWING: [Twist; 5] = [
    Twist::Generic,
    Twist::Placed(Placement::Native),
    Twist::Placed(Placement::UserAfterTools),
    Twist::Placed(Placement::SiblingSameTurn),
    Twist::Placed(Placement::AssistantBridge),
];

proptest! {
    #![proptest_config(super::config())]

    #[test]
    fn every_picture_can_be_traced_to_its_call(trial in trials(3)) {
        traced(&trial.run())?;
    }

    #[test]
    fn other_owners_make_other_bytes(trial in trials_among(2, &SHOWING)) {
        injective(&trial)?;
    }
}

pub(super) fn traced(exam: &Exam) -> Result<(), TestCaseError> {
    if is_ambiguous(&exam.talk) {
        return Ok(());
    }
    let seen = exam.seen();
    let album = Album::of(exam);
    let pictures = exam.talk.pictures();
    let mut last: Option<(Owner, usize)> = None;
    for image in &seen.images {
        let number = album.find(&image.source);
        let Some((picture, owner)) =
            pictures.iter().find(|(picture, _)| Some(picture.number) == number)
        else {
            continue;
        };
        if let Owner::Call(call) = owner {
            match caller(&seen, image) {
                Some(Caller::Number(found)) if found == *call => {}
                // Its answer came too late, and a stand-in has the id of the call.
                Some(Caller::StandIn) => {}
                found => {
                    return exam.fail(format!(
                        "picture {} of call {call} is said to be of {found:?}",
                        picture.number
                    ));
                }
            }
        } else if image.owner.is_some() && *owner != Owner::Orphan {
            return exam.fail(format!("picture {} is {owner:?}'s, not a result's", picture.number));
        }
        if let Some((before, number)) = last
            && before == *owner
            && matches!(owner, Owner::Call(_))
            && number > picture.number
        {
            return exam.fail(format!("pictures {number} and {} changed places", picture.number));
        }
        last = Some((*owner, picture.number));
    }
    Ok(())
}

/// Whether two calls of one id wait at the same time: then nobody can tell whose a result is.
fn is_ambiguous(talk: &Talk) -> bool {
    let mut waiting: Vec<&str> = Vec::new();
    talk.events.iter().any(|event| match event {
        Event::Assistant(turn) => turn.calls.iter().any(|call| {
            let twice = waiting.contains(&call.id.as_str());
            waiting.push(&call.id);
            twice
        }),
        Event::User(_) | Event::Operator { .. } | Event::Answer(_) => {
            waiting.clear();
            false
        }
    })
}

/// The call that a result answers.
#[derive(Debug, PartialEq, Eq)]
enum Caller {
    Number(usize),
    /// One that photic put there.
    StandIn,
}

/// The index of the message that a pointer leads into.
fn message_of(pointer: &str) -> usize {
    pointer.split('/').nth(2).and_then(|index| index.parse().ok()).unwrap_or(0)
}

/// The number in the arguments of the call whose result brought the image, by the words of the
/// request alone.
fn caller(seen: &Seen, image: &Image) -> Option<Caller> {
    let at = message_of(&image.pointer);
    let (id, result_at) = match (&image.owner, image.slot) {
        (Some(id), _) => (id.clone(), at),
        (None, Slot::User) => {
            let label = image.label.as_deref()?;
            let ordinal = label.strip_prefix("Image ")?.split(' ').next()?;
            let marker = format!("[image {ordinal} of this turn is shown ");
            let mut before = seen.results.iter().filter(|result| message_of(&result.pointer) <= at);
            let result = before.rfind(|result| result.text.contains(&marker))?;
            (result.call_id.clone(), message_of(&result.pointer))
        }
        (None, _) => return None,
    };
    let mut calls = seen.calls.iter().filter(|call| call.id == id);
    let call = calls.rfind(|call| message_of(&call.pointer) <= result_at)?;
    if call.name == "unknown_tool" {
        return Some(Caller::StandIn);
    }
    let arguments: serde_json::Value = serde_json::from_str(&call.arguments).ok()?;
    arguments["number"].as_u64().map(|number| Caller::Number(number as usize))
}

/// Moves the first picture of one answer to another answer of the same turn.
fn reassigned(talk: &Talk) -> Option<Talk> {
    let mut talk = talk.clone();
    let mut taken: Option<(usize, Piece)> = None;
    for at in 0..talk.events.len() {
        let Event::Answer(Answer { content: Content::Pieces(pieces), .. }) = &mut talk.events[at]
        else {
            taken = None;
            continue;
        };
        if let Some((_, picture)) = taken.take() {
            pieces.push(picture);
            return Some(talk);
        }
        let showable =
            |piece: &Piece| matches!(piece, Piece::Picture(picture) if picture.is_showable());
        if let Some(index) = pieces.iter().position(showable) {
            let next = talk.events.get(at + 1);
            if matches!(next, Some(Event::Answer(Answer { content: Content::Pieces(_), .. })))
                && let Event::Answer(Answer { content: Content::Pieces(pieces), .. }) =
                    &mut talk.events[at]
            {
                taken = Some((at, pieces.remove(index)));
            }
        }
    }
    None
}

pub(super) fn injective(trial: &Trial) -> Result<(), TestCaseError> {
    let talk = trial.talk();
    let Some(other) = reassigned(&talk) else { return Ok(()) };
    let exam = Exam::of(talk, trial.from, trial.to, trial.twist);
    let other = Exam::of(other, trial.from, trial.to, trial.twist);
    if exam.body == other.body {
        return exam.fail(format!("the same bytes for\n{}", String::from_utf8_lossy(&other.input)));
    }
    Ok(())
}
