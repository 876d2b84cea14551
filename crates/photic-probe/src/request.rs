//! The body for a place: written as it stands, or lowered by `photic` where its own placement is
//! what is tried.

use photic::profile::{Capability, Placement};
use photic::retention::Retention;
use photic::{Policy, Profile, Wire};

use crate::conversation::{Outcome, Part, Pictures, Shown, Turn, conversation, without_pictures};
use crate::place::{Notice, Place};
use crate::write;

/// The model that is asked, and what is known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The wire.
    pub wire: Wire,
    /// The model's name on it.
    pub model: String,
    /// What is known about it; only sizes, prices and quirks of placement are used.
    pub profile: Profile,
}

/// A request with a picture, and the same without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) with: Vec<u8>,
    pub(crate) without: Vec<u8>,
}

/// The requests for a place.
pub(crate) fn pair(target: &Target, place: Place, pictures: &Pictures, question: &str) -> Pair {
    let turns = conversation(place, pictures, question);
    let body = |turns: &[Turn]| write::body(target.wire, &target.model, turns);
    let with = body(&turns);
    let with = match place {
        Place::Hoisted | Place::Parallel => hoisted(target, &with),
        Place::User | Place::Tool | Place::Error | Place::System | Place::Previous | Place::Url => {
            with
        }
    };
    Pair { with, without: body(&without_pictures(turns)) }
}

/// A request whose picture is not shown, with `photic`'s own words about that.
pub(crate) fn noticed(
    target: &Target,
    notice: Notice,
    pictures: &Pictures,
    question: &str,
) -> Vec<u8> {
    let mut profile = sighted(target);
    let mut policy = Policy::hands_off();
    let turns = match notice {
        Notice::Refused => {
            profile.sight.images = Capability::No;
            conversation(Place::Tool, pictures, question)
        }
        Notice::Elided => {
            policy.retention = Retention::Turns(0);
            viewed_before(pictures, question)
        }
    };
    lowered(target, &profile, &policy, &write::body(target.wire, &target.model, &turns))
}

/// A picture that a tool returned in the turn before the question.
fn viewed_before(pictures: &Pictures, question: &str) -> Vec<Turn> {
    let text = |text: &str| Part::Text(text.to_owned());
    let picture = match &pictures.asked {
        Shown::File(file) => Part::Picture(file.clone()),
        Shown::Address(address) => Part::Address(address.clone()),
    };
    vec![
        Turn::User(vec![text("Open chart.png. I will ask about it.")]),
        Turn::Calls(vec!["chart.png"]),
        Turn::Results(vec![Outcome { parts: vec![text("chart.png"), picture], failed: false }]),
        Turn::Assistant("Go ahead."),
        Turn::User(vec![text(question)]),
    ]
}

fn hoisted(target: &Target, body: &[u8]) -> Vec<u8> {
    let mut profile = sighted(target);
    let placement = &mut profile.placement.image;
    if matches!(placement, Placement::Native | Placement::TextOnly) {
        *placement = Placement::UserAfterTools;
    }
    lowered(target, &profile, &Policy::hands_off(), body)
}

/// What is known, but for what is to be found out.
fn sighted(target: &Target) -> Profile {
    let mut profile = target.profile.clone();
    profile.wire = target.wire;
    profile.sight.images = Capability::Yes;
    profile
}

fn lowered(target: &Target, profile: &Profile, policy: &Policy, body: &[u8]) -> Vec<u8> {
    let (transcript, _) = photic::lift(target.wire, body);
    let plan = photic::plan(photic::survey(&transcript), profile, policy);
    photic::lower(&transcript, &plan).body.to_vec()
}

/// What a body should cost, in tokens.
pub(crate) fn tokens(target: &Target, body: &[u8]) -> u64 {
    let (transcript, _) = photic::lift(target.wire, body);
    let profile = sighted(target);
    photic::plan(photic::survey(&transcript), &profile, &Policy::hands_off()).ledger.tokens
}
