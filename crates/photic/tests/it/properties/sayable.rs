//! What the words of a wire can say at all: a conversation without what it has no slot for.
//!
//! Wires without addresses are never sent any, so a client of theirs sends the bytes.

use photic::Wire;

use super::pictures::{Dress, Mangle, Picture};
use super::talk::{Content, Event, Piece, Talk};

/// Makes a conversation one that a client of the wire could have had.
pub(super) fn adapt(talk: &mut Talk, wire: Wire) {
    if !matches!(wire, Wire::Gemini | Wire::BedrockConverse | Wire::Ollama) {
        return;
    }
    for event in &mut talk.events {
        match event {
            Event::User(pieces) => said(pieces, wire),
            Event::Answer(answer) => {
                match &mut answer.content {
                    Content::Nothing | Content::Serialized(..) => {}
                    Content::Pieces(pieces) => {
                        said(pieces, wire);
                        if wire == Wire::Gemini {
                            single_text(pieces);
                        }
                    }
                }
                if wire == Wire::Ollama {
                    answer.error = false;
                }
            }
            Event::Operator { picture, .. } => picture.iter_mut().for_each(dressed),
            Event::Assistant(turn) => turn.picture.iter_mut().for_each(dressed),
        }
    }
}

fn said(pieces: &mut Vec<Piece>, wire: Wire) {
    pieces.retain(|piece| match piece {
        Piece::Paper(_) | Piece::Strange(_) => wire != Wire::Ollama,
        Piece::Words(_) | Piece::Picture(_) | Piece::Serialized(..) => true,
    });
    for piece in pieces.iter_mut() {
        if let Piece::Picture(picture) = piece {
            dressed(picture);
        }
    }
    if wire == Wire::Ollama {
        single_text(pieces);
    }
}

/// Texts that share one string cannot be told apart, so what is serialized stands alone.
fn single_text(pieces: &mut Vec<Piece>) {
    let is_words = |piece: &Piece| matches!(piece, Piece::Words(_));
    if pieces.iter().any(is_words) {
        pieces.retain(|piece| !matches!(piece, Piece::Serialized(..)));
    } else {
        let mut kept = false;
        pieces.retain(|piece| {
            let first = !kept;
            kept |= matches!(piece, Piece::Serialized(..));
            first || !matches!(piece, Piece::Serialized(..))
        });
    }
    if pieces.iter().any(|piece| matches!(piece, Piece::Serialized(..))) {
        pieces.retain(|piece| matches!(piece, Piece::Serialized(..)));
    }
}

fn dressed(picture: &mut Picture) {
    if matches!(picture.dress, Dress::Address | Dress::Local) {
        picture.dress = Dress::Proper;
    }
    if picture.dress == Dress::Mangled(Mangle::NoType) {
        picture.dress = Dress::Proper;
    }
}
