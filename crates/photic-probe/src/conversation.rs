//! The conversations that are sent: a question, a picture somewhere, and what leads to it.
//!
//! Owns their words. They are written for a wire by `write`, as they stand: a wire that has no
//! place for a picture is to say so itself.

use std::sync::Arc;

use crate::file::File;
use crate::place::Place;

/// One step of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Turn {
    System(Vec<Part>),
    User(Vec<Part>),
    Assistant(&'static str),
    /// Calls of the tool `view`, by what is to be viewed.
    Calls(Vec<&'static str>),
    /// A result for each of them.
    Results(Vec<Outcome>),
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) parts: Vec<Part>,
    pub(crate) failed: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    Text(String),
    Picture(Arc<File>),
    Address(String),
}

/// The tool that every conversation with calls declares.
pub(crate) const TOOL: &str = "view";
pub(crate) const TOOL_SAYS: &str = "Returns the picture of that name.";
const FIRST: &str = "chart.png";
const SECOND: &str = "chart-2.png";

/// The pictures that are shown; the last is the one that is asked about.
#[derive(Clone, Debug)]
pub(crate) struct Pictures {
    /// Another one, where two are shown.
    pub(crate) other: Option<Arc<File>>,
    pub(crate) asked: Shown,
}

/// How a picture is shown.
#[derive(Clone, Debug)]
pub(crate) enum Shown {
    File(Arc<File>),
    Address(String),
}

/// A question with a picture at a place.
pub(crate) fn conversation(place: Place, pictures: &Pictures, question: &str) -> Vec<Turn> {
    let text = |text: &str| Part::Text(text.to_owned());
    let question = || text(question);
    let picture = || match &pictures.asked {
        Shown::File(file) => Part::Picture(Arc::clone(file)),
        Shown::Address(address) => Part::Address(address.clone()),
    };
    let result =
        |name: &str, picture: Part, failed| Outcome { parts: vec![text(name), picture], failed };
    match place {
        Place::User | Place::Url => vec![Turn::User(vec![picture(), question()])],
        Place::Tool | Place::Hoisted => vec![
            Turn::User(vec![question()]),
            Turn::Calls(vec![FIRST]),
            Turn::Results(vec![result(FIRST, picture(), false)]),
        ],
        Place::Parallel => {
            let other = pictures.other.as_ref().map(|file| Part::Picture(Arc::clone(file)));
            let first = result(FIRST, other.unwrap_or_else(picture), false);
            vec![
                Turn::User(vec![question()]),
                Turn::Calls(vec![FIRST, SECOND]),
                Turn::Results(vec![first, result(SECOND, picture(), false)]),
            ]
        }
        Place::Error => vec![
            Turn::User(vec![question()]),
            Turn::Calls(vec![FIRST]),
            Turn::Results(vec![result(
                "The tool ended with an error; this is the last picture it made.",
                picture(),
                true,
            )]),
        ],
        Place::System => vec![
            Turn::System(vec![text("You answer questions about this picture."), picture()]),
            Turn::User(vec![question()]),
        ],
        Place::Previous => vec![
            Turn::User(vec![picture(), text("Here is a picture. I will ask about it.")]),
            Turn::Assistant("Go ahead."),
            Turn::User(vec![question()]),
        ],
    }
}

/// The same without any picture.
pub(crate) fn without_pictures(turns: Vec<Turn>) -> Vec<Turn> {
    let words = |parts: Vec<Part>| {
        parts.into_iter().filter(|part| matches!(part, Part::Text(_))).collect::<Vec<_>>()
    };
    let turn = |turn| match turn {
        Turn::System(parts) => Turn::System(words(parts)),
        Turn::User(parts) => Turn::User(words(parts)),
        Turn::Results(outcomes) => {
            let outcome = |one: Outcome| Outcome { parts: words(one.parts), ..one };
            Turn::Results(outcomes.into_iter().map(outcome).collect())
        }
        other @ (Turn::Assistant(_) | Turn::Calls(_)) => other,
    };
    turns.into_iter().map(turn).collect()
}
