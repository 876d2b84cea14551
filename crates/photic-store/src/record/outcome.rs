//! Outcomes of requests: times, attempts, and the usage that the provider reported.
//!
//! An outcome is written once, when the reply has ended. It never holds a key, a cookie, a body, or a
//! header of the request besides the name of the client's software.

use photic::Wire;
use photic::reply::Usage;
use serde::{Deserialize, Serialize};

use super::SessionId;
use crate::error::Error;

/// Maximum length of a provider's sentence, in characters.
const MAX_SENTENCE: usize = 500;
/// Maximum length of the name of a client's software, in characters.
const MAX_AGENT: usize = 200;

/// The outcome of a request.
///
/// It belongs to a turn, or to none: a request that failed for good, or one that was passed on
/// unread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestOutcome {
    /// The session, if one is known.
    pub session: Option<SessionId>,
    /// The number of the turn, if the request was recorded as one.
    pub turn: Option<u64>,
    /// Time at which the request began, in milliseconds since 1970.
    pub begun: i64,
    /// Milliseconds from there to the first byte of the reply.
    pub first_byte_ms: Option<u64>,
    /// Milliseconds from there to the end of the reply.
    pub total_ms: u64,
    /// Status that the client got.
    pub status: Option<u16>,
    /// The end of the reply.
    pub ended: RequestEnd,
    /// Reason why it was passed on unread, or the code of a failure.
    pub reason: Option<String>,
    /// Host and port of the upstream.
    pub host: Option<String>,
    /// Wire that the request was sent in.
    pub sent_wire: Option<Wire>,
    /// The model, as the client named it.
    pub model: Option<String>,
    /// The id of the request in logs and traces of photic.
    pub request: Option<String>,
    /// The provider's id of the request.
    pub provider_request: Option<String>,
    /// Name of the client's software (`user-agent`).
    pub agent: Option<String>,
    /// Bytes of the request from the client.
    pub bytes_in: u64,
    /// Bytes of the request to the provider.
    pub bytes_sent: u64,
    /// Bytes of the reply to the client.
    pub bytes_out: u64,
    /// The times that it was sent, in order.
    pub attempts: Vec<Attempt>,
    /// Usage as the provider reported it.
    pub usage: ReportedUsage,
    /// The input in US dollars at list price, by the reported usage.
    pub input_usd: Option<f64>,
    /// The output in US dollars at list price, by the reported usage.
    pub output_usd: Option<f64>,
}

/// The end of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RequestEnd {
    /// The client got the whole reply, even if it is a rejection.
    #[default]
    Complete,
    /// The client closed its connection before.
    ClientGone,
    /// The provider closed its connection before, or sent nothing for too long.
    ProviderGone,
    /// The gateway answered with a failure of its own.
    Failed,
}

/// A request as it was sent once, and the answer to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Attempt {
    /// Status of the answer; `None` if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The class of the rejection, such as `too_many_images`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The provider's sentence, cut to 500 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// Bytes that were sent.
    pub bytes: u64,
    /// Milliseconds until the head of the answer came.
    pub ms: u64,
}

/// Usage as a provider reported it. What it did not report is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportedUsage {
    /// All input tokens, cached or not.
    pub input: Option<u64>,
    /// Input tokens that were read from the cache.
    pub cache_read: Option<u64>,
    /// Input tokens that were written to the cache.
    pub cache_write: Option<u64>,
    /// All output tokens.
    pub output: Option<u64>,
    /// Output tokens that were reasoning.
    pub reasoning: Option<u64>,
}

/// A reply as the provider sent it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredReply {
    /// The media type, such as `text/event-stream`.
    pub media_type: String,
    /// The bytes, at most as many as the settings allow.
    pub bytes: Vec<u8>,
    /// Bytes of the whole reply. There are more than in `bytes` if its end was not stored.
    pub length: u64,
}

impl RequestEnd {
    /// All ends.
    pub const ALL: [Self; 4] = [Self::Complete, Self::ClientGone, Self::ProviderGone, Self::Failed];

    /// Returns the stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::ClientGone => "client_gone",
            Self::ProviderGone => "provider_gone",
            Self::Failed => "failed",
        }
    }
}

impl Attempt {
    /// Describes a request that was sent once. The sentence is cut, and loses control characters.
    pub fn new(status: Option<u16>, bytes: u64, ms: u64) -> Self {
        Self { status, bytes, ms, class: None, says: None }
    }

    /// Adds the class of a rejection, and the provider's sentence.
    #[must_use]
    pub fn rejected(self, class: &str, says: &str) -> Self {
        let says = line(says, MAX_SENTENCE);
        Self {
            class: Some(class.to_owned()),
            says: Some(says).filter(|says| !says.is_empty()),
            ..self
        }
    }
}

impl RequestOutcome {
    /// Returns the name of a client's software as it is stored: one short line.
    pub fn agent_of(header: &[u8]) -> Option<String> {
        let agent = line(&String::from_utf8_lossy(header), MAX_AGENT);
        Some(agent).filter(|agent| !agent.is_empty())
    }

    /// Adds the values that backends store as text.
    pub fn with_names(
        self,
        session: Option<&str>,
        ended: &str,
        wire: Option<&str>,
        attempts: Option<&str>,
    ) -> Result<Self, Error> {
        let ended = RequestEnd::ALL.into_iter().find(|end| end.name() == ended);
        let wire = wire.map(|name| Wire::ALL.into_iter().find(|wire| wire.name() == name));
        let session = session.map(str::parse).transpose();
        Ok(Self {
            session: session.map_err(|_| Error::Damaged("the name of a session"))?,
            ended: ended.ok_or(Error::Damaged("the end of a reply"))?,
            sent_wire: wire
                .map(|wire| wire.ok_or(Error::Damaged("the name of a wire")))
                .transpose()?,
            attempts: attempts.map_or(Ok(Vec::new()), |attempts| {
                serde_json::from_str(attempts).map_err(|_| Error::Damaged("attempts"))
            })?,
            ..self
        })
    }

    /// Returns the attempts as text, if there are any.
    pub fn attempts_as_text(&self) -> Result<Option<String>, Error> {
        if self.attempts.is_empty() {
            return Ok(None);
        }
        let text = serde_json::to_string(&self.attempts);
        Ok(Some(text.map_err(|_| Error::Damaged("attempts"))?))
    }

    /// Returns the charge at list price in US dollars, as far as it is known: input and output.
    pub fn usd(&self) -> Option<f64> {
        let known = self.input_usd.into_iter().chain(self.output_usd);
        known.reduce(|one, other| one + other)
    }
}

impl From<Usage> for ReportedUsage {
    fn from(usage: Usage) -> Self {
        let Usage { input, output, cache_read, cache_write, reasoning } = usage;
        Self {
            input: Some(input),
            cache_read: Some(cache_read),
            cache_write: Some(cache_write),
            output: Some(output),
            reasoning: Some(reasoning),
        }
    }
}

/// Returns the beginning of a text, in one line.
fn line(text: &str, length: usize) -> String {
    let letters = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    letters.take(length).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_one_short_line() {
        let long = format!("no\nside over {}", "9".repeat(1000));
        let attempt = Attempt::new(Some(400), 10, 20).rejected("too_large", &long);
        let says = attempt.says.unwrap();
        assert_eq!(says.chars().count(), 500);
        assert!(says.starts_with("no side over 9"));
        assert_eq!(Attempt::new(None, 0, 0).rejected("other", "\n").says, None);
    }

    #[test]
    fn a_name_of_software_holds_no_control_characters() {
        let agent = RequestOutcome::agent_of(b"claude-cli/2.1\x1b[31m\xff").unwrap();
        assert!(!agent.chars().any(char::is_control) && agent.starts_with("claude-cli/2.1 "));
        assert_eq!(RequestOutcome::agent_of(b" "), None);
    }

    #[test]
    fn what_is_not_known_is_no_zero() {
        assert_eq!(RequestOutcome::default().usd(), None);
        let input = RequestOutcome { input_usd: Some(0.5), ..RequestOutcome::default() };
        assert_eq!(input.usd(), Some(0.5));
        let both = RequestOutcome { output_usd: Some(0.25), ..input };
        assert_eq!(both.usd(), Some(0.75));
    }
}
