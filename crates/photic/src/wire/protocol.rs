//! The trait that every wire implements.
//!
//! A wire is one folder with one implementation of [`Protocol`], and one line in the registry of
//! `wire/table.rs`. Everything else in the workspace asks [`Wire`](super::Wire), whose methods
//! delegate to the implementation; nothing outside of the folders matches on a wire.

use std::borrow::Cow;
use std::fmt::Debug;

use serde_json::Value as Json;

use super::http::{ErrorKind, ErrorWords, Http, PathParams};
use super::rules::MessageRules;
use crate::json::{Out, Segments, Value};
use crate::lift::{Draft, Lifter};
use crate::lower::{Step, Unread, Writer};
use crate::media::{MediaKind, Source};
use crate::profile::capability::Question;
use crate::reply::{Reply, Stop, Usage};
use crate::settings::Word;
use crate::stream::{Event, StreamOptions};
use crate::transcript::Message;

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
