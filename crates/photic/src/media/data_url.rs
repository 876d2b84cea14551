//! Data URLs: read in every spelling seen in the wild, written in one.

use std::borrow::Cow;

use super::payload::Payload;
use crate::json::Str;

/// A parsed data URL.
#[derive(Clone, Debug)]
pub struct DataUrl<'a> {
    /// The type it declares.
    pub media_type: Option<Str<'a>>,
    /// Its bytes; `None` if they cannot be decoded.
    pub payload: Option<Payload<'a>>,
    /// `true` if it is already in canonical form.
    pub canonical: bool,
}

impl<'a> DataUrl<'a> {
    /// Reads a string that begins as a data URL does. Returns `None` for any other string.
    pub(crate) fn parse(text: &Str<'a>, tail_is_base64: bool) -> Option<Self> {
        if let Str::Escaped(bytes) = text
            && let Some(url) = Self::parse_canonical(bytes, tail_is_base64)
        {
            return Some(url);
        }
        if !begins_with_data(text) {
            return None;
        }
        match text.decode() {
            Cow::Borrowed(plain) => {
                Self::parse_canonical(plain.as_bytes(), false).or_else(|| Self::parse_loose(plain))
            }
            // JSON escapes are not an error of the sender: `\/` is a slash.
            Cow::Owned(plain) => match DataUrl::parse_canonical(plain.as_bytes(), false) {
                Some(url) => Some(url.into_owned()),
                None => DataUrl::parse_loose(&plain),
            },
        }
    }

    fn into_owned(self) -> DataUrl<'static> {
        DataUrl {
            media_type: self.media_type.map(Str::into_owned),
            payload: self.payload.map(Payload::into_owned),
            canonical: self.canonical,
        }
    }

    /// Reads `data:type/subtype;base64,` in lower case, followed by canonical base64 and nothing
    /// else.
    fn parse_canonical(bytes: &'a [u8], tail_is_base64: bool) -> Option<Self> {
        let rest = bytes.strip_prefix(b"data:")?;
        let head = &rest[..rest.len().min(96)];
        let comma = head.iter().position(|&byte| byte == b',')?;
        let media_type = rest[..comma].strip_suffix(b";base64")?;
        let known = media_type.iter().all(|&byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"/+.-".contains(&byte)
        }) && media_type.contains(&b'/')
            && !NICKNAMES.iter().any(|(nickname, _)| nickname.as_bytes() == media_type);
        let payload = Payload::canonical(&rest[comma + 1..], tail_is_base64)?;
        known.then_some(Self {
            media_type: Some(Str::Escaped(media_type)),
            payload: Some(payload),
            canonical: true,
        })
    }

    fn parse_loose(text: &str) -> Option<DataUrl<'static>> {
        let mut rest = strip_data(text.trim())?;
        let (mut head, mut body) = rest.split_once(',').unwrap_or((rest, ""));
        // A data URL wrapped in another one: the innermost holds the bytes.
        while let Some(inner) = strip_data(body.trim_start()) {
            rest = inner;
            (head, body) = rest.split_once(',').unwrap_or((rest, ""));
        }
        let mut words = head.split(';').map(str::trim);
        let media_type = words.next().unwrap_or_default().to_ascii_lowercase();
        let is_base64 = words.any(|word| word.eq_ignore_ascii_case("base64"));
        let payload = if is_base64 { Payload::forgiving(body) } else { percent_decoded(body) };
        Some(DataUrl {
            media_type: is_type(&media_type)
                .then(|| Str::plain(proper_name(&media_type).to_owned())),
            payload,
            canonical: false,
        })
    }
}

/// Common misspellings of types, and the correct names.
const NICKNAMES: [(&str, &str); 4] = [
    ("image/jpg", "image/jpeg"),
    ("image/pjpeg", "image/jpeg"),
    ("image/x-png", "image/png"),
    ("image/apng", "image/png"),
];

/// Returns the correct name of a type that is often misspelled.
pub(crate) fn proper_name(media_type: &str) -> &str {
    NICKNAMES
        .iter()
        .find(|(nickname, _)| *nickname == media_type)
        .map_or(media_type, |(_, name)| name)
}

/// Returns `true` if a label names one type: no wildcard, no half of a name, nothing but the name.
/// Labels are written into bodies, so they must not hold anything else.
pub(crate) fn is_type(label: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-_".contains(&byte))
    };
    label.split_once('/').is_some_and(|(kind, name)| is_name(kind) && is_name(name))
}

/// Returns `true` if a label names one type, possibly with parameters (`audio/l16;rate=16000`).
pub(crate) fn is_type_with_parameters(label: &str) -> bool {
    let (name, parameters) = label.split_once(';').unwrap_or((label, ""));
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+.-_=; ".contains(&byte);
    is_type(name.trim()) && parameters.bytes().all(is_plain)
}

/// Returns `true` if a label declares a film or a sound.
pub(crate) fn says_film_or_sound(label: &str) -> bool {
    ["video/", "audio/"]
        .iter()
        .any(|kind| label.get(..kind.len()).is_some_and(|head| head.eq_ignore_ascii_case(kind)))
}

/// Returns `true` if the string begins with `data:`, in any case.
pub(crate) fn begins_with_data(text: &Str<'_>) -> bool {
    text.start().get(..5).is_some_and(|head| head.eq_ignore_ascii_case(b"data:"))
}

fn strip_data(text: &str) -> Option<&str> {
    text.get(..5).filter(|head| head.eq_ignore_ascii_case("data:"))?;
    text.get(5..)
}

/// Decodes the body of a data URL that is not base64.
fn percent_decoded(text: &str) -> Option<Payload<'static>> {
    if text.is_empty() {
        return None;
    }
    let mut plain = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%')
            .then(|| bytes.get(at + 1..at + 3))
            .flatten()
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        plain.push(escaped.unwrap_or(bytes[at]));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    Some(Payload::encode(&plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<DataUrl<'_>> {
        DataUrl::parse(&Str::Escaped(text.as_bytes()), false)
    }

    #[test]
    fn the_canonical_form_is_borrowed() {
        let url = parse("data:image/png;base64,QUJD").unwrap();
        assert!(url.canonical);
        assert!(url.media_type.unwrap().is("image/png"));
        assert_eq!(url.payload.unwrap().base64(), b"QUJD");
    }

    #[test]
    fn other_spellings_are_read_and_marked() {
        for text in [
            "DATA:image/png;base64,QUJD",
            "data:IMAGE/PNG;BASE64,QUJD",
            "data:image/png;charset=utf-8;base64,QUJD",
            "data:image/png;name=a.png;base64,QUJD",
            "data:image/png;base64,QU\\r\\nJD",
            "data:image/png;base64,data:image/png;base64,QUJD",
            " data:image/png;base64,QUJD",
            "data:image/png;base64,Q%55JD",
            "data:image/png,ABC",
            "data:image/x-png;base64,QUJD",
        ] {
            let url = parse(text).unwrap();
            assert!(!url.canonical, "{text}");
            assert!(url.media_type.unwrap().is("image/png"), "{text}");
            assert_eq!(url.payload.unwrap().base64(), b"QUJD", "{text}");
        }
        assert!(parse("data:;base64,QUJD").unwrap().media_type.is_none());
        assert!(parse("data:image/jpg;base64,QUJD").unwrap().media_type.unwrap().is("image/jpeg"));
    }

    #[test]
    fn what_cannot_be_read_is_said_and_not_guessed() {
        for text in
            ["data:", "data:image/png;base64", "data:image/png;base64,", "data:image/png;base64,!!"]
        {
            assert!(parse(text).unwrap().payload.is_none(), "{text}");
        }
        for text in ["", "database", "https://example.com/a.png", "dat"] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
