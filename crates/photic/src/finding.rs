//! Problems in a request: stable codes, positions and hints.

use std::cmp::Ordering;

use serde::Serialize;

use crate::transcript::MediaId;

/// A problem in a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of problem.
    pub code: Code,
    /// The position in the body.
    pub at: Position,
    /// The medium concerned, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media: Option<MediaId>,
    /// The cost as it is now, and the cost after repair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

impl Finding {
    /// Returns `true` if lowering leaves the problem as it is. An image that cannot be separated
    /// from the text that holds it is reported and not repaired.
    pub fn is_left_alone(&self) -> bool {
        self.media.is_none()
            && match self.code {
                Code::SmallImageInText | Code::TooManyValues | Code::WrongWire => true,
                code => code.name().starts_with("image_"),
            }
    }
}

/// Tokens of an image that is read as text, and of that image as seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Cost {
    /// Tokens as it is now: base64 read as text.
    pub as_text: u64,
    /// Tokens as an image, by the profile's rule.
    pub as_image: u64,
}

/// A place in a body.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// A JSON pointer into the body.
    pub pointer: String,
    /// A JSON pointer into the JSON that the string there holds.
    pub inner: Option<String>,
}

impl Position {
    /// Compares two positions in the order of the body: numbers by value, so that `/messages/2` is
    /// before `/messages/10`.
    pub(crate) fn in_order(&self, other: &Self) -> Ordering {
        let by_value = |left: &str, right: &str| keys(left).cmp(keys(right));
        let inner = |position: &Self| position.inner.clone().unwrap_or_default();
        by_value(&self.pointer, &other.pointer)
            .then_with(|| self.inner.is_some().cmp(&other.inner.is_some()))
            .then_with(|| by_value(&inner(self), &inner(other)))
    }
}

/// The keys of a pointer, so that they compare: numbers by value, and before words. This order is
/// total for all keys that a body can have, as sorting requires.
fn keys(pointer: &str) -> impl Iterator<Item = (bool, u64, &str)> {
    pointer.split('/').map(|key| match key.parse() {
        Ok(number) => (false, number, key),
        Err(_) => (true, 0, key),
    })
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.pointer.is_empty() { "/" } else { &self.pointer })?;
        self.inner.as_ref().map_or(Ok(()), |inner| write!(f, "#{inner}"))
    }
}

impl Serialize for Position {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal, $says:literal, $hint:literal;)+) => {
        /// The kinds of problems. The codes are stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code { $($(#[doc = $doc])+ $name),+ }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Returns the stable name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $code),+ }
            }

            /// Returns a sentence that says what is wrong.
            pub const fn says(self) -> &'static str {
                match self { $(Self::$name => $says),+ }
            }

            /// Returns a hint for repairing it.
            pub const fn hint(self) -> &'static str {
                match self { $(Self::$name => $hint),+ }
            }
        }
    };
}

codes! {
    /// An image serialized into a text.
    ImageAsText = "image_as_text",
        "an image is here as base64 text; the model reads letters, not pixels",
        "`photic lower` puts the image into a slot the model sees";
    /// An image in a role that the wire reserves for text.
    ImageInForbiddenRole = "image_in_forbidden_role",
        "this wire carries no image in this role; it is rejected or silently ignored",
        "`photic lower` moves it into a user message after the tool results";
    /// A user message between the results of one assistant turn.
    InterleavedUser = "interleaved_user",
        "a user message is between the tool results of one assistant turn",
        "`photic lower` moves it after the last result";
    /// Media in a result that is flagged as an error.
    ImageInErrorResult = "image_in_error_result",
        "an error result may hold only text on this wire",
        "`photic lower` moves the image out of the error result";
    /// The declared type is not the type of the bytes.
    WrongLabel = "wrong_label",
        "the declared media type is not what the bytes are",
        "`photic lower` labels it by its bytes";
    /// A data URL or base64 that strict readers reject.
    MalformedDataUrl = "malformed_data_url",
        "the data URL is not in the form providers accept",
        "`photic lower` writes it in the canonical form";
    /// A picture in a part meant for documents.
    ImageAsFile = "image_as_file",
        "an image is in a part meant for documents",
        "`photic lower` makes it an image part";
    /// A part in a spelling that this endpoint does not read.
    PartSpelling = "part_spelling",
        "this endpoint spells such a part differently, and rejects the request",
        "`photic lower` writes it as the endpoint wants it";
    /// Bytes that are not a picture.
    UnreadableImage = "unreadable_image",
        "these bytes are not an image",
        "send the image again; until then `photic lower` says that nothing was shown";
    /// A picture of a type that is not accepted.
    UnsupportedType = "unsupported_type",
        "this model does not accept images of this type",
        "`photic lower` converts it, or says that nothing was shown";
    /// A source that is not accepted.
    SourceNotAccepted = "image_source_not_accepted",
        "this endpoint does not take media from such a source",
        "send the bytes inline; until then `photic lower` says that nothing was shown";
    /// A picture that exceeds a limit.
    OverLimit = "image_over_limit",
        "the image is past a limit of this model, and the whole request would be rejected",
        "`photic lower` shrinks it, or says that nothing was shown";
    /// More pictures than the endpoint takes.
    TooManyImages = "too_many_images",
        "the request holds more images than this model accepts",
        "`photic lower` keeps the newest and says what is not shown";
    /// A tool result without content.
    EmptyToolContent = "empty_tool_content",
        "the tool result is empty, which some providers reject",
        "`photic lower` writes that there was no output";
    /// A list in a tool result where only a string is taken.
    ToolContentList = "tool_content_list",
        "this endpoint takes a tool result as a string only; a list is rejected or mangled",
        "`photic lower` writes it as a string";
    /// A tool result that answers no call.
    OrphanToolResult = "orphan_tool_result",
        "no call precedes this tool result",
        "`photic lower` puts a stand-in call before it";
    /// A call without a result.
    MissingToolResult = "missing_tool_result",
        "this call has no result",
        "`photic lower` adds a result that says so";
    /// Results after other content.
    ToolResultsNotFirst = "tool_results_not_first",
        "tool results must come first in the user message",
        "`photic lower` puts them first";
    /// A text part without text.
    EmptyText = "empty_text",
        "an empty text part makes this provider reject the request",
        "`photic lower` leaves it out";
    /// Two calls with one id.
    DuplicateCallId = "duplicate_call_id",
        "an earlier call has the same id, which this provider rejects",
        "`photic lower` gives the later call and its result an id of their own";
    /// An id of a shape that the provider does not take.
    InvalidCallId = "invalid_call_id",
        "the id of this call has characters or a length that this provider rejects",
        "`photic lower` gives the call and its result a plain id";
    /// A conversation that the assistant opens.
    AssistantFirst = "assistant_first",
        "the conversation must start with a user message here",
        "`photic lower` puts a note before it";
    /// A user message right after tool results, if a template forbids it.
    UserAfterTool = "user_after_tool",
        "this endpoint takes no user message right after tool results",
        "`photic lower` puts a short assistant message between them";
    /// Pictures for a model that cannot see.
    ImageToTextOnlyModel = "image_to_text_only_model",
        "this model cannot see images; the request would be rejected or the image ignored",
        "choose a model that sees; `photic lower` tells the model honestly that nothing was shown";
    /// A picture within a longer text, which stays there.
    ImageInsideLongerText = "image_inside_longer_text",
        "this text holds what looks like an image; it is left there, because it cannot be separated from the words or because a user wrote them",
        "make the tool return the image as a part of its own";
    /// A picture in a text whose end is missing.
    ImageCutOff = "image_cut_off",
        "an image begins in this text and its end is missing; the text is left as it is",
        "return the whole image as a part of its own: something on the way cuts long tool results";
    /// A picture of few pixels within a longer text.
    SmallImageInText = "small_image_in_text",
        "this text holds an image of less than 64 by 64 pixels; it is left there",
        "nothing, if it is an icon; to have it shown, make the tool return it as a part of its own";
    /// A picture in the text of a file or in source code.
    ImageInFile = "image_in_file",
        "this text is a file or source code that holds an image; it is left as it is",
        "to have it shown, make the tool return it as a part of its own";
    /// A list of parts in a text that names an image by address.
    ImageAddressInText = "image_address_in_text",
        "the address of an image is here as text; the model cannot open it, and an address that a tool returned is not for the provider to fetch",
        "make the tool return the bytes of the image";
    /// Not JSON, or not a conversation.
    NotJson = "not_json",
        "this is not a JSON request body",
        "pass the body of one request, or name its wire with `--from`";
    /// A body with more values than its length allows an index for.
    TooManyValues = "too_many_values",
        "the body holds too many JSON values for its length and was not read; it is sent as it came",
        "send bytes as base64, and leave out what the model does not need";
    /// A body that is not a request of the named wire.
    WrongWire = "wrong_wire",
        "this body is not a request of the named wire; nothing in it was read",
        "name the wire of the body with `--from`, or leave it out to have it detected";
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_in_the_order_of_the_body() {
        let at = |pointer: &str, inner: Option<&str>| Position {
            pointer: pointer.to_owned(),
            inner: inner.map(str::to_owned),
        };
        let ordered = [
            at("", None),
            at("/messages", None),
            at("/messages/2", None),
            at("/messages/2/content/0", None),
            at("/messages/2/content/0", Some("/9")),
            at("/messages/2/content/0", Some("/10")),
            at("/messages/10", None),
            at("/system", None),
        ];
        let mut shuffled = ordered.clone();
        shuffled.reverse();
        shuffled.sort_by(Position::in_order);
        assert_eq!(shuffled, ordered);
    }

    /// A sort may panic if three positions are each before the next, and the last before the first.
    #[test]
    fn the_order_of_positions_is_total() {
        let pointers = ["/2", "/10", "/1a", "/002", "/2/x", "/002/x", "/2/y", "/a", "/", ""];
        let at = |pointer: &str| Position { pointer: pointer.to_owned(), inner: None };
        let all = pointers.map(at);
        for one in &all {
            for two in &all {
                assert_eq!(one.in_order(two), two.in_order(one).reverse(), "{one} {two}");
                for three in &all {
                    let is_cycle = one.in_order(two).is_lt()
                        && two.in_order(three).is_lt()
                        && !one.in_order(three).is_lt();
                    assert!(!is_cycle, "{one} {two} {three}");
                }
            }
        }
    }
}
