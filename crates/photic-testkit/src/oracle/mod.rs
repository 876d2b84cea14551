//! The strict provider: reads a request or a reply as the wire's owner would, and reports what it
//! saw.
//!
//! This module owns the entry points and the types of a verdict. A rule is in the file of its
//! wire. The rules that all wires share (pictures, base64 in text) have files of their own. It
//! must never repair anything, and never ask `photic` for its opinion.
//!
//! Codes of a [`Violation`], beside those that name a missing or mistyped field:
//!
//! | code | the provider's complaint |
//! |---|---|
//! | `not_json`, `duplicate_key`, `unknown_wire` | the body itself |
//! | `field_missing`, `field_type`, `value_unknown` | shape |
//! | `role_unknown`, `first_message`, `role_order` | roles and their order |
//! | `part_wrong_role`, `image_wrong_role` | right part, wrong place |
//! | `content_empty`, `text_empty`, `tool_content_empty` | nothing where something must be |
//! | `call_unanswered`, `result_orphan`, `result_duplicate`, `result_not_first`, `call_id_duplicate`, `id_pattern` | pairing of calls and results |
//! | `error_result_media`, `error_result_empty` | a failed result holds text, and some of it |
//! | `image_url_invalid`, `data_url_invalid`, `base64_invalid`, `base64_prefix` | how bytes are written |
//! | `media_type_unsupported`, `media_type_mismatch`, `image_invalid`, `document_invalid` | what the bytes are |
//! | `image_unsupported`, `document_unsupported`, `image_remote`, `detail_missing` | what [`Rules`] forbid |
//! | `image_too_large`, `image_too_small`, `too_many_images`, `body_too_large` | limits |
//! | `document_too_large`, `too_many_documents` | limits of documents |
//! | `too_many_breakpoints`, `breakpoint_misplaced`, `breakpoint_order` | cache marks |
//! | `result_sibling` | other content beside results while a server tool or code waits for them |
//! | `result_name`, `signature_missing`, `text_missing`, `document_name` | rules of single wires |
//! | `base64_in_text` | a picture in a place where the model reads letters |
//! | `unknown_part`, `unknown_field` | only with [`Rules::strict_unknown`] |
//! | `setting_refused`, `setting_range`, `tool_name`, `tool_schema` | only with [`Rules::settings`] |

mod anthropic;
mod chat;
mod content;
mod converse;
mod gemini;
mod keys;
mod ollama;
mod parts;
mod patches;
mod picture;
mod reply;
mod responses;
mod rules;
mod seen;
mod settings;
mod smuggle;
#[cfg(test)]
mod tests;
mod witness;

use std::fmt;

use serde_json::{Map, Value};

pub use patches::{Patches, Resize};
pub use picture::{Fault, sniff, whole};
pub use reply::{Reply, Usage, reply};
pub use rules::{Limits, Many, Pixels, Rules};
pub use seen::{Audio, Call, Document, Image, Part, Seen, Slot, Source, Text, ToolResult, Unknown};
pub use smuggle::{Smuggled, smuggled};

/// The wires that the oracle knows.
pub const WIRES: [&str; 6] =
    ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock-converse", "ollama"];

/// One reason why the provider rejects the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// A stable `snake_case` name; the table is in the module text.
    pub code: &'static str,
    /// The position, as a JSON pointer into the body.
    pub pointer: String,
    /// The message of the provider.
    pub text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at `{}`: {}", self.code, self.pointer, self.text)
    }
}

/// Reads a request body under the wire's own rules and published limits ([`Rules::of`]).
pub fn read(wire: &str, body: &[u8]) -> Result<Seen, Vec<Violation>> {
    read_with(wire, body, &Rules::of(wire))
}

/// Reads a request body under rules that the test chose.
pub fn read_with(wire: &str, body: &[u8], rules: &Rules) -> Result<Seen, Vec<Violation>> {
    let (seen, violations) = look(wire, body, rules);
    if violations.is_empty() { Ok(seen) } else { Err(violations) }
}

/// Reads a request body. Returns both the content that could be seen and the violations.
pub fn look(wire: &str, body: &[u8], rules: &Rules) -> (Seen, Vec<Violation>) {
    let mut witness = witness::Witness::new(rules);
    let read = match wire {
        "openai-chat" => chat::read,
        "openai-responses" => responses::read,
        "anthropic" => anthropic::read,
        "gemini" => gemini::read,
        "bedrock-converse" => converse::read,
        "ollama" => ollama::read,
        _ => {
            witness.violate("unknown_wire", "", format!("the oracle does not speak `{wire}`"));
            return witness.finish();
        }
    };
    if let Some(object) = parse(&mut witness, body) {
        witness.body_size(body.len());
        read(&mut witness, &object);
        witness.seen.parts = parts::of(wire, body);
        if rules.settings {
            settings::judge(&mut witness, wire, &object);
        }
    }
    witness.finish()
}

fn parse(witness: &mut witness::Witness<'_>, body: &[u8]) -> Option<Map<String, Value>> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => {
            if !witness.rules.duplicate_keys {
                for pointer in keys::duplicates(body) {
                    witness.violate("duplicate_key", &pointer, "this key stands twice");
                }
            }
            Some(object)
        }
        Ok(_) => {
            witness.violate("not_json", "", "We expected the body to be a JSON object.");
            None
        }
        Err(error) => {
            let text = format!("We could not parse the JSON body of your request: {error}");
            witness.violate("not_json", "", text);
            None
        }
    }
}
