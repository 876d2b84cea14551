//! The trait that every wire implements.
//!
//! A wire is one folder with one implementation of [`Protocol`], and one line in the registry of
//! `wire/table.rs`. Everything else in the workspace uses [`Wire`](super::Wire), whose methods
//! delegate to the implementation. No code outside of the folders matches on a wire.

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

/// One provider API: reads and writes its bodies, and defines its HTTP interface.
pub(crate) trait Protocol: Sync {
    /// Returns the rules its messages follow.
    fn rules(&self) -> &'static MessageRules;

    /// Returns the constants of its HTTP interface.
    fn http(&self) -> &'static Http;

    /// Returns the likelihood that a request body belongs to this wire; 0 if it cannot. The wire
    /// with the highest number is chosen.
    fn likeness(&self, root: Value<'_, '_>) -> u8;

    /// Returns the likelihood that a reply belongs to this wire, on the same scale.
    fn reply_likeness(&self, root: Value<'_, '_>) -> u8;

    /// Returns `false` if a request body plainly belongs to another wire. Readers are lenient, and
    /// so are many servers, so any other body fits.
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
    /// ([`MessageRules::images_beside`]). Returns `true` if there are any.
    fn images<'a>(
        &self,
        _writer: &Writer<'_, 'a>,
        _out: &mut Out<'a>,
        _message: &Message<'a>,
    ) -> bool {
        false
    }

    /// Returns the way this wire expresses a shared setting.
    fn setting(&self, name: &str) -> Word;

    /// Returns `true` if the wire has a slot for a medium of that kind and source.
    fn carries(&self, kind: MediaKind, source: &Source<'_>) -> bool;

    /// Returns `true` if a document from that source is sent with its name.
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

    /// Returns the path of a request, below the base address, and its query.
    fn path(&self, params: &PathParams) -> (Cow<'static, str>, Option<&'static str>);

    /// Reads the path of a request, without version and trailing slash. Returns `None` if no
    /// conversation is posted there.
    fn parse_path(&self, path: &str) -> Option<PathParams>;

    /// Returns the wire's name for a kind of error.
    fn error_word(&self, kind: ErrorKind) -> &'static str;

    /// Returns the body of an error.
    fn error_body(&self, error: &ErrorWords<'_>) -> Json;

    /// Returns the documents on the server that describe a model, the most useful first. `base` is
    /// the base address of an SDK, `root` the same without its version.
    fn model_documents(&self, base: &str, root: &str, model: &str) -> Vec<Question>;
}

/// Implements [`Protocol`] for a wire. Methods that look alike in every folder call the function
/// of that name in the folder's files. The others are written out at each use of the macro.
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

/// Reads the events of a streamed reply.
pub(crate) trait StreamReader: Debug + Send + Sync {
    /// Reads the data of one event.
    fn read(&mut self, data: &[u8], events: &mut Vec<Event>);

    /// Returns `true` if the server sent a finish reason. Only the formal end can be missing then.
    fn has_stopped(&self) -> bool {
        false
    }
}

/// Writes the events of a streamed reply.
pub(crate) trait StreamWriter: Debug + Send + Sync {
    /// Writes one event.
    fn write(&mut self, event: Event, out: &mut Vec<u8>);

    /// Returns the number of bytes of an event that are kept until the reply ends.
    fn keeps(&self, _event: &Event) -> usize {
        0
    }
}

impl Event {
    /// Returns the number of bytes of a call's arguments. Writers that send only complete calls
    /// keep them.
    pub(crate) const fn argument_bytes(&self) -> usize {
        match self {
            Self::Arguments { json, .. } => json.len(),
            _ => 0,
        }
    }
}
