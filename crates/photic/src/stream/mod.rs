//! Streamed replies: the events of one wire become the events of another as they arrive.
//!
//! Everything is a state machine over bytes: a reader parses events into neutral [`Event`]s, and a
//! writer writes them again. Nothing is delayed without need: an event is passed on with the chunk
//! that completes it. On its own wire a stream is passed on unchanged, without any of this.

mod buffered_calls;
mod event;
mod frames;
mod free_text;
mod sse;

pub(crate) use buffered_calls::WholeCalls;
pub(crate) use event::{Begin, CallBegin, Event, Failed, StreamOptions, failed, text};
pub(crate) use frames::{exception, frame};
pub(crate) use sse::{event, quoted};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::lower::RenamedTool;
use crate::wire::{FramingKind, StreamReader, StreamWriter, Wire};
use frames::Frames;
use free_text::FreeText;
use sse::{JsonLines, Lines};

/// Maximum bytes of an event, and of the part of a reply that must be collected before it can be
/// written. No event of a provider is longer; a longer one would only fill the memory.
const MAX_EVENT_BYTES: usize = 64 << 20;

/// The translation of a stream from one wire to another.
#[derive(Debug)]
pub struct Stream {
    framing: Framing,
    reader: Box<dyn StreamReader>,
    writer: Box<dyn StreamWriter>,
    /// `true` if the reply has ended, with or without an error.
    over: bool,
    failed: bool,
    /// Number of bytes that the writer keeps until the end of the reply.
    gathered: usize,
    /// The tools that the endpoint knows by another name, or in another form.
    tools: Vec<RenamedTool>,
    /// The calls that take free text, whose arguments are not complete.
    free: Vec<(usize, FreeText)>,
    /// Set if each event that is written becomes a frame of its own.
    chunks: Option<Lines>,
    /// `true` if both wires are the same.
    is_same_wire: bool,
}

/// The way the events of a wire are separated.
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

    /// Returns the bytes that complete the last event at the end of the stream.
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
    /// Creates a stream from one wire to a client of another.
    ///
    /// ```
    /// use photic::{Stream, Wire};
    ///
    /// let mut stream = Stream::new(Wire::Anthropic, Wire::OpenAiChat);
    /// let event = "event: content_block_delta\n\
    ///   data: {\"type\":\"content_block_delta\",\"index\":0,\
    ///   \"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n\n";
    /// let out = String::from_utf8(stream.feed(event.as_bytes()))?;
    /// assert!(out.contains(r#""content":"Hello""#));
    /// # Ok::<_, std::string::FromUtf8Error>(())
    /// ```
    pub fn new(from: Wire, to: Wire) -> Self {
        Self::with_options(from, to, StreamOptions { usage: false, array: false })
    }

    /// Creates a stream that ends with its token counts. A client of Chat Completions asks for them
    /// with `stream_options.include_usage`
    /// ([`Settings::usage_in_stream`](crate::settings::Settings::usage_in_stream)). On every other
    /// wire the counts are part of the reply, and this is [`Stream::new`].
    pub fn with_usage(from: Wire, to: Wire) -> Self {
        Self::with_options(from, to, StreamOptions { usage: true, array: false })
    }

    fn with_options(from: Wire, to: Wire, options: StreamOptions) -> Self {
        Self {
            framing: Framing::new(from.http().framing),
            reader: from.protocol().stream_reader(),
            writer: to.protocol().stream_writer(options),
            over: false,
            failed: false,
            gathered: 0,
            tools: Vec::new(),
            free: Vec::new(),
            chunks: None,
            is_same_wire: from == to,
        }
    }

    /// Writes Amazon frames, each with one event, as `InvokeModelWithResponseStream` does. The
    /// target wire must use server-sent events. If the source wire is the same, events are passed
    /// on as they are.
    #[must_use]
    pub fn in_chunks(mut self) -> Self {
        self.chunks = Some(Lines::default());
        self
    }

    /// Restores the names and forms of tools that were changed in the request. `tools` is the
    /// result of [`crate::renamed_tools`] for the request.
    #[must_use]
    pub fn renaming(mut self, tools: Vec<RenamedTool>) -> Self {
        self.tools = tools;
        self
    }

    /// Creates a stream for a client that did not ask for server-sent events, on a wire where it
    /// then reads one array, element by element
    /// ([`Http::stream_query`](crate::wire::Http::stream_query)).
    pub fn array(from: Wire, to: Wire) -> Self {
        Self::with_options(from, to, StreamOptions { usage: false, array: true })
    }

    /// Reads bytes that arrived, and returns the bytes that can be passed on.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        if self.over {
            return out;
        }
        let mut events = Vec::new();
        for data in self.framing.feed(bytes) {
            if self.is_reframed() {
                chunk(&mut out, &data);
            }
            self.reader.read(&data, &mut events);
        }
        if self.is_reframed() && events.iter().any(|event| matches!(event, Event::Failed(_))) {
            // The error was passed on.
            (self.over, self.failed) = (true, true);
            return out;
        }
        if self.framing.is_broken() {
            events.push(Event::Failed(Failed::ours("an event of the stream cannot be read")));
        }
        for event in events {
            self.gathered += self.writer.keeps(&event);
            if self.gathered > MAX_EVENT_BYTES {
                self.write(Event::Failed(Failed::ours("the reply is too long")), &mut out);
            }
            self.write(event, &mut out);
        }
        out
    }

    /// Ends the reply with an error that gives the reason. Nothing is passed on after that.
    pub fn fail(&mut self, why: &str) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(Event::Failed(Failed::ours(why)), &mut out);
        out
    }

    /// Returns the number of bytes held: of an incomplete event, and of content that can be
    /// written only at the end.
    pub const fn held(&self) -> usize {
        self.framing.held() + self.gathered
    }

    /// Returns `true` if the reply has failed. Bytes that arrive after that have no meaning.
    pub const fn has_failed(&self) -> bool {
        self.failed
    }

    /// Ends the stream and returns the last bytes. A stream that ended early ends with an error.
    pub fn finish(&mut self) -> Vec<u8> {
        let mut out = self.feed(self.framing.last());
        let last = if self.reader.has_stopped() {
            // Some servers never send an end.
            Event::End
        } else {
            Event::Failed(Failed::ours("the stream ended before the reply did"))
        };
        self.write(last, &mut out);
        out
    }

    /// Returns `true` if the reply has ended.
    pub const fn is_over(&self) -> bool {
        self.over
    }

    fn write(&mut self, mut event: Event, out: &mut Vec<u8>) {
        if self.over {
            return;
        }
        match &mut event {
            Event::Arguments { index, json } => {
                if let Some((_, text)) = self.free.iter_mut().find(|(free, _)| free == index) {
                    *json = text.feed(json);
                    if json.is_empty() {
                        return;
                    }
                }
            }
            Event::Call(call) => {
                self.finish_calls(out);
                self.restore(call);
            }
            Event::Begin(_) | Event::Usage(_) => {}
            Event::Text(_) | Event::Refusal(_) | Event::Stop(_) | Event::End | Event::Failed(_) => {
                self.finish_calls(out);
            }
        }
        self.failed = matches!(event, Event::Failed(_));
        self.over = self.failed || matches!(event, Event::End);
        self.emit(event, out);
    }

    /// Returns `true` if events are passed on as they are, in frames.
    const fn is_reframed(&self) -> bool {
        self.is_same_wire && self.chunks.is_some()
    }

    /// Writes an event in the framing of the client.
    fn emit(&mut self, event: Event, out: &mut Vec<u8>) {
        // Only errors of our own have not been passed on.
        if self.is_reframed() && !matches!(event, Event::Failed(_)) {
            return;
        }
        let Some(chunks) = &mut self.chunks else {
            self.writer.write(event, out);
            return;
        };
        let mut written = Vec::new();
        self.writer.write(event, &mut written);
        for data in chunks.feed(&written) {
            chunk(out, &data);
        }
    }

    /// Gives a call the name and form that the client knows its tool by.
    fn restore(&mut self, call: &mut CallBegin) {
        let Some(tool) = self.tools.iter().find(|tool| tool.sent == call.name) else { return };
        call.name.clone_from(&tool.name);
        call.namespace.clone_from(&tool.namespace);
        call.free_text = tool.free_text;
        if tool.free_text {
            self.free.push((call.index, FreeText::default()));
        }
    }

    /// Passes on the free text of calls that could not be read before it was complete.
    fn finish_calls(&mut self, out: &mut Vec<u8>) {
        for (index, text) in std::mem::take(&mut self.free) {
            let json = text.finish();
            if !json.is_empty() {
                self.emit(Event::Arguments { index, json }, out);
            }
        }
    }
}

/// Writes a frame with one event.
fn chunk(out: &mut Vec<u8>, data: &[u8]) {
    let data = STANDARD.encode(data);
    frame(out, "chunk", &format!("{{\"bytes\":\"{data}\"}}"));
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
        let mut gathered = Stream::new(Wire::OpenAiChat, Wire::OpenAiResponses);
        let mut passed = Stream::new(Wire::OpenAiChat, Wire::Anthropic);
        for _ in 0..=MAX_EVENT_BYTES / words.len() {
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
        let mut stream = Stream::new(Wire::OpenAiChat, Wire::Anthropic);
        let said = String::from_utf8(stream.fail("no room")).unwrap();
        assert!(said.contains("no room"), "{said}");
        assert!(stream.finish().is_empty());
    }

    #[test]
    fn events_of_the_same_wire_are_passed_on_in_frames() {
        let events = [
            r#"{"type":"message_start","message":{"id":"m","model":"c"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"x"}}"#,
            r#"{"type":"message_stop"}"#,
        ];
        let mut stream = Stream::new(Wire::Anthropic, Wire::Anthropic).in_chunks();
        for event in events {
            let out = stream.feed(format!("event: e\ndata: {event}\n\n").as_bytes());
            assert!(String::from_utf8_lossy(&out).contains(&STANDARD.encode(event)), "{event}");
        }
        assert!(stream.is_over() && stream.finish().is_empty());
        let mut stream = Stream::new(Wire::Anthropic, Wire::Anthropic).in_chunks();
        let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"x"}}"#;
        let out = stream.feed(format!("data: {error}\n\n").as_bytes());
        assert_eq!(String::from_utf8_lossy(&out).matches("bytes").count(), 1);
        assert!(stream.has_failed() && stream.finish().is_empty());
    }
}
