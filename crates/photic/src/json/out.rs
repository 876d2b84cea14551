//! Writes JSON as a list of segments. Long segments borrow from the body they came from.

use std::borrow::Cow;

use super::text::{Str, escape_into};

/// Pieces of at least this length are borrowed instead of copied. For shorter ones, a separate
/// segment would cost more than the copied bytes.
const WORTH_BORROWING: usize = 512;

/// A written body: segments to send one after another.
#[derive(Clone, Debug, Default)]
pub struct Segments<'a> {
    list: Vec<Cow<'a, [u8]>>,
}

impl<'a> Segments<'a> {
    /// Creates a body of one borrowed piece.
    pub fn whole(body: &'a [u8]) -> Self {
        Self { list: vec![Cow::Borrowed(body)] }
    }

    /// Creates a body of pieces.
    pub(crate) const fn of(list: Vec<Cow<'a, [u8]>>) -> Self {
        Self { list }
    }

    /// Returns the segments, ready for a vectored write.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.list.iter().map(AsRef::as_ref)
    }

    /// Returns the segments themselves, borrowed or owned.
    pub fn into_pieces(self) -> impl Iterator<Item = Cow<'a, [u8]>> {
        self.list.into_iter()
    }

    /// Returns the length of the body in bytes.
    pub fn len(&self) -> usize {
        self.iter().map(<[u8]>::len).sum()
    }

    /// Returns `true` if the body has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the body in one piece. This copies it.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.len());
        self.iter().for_each(|segment| body.extend_from_slice(segment));
        body
    }

    /// Returns `true` if the body equals these bytes.
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

    /// Returns the number of bytes that were newly written rather than borrowed.
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

/// A piece of JSON that is written separately and put into a body later.
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

    /// Writes JSON text of ours.
    pub(crate) fn json(&mut self, text: &str) -> &mut Self {
        self.tail.extend_from_slice(text.as_bytes());
        self
    }

    /// Writes bytes of the body unchanged.
    pub(crate) fn raw(&mut self, bytes: &'a [u8]) -> &mut Self {
        if bytes.len() < WORTH_BORROWING {
            self.tail.extend_from_slice(bytes);
        } else {
            self.flush();
            self.done.push(Cow::Borrowed(bytes));
        }
        self
    }

    /// Writes bytes unchanged, whether they are borrowed from the body or owned.
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

    /// Writes the inside of a JSON string.
    pub(crate) fn inside(&mut self, text: &Str<'a>) -> &mut Self {
        match text {
            Str::Escaped(bytes) => self.raw(bytes),
            Str::Plain(text) => self.escaped(text.as_bytes()),
        }
    }

    /// Escapes bytes into the inside of a JSON string.
    pub(crate) fn escaped(&mut self, text: &[u8]) -> &mut Self {
        escape_into(text, &mut self.tail);
        self
    }

    /// Writes a JSON string.
    pub(crate) fn string(&mut self, text: &Str<'a>) -> &mut Self {
        self.json("\"").inside(text).json("\"")
    }

    /// Writes our own text as a JSON string.
    pub(crate) fn quoted(&mut self, text: &str) -> &mut Self {
        self.json("\"").escaped(text.as_bytes()).json("\"")
    }

    /// Writes `"name":`.
    pub(crate) fn key(&mut self, name: &str) -> &mut Self {
        self.quoted(name).json(":")
    }

    /// Writes `true` or `false`.
    pub(crate) fn boolean(&mut self, value: bool) -> &mut Self {
        self.json(if value { "true" } else { "false" })
    }

    /// Writes a member that is an object. Writes nothing if the object stays empty.
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

    /// Appends a fragment that was written separately.
    pub(crate) fn fragment(&mut self, fragment: Fragment<'a>) -> &mut Self {
        for piece in fragment.list {
            self.bytes(piece);
        }
        self
    }

    /// Writes a comma, unless nothing was written yet or the last byte is `[`, `{`, `,` or `:`.
    pub(crate) fn comma(&mut self) -> &mut Self {
        let last = self.tail.last().or_else(|| self.done.last().and_then(|piece| piece.last()));
        if !matches!(last, None | Some(b'[' | b'{' | b',' | b':')) {
            self.tail.push(b',');
        }
        self
    }

    /// Removes the brace that closed the last object, so that a member can be added to it.
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

    /// Returns `true` if nothing was written.
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
