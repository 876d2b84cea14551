//! Redaction of texts: keys and tokens by pattern and entropy, mail addresses, card and phone
//! numbers, and paths of the machine. Each becomes `▇` and its kind.

use std::collections::BTreeMap;
use std::ops::Range;

use regex_lite::Regex;
use serde_json::Value;

/// Fewest letters of a word whose randomness is measured.
const MIN_RANDOM: usize = 20;
/// Fewest bits for each letter of a random word.
const MIN_BITS: f64 = 3.6;

/// Members whose values the inspector makes: they hold nothing that somebody else wrote.
const OWN: [&str; 21] = [
    "id",
    "session",
    "digest",
    "sent_digest",
    "fates",
    "did",
    "code",
    "kind",
    "role",
    "wire",
    "sent_wire",
    "letter",
    "reason",
    "media",
    "stands",
    "group",
    "severity",
    "state",
    "verdict",
    "token_rule",
    "version",
];

/// Members with the words of a conversation.
const WORDS: [&str; 8] =
    ["title", "came", "call", "label", "arguments", "says", "notice", "content"];
/// Members with pieces of bodies.
const PIECES: [&str; 5] = ["a", "b", "a_spans", "b_spans", "system"];

/// A pattern that begins with a word. In the JSON of a body, the letter of an escape may stand
/// before it.
macro_rules! begin {
    ($rest:literal) => {
        concat!(r"(?:\b|\\[nrt])", $rest)
    };
}

/// Finds what must not leave the machine.
#[derive(Debug)]
pub(crate) struct Redactor {
    patterns: Vec<(&'static str, Regex)>,
    counts: BTreeMap<String, u64>,
}

impl Redactor {
    /// Creates a redactor.
    pub(crate) fn new() -> Self {
        let patterns = [
            (
                "key",
                r"-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s\\n]*(-----END [A-Z ]*PRIVATE KEY-----)?",
            ),
            (
                "key",
                begin!(
                    r"(?:sk|pk|rk|xox[abpors]|gh[pousr]|glpat|hf|npm|pypi|photic)[-_][A-Za-z0-9_\-]{10,}"
                ),
            ),
            ("key", begin!(r"A[KS]IA[0-9A-Z]{16}\b")),
            ("key", begin!(r"AIza[0-9A-Za-z_\-]{30,}")),
            ("key", begin!(r"eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.?[A-Za-z0-9_\-]*")),
            ("key", begin!(r"(?i)(?:bearer|basic)\s+[A-Za-z0-9._~+/\-]{12,}=*")),
            // Handles of pictures open them for the tenant's agents.
            ("key", begin!(r"img_[0-9A-Za-z]{16}\b")),
            (
                "key",
                r#"(?i)[A-Za-z0-9_\-]*(?:password|passwd|secret|api[_-]?key|access[_-]?key|token)\\*["']?\s*[:=]\s*\\*["']?[^\s"',;}]{6,}"#,
            ),
            // User name and password of an address.
            ("key", r#"[A-Za-z][A-Za-z0-9+.\-]*://[^\s/:@"'<>\\]*:[^\s/@"'<>\\]+@"#),
            // Titles and labels may be cut within one.
            ("mail", r"[A-Za-z0-9._%+\-]+@[A-Za-z0-9\-]*(?:\.[A-Za-z0-9\-]+|…)+"),
            // Some programs escape slashes in JSON, and some make one name of a path.
            (
                "path",
                r"\\?/(?:home\\?/|Users\\?/|root\b|private\\?/|var\\?/folders\\?/|-home-|-Users-)[^\s\x22'<>|:;,)]*",
            ),
            ("path", begin!(r"(?i)[A-Z]:[\\/]+Users[\\/]+[^\s\x22'<>|:;,)]*")),
            ("phone", r"\+\d[\d ()./\-]{7,}\d"),
            ("card", begin!(r"\d(?:[ \-]?\d){12,18}\b")),
        ];
        let patterns =
            patterns.into_iter().filter_map(|(kind, text)| Some((kind, Regex::new(text).ok()?)));
        Self { patterns: patterns.collect(), counts: BTreeMap::new() }
    }

    /// Returns the number of places that were redacted, by kind.
    pub(crate) fn counts(&self) -> &BTreeMap<String, u64> {
        &self.counts
    }

    /// Redacts a text.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let mut found: Vec<(Range<usize>, &'static str)> = Vec::new();
        for (kind, pattern) in &self.patterns {
            if *kind == "card" {
                found.extend(cards(pattern, text).into_iter().map(|range| (range, *kind)));
            } else {
                found.extend(pattern.find_iter(text).map(|one| (one.range(), *kind)));
            }
        }
        found.extend(random_words(text).map(|range| (range, "key")));
        found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for (range, kind) in found {
            if range.start < at {
                // The rest of an overlapping one is no less secret.
                at = at.max(range.end);
                continue;
            }
            out.push_str(&text[at..range.start]);
            out.push_str("▇ ");
            out.push_str(kind);
            *self.counts.entry(kind.to_owned()).or_default() += 1;
            at = range.end;
        }
        out.push_str(&text[at..]);
        out
    }

    /// Redacts all texts of an answer. Names that the inspector gives stay.
    pub(crate) fn value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => {
                for (name, member) in members.iter_mut() {
                    if !OWN.contains(&name.as_str()) || !member.is_string() {
                        self.value(member);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Replaces the texts of a conversation by their lengths.
pub(crate) fn blank(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(blank),
        Value::Object(members) => {
            let has_text =
                members.get("kind").is_some_and(|kind| kind == "text" || kind == "notice")
                    || members.get("code").is_some_and(|code| code == "healed" || code == "failed");
            for (name, member) in members.iter_mut() {
                let name = name.as_str();
                if (WORDS.contains(&name) || (has_text && name == "text")) && member.is_string() {
                    blank_text(member);
                } else if PIECES.contains(&name) {
                    blank_pieces(member);
                } else {
                    blank(member);
                }
            }
        }
        _ => {}
    }
}

/// Replaces all texts in pieces of bodies.
fn blank_pieces(value: &mut Value) {
    match value {
        Value::String(_) => blank_text(value),
        Value::Array(items) => items.iter_mut().for_each(blank_pieces),
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                if name == "text" {
                    blank_text(member);
                }
            }
            // Turns of a comparison are under the names of pieces.
            if members.contains_key("came") {
                members
                    .iter_mut()
                    .filter(|(name, _)| *name == "came")
                    .for_each(|(_, came)| blank_text(came));
            }
        }
        _ => {}
    }
}

fn blank_text(value: &mut Value) {
    if let Value::String(text) = value
        && !text.is_empty()
    {
        *text = format!("▇ {} letters", text.chars().count());
    }
}

/// Returns the numbers of payment cards. Other numbers may stand beside them.
fn cards(pattern: &Regex, text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(one) = pattern.find_at(text, at) {
        if let Some(length) = card_length(one.as_str()) {
            at = one.start() + length;
            found.push(one.start()..at);
        } else {
            at = one.start() + 1;
        }
    }
    found
}

/// Returns the length of the payment card number that groups of digits begin with: all of them, or
/// as many as most cards have.
fn card_length(text: &str) -> Option<usize> {
    let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let digits = |end: usize| (0..end).filter(|at| is_digit(*at)).count();
    (1..=text.len()).rev().find(|end| {
        let is_whole_group = is_digit(end - 1) && !is_digit(*end);
        is_whole_group
            && (*end == text.len() || matches!(digits(*end), 15 | 16))
            && is_card(&text[..*end])
    })
}

/// Returns `true` if digits are those of a payment card (Luhn).
fn is_card(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|letter| letter.to_digit(10)).collect();
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| match at % 2 {
            0 => *digit,
            _ if *digit > 4 => digit * 2 - 9,
            _ => digit * 2,
        })
        .sum();
    (13..=19).contains(&digits.len()) && sum.is_multiple_of(10)
}

/// Returns words that look random: letters and digits mixed, with much entropy.
fn random_words(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let is_letter =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=');
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let start = at;
            while at < bytes.len() && is_letter(bytes[at]) {
                at += 1;
            }
            let word = &bytes[start..at];
            if at == start {
                at += 1;
                continue;
            }
            if word.len() >= MIN_RANDOM && is_random(word) {
                return Some(start..at);
            }
        }
        None
    })
}

fn is_random(word: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| word.iter().any(is);
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    if !has(u8::is_ascii_digit) || !has(u8::is_ascii_alphabetic) || digits == word.len() {
        return false;
    }
    // Paths and names made of words have separators.
    let separators = word.iter().filter(|byte| matches!(byte, b'_' | b'-' | b'/')).count();
    if separators * 8 > word.len() {
        return false;
    }
    let mut counts = [0_u32; 256];
    for byte in word {
        counts[usize::from(*byte)] += 1;
    }
    let length = word.len() as f64;
    let bits: f64 = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let part = f64::from(*count) / length;
            -part * part.log2()
        })
        .sum();
    // Hexadecimal digits have four bits at most.
    let is_hex = word.iter().all(u8::is_ascii_hexdigit);
    bits >= if is_hex { MIN_BITS - 0.6 } else { MIN_BITS }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_mails_numbers_and_paths_are_redacted_and_counted() {
        for (kind, secret) in [
            ("key", "sk-ant-REDACTED"),
            ("key", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
            ("key", "AKIAIOSFODNN7EXAMPLE"),
            ("key", "Bearer abcdef0123456789abcdef"),
            ("key", "password=hunter2hunter2"),
            ("key", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.s5c"),
            ("key", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
            ("mail", "ines.aldana@example.com"),
            ("key", "DB_PASSWORD=hunter2hunter2"),
            ("key", "postgres://ines:hunter2@"),
            ("key", "img_0123456789abcdef"),
            ("path", r"\/home\/ines\/projects"),
            ("path", "/-home-ines-projects/notes"),
            ("card", "4111 1111 1111 1111"),
            ("phone", "+49 30 1234567"),
            ("path", "/home/ines/projects/shop"),
            ("path", "C:\\Users\\Ines\\Desktop"),
        ] {
            let mut redactor = Redactor::new();
            let text = redactor.text(&format!("before {secret} after"));
            assert_eq!(text, format!("before ▇ {kind} after"), "{secret}");
            assert_eq!(redactor.counts().get(kind), Some(&1), "{secret}");
        }
    }

    #[test]
    fn secrets_are_found_in_json_and_beside_other_words() {
        for (text, secret) in [
            (r"said:\nsk-live-aaaaaaaaaaaa", "aaaaaaaaaaaa"),
            (r"card:\n4111111111111111", "4111111111111111"),
            (r#"{\"password\":\"hunter2hunter2\"}"#, "hunter2"),
            ("order 12345 4111 1111 1111 1111", "4111"),
            ("4111 1111 1111 1111 12/27 123", "4111"),
            (r"at\nC:\\Users\\Ines\\Desktop", "Ines"),
        ] {
            let mut redactor = Redactor::new();
            let told = redactor.text(text);
            assert!(!told.contains(secret) && told.contains('▇'), "{text}: {told}");
        }
    }

    #[test]
    fn without_texts_only_lengths_are_left() {
        let mut value = json!({"title": "Ines", "items": [
            {"index": 0, "role": "user", "parts": [{"kind": "text", "text": "Refund it"},
             {"kind": "call", "name": "click", "arguments": "{}"}]},
            {"a": [{"text": "old"}], "b": [{"text": "new", "changed": true}], "text": "#1 dropped"}],
            "settings": [{"name": "/model", "a": "one", "b": "two"}]});
        blank(&mut value);
        let text = value.to_string();
        for word in ["Ines", "Refund", "old", "new\"", "one", "two"] {
            assert!(!text.contains(word), "{word} in {text}");
        }
        assert!(text.contains("▇ 9 letters") && text.contains("#1 dropped"));
    }

    #[test]
    fn plain_words_stay() {
        let mut redactor = Redactor::new();
        for text in [
            "Order #11198 of 15.09 EUR was charged twice",
            "a/relative/path/to/some_file_name.rs and /usr/lib/photic",
            "the_quick_brown_fox_jumps_over_the_lazy_dog_2026",
            "2026-11-19T15:00:00Z 1794931492 4111 1111 1111 1112",
            "internationalization",
        ] {
            assert_eq!(redactor.text(text), text);
        }
        assert!(redactor.counts().is_empty());
    }

    #[test]
    fn texts_of_an_answer_are_redacted_and_names_stay() {
        let id = "s_061yxp635hrv9cbq";
        let digest = "9f86d081884c7d65";
        let mut value = json!({"id": id, "digest": digest, "n": 7,
            "items": [{"kind": "text", "text": "mail ines@example.com"}, {"arguments": "{\"to\":\"a@b.example\"}"}]});
        let mut redactor = Redactor::new();
        redactor.value(&mut value);
        assert_eq!((&value["id"], &value["digest"]), (&json!(id), &json!(digest)));
        assert_eq!(value["items"][0]["text"], "mail ▇ mail");
        assert!(!value.to_string().contains('@'));
    }
}
