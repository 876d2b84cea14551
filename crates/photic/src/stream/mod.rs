//! Replies that are streamed: the events of one wire become the events of another as they come.
//!
//! Everything is a state machine over bytes: a reader takes events apart into neutral [`Event`]s, a
//! writer puts them together again. Nothing waits for what it does not need: what came in with one
//! chunk goes out with it. On its own wire a stream is passed on as it is, without any of this.

mod event;
mod sse;

pub(crate) use event::{Begin, Event, Failed, failed, text};
pub(crate) use sse::{event, quoted};

use crate::wire::{Wire, anthropic, openai_chat, openai_responses};
use sse::Lines;

/// A stream on its way from one wire to another.
#[derive(Debug)]
pub struct Stream {
    lines: Lines,
    reader: Reader,
    writer: Writer,
    /// Whether the reply has come to its end, one way or the other.
    over: bool,
}

#[derive(Debug)]
enum Reader {
    Chat(openai_chat::StreamReader),
    Responses(openai_responses::StreamReader),
    Messages(anthropic::StreamReader),
}

#[derive(Debug)]
enum Writer {
    Chat(openai_chat::StreamWriter),
    Responses(openai_responses::StreamWriter),
    Messages(anthropic::StreamWriter),
}

impl Stream {
    /// A stream of one wire, to be read by a client of another. `with_usage` is what a client of
    /// Chat Completions asked for with `stream_options.include_usage`.
    pub fn new(from: Wire, to: Wire, with_usage: bool) -> Self {
        let reader = match from {
            Wire::OpenAiChat => Reader::Chat(openai_chat::StreamReader::default()),
            Wire::OpenAiResponses => Reader::Responses(openai_responses::StreamReader::default()),
            Wire::Anthropic => Reader::Messages(anthropic::StreamReader::default()),
        };
        let writer = match to {
            Wire::OpenAiChat => Writer::Chat(openai_chat::StreamWriter::new(with_usage)),
            Wire::OpenAiResponses => Writer::Responses(openai_responses::StreamWriter::default()),
            Wire::Anthropic => Writer::Messages(anthropic::StreamWriter::default()),
        };
        Self { lines: Lines::default(), reader, writer, over: false }
    }

    /// Takes what has come and gives what can be passed on.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut events = Vec::new();
        for data in self.lines.feed(bytes) {
            match &mut self.reader {
                Reader::Chat(reader) => reader.read(&data, &mut events),
                Reader::Responses(reader) => reader.read(&data, &mut events),
                Reader::Messages(reader) => reader.read(&data, &mut events),
            }
        }
        if self.lines.is_overfull() {
            events.push(Event::Failed(Failed::ours("an event of the stream is too long")));
        }
        for event in events {
            self.write(event, &mut out);
        }
        out
    }

    /// The stream has ended; what is left to say. One that ended early says so.
    pub fn finish(&mut self) -> Vec<u8> {
        let mut out = self.feed(b"\n\n");
        let stopped = match &self.reader {
            Reader::Chat(reader) => reader.has_stopped(),
            Reader::Responses(_) | Reader::Messages(_) => false,
        };
        let last = if stopped {
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

    fn write(&mut self, event: Event, out: &mut Vec<u8>) {
        if self.over {
            return;
        }
        self.over = matches!(event, Event::End | Event::Failed(_));
        match &mut self.writer {
            Writer::Chat(writer) => writer.write(event, out),
            Writer::Responses(writer) => writer.write(event, out),
            Writer::Messages(writer) => writer.write(event, out),
        }
    }
}
