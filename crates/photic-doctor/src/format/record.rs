//! The media of one record, as every format reports them.

use photic::Slot;
use photic::json::{Kind, Value};
use photic::transcript::Role;

/// The media of one record.
#[derive(Debug, Default)]
pub(crate) struct RecordMedia<'d, 'a> {
    /// The values that contain media, in the order of the text.
    pub(crate) parts: Vec<(Value<'d, 'a>, MediaUse)>,
    /// The value that takes notices for media whose own position takes no text.
    pub(crate) words: Option<Value<'d, 'a>>,
    /// The model that the agent uses.
    pub(crate) model: Option<String>,
    /// The part of earlier records that the agent still sends.
    pub(crate) history: HistoryEffect,
    /// The ID by which other records refer to this one.
    pub(crate) id: Option<String>,
    /// `true` for a message of the main conversation.
    pub(crate) is_main: bool,
}

/// Tells what the agent does with media of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MediaUse {
    /// Sends them with every request.
    Sent(Slot),
    /// They belong to a subagent: sent only if the file holds nothing else.
    Aside(Slot),
    /// Keeps them for the screen, and never sends them.
    Copy,
}

impl MediaUse {
    /// In a message of the user.
    pub(crate) const USER: Self = Self::Sent(Slot::Message(Role::User));

    /// In the result of a tool.
    pub(crate) const fn result(error: bool) -> Self {
        Self::Sent(Slot::Result { error, screen: false })
    }
}

/// The part of earlier records that an agent still sends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum HistoryEffect {
    /// Everything.
    #[default]
    Unchanged,
    /// Nothing: it was compacted.
    Discards,
    /// Everything from this record on.
    KeepsFrom(String),
    /// Everything before this record.
    RewindsTo(String),
}

/// Returns `true` if all members exist and are strings.
pub(super) fn has_strings(value: Value<'_, '_>, names: &[&str]) -> bool {
    names.iter().all(|name| value.get(name).is_some_and(|text| text.kind() == Kind::String))
}

/// A string member.
pub(super) fn string(value: Value<'_, '_>, name: &str) -> Option<String> {
    Some(value.get(name)?.str()?.decode().into_owned())
}

/// All members of an object but one, as copies of what is sent.
pub(super) fn all_but<'d, 'a>(
    root: Value<'d, 'a>,
    sent: &'static str,
) -> impl Iterator<Item = (Value<'d, 'a>, MediaUse)> {
    root.entries()
        .filter(move |(key, value)| {
            !key.is(sent) && matches!(value.kind(), Kind::Object | Kind::Array)
        })
        .map(|(_, value)| (value, MediaUse::Copy))
}
