//! Search in a session: turns, pictures, findings, and texts.

use photic::transcript::Part;
use photic_store::SessionId;
use serde_json::{Value, json};

use super::labels::line;
use super::layout::{fields_of, message_spans};
use super::object::Object;
use super::pictures::label;
use crate::failure::Failure;
use crate::inspector::Inspector;
use crate::request::ApiRequest;

/// Most hits.
const MAX_HITS: u64 = 40;
/// Longest text of a hit, in characters.
const MAX_TEXT: usize = 120;

/// A place that was found.
struct Hit {
    kind: &'static str,
    label: String,
    text: String,
    turn: Option<u64>,
    picture: Option<u32>,
    message: Option<usize>,
}

impl Hit {
    fn value(self) -> Value {
        Object::new()
            .with("kind", self.kind)
            .with("label", self.label)
            .with("text", line(&self.text, MAX_TEXT))
            .maybe("turn", self.turn)
            .maybe("picture", self.picture)
            .maybe("message", self.message)
            .value()
    }
}

impl Inspector {
    /// Finds words in a session.
    pub(crate) async fn search(&self, id: &SessionId, ask: &ApiRequest) -> Result<Value, Failure> {
        let wanted = ask.parameter("q").unwrap_or_default().trim().to_lowercase();
        let limit = ask.limit(MAX_HITS)?;
        let index = self.index(id).await?;
        let mut hits: Vec<Hit> = Vec::new();
        let is_in = |text: &str| text.to_lowercase().contains(&wanted);
        for turn in &index.turns {
            let (came, call) = turn.came();
            let name = format!("Turn {}", turn.row.number);
            let text = [came, call.unwrap_or_default()].join(" ");
            let is_number = wanted == turn.row.number.to_string();
            if is_number || is_in(&format!("{name} {text}")) {
                let hit = Hit {
                    kind: "turn",
                    label: name,
                    text,
                    turn: Some(turn.row.number),
                    picture: None,
                    message: None,
                };
                // The very turn comes first.
                if is_number { hits.insert(0, hit) } else { hits.push(hit) }
            }
        }
        for picture in &index.pictures {
            let (name, text) = (format!("#{}", picture.number), label(&index, picture));
            let is_number = wanted == name;
            if is_number || is_in(&text) {
                let hit = Hit {
                    kind: "picture",
                    label: name,
                    text,
                    turn: Some(picture.first_turn),
                    picture: Some(picture.number),
                    message: None,
                };
                if is_number { hits.insert(0, hit) } else { hits.push(hit) }
            }
        }
        for finding in self.head_findings(id, &index).await? {
            let (title, turn, picture) = finding.words();
            if is_in(title) {
                let (label, text) = ("Finding".to_owned(), title.to_owned());
                hits.push(Hit {
                    kind: "finding",
                    label,
                    text,
                    turn: Some(turn),
                    picture,
                    message: None,
                });
            }
        }
        if hits.len() < limit && !wanted.is_empty() && !index.turns.is_empty() {
            hits.extend(self.texts(id, index.last(), &wanted).await?);
        }
        hits.truncate(limit);
        Ok(json!({"items": hits.into_iter().map(Hit::value).collect::<Vec<_>>()}))
    }

    /// Finds words in the messages of a turn.
    async fn texts(&self, id: &SessionId, turn: u64, wanted: &str) -> Result<Vec<Hit>, Failure> {
        let planned = self.planned(id, turn).await?;
        let (transcript, _) = photic::lift(planned.turn.wire, &planned.client);
        let fields = fields_of(&transcript, message_spans(&transcript).len());
        let mut hits = Vec::new();
        for (index, message) in transcript.messages.iter().skip(fields).enumerate() {
            let mut found = Vec::new();
            texts_of(&message.parts, &mut found);
            for text in found {
                let lower = text.to_lowercase();
                let Some(at) = lower.find(wanted) else { continue };
                // Letters may change their length with their case.
                let start = lower[..at].chars().count().saturating_sub(40);
                let around: String = text.chars().skip(start).take(MAX_TEXT).collect();
                let label = format!("Message {index}");
                hits.push(Hit {
                    kind: "text",
                    label,
                    text: around,
                    turn: Some(turn),
                    picture: None,
                    message: Some(index),
                });
                break;
            }
        }
        Ok(hits)
    }
}

fn texts_of(parts: &[Part<'_>], found: &mut Vec<String>) {
    for part in parts {
        match part {
            Part::Text(text) | Part::Refusal(text) => found.push(text.text.decode().into_owned()),
            Part::Result(result) => texts_of(&result.content, found),
            Part::Nested(nested) => texts_of(&nested.parts, found),
            _ => {}
        }
    }
}
