//! A history as a request body of a wire, written as text: long histories must stay cheap.

use std::fmt::Write as _;
use std::sync::LazyLock;

use photic::Wire;
use photic_testkit::image;

use super::frames::Frame;
use super::histories::{Call, History, Manner, Turn};

/// The body.
pub(super) fn body(history: &History) -> Vec<u8> {
    let mut page = Page { history, out: String::new(), first: true, marks: history.marks };
    match history.wire {
        Wire::OpenAiChat => page.chat(),
        Wire::OpenAiResponses => page.responses(),
        Wire::Anthropic => page.messages(),
        Wire::Gemini | Wire::BedrockConverse | Wire::Ollama => unreachable!("not among WRITTEN"),
        _ => unreachable!("only the six wires are tested here"),
    }
    page.out.into_bytes()
}

static PDF: LazyLock<String> = LazyLock::new(|| image::base64(&image::pdf()));

struct Page<'h> {
    history: &'h History,
    out: String,
    first: bool,
    marks: usize,
}

impl Page<'_> {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Opens the next element of the list that is being written.
    fn next(&mut self) {
        if !std::mem::take(&mut self.first) {
            self.out.push(',');
        }
    }

    fn list(&mut self, inside: impl FnOnce(&mut Self)) {
        self.out.push('[');
        let before = std::mem::replace(&mut self.first, true);
        inside(self);
        self.first = before;
        self.out.push(']');
    }

    fn detail(&self) -> String {
        self.history.detail.map(|detail| format!(",\"detail\":\"{detail}\"")).unwrap_or_default()
    }

    // --- chat

    fn chat(&mut self) {
        self.put(r#"{"model":"m","messages":"#);
        let history = self.history;
        self.list(|page| {
            for (at, turn) in history.turns.iter().enumerate() {
                page.chat_turn(at, turn);
            }
        });
        self.put("}");
    }

    fn chat_turn(&mut self, at: usize, turn: &Turn) {
        match turn {
            Turn::Operator { frame } => {
                self.next();
                self.put(r#"{"role":"system","content":"#);
                self.chat_parts(&format!("operator {at}"), frame.as_slice(), 0);
                self.put("}");
            }
            Turn::User { frames, papers } => {
                self.next();
                self.put(r#"{"role":"user","content":"#);
                self.chat_parts(&format!("user {at}"), frames, *papers);
                self.put("}");
            }
            Turn::Model { frame, calls } => {
                self.next();
                self.put(r#"{"role":"assistant","content":"#);
                self.chat_parts(&format!("model {at}"), frame.as_slice(), 0);
                if !calls.is_empty() {
                    self.put(r#","tool_calls":"#);
                    self.list(|page| {
                        for call in calls {
                            page.next();
                            let _ = write!(
                                page.out,
                                r#"{{"id":"call_{0}","type":"function","function":{{"name":"look","arguments":"{{}}"}}}}"#,
                                call.number
                            );
                        }
                    });
                }
                self.put("}");
                for call in calls {
                    self.next();
                    let number = call.number;
                    let _ = write!(
                        self.out,
                        r#"{{"role":"tool","tool_call_id":"call_{number}","content":"#
                    );
                    match call.manner {
                        Manner::Serialized => self.serialized(call),
                        _ => self.chat_parts(call.words(), &call.frames, 0),
                    }
                    self.put("}");
                }
            }
        }
    }

    fn chat_parts(&mut self, words: &str, frames: &[Frame], papers: usize) {
        if frames.is_empty() && papers == 0 {
            let words = if words.is_empty() { "done" } else { words };
            let _ = write!(self.out, "\"{words}\"");
            return;
        }
        let detail = self.detail();
        self.list(|page| {
            if !words.is_empty() {
                page.next();
                let _ = write!(page.out, r#"{{"type":"text","text":"{words}"}}"#);
            }
            for frame in frames {
                page.next();
                let url = frame.url();
                page.put(r#"{"type":"image_url","image_url":{"url":""#);
                page.put(&url);
                let _ = write!(page.out, "\"{detail}}}}}");
            }
            for _ in 0..papers {
                page.next();
                page.put(r#"{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,"#);
                page.put(&PDF);
                page.put("\"}}");
            }
        });
    }

    // --- responses

    fn responses(&mut self) {
        self.put(r#"{"model":"m","input":"#);
        let history = self.history;
        self.list(|page| {
            for (at, turn) in history.turns.iter().enumerate() {
                page.responses_turn(at, turn);
            }
        });
        self.put("}");
    }

    fn responses_turn(&mut self, at: usize, turn: &Turn) {
        let (role, words, frames, papers) = match turn {
            Turn::Operator { frame } => ("developer", "operator", frame.as_slice(), 0),
            Turn::User { frames, papers } => ("user", "user", frames.as_slice(), *papers),
            Turn::Model { frame, .. } => ("assistant", "model", frame.as_slice(), 0),
        };
        self.next();
        let _ = write!(self.out, r#"{{"role":"{role}","content":"#);
        self.responses_parts(&format!("{words} {at}"), frames, papers, role == "assistant");
        self.put("}");
        let Turn::Model { calls, .. } = turn else { return };
        for call in calls {
            self.next();
            let number = call.number;
            let _ = write!(
                self.out,
                r#"{{"type":"function_call","call_id":"call_{number}","name":"look","arguments":"{{}}"}}"#
            );
        }
        for call in calls {
            self.next();
            let number = call.number;
            let _ = write!(
                self.out,
                r#"{{"type":"function_call_output","call_id":"call_{number}","output":"#
            );
            match call.manner {
                Manner::Serialized => self.serialized(call),
                _ if call.frames.is_empty() && !call.paper => self.put("\"done\""),
                _ => {
                    let papers = usize::from(call.paper);
                    self.responses_parts(call.words(), &call.frames, papers, false);
                }
            }
            self.put("}");
        }
    }

    fn responses_parts(&mut self, words: &str, frames: &[Frame], papers: usize, written: bool) {
        let detail = self.detail();
        self.list(|page| {
            if !words.is_empty() {
                page.next();
                let kind = if written { "output_text" } else { "input_text" };
                let _ = write!(page.out, r#"{{"type":"{kind}","text":"{words}"}}"#);
            }
            for frame in frames {
                page.next();
                let url = frame.url();
                page.put(r#"{"type":"input_image","image_url":""#);
                page.put(&url);
                let _ = write!(page.out, "\"{detail}}}");
            }
            for _ in 0..papers {
                page.next();
                page.put(r#"{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,"#);
                page.put(&PDF);
                page.put("\"}");
            }
        });
    }

    // --- messages

    fn messages(&mut self) {
        self.put(r#"{"model":"m","max_tokens":9,"#);
        let mut turns = self.history.turns.as_slice();
        if let Some((Turn::Operator { frame }, rest)) = turns.split_first() {
            self.put("\"system\":");
            self.list(|page| page.blocks("operator", frame.as_slice(), 0));
            self.put(",");
            turns = rest;
        }
        self.put("\"messages\":");
        self.list(|page| {
            for (at, turn) in turns.iter().enumerate() {
                page.messages_turn(at, turn);
            }
        });
        self.put("}");
    }

    fn messages_turn(&mut self, at: usize, turn: &Turn) {
        let (role, words, frames, papers) = match turn {
            Turn::Operator { frame } => ("user", "operator", frame.as_slice(), 0),
            Turn::User { frames, papers } => ("user", "user", frames.as_slice(), *papers),
            Turn::Model { frame, .. } => ("assistant", "model", frame.as_slice(), 0),
        };
        let calls = if let Turn::Model { calls, .. } = turn { calls.as_slice() } else { &[] };
        self.next();
        let _ = write!(self.out, r#"{{"role":"{role}","content":"#);
        self.list(|page| {
            page.blocks(&format!("{words} {at}"), frames, papers);
            for call in calls {
                page.next();
                let number = call.number;
                let _ = write!(
                    page.out,
                    r#"{{"type":"tool_use","id":"call_{number}","name":"look","input":{{}}}}"#
                );
            }
        });
        self.put("}");
        if calls.is_empty() {
            return;
        }
        self.next();
        self.put(r#"{"role":"user","content":"#);
        self.list(|page| {
            for call in calls {
                page.next();
                page.result(call);
            }
        });
        self.put("}");
    }

    fn result(&mut self, call: &Call) {
        let error = if call.manner == Manner::Failed { r#","is_error":true"# } else { "" };
        let number = call.number;
        let _ = write!(
            self.out,
            r#"{{"type":"tool_result","tool_use_id":"call_{number}"{error},"content":"#
        );
        match call.manner {
            Manner::Serialized => self.serialized(call),
            _ if call.frames.is_empty() && !call.paper => self.put("\"done\""),
            _ => self.list(|page| {
                page.blocks(call.words(), &call.frames, usize::from(call.paper));
            }),
        }
        self.put("}");
    }

    fn blocks(&mut self, words: &str, frames: &[Frame], papers: usize) {
        if !words.is_empty() {
            self.next();
            let mark = if self.marks > 0 { r#","cache_control":{"type":"ephemeral"}"# } else { "" };
            self.marks = self.marks.saturating_sub(1);
            let _ = write!(self.out, r#"{{"type":"text","text":"{words}"{mark}}}"#);
        }
        for frame in frames {
            self.next();
            if frame.remote {
                let url = frame.url();
                let _ = write!(
                    self.out,
                    r#"{{"type":"image","source":{{"type":"url","url":"{url}"}}}}"#
                );
                continue;
            }
            let _ = write!(
                self.out,
                r#"{{"type":"image","source":{{"type":"base64","media_type":"{}","data":""#,
                frame.media_type()
            );
            self.put(&frame.base64());
            self.put("\"}}");
        }
        for _ in 0..papers {
            self.next();
            self.put(r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":""#);
            self.put(&PDF);
            self.put("\"}}");
        }
    }

    /// An answer that a client made into a string: parts of the AI SDK, or of MCP.
    fn serialized(&mut self, call: &Call) {
        let mcp = call.number.is_multiple_of(2);
        self.put(if mcp { r#""{\"content\":["# } else { "\"[" });
        let (kind, label) = if mcp { ("image", "mimeType") } else { ("image-data", "mediaType") };
        let _ = write!(self.out, r#"{{\"type\":\"text\",\"text\":\"shown\"}}"#);
        for frame in &call.frames {
            let media_type = frame.media_type();
            let _ = write!(self.out, r#",{{\"type\":\"{kind}\",\"data\":\""#);
            self.put(&frame.base64());
            let _ = write!(self.out, r#"\",\"{label}\":\"{media_type}\"}}"#);
        }
        self.put(if mcp { r#"],\"isError\":false}""# } else { "]\"" });
    }
}

impl Call {
    const fn words(&self) -> &'static str {
        match self.manner {
            Manner::Silent => "",
            Manner::Failed => "it failed",
            Manner::Typed | Manner::Serialized => "shown",
        }
    }
}
