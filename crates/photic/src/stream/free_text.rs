//! The free text of a call, out of the JSON that other wires wrap it in.
//!
//! A tool that takes free text is a function with one argument, `input`, on wires without such
//! tools. Its arguments arrive as pieces of JSON, and leave as pieces of the text inside.

use crate::json::Str;
use crate::transcript::Arguments;

/// The JSON before the text, token by token.
const OPENING: [&str; 4] = ["{", "\"input\"", ":", "\""];

/// The arguments of a call, as far as they are not passed on.
#[derive(Debug, Default)]
pub(super) struct FreeText {
    json: String,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The text has not begun.
    #[default]
    Before,
    /// The text is being passed on.
    Inside,
    /// The text has ended.
    After,
    /// The JSON has another form, and is read when it is complete.
    Other,
}

impl FreeText {
    /// Takes more JSON, and returns the text in it.
    pub(super) fn feed(&mut self, json: &str) -> String {
        if self.state == State::After {
            return String::new();
        }
        self.json.push_str(json);
        if self.state == State::Before {
            self.open();
        }
        if self.state == State::Inside { self.decode() } else { String::new() }
    }

    /// Returns the text that could not be passed on before the arguments were complete.
    pub(super) fn finish(self) -> String {
        match self.state {
            State::Inside | State::After => String::new(),
            State::Before | State::Other => {
                Arguments::Text(Str::plain(self.json)).free_text().decode().into_owned()
            }
        }
    }

    fn open(&mut self) {
        let mut rest = self.json.as_str();
        for token in OPENING {
            rest = rest.trim_start();
            match rest.strip_prefix(token) {
                Some(after) => rest = after,
                None if token.starts_with(rest) => return,
                None => {
                    self.state = State::Other;
                    return;
                }
            }
        }
        self.json = rest.to_owned();
        self.state = State::Inside;
    }

    /// Decodes complete characters, and keeps an escape that is cut off.
    fn decode(&mut self) -> String {
        let mut text = String::new();
        let mut rest = self.json.as_str();
        while let Some(letter) = rest.chars().next() {
            let (decoded, length) = match letter {
                '"' => {
                    self.state = State::After;
                    break;
                }
                '\\' => match escape(rest) {
                    Some(escape) => escape,
                    None => break,
                },
                other => (other, other.len_utf8()),
            };
            text.push(decoded);
            rest = &rest[length..];
        }
        self.json = rest.to_owned();
        text
    }
}

/// Reads an escape and returns its character and length, or `None` if it is cut off.
fn escape(text: &str) -> Option<(char, usize)> {
    let simple = match text.as_bytes().get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return unicode(text),
        _ => {
            let letter = text[1..].chars().next()?;
            return Some((letter, 1 + letter.len_utf8()));
        }
    };
    Some((simple, 2))
}

/// Reads an escaped code point, which may be two halves.
fn unicode(text: &str) -> Option<(char, usize)> {
    const UNKNOWN: char = '\u{fffd}';
    let Ok(first) = unit(text, 2)? else { return Some((UNKNOWN, 2)) };
    if !(0xd800..0xdc00).contains(&first) {
        return Some((char::from_u32(first).unwrap_or(UNKNOWN), 6));
    }
    let half = Some((UNKNOWN, 6));
    match text.as_bytes().get(6..8) {
        Some(b"\\u") => match unit(text, 8)? {
            Ok(second) if (0xdc00..0xe000).contains(&second) => {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                Some((char::from_u32(code).unwrap_or(UNKNOWN), 12))
            }
            _ => half,
        },
        Some(_) => half,
        None => None,
    }
}

/// Error of an escape that has other letters than digits.
struct NotDigits;

/// Reads four digits, or returns `None` if they are cut off.
fn unit(text: &str, at: usize) -> Option<Result<u32, NotDigits>> {
    let digits = text.as_bytes().get(at..at + 4)?;
    let digits = std::str::from_utf8(digits).ok();
    let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    Some(number.ok_or(NotDigits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(json: &str, step: usize) -> String {
        let mut text = FreeText::default();
        let letters: Vec<char> = json.chars().collect();
        let mut out = String::new();
        for piece in letters.chunks(step) {
            out += &text.feed(&piece.iter().collect::<String>());
        }
        out + &text.finish()
    }

    #[test]
    fn text_comes_out_whole_however_it_is_cut() {
        for (json, expected) in [
            (r#"{"input":"a \"b\"\n\u00e9\ud83d\ude42\\ ü"}"#, "a \"b\"\n\u{e9}\u{1f642}\\ ü"),
            (r#" { "input" : "x" , "y": 1}"#, "x"),
            (r#"{"input":""}"#, ""),
            (r#"{"y":1,"input":"later"}"#, "later"),
            (r#"{"code":"x"}"#, r#"{"code":"x"}"#),
            ("just words", "just words"),
            ("", ""),
            (r#"{"input":"\ud83d!"}"#, "\u{fffd}!"),
        ] {
            for step in [1, 2, 3, 5, 100] {
                assert_eq!(whole(json, step), expected, "{json} by {step}");
            }
        }
    }

    #[test]
    fn text_is_passed_on_as_it_arrives() {
        let mut text = FreeText::default();
        assert_eq!(text.feed("{\"inp"), "");
        assert_eq!(text.feed("ut\":\"ab"), "ab");
        assert_eq!(text.feed("c\\"), "c");
        assert_eq!(text.feed("nd\"}"), "\nd");
        assert_eq!(text.finish(), "");
    }

    #[test]
    fn half_an_escape_at_any_byte_is_no_panic() {
        for tail in ["\\u12", "\\uzzzz", "\\ué12", "\\u123é", "\\", "\\ud83d\\u12é", "\\é"] {
            for step in [1, 2, 100] {
                whole(&format!("{{\"input\":\"{tail}"), step);
            }
        }
    }
}
