//! The text of a JSON string. It stays escaped, as it came, until it has to be read.

use std::borrow::Cow;

/// A string that is either plain or still escaped, as it is between its quotes.
#[derive(Clone, Debug)]
pub enum Str<'a> {
    /// The bytes between the quotes of a JSON string.
    Escaped(&'a [u8]),
    /// Text that has to be escaped before it is written.
    Plain(Cow<'a, str>),
}

impl<'a> Str<'a> {
    /// Creates a string from plain text.
    pub fn plain(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Plain(text.into())
    }

    /// Returns the text. Bytes that are not UTF-8 become replacement characters.
    pub fn decode(&self) -> Cow<'a, str> {
        match self {
            Self::Plain(text) => text.clone(),
            Self::Escaped(bytes) => unescape(bytes),
        }
    }

    /// Returns the text if it is a name that is safe to repeat: a plain word in which no sentence can
    /// hide.
    pub(crate) fn plain_word(&self) -> Option<String> {
        let name = self.decode();
        let is_plain = (1..=64).contains(&name.len())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
        is_plain.then(|| name.into_owned())
    }

    /// Returns the number of bytes in its present form, escaped or plain.
    pub fn len(&self) -> usize {
        self.bytes().len()
    }

    /// Returns `true` if the text is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns its bytes in their present form, escaped or plain.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Plain(text) => text.as_bytes(),
            Self::Escaped(bytes) => bytes,
        }
    }

    /// Returns [`Self::bytes`] without leading white space, escaped or not.
    pub(crate) fn start(&self) -> &[u8] {
        let mut rest = self.bytes().trim_ascii_start();
        while let Some(after) = matches!(self, Self::Escaped(_))
            .then(|| [b"\\n", b"\\r", b"\\t"].iter().find_map(|space| rest.strip_prefix(*space)))
            .flatten()
        {
            rest = after.trim_ascii_start();
        }
        rest
    }

    /// Returns `true` if the text is exactly `word`.
    pub fn is(&self, word: &str) -> bool {
        match self {
            Self::Escaped(bytes) if *bytes == word.as_bytes() => !word.contains('\\'),
            Self::Escaped(bytes) if !bytes.contains(&b'\\') => false,
            _ => self.decode() == word,
        }
    }

    /// Returns a copy that borrows nothing.
    pub fn into_owned(self) -> Str<'static> {
        Str::Plain(Cow::Owned(self.decode().into_owned()))
    }
}

impl PartialEq for Str<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Escaped(left), Self::Escaped(right)) if left == right => true,
            _ => self.decode() == other.decode(),
        }
    }
}

impl Eq for Str<'_> {}

/// Undoes JSON's escapes. An invalid escape is kept as written.
fn unescape(bytes: &[u8]) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', bytes) else {
        // Nearly always it is UTF-8, and the strict check costs a fraction of the lossy
        // conversion.
        return std::str::from_utf8(bytes)
            .map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
    };
    let mut plain = Vec::with_capacity(bytes.len());
    plain.extend_from_slice(&bytes[..first]);
    let mut at = first;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            let run = memchr::memchr(b'\\', &bytes[at..]).unwrap_or(bytes.len() - at);
            plain.extend_from_slice(&bytes[at..at + run]);
            at += run;
            continue;
        }
        let simple = match bytes.get(at + 1) {
            Some(b'"') => b'"',
            Some(b'\\') => b'\\',
            Some(b'/') => b'/',
            Some(b'b') => 0x08,
            Some(b'f') => 0x0c,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let (character, length) = unicode_escape(&bytes[at..]);
                plain.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                at += length;
                continue;
            }
            _ => {
                plain.push(b'\\');
                at += 1;
                continue;
            }
        };
        plain.push(simple);
        at += 2;
    }
    match String::from_utf8(plain) {
        Ok(text) => Cow::Owned(text),
        Err(error) => Cow::Owned(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

/// Reads `\uXXXX`, or a surrogate pair of them. Returns the character and the number of bytes
/// read.
fn unicode_escape(bytes: &[u8]) -> (char, usize) {
    let unit = |at: usize| -> Option<u32> {
        let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let Some(first) = unit(0) else {
        return (char::REPLACEMENT_CHARACTER, 2);
    };
    if (0xd800..0xdc00).contains(&first)
        && let Some(second @ 0xdc00..0xe000) = unit(6)
    {
        let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
}

/// Appends `text` as the inside of a JSON string.
pub(crate) fn escape_into(text: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(byte >> 4)]);
                out.push(HEX[usize::from(byte & 15)]);
            }
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaping_and_unescaping_agree_with_serde() {
        for text in ["", "plain", "a\"b\\c/d\n\r\t\u{8}\u{c}\u{1}", "grüße 😀 \u{2028}", "\\u0041"]
        {
            let quoted = serde_json::to_string(text).unwrap();
            let inside = &quoted.as_bytes()[1..quoted.len() - 1];
            assert_eq!(Str::Escaped(inside).decode(), text);
            let mut ours = Vec::new();
            escape_into(text.as_bytes(), &mut ours);
            assert_eq!(Str::Escaped(&ours).decode(), text);
        }
    }

    #[test]
    fn odd_escapes_never_panic_and_read_as_something() {
        let inputs: [&[u8]; 9] = [
            b"\\",
            b"\\u",
            b"\\u12",
            b"\\ud83d",
            b"\\ud83d\\u0041",
            b"\\udc00",
            b"\\x41",
            b"\xff\xfe",
            b"\\u00e9\xff",
        ];
        for bytes in inputs {
            let _ = Str::Escaped(bytes).decode();
        }
        assert_eq!(Str::Escaped(b"\\ud83d\\ude00").decode(), "😀");
        assert_eq!(Str::Escaped(b"\\/9j\\/").decode(), "/9j/");
    }

    #[test]
    fn equality_looks_through_escapes() {
        assert!(Str::Escaped(b"a\\u0062c").is("abc"));
        assert!(!Str::Escaped(b"a\\\\b").is("a\\\\b"));
        assert!(Str::Escaped(b"a\\\\b").is("a\\b"));
        assert_eq!(Str::Escaped(b"\\/"), Str::plain("/"));
    }
}
