//! Neutral events → chat completions, streamed.

use crate::json::{Out, Str};
use crate::reply::{Stop, Usage};
use crate::stream::{Event, LowerStream, write};

/// Writes chunks.
#[derive(Debug, Default)]
pub(crate) struct StreamLower {
    id: String,
    model: String,
    created: u64,
    calls: usize,
    stop: Stop,
    usage: Option<Usage>,
}

impl LowerStream for StreamLower {
    fn lower(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        match event {
            Event::Begin(begin) => {
                let owned = |text: &Option<Str<'_>>| {
                    text.as_ref().map(|text| text.decode().into_owned()).unwrap_or_default()
                };
                (self.id, self.model) = (owned(&begin.id), owned(&begin.model));
                self.created = begin.created.unwrap_or(0);
                self.usage = begin.usage;
                self.delta(out, |json| {
                    json.json("\"role\":\"assistant\",\"content\":\"\"");
                });
            }
            Event::Text(words) => self.delta(out, |json| {
                json.key("content").string(&words.clone().into_owned());
            }),
            Event::Call { id, name } => {
                let index = self.calls;
                self.calls += 1;
                self.delta(out, |json| {
                    json.json(&format!("\"tool_calls\":[{{\"index\":{index},\"id\":"));
                    json.string(&id.clone().into_owned());
                    json.json(",\"type\":\"function\",\"function\":{\"name\":");
                    json.string(&name.clone().into_owned()).json(",\"arguments\":\"\"}}]");
                });
            }
            Event::Arguments { call, piece } => self.delta(out, |json| {
                json.json(&format!("\"tool_calls\":[{{\"index\":{call},\"function\":{{"));
                json.key("arguments").string(&piece.clone().into_owned()).json("}}]");
            }),
            Event::Usage(usage) => self.usage = Some(*usage),
            Event::Stop(stop) => self.stop = *stop,
            Event::Failure { kind, message } => write(out, None, |json| {
                json.json("{\"error\":{\"message\":").string(&message.clone().into_owned());
                let kind = kind.clone().map_or(Str::plain("api_error"), Str::into_owned);
                json.json(",\"type\":").string(&kind).json(",\"param\":null,\"code\":null}}");
            }),
            Event::End => {
                self.end(out);
                out.extend_from_slice(b"data: [DONE]\n\n");
            }
        }
    }
}

impl StreamLower {
    fn delta(&self, out: &mut Vec<u8>, delta: impl FnOnce(&mut Out<'_>)) {
        write(out, None, |json| {
            self.head(json);
            json.json("\"delta\":{");
            delta(json);
            json.json("},\"logprobs\":null,\"finish_reason\":null}]}");
        });
    }

    fn end(&self, out: &mut Vec<u8>) {
        let reason = match self.stop {
            Stop::Length => "length",
            _ if self.calls > 0 => "tool_calls",
            Stop::End | Stop::Sequence | Stop::Calls => "stop",
            Stop::Refused => "content_filter",
        };
        write(out, None, |json| {
            self.head(json);
            json.json("\"delta\":{},\"logprobs\":null,\"finish_reason\":")
                .quoted(reason)
                .json("}]");
            // With the last choice and not after it: a chunk without choices is only for those who
            // asked for one.
            if let Some(usage) = self.usage {
                json.json(&format!(
                    ",\"usage\":{{\"prompt_tokens\":{},\"completion_tokens\":{},\
                     \"total_tokens\":{},\"prompt_tokens_details\":{{\"cached_tokens\":{},\
                     \"cache_write_tokens\":{}}},\
                     \"completion_tokens_details\":{{\"reasoning_tokens\":{}}}}}",
                    usage.input,
                    usage.output,
                    usage.input + usage.output,
                    usage.cache_read,
                    usage.cache_write,
                    usage.reasoning
                ));
            }
            json.json("}");
        });
    }

    fn head(&self, json: &mut Out<'_>) {
        json.json("{").key("id").quoted(&self.id);
        json.json(&format!(",\"object\":\"chat.completion.chunk\",\"created\":{}", self.created));
        json.json(",\"model\":").quoted(&self.model).json(",\"choices\":[{\"index\":0,");
    }
}
