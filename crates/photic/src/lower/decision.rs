//! The record of changes that lowering made, with reasons.

use serde::Serialize;

use crate::finding::Position;
use crate::plan::Reason;
use crate::transcript::MediaId;

/// One change that lowering made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Decision {
    /// The change.
    #[serde(flatten)]
    pub did: Did,
    /// Its position in the body that came in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Position>,
    /// The medium concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media: Option<MediaId>,
}

/// The kinds of changes that lowering makes.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "did", content = "why", rename_all = "snake_case")]
pub enum Did {
    /// Moved a medium into a user turn.
    Hoisted,
    /// Rewrote a medium in its place: as an image instead of text, or with its true type.
    Rewrote,
    /// Sent another picture made from it: smaller, lighter, of an accepted type, or several on
    /// one.
    Remade,
    /// Sent the fetched bytes instead of the address.
    Fetched,
    /// Replaced a medium by a notice.
    NotShown(Reason),
    /// Moved a message behind the results it interrupted.
    MovedBehindResults,
    /// Moved results to the front of their message.
    MovedResultsFirst,
    /// Left out a text part without text.
    LeftOutEmptyText,
    /// Gave a call and its result an id of their own.
    RenamedCall,
    /// Wrote that a result was empty.
    FilledEmpty,
    /// Added a result for a call that had none.
    FilledMissing,
    /// Added a call for a result that had none.
    AddedStandInCall,
    /// Joined a message with the one before it.
    MergedMessages,
    /// Put a short assistant message between tool results and a user message.
    AddedBridge,
    /// Put a note before a conversation that the assistant opens.
    AddedOpening,
    /// Gave a result the name of the call it answers.
    NamedResult,
    /// Wrote a result as a string instead of a list.
    WroteString,
    /// Left a part out of a result that failed, which holds text only.
    LeftOutOfError,
    /// Wrote the source of a drawing as text, because the endpoint does not take the drawing.
    WroteSource,
    /// Marked the end of a prefix for the endpoint's cache.
    Marked,
    /// Rewrote something without a change of meaning.
    Respelled,
    /// Left out reasoning, which only its own wire can carry.
    LeftOutReasoning,
    /// Left out a part or unit.
    LeftOutPart(Because),
    /// Left out a setting, or a member of a message, part or tool.
    LeftOutField(Field),
    /// Sent a setting, or a member of a message, part or tool, with another value or name.
    ChangedField(Field),
    /// Added a setting that the request did not have.
    AddedField(Field),
    /// Cleared an old tool result, as the client asked a provider that can do it.
    ClearedResult,
    /// Planned again, because the plan was made for another transcript.
    PlannedAgain,
}

/// A field that was left out, changed or added, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// The name of the field: as in the incoming request or, for an added one, its new name.
    pub field: String,
    /// The reason.
    #[serde(flatten)]
    pub because: Because,
}

/// The reason why something was left out, changed or added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", content = "detail", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Because {
    /// The wire has no field for it.
    NoWord,
    /// No wire that photic knows has this field, and the endpoint refuses unknown fields.
    UnknownField,
    /// The model or endpoint refuses it; the text is the source of that fact.
    Refused(String),
    /// No source says that this model takes it.
    Unproven,
    /// The value is outside of the range that the wire takes.
    OutOfRange,
    /// It contradicts another field, which is sent.
    Contradicts(String),
    /// The wire does it by default.
    Implied,
    /// The nearest value that the model takes is sent.
    Nearest(String),
    /// The wire can only express something wider.
    Widened,
    /// It goes by another name.
    Renamed(String),
    /// The wire requires it.
    Demanded,
}

impl Because {
    /// Returns the reason as text that follows a colon.
    pub fn says(&self) -> String {
        match self {
            Self::NoWord => "this wire has no word for it".to_owned(),
            Self::UnknownField => "this endpoint refuses fields that it does not know".to_owned(),
            Self::Refused(source) => format!("this model refuses it ({source})"),
            Self::Unproven => "nothing says that this model takes it".to_owned(),
            Self::OutOfRange => "its value is out of the range of this wire".to_owned(),
            Self::Contradicts(other) => format!("it contradicts `{other}`, which is sent"),
            Self::Implied => "this wire does it without being told".to_owned(),
            Self::Nearest(value) => format!("`{value}` is the nearest that this model takes"),
            Self::Widened => "this wire can only say something wider".to_owned(),
            Self::Renamed(name) => format!("it is called `{name}` here"),
            Self::Demanded => "this wire demands it".to_owned(),
        }
    }
}

impl Did {
    /// Returns the name that it is serialized by.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Hoisted => "hoisted",
            Self::Rewrote => "rewrote",
            Self::Remade => "remade",
            Self::Fetched => "fetched",
            Self::NotShown(_) => "not_shown",
            Self::MovedBehindResults => "moved_behind_results",
            Self::MovedResultsFirst => "moved_results_first",
            Self::LeftOutEmptyText => "left_out_empty_text",
            Self::RenamedCall => "renamed_call",
            Self::FilledEmpty => "filled_empty",
            Self::FilledMissing => "filled_missing",
            Self::AddedStandInCall => "added_stand_in_call",
            Self::MergedMessages => "merged_messages",
            Self::AddedBridge => "added_bridge",
            Self::AddedOpening => "added_opening",
            Self::NamedResult => "named_result",
            Self::WroteString => "wrote_string",
            Self::LeftOutOfError => "left_out_of_error",
            Self::WroteSource => "wrote_source",
            Self::Marked => "marked",
            Self::Respelled => "respelled",
            Self::LeftOutReasoning => "left_out_reasoning",
            Self::LeftOutPart(_) => "left_out_part",
            Self::LeftOutField(_) => "left_out_field",
            Self::ChangedField(_) => "changed_field",
            Self::AddedField(_) => "added_field",
            Self::ClearedResult => "cleared_result",
            Self::PlannedAgain => "planned_again",
        }
    }

    /// Describes the change in a sentence.
    pub fn says(&self) -> String {
        match self {
            Self::Hoisted => "moved into the user turn after the results".to_owned(),
            Self::Rewrote => "written as a media part".to_owned(),
            Self::Remade => "sent as another picture made from it".to_owned(),
            Self::Fetched => "sent as what was fetched from its address".to_owned(),
            Self::NotShown(reason) => format!("not shown: {}", reason.says()),
            Self::MovedBehindResults => "moved behind the tool results it interrupted".to_owned(),
            Self::MovedResultsFirst => "tool results moved to the front".to_owned(),
            Self::LeftOutEmptyText => "empty text left out".to_owned(),
            Self::RenamedCall => "call and result renamed: the id was taken".to_owned(),
            Self::FilledEmpty => "empty result filled".to_owned(),
            Self::FilledMissing => "missing result added".to_owned(),
            Self::AddedStandInCall => "stand-in call added".to_owned(),
            Self::MergedMessages => "joined with the message before it".to_owned(),
            Self::AddedBridge => "assistant message put before the user message".to_owned(),
            Self::AddedOpening => "note put before the first message".to_owned(),
            Self::NamedResult => "tool result given the name of its call".to_owned(),
            Self::WroteString => "tool result written as a string".to_owned(),
            Self::LeftOutOfError => "left out: an error result holds text only".to_owned(),
            Self::WroteSource => "source of the drawing written as text".to_owned(),
            Self::Marked => "marked for the endpoint's cache".to_owned(),
            Self::Respelled => "written in another form with the same meaning".to_owned(),
            Self::LeftOutReasoning => "reasoning left out: only its own wire carries it".to_owned(),
            Self::LeftOutPart(because) => format!("left out: {}", because.says()),
            Self::LeftOutField(Field { field, because }) => {
                format!("field `{field}` left out: {}", because.says())
            }
            Self::ChangedField(Field { field, because }) => {
                format!("field `{field}` changed: {}", because.says())
            }
            Self::AddedField(Field { field, because }) => {
                format!("field `{field}` added: {}", because.says())
            }
            Self::ClearedResult => "old tool result cleared, as the client asked".to_owned(),
            Self::PlannedAgain => {
                "planned again: the plan was made for another transcript".to_owned()
            }
        }
    }
}
