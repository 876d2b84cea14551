//! The trait that every wire implements, and the facts about a wire that are data.
//!
//! A wire is one folder with one implementation of [`Protocol`], and one line in the registry of
//! `wire/mod.rs`. Everything else in the workspace asks [`Wire`](super::Wire), whose methods
//! delegate to the implementation; nothing outside of the folders matches on a wire.

use std::borrow::Cow;
use std::fmt::Debug;

use serde_json::Value as Json;

use super::http::{ErrorKind, ErrorWords, Http, PathParams};
use crate::json::{Out, Segments, Value};
use crate::lift::{Draft, Lifter};
use crate::lower::{Step, Unread, Writer};
use crate::media::{MediaKind, Source};
use crate::profile::capability::Question;
use crate::reply::{Reply, Stop, Usage};
use crate::settings::Word;
use crate::stream::{Event, StreamOptions};
use crate::transcript::{Message, Role};

/// One provider API: how its bodies are read and written, and how it is spoken over HTTP.
pub(crate) trait Protocol: Sync {
    /// The rules its messages follow.
    fn rules(&self) -> &'static MessageRules;

    /// The constants of its HTTP interface.
    fn http(&self) -> &'static Http;

    /// How likely a request body is one of this wire: 0 for not at all. The wire with the highest
    /// number wins.
    fn likeness(&self, root: Value<'_, '_>) -> u8;

    /// How likely a reply is one of this wire, counted in the same way.
    fn reply_likeness(&self, root: Value<'_, '_>) -> u8;

    /// Returns `false` if a request body plainly belongs to another wire. Readers are lenient, and
    /// so are many servers: anything else fits.
    fn fits(&self, root: Value<'_, '_>) -> bool;

    /// Reads the messages and settings of a request.
    fn lift<'d, 'a>(&self, lifter: &mut Lifter<'d, 'a>, root: Value<'d, 'a>) -> Draft<'a>;

    /// Lists the members of a request that [`Protocol::lift`] does not read.
    fn unread<'a>(&self, root: Value<'_, 'a>, unread: &mut Unread<'a>);

    /// Writes a whole body from the transcript of another wire.
    fn body<'a>(&self, writer: &mut Writer<'_, 'a>, steps: &[Step<'a>]) -> Segments<'a>;

    /// Writes a message as an element of the list of messages, or as several.
    fn unit<'a>(&self, writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>);

    /// Writes the content of a message.
    fn content<'a>(&self, writer: &Writer<'_, 'a>, out: &mut Out<'a>, message: &Message<'a>);

    /// Writes the images of a message as a list, on a wire that keeps them beside the content
    /// ([`MessageRules::images_beside`]); returns whether there are any.
    fn images<'a>(
        &self,
        _writer: &Writer<'_, 'a>,
        _out: &mut Out<'a>,
        _message: &Message<'a>,
    ) -> bool {
        false
    }

    /// The name of a shared setting on this wire.
    fn setting(&self, name: &str) -> Word;

    /// Returns whether the wire has a slot for a medium of that kind that comes from that source.
    fn carries(&self, kind: MediaKind, source: &Source<'_>) -> bool;

    /// Returns whether a document from that source is sent with its name.
    fn names_document(&self, _source: &Source<'_>) -> bool {
        false
    }

    /// Reads the answer of a reply: its messages, the reason it ended, its token counts.
    fn lift_reply<'d, 'a>(
        &self,
        lifter: &mut Lifter<'d, 'a>,
        root: Value<'d, 'a>,
    ) -> (Vec<Message<'a>>, Stop, Option<Usage>);

    /// Writes a reply that was read from another wire.
    fn lower_reply<'a>(&self, writer: &Writer<'_, 'a>, reply: &Reply<'a>) -> Segments<'a>;

    /// Reads the events of a streamed reply.
    fn stream_reader(&self) -> Box<dyn StreamReader>;

    /// Writes the events of a streamed reply.
    fn stream_writer(&self, options: StreamOptions) -> Box<dyn StreamWriter>;

    /// The path of a request, below the base address, and its query.
    fn path(&self, params: &PathParams) -> (Cow<'static, str>, Option<&'static str>);

    /// Reads the path of a request, without version and trailing slash. Returns `None` if no
    /// conversation is posted there.
    fn parse_path(&self, path: &str) -> Option<PathParams>;

    /// The wire's word for a kind of error.
    fn error_word(&self, kind: ErrorKind) -> &'static str;

    /// The body of an error.
    fn error_body(&self, error: &ErrorWords<'_>) -> Json;

    /// Documents on the server that describe a model, the most telling first. `base` is the base
    /// address of an SDK, `root` the same without its version.
    fn model_documents(&self, base: &str, root: &str, model: &str) -> Vec<Question>;
}

/// Implements [`Protocol`] for a wire. Methods that look alike in every folder call the function of
/// the same name in the folder's files; the others are written out where the macro is used.
macro_rules! implement_protocol {
    ($wire:ident { $($method:item)* }) => {
        impl $crate::wire::Protocol for $wire {
            fn rules(&self) -> &'static $crate::wire::MessageRules {
                &RULES
            }

            fn http(&self) -> &'static $crate::wire::Http {
                &http::HTTP
            }

            fn likeness(&self, root: $crate::json::Value<'_, '_>) -> u8 {
                detect::likeness(root)
            }

            fn reply_likeness(&self, root: $crate::json::Value<'_, '_>) -> u8 {
                detect::reply_likeness(root)
            }

            fn fits(&self, root: $crate::json::Value<'_, '_>) -> bool {
                detect::fits(root)
            }

            fn lift<'d, 'a>(&self, lifter: &mut $crate::lift::Lifter<'d, 'a>, root: $crate::json::Value<'d, 'a>) -> $crate::lift::Draft<'a> {
                lift::lift(lifter, root)
            }

            fn unread<'a>(&self, root: $crate::json::Value<'_, 'a>, unread: &mut $crate::lower::Unread<'a>) {
                unread::unread(root, unread);
            }

            fn body<'a>(&self, writer: &mut $crate::lower::Writer<'_, 'a>, steps: &[$crate::lower::Step<'a>]) -> $crate::json::Segments<'a> {
                lower::body(writer, steps)
            }

            fn unit<'a>(&self, writer: &$crate::lower::Writer<'_, 'a>, out: &mut $crate::json::Out<'a>, message: &$crate::transcript::Message<'a>) {
                lower::unit(writer, out, message);
            }

            fn content<'a>(
                &self,
                writer: &$crate::lower::Writer<'_, 'a>,
                out: &mut $crate::json::Out<'a>,
                message: &$crate::transcript::Message<'a>,
            ) {
                lower::content(writer, out, message);
            }

            fn setting(&self, name: &str) -> $crate::settings::Word {
                settings::word(name)
            }

            fn lift_reply<'d, 'a>(
                &self,
                lifter: &mut $crate::lift::Lifter<'d, 'a>,
                root: $crate::json::Value<'d, 'a>,
            ) -> (Vec<$crate::transcript::Message<'a>>, $crate::reply::Stop, Option<$crate::reply::Usage>) {
                reply::lift_reply(lifter, root)
            }

            fn lower_reply<'a>(&self, writer: &$crate::lower::Writer<'_, 'a>, reply: &$crate::reply::Reply<'a>) -> $crate::json::Segments<'a> {
                reply::lower_reply(writer, reply)
            }

            fn stream_reader(&self) -> Box<dyn $crate::wire::StreamReader> {
                Box::<stream_in::StreamReader>::default()
            }

            $($method)*
        }
    };
}

pub(super) use implement_protocol;

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
    /// A tool result says the name of its tool.
    pub(crate) names_results: bool,
    /// The content of every message but a tool's is always a list of parts.
    pub(crate) lists_content: bool,
    /// A failed tool result holds text only.
    pub(crate) text_only_failures: bool,
    /// No two calls of a conversation may share an id; elsewhere, no two of one turn.
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
    /// An image may say how closely it is to be looked at.
    pub(crate) detail: bool,
    /// The model is named in the body; elsewhere it is part of the path.
    pub(crate) names_model: bool,
    /// Messages of these roles may carry a prompt cache breakpoint.
    pub(crate) markable: &'static [Role],
    /// Tools may be declared strict.
    pub(crate) strict_tools: bool,
    /// How a choice among some of the tools is expressed.
    pub(crate) allowed_tools: AllowedTools,
    /// There is a setting for reasoning effort.
    pub(crate) effort: bool,
    /// Token counts of a stream are sent on request only.
    pub(crate) usage_on_request: bool,
    /// Servers that imitate the wire extend it with settings of their own.
    pub(crate) extended: bool,
}

/// Which choices among some of the tools a wire can express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AllowedTools {
    /// Any.
    Yes,
    /// Only that one of them must be called.
    IfForced,
    /// None.
    No,
}

/// Takes the events of a streamed reply apart.
pub(crate) trait StreamReader: Debug + Send + Sync {
    /// Reads the data of one event.
    fn read(&mut self, data: &[u8], events: &mut Vec<Event>);

    /// Returns whether the server gave a reason to stop: then nothing but the formal end can be
    /// missing.
    fn has_stopped(&self) -> bool {
        false
    }
}

/// Writes the events of a streamed reply.
pub(crate) trait StreamWriter: Debug + Send + Sync {
    /// Writes one event.
    fn write(&mut self, event: Event, out: &mut Vec<u8>);

    /// How many bytes of an event are kept until the reply ends.
    fn keeps(&self, _event: &Event) -> usize {
        0
    }
}

impl Event {
    /// The bytes of a call's arguments: what writers keep that send calls only when complete.
    pub(crate) const fn argument_bytes(&self) -> usize {
        match self {
            Self::Arguments { json, .. } => json.len(),
            _ => 0,
        }
    }
}
