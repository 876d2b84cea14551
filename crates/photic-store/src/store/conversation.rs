//! The keys of a conversation, kept for its next request, so that only new words are hashed.

use photic::transcript::{Part, Role};
use photic::{LeftOut, Transcript};

use super::keys;
use crate::handle::Tenant;
use crate::record::Chain;

/// Number of last turns at whose ends a later request may go on: its last turns may be edited or
/// repeated.
const RECENT: usize = 3;
/// Maximum number of places at which a later request can go on.
const MAX_PLACES: usize = 64;

/// The keys of a conversation after each of its messages. Only words and pictures count, because
/// clients rewrite the same words in every request with different cache marks. Instructions are left
/// out, because they may contain the time of day.
///
/// A later request of the conversation of which some messages are left out has the same keys as the
/// whole one ([`ConversationKeys::continued`]).
///
/// ```
/// use photic::Wire;
/// use photic_store::{ConversationKeys, Tenant};
///
/// let keys = |body: &str| {
///     let (transcript, _) = photic::lift(Wire::OpenAiChat, body.as_bytes());
///     ConversationKeys::of(&Tenant::local(), &transcript).last_first()
/// };
/// let first = keys(r#"{"messages":[{"role":"user","content":"Hello"}]}"#);
/// let second = keys(
///     r#"{"messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi"}]}"#,
/// );
/// assert_eq!(first[0], second[1]);
/// ```
#[derive(Clone, Debug)]
pub struct ConversationKeys {
    /// The key after each message, or `None` if it is an instruction.
    keys: Vec<Option<Chain>>,
    /// The ends of turns at which a later request can go on, in order.
    places: Vec<TurnEnd>,
}

/// The end of a turn.
#[derive(Clone, Debug)]
struct TurnEnd {
    /// The number of messages before it.
    messages: usize,
    /// The hash of everything before it.
    hash: blake3::Hasher,
    /// `true` if the next turn holds media, so that it is always read.
    is_before_media: bool,
}

impl ConversationKeys {
    /// Computes the keys of a whole request.
    pub fn of(tenant: &Tenant, transcript: &Transcript<'_>) -> Self {
        let nothing = Self { keys: Vec::new(), places: Vec::new() };
        // Without a gap, nothing is looked up.
        Self::walk(tenant, transcript, (&nothing, &[])).unwrap_or(nothing)
    }

    /// Computes the keys of a whole request, given the transcript of the request without the turns
    /// that are left out. Returns `None` if this conversation is another one, or if it cannot go on
    /// there.
    pub fn continued(
        &self,
        tenant: &Tenant,
        transcript: &Transcript<'_>,
        left_out: &LeftOut,
    ) -> Option<Self> {
        let gaps: Vec<_> = left_out.turns().map(|turns| turns.messages).collect();
        Self::walk(tenant, transcript, (self, &gaps))
    }

    fn walk(
        tenant: &Tenant,
        transcript: &Transcript<'_>,
        (before, gaps): (&Self, &[std::ops::Range<usize>]),
    ) -> Option<Self> {
        let mut hash = keys::conversation(tenant);
        let room =
            transcript.messages.len() + gaps.iter().map(ExactSizeIterator::len).sum::<usize>();
        let mut this = Self { keys: Vec::with_capacity(room), places: Vec::new() };
        let mut gaps = gaps.iter().peekable();
        let mut messages = transcript.messages.iter().peekable();
        loop {
            while let Some(gap) = gaps.next_if(|gap| gap.start == this.keys.len()) {
                // Two conversations with one key have the same words.
                let known = before.keys.get(..gap.start)?;
                if known.iter().flatten().next_back() != this.keys.iter().flatten().next_back() {
                    return None;
                }
                let place = before.places.iter().find(|place| place.messages == gap.end)?;
                this.keys.extend_from_slice(before.keys.get(gap.clone())?);
                hash = place.hash.clone();
                this.add_place(&hash);
            }
            let Some(message) = messages.next() else { break };
            let has_media = !transcript.media.is_empty() && message.parts.iter().any(holds_media);
            if has_media && let Some(place) = this.places.last_mut() {
                place.is_before_media = true;
            }
            let has_words = keys::add_message(&mut hash, transcript, message);
            this.keys.push(has_words.then(|| keys::short(&hash)));
            let speaks = |role| role == Role::Assistant;
            let is_end = messages.peek().is_none_or(|next| speaks(next.role));
            if is_end && !speaks(message.role) {
                this.add_place(&hash);
            }
        }
        gaps.next().is_none().then_some(this)
    }

    fn add_place(&mut self, hash: &blake3::Hasher) {
        let (messages, hash) = (self.keys.len(), hash.clone());
        // First, so that the list never has room for more.
        if self.places.len() >= MAX_PLACES {
            self.places.remove(0);
        }
        self.places.push(TurnEnd { messages, hash, is_before_media: false });
        let plain = self.places.iter().filter(|place| !place.is_before_media);
        if plain.count() > RECENT
            && let Some(oldest) = self.places.iter().position(|place| !place.is_before_media)
        {
            self.places.remove(oldest);
        }
    }

    /// Returns the keys, the last first.
    pub fn last_first(&self) -> Vec<Chain> {
        self.keys.iter().rev().flatten().copied().collect()
    }

    /// Returns the key after the last message.
    pub fn last(&self) -> Option<Chain> {
        self.keys.iter().rev().flatten().next().copied()
    }

    /// Returns the number of bytes that they take.
    pub fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<Option<Chain>>()
            + self.places.capacity() * size_of::<TurnEnd>()
    }
}

/// Returns `true` if a part holds media.
fn holds_media(part: &Part<'_>) -> bool {
    match part {
        Part::Media(_) | Part::TextWithMedia(_) => true,
        Part::Nested(nested) => nested.parts.iter().any(holds_media),
        Part::Result(result) => result.content.iter().any(holds_media),
        Part::Text(_)
        | Part::Refusal(_)
        | Part::Call(_)
        | Part::Thinking(_)
        | Part::Mark(_)
        | Part::Opaque(_) => false,
    }
}
