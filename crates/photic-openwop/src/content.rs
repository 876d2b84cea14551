//! A conversation as it is meant: who speaks, in words or media, and what has to be marked. Where
//! the bytes of a medium are differs from step to step, and is the parameter.

use crate::modality::Modality;

/// Who is speaking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    System,
    User,
    Assistant,
}

/// A message.
#[derive(Debug)]
pub(crate) struct Turn<B> {
    pub(crate) role: Role,
    pub(crate) pieces: Vec<Piece<B>>,
}

/// A part of a message.
#[derive(Debug)]
pub(crate) struct Piece<B> {
    pub(crate) trust: Trust,
    pub(crate) what: What<B>,
}

/// Whether content is marked, and what its mark says of where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    Plain,
    Marked { source: Option<String>, tool: Option<String> },
}

#[derive(Debug)]
pub(crate) enum What<B> {
    Words(String),
    Medium { modality: Modality, media_type: String, bytes: B },
}

/// Where bytes are that are not at hand, or how they are written.
#[derive(Debug)]
pub(crate) enum From<B> {
    Here(B),
    Reference(String),
    Address(String),
}

/// Does the same to the bytes of every medium, or fails with the first that fails.
pub(crate) fn each<A, B, E>(
    turns: Vec<Turn<A>>,
    mut change: impl FnMut(A) -> Result<B, E>,
) -> Result<Vec<Turn<B>>, E> {
    let mut changed = Vec::with_capacity(turns.len());
    for turn in turns {
        let mut pieces = Vec::with_capacity(turn.pieces.len());
        for piece in turn.pieces {
            let what = match piece.what {
                What::Words(words) => What::Words(words),
                What::Medium { modality, media_type, bytes } => {
                    What::Medium { modality, media_type, bytes: change(bytes)? }
                }
            };
            pieces.push(Piece { trust: piece.trust, what });
        }
        changed.push(Turn { role: turn.role, pieces });
    }
    Ok(changed)
}

/// The media of a conversation.
pub(crate) fn media<B>(turns: &[Turn<B>]) -> impl Iterator<Item = (Modality, &str, &B)> {
    let pieces = turns.iter().flat_map(|turn| turn.pieces.iter());
    pieces.filter_map(|piece| match &piece.what {
        What::Words(_) => None,
        What::Medium { modality, media_type, bytes } => {
            Some((*modality, media_type.as_str(), bytes))
        }
    })
}
