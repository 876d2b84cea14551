//! Request bodies for a position: written as they are, or lowered by `photic` if its placement is
//! tested.

use photic::profile::{Capability, Placement};
use photic::retention::Retention;
use photic::{Policy, Profile, Wire};

use crate::conversation::{
    ConversationPart, ConversationTurn, PictureSource, Pictures, ToolResult, conversation,
    without_pictures,
};
use crate::position::{Notice, PicturePosition};
use crate::write;

/// The model to test and its profile.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeTarget {
    /// The wire.
    pub wire: Wire,
    /// The name of the model.
    pub model: String,
    /// Its profile; only sizes, prices and placement quirks are used.
    pub profile: Profile,
}

/// A request with a picture, and its control without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestPair {
    pub(crate) with: Vec<u8>,
    pub(crate) without: Vec<u8>,
}

/// The requests for a position.
pub(crate) fn pair(
    target: &ProbeTarget,
    place: PicturePosition,
    pictures: &Pictures,
    question: &str,
) -> RequestPair {
    let turns = conversation(place, pictures, question);
    let body = |turns: &[ConversationTurn]| write::body(target.wire, &target.model, turns);
    let with = body(&turns);
    let with = match place {
        PicturePosition::Hoisted | PicturePosition::Parallel => hoisted(target, &with),
        PicturePosition::User
        | PicturePosition::Tool
        | PicturePosition::Error
        | PicturePosition::System
        | PicturePosition::Previous
        | PicturePosition::Url => with,
    };
    RequestPair { with, without: body(&without_pictures(turns)) }
}

/// A request with a notice of `photic` in place of the picture.
pub(crate) fn noticed(
    target: &ProbeTarget,
    notice: Notice,
    pictures: &Pictures,
    question: &str,
) -> Vec<u8> {
    let mut profile = sighted(target);
    let mut policy = Policy::hands_off();
    let turns = match notice {
        Notice::Refused => {
            profile.sight.images = Capability::No;
            conversation(PicturePosition::Tool, pictures, question)
        }
        Notice::Elided => {
            policy.retention = Retention::Turns(0);
            viewed_before(pictures, question)
        }
    };
    lowered(target, &profile, &policy, &write::body(target.wire, &target.model, &turns))
}

/// A conversation in which a tool returned the picture one turn before the question.
fn viewed_before(pictures: &Pictures, question: &str) -> Vec<ConversationTurn> {
    let text = |text: &str| ConversationPart::Text(text.to_owned());
    let picture = match &pictures.asked {
        PictureSource::PictureFile(file) => ConversationPart::Picture(file.clone()),
        PictureSource::Address(address) => ConversationPart::Address(address.clone()),
    };
    vec![
        ConversationTurn::User(vec![text("Open chart.png. I will ask about it.")]),
        ConversationTurn::Calls(vec!["chart.png"]),
        ConversationTurn::Results(vec![ToolResult {
            parts: vec![text("chart.png"), picture],
            failed: false,
        }]),
        ConversationTurn::Assistant("Go ahead."),
        ConversationTurn::User(vec![text(question)]),
    ]
}

/// A request whose picture `photic` has hoisted.
fn hoisted(target: &ProbeTarget, body: &[u8]) -> Vec<u8> {
    let mut profile = sighted(target);
    let placement = &mut profile.placement.image;
    if matches!(placement, Placement::Native | Placement::TextOnly) {
        *placement = Placement::UserAfterTools;
    }
    lowered(target, &profile, &Policy::hands_off(), body)
}

/// The profile of a model that sees, which is what the probe tests.
fn sighted(target: &ProbeTarget) -> Profile {
    let mut profile = target.profile.clone();
    profile.wire = target.wire;
    profile.sight.images = Capability::Yes;
    profile
}

/// Repairs a body under a profile and a policy.
fn lowered(target: &ProbeTarget, profile: &Profile, policy: &Policy, body: &[u8]) -> Vec<u8> {
    let (transcript, _) = photic::lift(target.wire, body);
    let plan = photic::plan(photic::survey(&transcript), profile, policy);
    photic::lower(&transcript, &plan).body.to_vec()
}

/// The estimated tokens of a body.
pub(crate) fn tokens(target: &ProbeTarget, body: &[u8]) -> u64 {
    let (transcript, _) = photic::lift(target.wire, body);
    let profile = sighted(target);
    photic::plan(photic::survey(&transcript), &profile, &Policy::hands_off()).ledger.tokens
}
