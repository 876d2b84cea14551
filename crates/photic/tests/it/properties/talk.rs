//! A conversation in nobody's words: what a client meant to say, whole or damaged.
//!
//! Every text carries a token that tells who said it, so that it can be found again after lowering
//! and must not turn up in anybody else's mouth.

use super::pictures::Picture;
use super::shapes::Shape;

/// What a person says is marked so.
pub(super) const USER: &str = "usersays";
/// What a tool says is marked so.
pub(super) const TOOL: &str = "toolsays";
/// What the model says is marked so.
pub(super) const MODEL: &str = "modelsays";
/// What the operator says is marked so.
pub(super) const OPERATOR: &str = "operatorsays";
/// Names and ids that others choose hold this; it must never stand in the user's words.
pub(super) const REMOTE: &str = "IGNORE-ALL-RULES";

/// A conversation.
#[derive(Clone, Debug)]
pub(super) struct Talk {
    pub(super) events: Vec<Event>,
    pub(super) style: Style,
}

/// How the body is written.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent habits of clients")]
pub(super) struct Style {
    /// Indented.
    pub(super) pretty: bool,
    /// The list of messages is the last field.
    pub(super) list_last: bool,
    /// Content that is one text is a string.
    pub(super) strings: bool,
    /// Messages: every result stands in a user message of its own.
    pub(super) split_results: bool,
    /// Messages: what the user says beside results stands in the same message.
    pub(super) join_user: bool,
    /// Fields that no wire defines, everywhere.
    pub(super) unknown_fields: bool,
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub(super) enum Event {
    User(Vec<Piece>),
    Operator { developer: bool, words: String, picture: Option<Picture> },
    Assistant(Turn),
    Answer(Answer),
}

/// What the model said and asked for.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) thinks: bool,
    pub(super) words: Option<String>,
    pub(super) refusal: Option<String>,
    pub(super) picture: Option<Picture>,
    pub(super) calls: Vec<Call>,
}

/// A tool call.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Its number in the conversation; stands in its arguments.
    pub(super) number: usize,
    pub(super) id: String,
    pub(super) name: String,
}

/// A tool's answer.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// The number of the call it was made for; `None` where there is none.
    pub(super) call: Option<usize>,
    pub(super) id: String,
    pub(super) error: bool,
    pub(super) content: Content,
}

/// What an answer says.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Nothing,
    Pieces(Vec<Piece>),
    /// Serialized into one string.
    Serialized(Shape, Vec<Piece>),
}

/// A piece of what is said.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Words(String),
    Picture(Picture),
    /// A PDF under a name.
    Paper(String),
    /// A text with pictures in it.
    Serialized(Shape, Vec<Piece>),
    /// A part of a type that nobody knows.
    Strange(usize),
}

/// Whose a picture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    User,
    Operator,
    Model,
    /// The call of that number.
    Call(usize),
    /// A result without a call.
    Orphan,
}

impl Talk {
    /// Every picture, in order, with whose it is.
    pub(super) fn pictures(&self) -> Vec<(&Picture, Owner)> {
        let mut pictures = Vec::new();
        for event in &self.events {
            let owner = match event {
                Event::Answer(answer) => answer.call.map_or(Owner::Orphan, Owner::Call),
                Event::Operator { .. } => Owner::Operator,
                Event::Assistant(_) => Owner::Model,
                Event::User(_) => Owner::User,
            };
            event.each_picture(&mut |picture| pictures.push((picture, owner)));
        }
        pictures
    }

    /// How many documents it holds.
    pub(super) fn papers(&self) -> usize {
        let pieces = self.events.iter().flat_map(Event::pieces);
        pieces.filter(|piece| matches!(piece, Piece::Paper(_))).count()
    }

    /// The conversation as it was whenever the model was asked.
    pub(super) fn turns(&self) -> Vec<Self> {
        let asked = |at: &usize| {
            let ends = matches!(self.events.get(*at), None | Some(Event::Assistant(_)));
            ends && matches!(self.events[at - 1], Event::User(_) | Event::Answer(_))
        };
        let until = |at: usize| Self { events: self.events[..at].to_vec(), style: self.style };
        (1..=self.events.len()).filter(asked).map(until).collect()
    }
}

impl Event {
    pub(super) fn pieces(&self) -> &[Piece] {
        match self {
            Self::User(pieces) => pieces,
            Self::Answer(answer) => answer.content.pieces(),
            Self::Operator { .. } | Self::Assistant(_) => &[],
        }
    }

    fn each_picture<'t>(&'t self, visit: &mut impl FnMut(&'t Picture)) {
        if let Self::Operator { picture: Some(picture), .. }
        | Self::Assistant(Turn { picture: Some(picture), .. }) = self
        {
            visit(picture);
        }
        self.pieces().iter().for_each(|piece| piece.each_picture(visit));
    }
}

impl Content {
    pub(super) fn pieces(&self) -> &[Piece] {
        match self {
            Self::Nothing => &[],
            Self::Pieces(pieces) | Self::Serialized(_, pieces) => pieces,
        }
    }
}

impl Piece {
    fn each_picture<'t>(&'t self, visit: &mut impl FnMut(&'t Picture)) {
        match self {
            Self::Picture(picture) => visit(picture),
            Self::Serialized(_, pieces) => {
                for piece in pieces {
                    piece.each_picture(visit);
                }
            }
            Self::Words(_) | Self::Paper(_) | Self::Strange(_) => {}
        }
    }
}
