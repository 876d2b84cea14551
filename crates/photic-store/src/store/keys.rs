//! Keys of messages and conversations: hashes of bytes, and hashes of words.

use photic::media::Source;
use photic::transcript::{Arguments, Message, Part, Role, Transcript};
use photic::{Digest, MediaId, Recipe};

use crate::handle::Tenant;
use crate::record::{Chain, MadeKey, NewSegment, SessionId};

/// Returns the first key of a session's chain.
pub(super) fn start(id: &SessionId) -> Chain {
    short(
        blake3::Hasher::new_derive_key("photic-store 2026 chain of messages")
            .update(id.as_str().as_bytes()),
    )
}

/// Returns the key of a message: a hash of it and everything before it.
pub(super) fn next(before: &Chain, stretch: &NewSegment<'_>) -> Chain {
    let mut hasher = blake3::Hasher::new();
    hasher.update(before);
    stretch.hash(&mut hasher);
    short(&hasher)
}

/// Returns the key of a prepared picture.
pub(super) fn made(sources: &[Digest], recipe: &Recipe) -> MadeKey {
    let mut hasher = blake3::Hasher::new_derive_key("photic-store 2026 what a recipe made");
    hasher.update(&(sources.len() as u64).to_le_bytes());
    for source in sources {
        hasher.update(source);
    }
    let kind: &[u8] = match recipe {
        Recipe::Fit(_) => b"fit",
        Recipe::Sheet { .. } => b"sheet",
    };
    hasher.update(kind);
    // The members of a sheet are numbers of this request; the sources identify them.
    hasher.update(&serde_json::to_vec(recipe.fit()).unwrap_or_default());
    short(&hasher)
}

/// Begins the hash of the words of a conversation.
pub(super) fn conversation(tenant: &Tenant) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new_derive_key("photic-store 2026 words of a conversation");
    add(&mut hasher, tenant.as_str().as_bytes());
    hasher
}

/// Adds a message to the hash of a conversation. Returns `false` if it is an instruction, which is
/// left out.
///
/// Fetched media are identified by their URL, so that it does not matter whether their bytes are
/// available.
pub(super) fn add_message(
    hasher: &mut blake3::Hasher,
    transcript: &Transcript<'_>,
    message: &Message<'_>,
) -> bool {
    let role: u8 = match message.role {
        Role::System | Role::Developer => return false,
        Role::User => 1,
        Role::Assistant => 2,
        Role::Tool => 3,
        Role::Unknown => 4,
    };
    hasher.update(&[role]);
    words(hasher, transcript, &message.parts);
    true
}

fn words(hasher: &mut blake3::Hasher, transcript: &Transcript<'_>, parts: &[Part<'_>]) {
    for part in parts {
        match part {
            Part::Text(text) | Part::Refusal(text) => add(hasher, text.text.decode().as_bytes()),
            Part::Media(media) => shown(hasher, transcript, media.id),
            Part::TextWithMedia(mixed) => {
                mixed.pieces.iter().for_each(|piece| add(hasher, piece.decode().as_bytes()));
                mixed.media.iter().for_each(|&id| shown(hasher, transcript, id));
            }
            Part::Nested(nested) => words(hasher, transcript, &nested.parts),
            Part::Call(call) => {
                add(hasher, call.id.decode().as_bytes());
                add(hasher, call.name.decode().as_bytes());
                match &call.arguments {
                    Arguments::Text(text) | Arguments::Free(text) => {
                        add(hasher, text.decode().as_bytes());
                    }
                    Arguments::Json(json) | Arguments::Wrapped(_, json) => add(hasher, json),
                }
            }
            Part::Result(result) => {
                add(hasher, result.call_id.decode().as_bytes());
                words(hasher, transcript, &result.content);
            }
            // Some clients drop thoughts, and unknown parts may vary.
            Part::Thinking(_) | Part::Mark(_) | Part::Opaque(_) => {}
        }
    }
}

fn shown(hasher: &mut blake3::Hasher, transcript: &Transcript<'_>, id: MediaId) {
    // A URL identifies the medium, whether or not it is fetched.
    if let Some(address) = transcript.address(id) {
        return add(hasher, address.decode().as_bytes());
    }
    match transcript.media.get(id.index()).map(|media| &media.source) {
        // Length and both ends are enough to find a session. Nothing is stored by this key.
        Some(Source::Data(payload)) => {
            let base64 = payload.base64();
            let ends = base64.len().min(4096);
            add(hasher, &(base64.len() as u64).to_le_bytes());
            add(hasher, &base64[..ends]);
            add(hasher, &base64[base64.len() - ends..]);
        }
        Some(Source::Text(text) | Source::Url(text) | Source::File(text)) => {
            add(hasher, text.decode().as_bytes());
        }
        Some(Source::Missing) | None => add(hasher, b""),
    }
}

fn add(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

/// Returns the key of everything that was hashed.
pub(super) fn short(hasher: &blake3::Hasher) -> Chain {
    let mut chain = Chain::default();
    hasher.finalize_xof().fill(&mut chain);
    chain
}
