//! Neutral events → Messages, streamed.

use crate::json::{Out, Str};
use crate::reply::{Stop, Usage};
use crate::stream::{Event, LowerStream, write};

/// Writes events.
#[derive(Debug, Default)]
pub(crate) struct StreamLower {
    /// How many blocks began.
    blocks: usize,
    open: Option<Block>,
    /// The block of each call.
    calls: Vec<usize>,
    stop: Stop,
    usage: Usage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Text,
    Call,
}

impl LowerStream for StreamLower {
    fn lower(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        match event {
            Event::Begin(begin) => {
                self.usage = begin.usage.unwrap_or_default();
                write(out, Some("message_start"), |json| {
                    let word = |text: &Option<Str<'_>>| {
                        text.clone().map_or(Str::plain(""), Str::into_owned)
                    };
                    json.json("{\"type\":\"message_start\",\"message\":{\"id\":");
                    json.string(&word(&begin.id));
                    json.json(",\"type\":\"message\",\"role\":\"assistant\",\"model\":");
                    json.string(&word(&begin.model)).json(",\"content\":[],\"stop_reason\":null");
                    json.json(",\"stop_sequence\":null,\"usage\":");
                    usage(json, self.usage);
                    json.json("}}");
                });
            }
            Event::Text(words) => {
                if self.open != Some(Block::Text) {
                    self.begin(out, Block::Text, |json| {
                        json.json("{\"type\":\"text\",\"text\":\"\"}");
                    });
                }
                let index = self.blocks - 1;
                delta(out, index, |json| {
                    json.json("{\"type\":\"text_delta\",\"text\":");
                    json.string(&words.clone().into_owned()).json("}");
                });
            }
            Event::Call { id, name } => {
                self.calls.push(self.blocks);
                self.begin(out, Block::Call, |json| {
                    json.json("{\"type\":\"tool_use\",\"id\":").string(&id.clone().into_owned());
                    json.json(",\"name\":").string(&name.clone().into_owned());
                    json.json(",\"input\":{}}");
                });
            }
            Event::Arguments { call, piece } => {
                let Some(&index) = self.calls.get(*call) else { return };
                delta(out, index, |json| {
                    json.json("{\"type\":\"input_json_delta\",\"partial_json\":");
                    json.string(&piece.clone().into_owned()).json("}");
                });
            }
            Event::Usage(usage) => self.usage = *usage,
            Event::Stop(stop) => self.stop = *stop,
            Event::Failure { kind, message } => write(out, Some("error"), |json| {
                let kind = kind.clone().map_or(Str::plain("api_error"), Str::into_owned);
                json.json("{\"type\":\"error\",\"error\":{\"type\":").string(&kind);
                json.json(",\"message\":").string(&message.clone().into_owned()).json("}}");
            }),
            Event::End => self.end(out),
        }
    }
}

impl StreamLower {
    fn begin(&mut self, out: &mut Vec<u8>, block: Block, what: impl FnOnce(&mut Out<'_>)) {
        self.close(out);
        let index = self.blocks;
        write(out, Some("content_block_start"), |json| {
            json.json(&format!("{{\"type\":\"content_block_start\",\"index\":{index},"));
            json.key("content_block");
            what(json);
            json.json("}");
        });
        self.blocks += 1;
        self.open = Some(block);
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if self.open.take().is_some() {
            let index = self.blocks - 1;
            write(out, Some("content_block_stop"), |json| {
                json.json(&format!("{{\"type\":\"content_block_stop\",\"index\":{index}}}"));
            });
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.close(out);
        let reason = match self.stop {
            Stop::Length => "max_tokens",
            _ if !self.calls.is_empty() => "tool_use",
            Stop::End | Stop::Calls => "end_turn",
            Stop::Sequence => "stop_sequence",
            Stop::Refused => "refusal",
        };
        write(out, Some("message_delta"), |json| {
            json.json("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":").quoted(reason);
            json.json(",\"stop_sequence\":null},\"usage\":");
            usage(json, self.usage);
            json.json("}");
        });
        write(out, Some("message_stop"), |json| {
            json.json("{\"type\":\"message_stop\"}");
        });
    }
}

fn delta(out: &mut Vec<u8>, index: usize, what: impl FnOnce(&mut Out<'_>)) {
    write(out, Some("content_block_delta"), |json| {
        json.json(&format!("{{\"type\":\"content_block_delta\",\"index\":{index},\"delta\":"));
        what(json);
        json.json("}");
    });
}

fn usage(json: &mut Out<'_>, usage: Usage) {
    json.json(&format!(
        "{{\"input_tokens\":{},\"output_tokens\":{},\"cache_read_input_tokens\":{},\
         \"cache_creation_input_tokens\":{}}}",
        usage.input.saturating_sub(usage.cache_read + usage.cache_write),
        usage.output,
        usage.cache_read,
        usage.cache_write
    ));
}
