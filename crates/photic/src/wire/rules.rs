//! The rules of a wire that are data.

use crate::transcript::Role;

/// Rules that the messages of a wire follow.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, one a field")]
pub(crate) struct MessageRules {
    /// One turn of the assistant is several elements of the list in a row.
    pub(crate) flat: bool,
    /// Tool results are part of user messages instead of messages of their own.
    pub(crate) nests_results: bool,
    /// The content of a tool result is always a list of blocks.
    pub(crate) lists_results: bool,
    /// A tool result names its tool.
    pub(crate) names_results: bool,
    /// The content of every message but a tool's is always a list of parts.
    pub(crate) lists_content: bool,
    /// A failed tool result holds only text.
    pub(crate) text_only_failures: bool,
    /// No two calls of a conversation may share an id. On other wires, no two of one turn may.
    pub(crate) unique_call_ids: bool,
    /// Ids of calls are limited to letters, digits, `_` and `-`.
    pub(crate) plain_call_ids: bool,
    /// The members that hold the id of a call and of the result that answers it.
    pub(crate) id_members: (&'static str, &'static str),
    /// The member that holds the content of a message, and that of a tool result.
    pub(crate) content_members: (&'static str, &'static str),
    /// Images are a list beside the content instead of parts of it.
    pub(crate) images_beside: bool,
    /// The first message must be the user's.
    pub(crate) starts_with_user: bool,
    /// Two turns of the assistant in a row are rejected.
    pub(crate) alternates: bool,
    /// An empty text part is rejected.
    pub(crate) rejects_empty_text: bool,
    /// A document may be plain text.
    pub(crate) text_documents: bool,
    /// A document may be named by a URL.
    pub(crate) document_urls: bool,
    /// An image may state a `detail`.
    pub(crate) detail: bool,
    /// The body names the model. On other wires the path does.
    pub(crate) names_model: bool,
    /// Messages of these roles may carry a prompt cache breakpoint.
    pub(crate) markable: &'static [Role],
    /// Tools may be declared strict.
    pub(crate) strict_tools: bool,
    /// The choices among some of the tools that the wire can express.
    pub(crate) allowed_tools: AllowedTools,
    /// There is a setting for reasoning effort.
    pub(crate) effort: bool,
    /// Token counts of a stream are sent on request only.
    pub(crate) usage_on_request: bool,
    /// Servers that imitate the wire extend it with settings of their own.
    pub(crate) extended: bool,
}

/// The choices among some of the tools that a wire can express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AllowedTools {
    /// Any choice.
    Yes,
    /// Only the choice that one of them must be called.
    IfForced,
    /// No such choice.
    No,
}
