//! Writing: a list of segments, the long ones borrowed from the body they came from.

use std::borrow::Cow;

use super::text::{Str, escape_into};

/// From this length on a piece is borrowed instead of copied: below it, a segment of its own
/// would cost more than the bytes.
const WORTH_BORROWING: usize = 512;

/// A written body: segments to send one after another.
#[derive(Clone, Debug, Default)]
pub struct Segments<'a> {
    list: Vec<Cow<'a, [u8]>>,
}

impl<'a> Segments<'a> {
    /// A body that is one borrowed piece.
    pub fn whole(body: &'a [u8]) -> Self {
        Self { list: vec![Cow::Borrowed(body)] }
    }

    /// The segments, ready for a vectored write.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.list.iter().map(AsRef::as_ref)
    }

    /// The segments themselves, borrowed or not.
    pub fn into_pieces(self) -> impl Iterator<Item = Cow<'a, [u8]>> {
        self.list.into_iter()
    }

    /// The length of the body.
    pub fn len(&self) -> usize {
        self.iter().map(<[u8]>::len).sum()
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The body in one piece; copies it.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.len());
        self.iter().for_each(|segment| body.extend_from_slice(segment));
        body
    }

    /// Whether the body is these bytes.
    pub fn is(&self, body: &[u8]) -> bool {
        let is_same = |piece: &[u8]| std::ptr::eq(piece, body);
        if let [Cow::Borrowed(piece)] = self.list.as_slice()
            && is_same(piece)
        {
            return true;
        }
        let mut rest = body;
        let begins = |segment: &[u8]| match rest.strip_prefix(segment) {
            Some(after) => {
                rest = after;
                true
            }
            None => false,
        };
        self.len() == body.len() && self.iter().all(begins)
    }

    /// How many bytes were newly written rather than borrowed.
    pub fn written(&self) -> usize {
        self.list
            .iter()
            .map(|segment| match segment {
                Cow::Borrowed(_) => 0,
                Cow::Owned(bytes) => bytes.len(),
            })
            .sum()
    }
}

/// A piece of JSON that was written apart, to be put into a body later.
pub(crate) type Fragment<'a> = Segments<'a>;

/// A writer of segments.
#[derive(Debug, Default)]
pub(crate) struct Out<'a> {
    done: Vec<Cow<'a, [u8]>>,
    tail: Vec<u8>,
}

impl<'a> Out<'a> {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// JSON text of our own.
    pub(crate) fn json(&mut self, text: &str) -> &mut Self {
        self.tail.extend_from_slice(text.as_bytes());
        self
    }

    /// Bytes of the body, as they stand.
    pub(crate) fn raw(&mut self, bytes: &'a [u8]) -> &mut Self {
        if bytes.len() < WORTH_BORROWING {
            self.tail.extend_from_slice(bytes);
        } else {
            self.flush();
            self.done.push(Cow::Borrowed(bytes));
        }
        self
    }

    /// Bytes that may be ours or the body's, as they stand.
    pub(crate) fn bytes(&mut self, bytes: Cow<'a, [u8]>) -> &mut Self {
        match bytes {
            Cow::Borrowed(bytes) => self.raw(bytes),
            Cow::Owned(bytes) if bytes.len() < WORTH_BORROWING => {
                self.tail.extend_from_slice(&bytes);
                self
            }
            Cow::Owned(bytes) => {
                self.flush();
                self.done.push(Cow::Owned(bytes));
                self
            }
        }
    }

    /// The inside of a JSON string.
    pub(crate) fn inside(&mut self, text: &Str<'a>) -> &mut Self {
        match text {
            Str::Escaped(bytes) => self.raw(bytes),
            Str::Plain(text) => self.escaped(text.as_bytes()),
        }
    }

    /// Bytes to be escaped into the inside of a JSON string.
    pub(crate) fn escaped(&mut self, text: &[u8]) -> &mut Self {
        escape_into(text, &mut self.tail);
        self
    }

    /// A JSON string.
    pub(crate) fn string(&mut self, text: &Str<'a>) -> &mut Self {
        self.json("\"").inside(text).json("\"")
    }

    /// A JSON string of our own text.
    pub(crate) fn quoted(&mut self, text: &str) -> &mut Self {
        self.json("\"").escaped(text.as_bytes()).json("\"")
    }

    /// `"name":`
    pub(crate) fn key(&mut self, name: &str) -> &mut Self {
        self.quoted(name).json(":")
    }

    /// `true` or `false`.
    pub(crate) fn boolean(&mut self, value: bool) -> &mut Self {
        self.json(if value { "true" } else { "false" })
    }

    /// A member that is an object, unless nothing is written into it.
    pub(crate) fn object(&mut self, name: &str, write: impl FnOnce(&mut Self)) -> &mut Self {
        let mut inside = Self::new();
        inside.json("{");
        write(&mut inside);
        inside.json("}");
        let inside = inside.finish();
        if inside.len() > "{}".len() {
            self.comma().key(name).fragment(inside);
        }
        self
    }

    /// What was written apart.
    pub(crate) fn fragment(&mut self, fragment: Fragment<'a>) -> &mut Self {
        for piece in fragment.list {
            self.bytes(piece);
        }
        self
    }

    /// Whether nothing was written since the last structural opening: decides about a comma.
    pub(crate) fn comma(&mut self) -> &mut Self {
        let last = self.tail.last().or_else(|| self.done.last().and_then(|piece| piece.last()));
        if !matches!(last, None | Some(b'[' | b'{' | b',' | b':')) {
            self.tail.push(b',');
        }
        self
    }

    /// Takes back the brace that closed the last object, so that a member can be added to it.
    pub(crate) fn reopen(&mut self) -> &mut Self {
        if self.tail.is_empty()
            && let Some(last) = self.done.pop()
        {
            match last {
                Cow::Owned(bytes) => self.tail = bytes,
                Cow::Borrowed(bytes) => {
                    let inside = bytes.strip_suffix(b"}").unwrap_or(bytes);
                    self.done.push(Cow::Borrowed(inside));
                    return self;
                }
            }
        }
        if self.tail.last() == Some(&b'}') {
            self.tail.pop();
        }
        self
    }

    /// Whether nothing was written.
    pub(crate) fn is_empty(&self) -> bool {
        self.done.is_empty() && self.tail.is_empty()
    }

    pub(crate) fn finish(mut self) -> Segments<'a> {
        self.flush();
        Segments { list: self.done }
    }

    fn flush(&mut self) {
        if !self.tail.is_empty() {
            self.done.push(Cow::Owned(std::mem::take(&mut self.tail)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_pieces_are_borrowed_and_short_ones_gathered() {
        let long = vec![b'x'; 4096];
        let mut out = Out::new();
        out.json("{")
            .key("a")
            .string(&Str::Escaped(&long))
            .comma()
            .key("b")
            .quoted("q\"")
            .json("}");
        let segments = out.finish();
        assert_eq!(segments.iter().count(), 3);
        assert_eq!(segments.len(), 4096 + segments.written());
        let body = segments.to_vec();
        assert!(body.starts_with(b"{\"a\":\"xxx"));
        assert!(body.ends_with(b"x\",\"b\":\"q\\\"\"}"));
    }

    #[test]
    fn commas_stand_between_and_nowhere_else() {
        let mut out = Out::new();
        out.json("[");
        for number in ["1", "2", "3"] {
            out.comma().json(number);
        }
        out.json("]");
        assert_eq!(out.finish().to_vec(), b"[1,2,3]");
    }
}
