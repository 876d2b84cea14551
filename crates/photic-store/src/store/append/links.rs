//! The keys of the messages of a turn, of which some may be left out because an earlier turn has them.

use photic::{LeftOut, Segment};

use super::blobs::TurnBlobs;
use crate::record::{Chain, NewMessage, SessionId};
use crate::store::keys;
use crate::store::sent::{SentHashes, WrittenHashes};

/// The keys of the messages of a turn that was written, for the next turn of its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenMessages {
    pub(super) session: SessionId,
    pub(super) chains: Vec<Chain>,
    /// The hashes of the messages as they were sent, if they are known.
    pub(super) sent: Option<WrittenHashes>,
}

impl WrittenMessages {
    /// Returns the session that has the messages.
    pub const fn session(&self) -> &SessionId {
        &self.session
    }

    /// Number of bytes that are kept of each message.
    pub const BYTES_PER_MESSAGE: usize = 2 * size_of::<Chain>();

    /// Returns the key after some elements of the list of messages.
    fn after(&self, elements: usize) -> Option<Chain> {
        match elements.checked_sub(1) {
            None => Some(keys::start(&self.session)),
            Some(last) => self.chains.get(last).copied(),
        }
    }
}

/// Messages that were left out of a transcript, because an earlier turn of the session has them.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers create it")]
pub struct LeftOutMessages<'l> {
    /// The messages of the earlier turn.
    pub written: &'l WrittenMessages,
    /// The messages that were left out. They are the same in both turns.
    pub left_out: &'l LeftOut,
}

/// The messages of a turn, and the keys of all of them.
#[derive(Debug)]
pub(super) struct Links<'a> {
    /// The key of the message before these, if some were left out.
    pub(super) follows: Option<Chain>,
    pub(super) new: Vec<NewMessage<'a>>,
    /// The key of each message of the whole turn.
    pub(super) chains: Vec<Chain>,
    /// The hash of each message of the whole turn as it was sent, if they are known.
    pub(super) sent: Option<Vec<Chain>>,
}

impl<'a> Links<'a> {
    /// Computes the keys of messages. Returns `None` if those before a gap are not the ones of the
    /// turn that has the messages in it.
    pub(super) fn of(
        id: &SessionId,
        gathered: &mut TurnBlobs<'_, 'a>,
        messages: &[Segment<'a>],
        hashes: Option<&SentHashes>,
        left_out: Option<LeftOutMessages<'_>>,
    ) -> Option<Self> {
        let sent = hashes.map(|_| Vec::new());
        let mut links = Self { follows: None, new: Vec::new(), chains: Vec::new(), sent };
        let mut chain = keys::start(id);
        let gaps = left_out.into_iter().flat_map(|one| one.left_out.turns());
        let mut gaps = gaps.map(|turns| turns.elements).peekable();
        for (number, message) in messages.iter().enumerate() {
            while let Some(gap) = gaps.next_if(|gap| gap.start == links.chains.len()) {
                let written = left_out?.written;
                if written.after(gap.start) != Some(chain) {
                    return None;
                }
                links.chains.extend_from_slice(written.chains.get(gap.clone())?);
                // They are sent as they came, in both turns.
                let sent = written.sent.as_ref().and_then(|one| one.sent.messages.get(gap.clone()));
                links.sent = links.sent.zip(sent).map(|(mut links, sent)| {
                    links.extend_from_slice(sent);
                    links
                });
                chain = written.after(gap.end)?;
                links.follows = Some(chain);
                // The session has those before the gap.
                links.new.clear();
            }
            let stretch = gathered.stretch(message);
            chain = keys::next(&chain, &stretch);
            links.chains.push(chain);
            let sent = hashes.and_then(|hashes| hashes.message(number, &stretch));
            links.sent = links.sent.zip(sent).map(|(mut links, sent)| {
                links.push(sent);
                links
            });
            links.new.push(NewMessage { chain, stretch });
        }
        gaps.next().is_none().then_some(links)
    }
}
