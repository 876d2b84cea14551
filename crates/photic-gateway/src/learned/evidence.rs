//! The evidence of a lesson: the time and the message of the endpoint.
//!
//! The message is shortened, and words that could be keys, URLs or media are removed.

use serde::{Deserialize, Serialize};

/// Maximum characters of a message that are kept.
const MAX_CHARS: usize = 240;
/// Maximum run of letters and digits in a word. A longer one may be a key or base64.
const MAX_RUN: usize = 40;

/// The reply that taught a lesson.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The time, in seconds since 1970.
    pub at: u64,
    /// The status of the reply, or 0 if a probe looked at several replies.
    pub status: u16,
    /// The message of the reply, shortened and without secrets.
    pub said: String,
}

impl Evidence {
    /// Creates the evidence of a reply that arrived now.
    pub(crate) fn now(status: u16, said: &str) -> Self {
        Self { at: now(), status, said: redacted(said) }
    }

    /// Creates the evidence of a probe, which looked at several replies.
    pub fn probed(at: u64, said: &str) -> Self {
        Self { at, status: 0, said: redacted(said) }
    }

    /// Returns the source, as profiles name it.
    pub fn source(&self) -> String {
        match self.status {
            0 => self.said.clone(),
            status => format!("status {status}: {}", self.said),
        }
    }

    /// Returns the day, as in `2026-11-15`.
    pub fn day(&self) -> String {
        day(self.at)
    }
}

/// Returns the current time in seconds since 1970.
pub(crate) fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Shortens a message, and replaces words that may be secrets.
fn redacted(said: &str) -> String {
    let is_run = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-');
    let mut kept = String::new();
    for word in said.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let secret = ["sk-", "data:", "eyJ", "AIza", "Bearer"].iter().any(|it| bare.contains(it));
        let run = word.split(|c| !is_run(c)).map(str::len).max().unwrap_or_default();
        if !kept.is_empty() {
            kept.push(' ');
        }
        if secret || run > MAX_RUN || word.contains("://") {
            kept.push('…');
        } else {
            kept.extend(word.chars().filter(|c| !c.is_control()));
        }
        if kept.chars().count() > MAX_CHARS {
            kept = kept.chars().take(MAX_CHARS).collect();
            kept.push('…');
            break;
        }
    }
    kept
}

/// Returns the day of a time in the Gregorian calendar.
///
/// An era of 400 years has 146,097 days. If years begin in March, the months before a given one have
/// a total length that a formula gives.
fn day(at: u64) -> String {
    let days = at / 86_400 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days() {
        for (at, expected) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_709_164_799, "2024-02-28"),
            (1_794_700_800, "2026-11-15"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(day(at), expected);
        }
    }

    #[test]
    fn neither_media_nor_keys_nor_addresses_are_kept() {
        let base64 = "iVBORw0KGgo".repeat(8);
        let said = format!(
            "image at messages.2.content.0.tool_result.content.1.image.source.base64.data {base64} \
             'data:image/png;base64,AAAA' https://h/?token=1 key sk-abc-123 is\u{1b} too large"
        );
        assert_eq!(
            redacted(&said),
            "image at messages.2.content.0.tool_result.content.1.image.source.base64.data … … … \
             key … is too large"
        );
        assert_eq!(redacted(&"word ".repeat(1000)).chars().count(), MAX_CHARS + 1);
    }
}
