//! Stored outcomes: an answer under its question, and a line of its chunk.
//!
//! Nothing here depends on the worker, the time or earlier answers, so the
//! outcome of a list does not depend on its workers.

use photic::reply::Usage;
use photic_store::work::QuestionKey;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;

/// Stored answer to a question. It never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct BatchAnswer {
    /// The text of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Reason why there is no text. The picture is not asked about again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<StoredRefusal>,
    /// The model as `provider/model`.
    pub model: String,
    /// Media type of the picture that was sent.
    pub media_type: String,
    /// Token usage, if the model reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
}

/// Token usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
}

impl From<Usage> for Tokens {
    fn from(usage: Usage) -> Self {
        Self { input: usage.input, output: usage.output }
    }
}

/// A stored refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredRefusal {
    /// One of the stable codes.
    pub code: String,
    /// The sentence.
    pub says: String,
    /// The next step.
    pub hint: String,
}

impl From<&Refusal> for StoredRefusal {
    fn from(refusal: &Refusal) -> Self {
        let Refusal { code, says, hint, .. } = refusal;
        Self { code: code.name().to_owned(), says: says.clone(), hint: hint.clone() }
    }
}

/// Outcome of one line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The answer stored under this question.
    Answered(QuestionKey),
    /// The picture could not be read.
    Refused(StoredRefusal),
    /// The model did not answer after all attempts. The line is repeated when the job is.
    Failed(StoredRefusal),
    /// The line is not processed yet.
    Pending,
}

/// Its form in a stored chunk.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredLine {
    Refused(StoredRefusal),
    Failed(StoredRefusal),
}

/// Serializes outcomes, one per line.
pub(super) fn write(outcomes: &[Outcome]) -> String {
    let line = |outcome: &Outcome| match outcome {
        Outcome::Answered(key) => blake3::Hash::from_bytes(*key).to_hex().to_string(),
        Outcome::Refused(why) => json(&StoredLine::Refused(why.clone())),
        Outcome::Failed(why) => json(&StoredLine::Failed(why.clone())),
        Outcome::Pending => String::new(),
    };
    outcomes.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Parses outcomes. Unreadable lines count as not processed.
pub(super) fn read(text: &str, lines: usize) -> Vec<Outcome> {
    let line = |line: &str| {
        if let Ok(key) = blake3::Hash::from_hex(line) {
            return Outcome::Answered(*key.as_bytes());
        }
        match serde_json::from_str(line) {
            Ok(StoredLine::Refused(why)) => Outcome::Refused(why),
            Ok(StoredLine::Failed(why)) => Outcome::Failed(why),
            Err(_) => Outcome::Pending,
        }
    };
    let mut outcomes: Vec<Outcome> = text.split('\n').map(line).collect();
    outcomes.resize(lines, Outcome::Pending);
    outcomes
}

/// Serializes a value that cannot fail.
pub(super) fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_read_back() {
        let why = StoredRefusal {
            code: "absent".into(),
            says: "gone\nfar".into(),
            hint: "\"look\"".into(),
        };
        let all = [
            Outcome::Answered([3; 32]),
            Outcome::Pending,
            Outcome::Refused(why.clone()),
            Outcome::Failed(why),
            Outcome::Pending,
        ];
        assert_eq!(read(&write(&all), 5), all);
        assert_eq!(read("", 2), [Outcome::Pending, Outcome::Pending]);
        assert_eq!(read("not ours\n", 1), [Outcome::Pending]);
    }
}
