//! The conversations that are sent: a question, and a picture in one of several positions.
//!
//! `write` turns them into request bodies exactly as they are: an API without room for a picture in
//! that position has to reject it itself.

use std::sync::Arc;

use crate::file::PictureFile;
use crate::position::PicturePosition;

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ConversationTurn {
    System(Vec<ConversationPart>),
    User(Vec<ConversationPart>),
    Assistant(&'static str),
    /// Calls of the tool `view`, by the name of the picture.
    Calls(Vec<&'static str>),
    /// One result for each call.
    Results(Vec<ToolResult>),
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolResult {
    pub(crate) parts: Vec<ConversationPart>,
    pub(crate) failed: bool,
}

/// A part of a message or result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ConversationPart {
    Text(String),
    Picture(Arc<PictureFile>),
    Address(String),
}

/// The tool that every conversation with calls declares.
pub(crate) const TOOL: &str = "view";
/// The description of the tool.
pub(crate) const TOOL_DESCRIPTION: &str = "Returns the picture of that name.";
/// Name of the first picture.
const FIRST: &str = "chart.png";
/// Name of the second picture.
const SECOND: &str = "chart-2.png";

/// The pictures of a conversation; the question is about `asked`.
#[derive(Clone, Debug)]
pub(crate) struct Pictures {
    /// Another picture, if two are shown.
    pub(crate) other: Option<Arc<PictureFile>>,
    pub(crate) asked: PictureSource,
}

/// A picture inline or by URL.
#[derive(Clone, Debug)]
pub(crate) enum PictureSource {
    PictureFile(Arc<PictureFile>),
    Address(String),
}

/// A question with a picture in a position.
pub(crate) fn conversation(
    place: PicturePosition,
    pictures: &Pictures,
    question: &str,
) -> Vec<ConversationTurn> {
    let text = |text: &str| ConversationPart::Text(text.to_owned());
    let question = || text(question);
    let picture = || match &pictures.asked {
        PictureSource::PictureFile(file) => ConversationPart::Picture(Arc::clone(file)),
        PictureSource::Address(address) => ConversationPart::Address(address.clone()),
    };
    let result = |name: &str, picture: ConversationPart, failed| ToolResult {
        parts: vec![text(name), picture],
        failed,
    };
    match place {
        PicturePosition::User | PicturePosition::Url => {
            vec![ConversationTurn::User(vec![picture(), question()])]
        }
        PicturePosition::Tool | PicturePosition::Hoisted => vec![
            ConversationTurn::User(vec![question()]),
            ConversationTurn::Calls(vec![FIRST]),
            ConversationTurn::Results(vec![result(FIRST, picture(), false)]),
        ],
        PicturePosition::Parallel => {
            let other =
                pictures.other.as_ref().map(|file| ConversationPart::Picture(Arc::clone(file)));
            let first = result(FIRST, other.unwrap_or_else(picture), false);
            vec![
                ConversationTurn::User(vec![question()]),
                ConversationTurn::Calls(vec![FIRST, SECOND]),
                ConversationTurn::Results(vec![first, result(SECOND, picture(), false)]),
            ]
        }
        PicturePosition::Error => vec![
            ConversationTurn::User(vec![question()]),
            ConversationTurn::Calls(vec![FIRST]),
            ConversationTurn::Results(vec![result(
                "The tool ended with an error; this is the last picture it made.",
                picture(),
                true,
            )]),
        ],
        PicturePosition::System => vec![
            ConversationTurn::System(vec![
                text("You answer questions about this picture."),
                picture(),
            ]),
            ConversationTurn::User(vec![question()]),
        ],
        PicturePosition::Previous => vec![
            ConversationTurn::User(vec![
                picture(),
                text("Here is a picture. I will ask about it."),
            ]),
            ConversationTurn::Assistant("Go ahead."),
            ConversationTurn::User(vec![question()]),
        ],
    }
}

/// Removes all pictures from a conversation.
pub(crate) fn without_pictures(turns: Vec<ConversationTurn>) -> Vec<ConversationTurn> {
    let words = |parts: Vec<ConversationPart>| {
        parts
            .into_iter()
            .filter(|part| matches!(part, ConversationPart::Text(_)))
            .collect::<Vec<_>>()
    };
    let turn = |turn| match turn {
        ConversationTurn::System(parts) => ConversationTurn::System(words(parts)),
        ConversationTurn::User(parts) => ConversationTurn::User(words(parts)),
        ConversationTurn::Results(outcomes) => {
            let outcome = |one: ToolResult| ToolResult { parts: words(one.parts), ..one };
            ConversationTurn::Results(outcomes.into_iter().map(outcome).collect())
        }
        other @ (ConversationTurn::Assistant(_) | ConversationTurn::Calls(_)) => other,
    };
    turns.into_iter().map(turn).collect()
}
