//! A parsed conversation: roles, text, media, and marks. The type parameter is the state of the
//! media bytes, which changes from step to step.

use crate::modality::Modality;

/// Role of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    System,
    User,
    Assistant,
}

/// A message.
#[derive(Debug)]
pub(crate) struct ParsedMessage<B> {
    pub(crate) role: Role,
    pub(crate) pieces: Vec<MessagePart<B>>,
}

/// A part of a message.
#[derive(Debug)]
pub(crate) struct MessagePart<B> {
    pub(crate) trust: Trust,
    pub(crate) what: PartContent<B>,
}

/// Trust in a part. Untrusted parts are marked with their origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    Plain,
    Marked { source: Option<String>, tool: Option<String> },
}

#[derive(Debug)]
pub(crate) enum PartContent<B> {
    Words(String),
    Medium { modality: Modality, media_type: String, bytes: B },
}

/// Source of the bytes of a medium.
#[derive(Debug)]
pub(crate) enum MediaSource<B> {
    Here(B),
    Reference(String),
    Address(String),
}

/// Maps the bytes of every medium. Stops at the first error.
pub(crate) fn try_map_media<A, B, E>(
    turns: Vec<ParsedMessage<A>>,
    mut change: impl FnMut(A) -> Result<B, E>,
) -> Result<Vec<ParsedMessage<B>>, E> {
    let mut changed = Vec::with_capacity(turns.len());
    for turn in turns {
        let mut pieces = Vec::with_capacity(turn.pieces.len());
        for piece in turn.pieces {
            let what = match piece.what {
                PartContent::Words(words) => PartContent::Words(words),
                PartContent::Medium { modality, media_type, bytes } => {
                    PartContent::Medium { modality, media_type, bytes: change(bytes)? }
                }
            };
            pieces.push(MessagePart { trust: piece.trust, what });
        }
        changed.push(ParsedMessage { role: turn.role, pieces });
    }
    Ok(changed)
}

/// Iterates over the media of a conversation.
pub(crate) fn media<B>(turns: &[ParsedMessage<B>]) -> impl Iterator<Item = (Modality, &str, &B)> {
    let pieces = turns.iter().flat_map(|turn| turn.pieces.iter());
    pieces.filter_map(|piece| match &piece.what {
        PartContent::Words(_) => None,
        PartContent::Medium { modality, media_type, bytes } => {
            Some((*modality, media_type.as_str(), bytes))
        }
    })
}
