//! What comes of a picture, as it is stored: under its question, and as one line of its chunk.
//!
//! Nothing here tells who asked, when, or whether it was known before: the same list has the same
//! outcome whoever worked on it.

use photic::reply::Usage;
use photic_store::work::QuestionKey;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;

/// What is stored under a question, for ever the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Told {
    /// What the model said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Why it said nothing, of a picture that is never asked about again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Why>,
    /// Who was asked, as `provider/model`.
    pub model: String,
    /// The type of the picture that was sent.
    pub media_type: String,
    /// What the model counted, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
}

/// What a model counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Read.
    pub input: u64,
    /// Written.
    pub output: u64,
}

impl From<Usage> for Tokens {
    fn from(usage: Usage) -> Self {
        Self { input: usage.input, output: usage.output }
    }
}

/// A refusal, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Why {
    /// One of the stable codes.
    pub code: String,
    /// In a sentence.
    pub says: String,
    /// What to do instead.
    pub hint: String,
}

impl From<&Refusal> for Why {
    fn from(refusal: &Refusal) -> Self {
        let Refusal { code, says, hint, .. } = refusal;
        Self { code: code.name().to_owned(), says: says.clone(), hint: hint.clone() }
    }
}

/// What came of one line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// What is stored under its question.
    Told(QuestionKey),
    /// There was no picture to ask about.
    Refused(Why),
    /// It could be asked, and nothing came back, however often. It is asked again when the job is.
    Failed(Why),
    /// Nobody got to it yet.
    Pending,
}

/// As it is written into a chunk.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Refused(Why),
    Failed(Why),
}

/// One line each.
pub(super) fn write(outcomes: &[Outcome]) -> String {
    let line = |outcome: &Outcome| match outcome {
        Outcome::Told(key) => blake3::Hash::from_bytes(*key).to_hex().to_string(),
        Outcome::Refused(why) => json(&Line::Refused(why.clone())),
        Outcome::Failed(why) => json(&Line::Failed(why.clone())),
        Outcome::Pending => String::new(),
    };
    outcomes.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// So many lines of a chunk; what cannot be read is still to be done.
pub(super) fn read(text: &str, lines: usize) -> Vec<Outcome> {
    let line = |line: &str| {
        if let Ok(key) = blake3::Hash::from_hex(line) {
            return Outcome::Told(*key.as_bytes());
        }
        match serde_json::from_str(line) {
            Ok(Line::Refused(why)) => Outcome::Refused(why),
            Ok(Line::Failed(why)) => Outcome::Failed(why),
            Err(_) => Outcome::Pending,
        }
    };
    let mut outcomes: Vec<Outcome> = text.split('\n').map(line).collect();
    outcomes.resize(lines, Outcome::Pending);
    outcomes
}

/// Of what always is JSON.
pub(super) fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_read_back() {
        let why = Why { code: "absent".into(), says: "gone\nfar".into(), hint: "\"look\"".into() };
        let all = [
            Outcome::Told([3; 32]),
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
