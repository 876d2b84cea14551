//! Replies that are streamed: the events of one wire become the events of another as they come.
//!
//! Everything is a state machine over bytes: a reader takes events apart into neutral [`Event`]s, a
//! writer puts them together again. Nothing waits for what it does not need: what came in with one
//! chunk goes out with it. On its own wire a stream is passed on as it is, without any of this.

mod buffered_calls;
mod event;
mod frames;
mod sse;

pub(crate) use buffered_calls::WholeCalls;
pub(crate) use event::{Begin, Event, Failed, StreamOptions, failed, text};
pub(crate) use frames::{exception, frame};
pub(crate) use sse::{event, quoted};

use crate::wire::{FramingKind, StreamReader, StreamWriter, Wire};
use frames::Frames;
use sse::{JsonLines, Lines};

/// The most bytes of an event, and of what has to be gathered of a reply before it can be written. No event of
/// a provider is longer; what is would only fill the memory.
const LONGEST: usize = 64 << 20;

/// A stream on its way from one wire to another.
#[derive(Debug)]
pub struct Stream {
    framing: Framing,
    reader: Box<dyn StreamReader>,
    writer: Box<dyn StreamWriter>,
    /// Whether the reply has come to its end, one way or the other.
    over: bool,
    failed: bool,
    /// Bytes that the writer keeps until the end of the reply.
    gathered: usize,
    /// Names that tools went by, each with the tool's own.
    names: Vec<(String, String)>,
}

/// How the events of a wire are told apart.
#[derive(Debug)]
enum Framing {
    ServerSent(Lines),
    JsonLines(JsonLines),
    Frames(Frames),
}

impl Framing {
    fn new(kind: FramingKind) -> Self {
        match kind {
            FramingKind::ServerSent => Self::ServerSent(Lines::default()),
            FramingKind::AmazonFrames => Self::Frames(Frames::default()),
            FramingKind::JsonLines => Self::JsonLines(JsonLines::default()),
        }
    }

    fn feed(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        match self {
            Self::ServerSent(lines) => lines.feed(bytes),
            Self::JsonLines(lines) => lines.feed(bytes),
            Self::Frames(frames) => frames.feed(bytes),
        }
    }

    /// What the end of the stream completes.
    const fn last(&self) -> &'static [u8] {
        match self {
            Self::ServerSent(_) => b"\n\n",
            Self::JsonLines(_) => b"\n",
            Self::Frames(_) => b"",
        }
    }

    const fn held(&self) -> usize {
        match self {
            Self::ServerSent(lines) => lines.held(),
            Self::JsonLines(lines) => lines.held(),
            Self::Frames(frames) => frames.held(),
        }
    }

    const fn is_broken(&self) -> bool {
        match self {
            Self::ServerSent(lines) => lines.is_overfull(),
            Self::JsonLines(lines) => lines.is_overfull(),
            Self::Frames(frames) => frames.is_broken(),
        }
    }
}

impl Stream {
    /// A stream of one wire, to be read by a client of another. `with_usage` is what a client of
    /// Chat Completions asked for with `stream_options.include_usage`.
    pub fn new(from: Wire, to: Wire, with_usage: bool) -> Self {
        let options = StreamOptions { usage: with_usage, array: false };
        Self::with_options(from, to, options)
    }

    fn with_options(from: Wire, to: Wire, options: StreamOptions) -> Self {
        Self {
            framing: Framing::new(from.http().framing),
            reader: from.protocol().stream_reader(),
            writer: to.protocol().stream_writer(options),
            over: false,
            failed: false,
            gathered: 0,
            names: Vec::new(),
        }
    }

    /// Gives calls of tools that went by another name their own name back; `names` is what
    /// [`crate::renamed_tools`] gave for the request.
    #[must_use]
    pub fn renaming(mut self, names: Vec<(String, String)>) -> Self {
        self.names = names;
        self
    }

    /// A stream for a client that did not ask for server-sent events, on a wire where it then reads
    /// one array, element by element ([`Http::stream_query`](crate::wire::Http::stream_query)).
    pub fn array(from: Wire, to: Wire) -> Self {
        Self::with_options(from, to, StreamOptions { usage: false, array: true })
    }

    /// Takes what has come and gives what can be passed on.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        if self.over {
            return out;
        }
        let mut events = Vec::new();
        for data in self.framing.feed(bytes) {
            self.reader.read(&data, &mut events);
        }
        if self.framing.is_broken() {
            events.push(Event::Failed(Failed::ours("an event of the stream cannot be read")));
        }
        for event in events {
            self.gathered += self.writer.keeps(&event);
            if self.gathered > LONGEST {
                self.write(Event::Failed(Failed::ours("the reply is too long")), &mut out);
            }
            self.write(event, &mut out);
        }
        out
    }

    /// Ends the reply with an error that says why. Nothing is passed on after that.
    pub fn fail(&mut self, why: &str) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(Event::Failed(Failed::ours(why)), &mut out);
        out
    }

    /// Bytes that are held: of an event that is not complete, and of what can be written only at the end.
    pub const fn held(&self) -> usize {
        self.framing.held() + self.gathered
    }

    /// Whether the reply has failed: what comes after that means nothing.
    pub const fn has_failed(&self) -> bool {
        self.failed
    }

    /// The stream has ended; what is left to say. One that ended early says so.
    pub fn finish(&mut self) -> Vec<u8> {
        let mut out = self.feed(self.framing.last());
        let last = if self.reader.has_stopped() {
            // Some servers never say that they are done.
            Event::End
        } else {
            Event::Failed(Failed::ours("the stream ended before the reply did"))
        };
        self.write(last, &mut out);
        out
    }

    /// Whether the reply has come to its end.
    pub const fn is_over(&self) -> bool {
        self.over
    }

    fn write(&mut self, mut event: Event, out: &mut Vec<u8>) {
        if self.over {
            return;
        }
        if let Event::Call { name, .. } = &mut event
            && let Some((_, old)) = self.names.iter().find(|(new, _)| new == name)
        {
            name.clone_from(old);
        }
        self.failed = matches!(event, Event::Failed(_));
        self.over = self.failed || matches!(event, Event::End);
        self.writer.write(event, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_that_has_to_be_gathered_ends_where_it_is_too_long() {
        let words = "y".repeat(1 << 20);
        let delta = format!(
            "data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{words}\"}}}}]}}\n\n"
        );
        let mut gathered = Stream::new(Wire::OpenAiChat, Wire::OpenAiResponses, false);
        let mut passed = Stream::new(Wire::OpenAiChat, Wire::Anthropic, false);
        for _ in 0..=LONGEST / words.len() {
            gathered.feed(delta.as_bytes());
            passed.feed(delta.as_bytes());
        }
        assert!(gathered.has_failed() && gathered.is_over());
        assert!(gathered.feed(delta.as_bytes()).is_empty());
        assert!(!passed.has_failed(), "what is passed on is not held");
        assert_eq!(passed.held(), 0);
    }

    #[test]
    fn a_reply_can_be_ended_with_a_reason() {
        let mut stream = Stream::new(Wire::OpenAiChat, Wire::Anthropic, false);
        let said = String::from_utf8(stream.fail("no room")).unwrap();
        assert!(said.contains("no room"), "{said}");
        assert!(stream.finish().is_empty());
    }
}
