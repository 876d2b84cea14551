//! Reading the scanned nodes: cheap handles that borrow from the text.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::scan::{BASE64_TAIL, ESCAPED, Node, Quoting, Runs, Scanned, Stop, scan};
use super::text::Str;

pub use super::scan::Kind;

/// The index of a node in its document.
pub(crate) type NodeId = u32;

/// A JSON text and the positions of its values.
#[derive(Clone, Debug)]
pub struct Doc<'a> {
    text: &'a [u8],
    quoting: Quoting,
    nodes: Vec<Node>,
    /// The long runs of base64.
    runs: Vec<(u32, u32)>,
    /// For every node, its parent and its index among the children. Computed on first use.
    parents: OnceLock<Vec<(NodeId, u32)>>,
}

impl<'a> Doc<'a> {
    /// Scans a JSON text. Returns `None` if it is not JSON, or is longer than 4 GiB.
    pub fn read(text: &'a [u8]) -> Option<Self> {
        Self::parse(text).ok()
    }

    /// Scans a JSON text.
    pub(crate) fn parse(text: &'a [u8]) -> Result<Self, Stop> {
        Self::parse_knowing(text, Runs::default())
    }

    /// Scans a JSON text, given the long base64 runs that are already known.
    pub(crate) fn parse_knowing(text: &'a [u8], known: Runs<'_>) -> Result<Self, Stop> {
        let Scanned { nodes, runs } = scan(text, Quoting::Plain, known)?;
        Ok(Self { text, quoting: Quoting::Plain, nodes, runs, parents: OnceLock::new() })
    }

    /// Scans JSON inside a JSON string, given the bytes between the quotes.
    #[cfg(test)]
    pub(crate) fn parse_escaped(inside: &'a [u8]) -> Result<Self, Stop> {
        Self::parse_escaped_knowing(inside, Runs::default())
    }

    fn parse_escaped_knowing(inside: &'a [u8], known: Runs<'_>) -> Result<Self, Stop> {
        let Scanned { nodes, runs } = scan(inside, Quoting::Escaped, known)?;
        Ok(Self { text: inside, quoting: Quoting::Escaped, nodes, runs, parents: OnceLock::new() })
    }

    /// Creates an empty document, for bodies that are not JSON.
    pub(crate) const fn empty(text: &'a [u8]) -> Self {
        Self {
            text,
            quoting: Quoting::Plain,
            nodes: Vec::new(),
            runs: Vec::new(),
            parents: OnceLock::new(),
        }
    }

    /// Returns `true` if the text is the inside of a JSON string.
    pub(crate) fn is_escaped(&self) -> bool {
        self.quoting == Quoting::Escaped
    }

    /// Returns the root value.
    pub fn root(&self) -> Option<Value<'_, 'a>> {
        (!self.nodes.is_empty()).then_some(Value { doc: self, id: 0 })
    }

    /// Returns every object in the text.
    pub(crate) fn objects(&self) -> impl Iterator<Item = Value<'_, 'a>> {
        let ids = (0..).zip(&self.nodes).filter(|(_, node)| node.kind == Kind::Object);
        ids.map(|(id, _)| self.value(id))
    }

    /// Returns `true` if any value or key is the string `word`.
    pub(crate) fn has_string(&self, word: &str) -> bool {
        // An escape sequence is at most seven bytes for one.
        let (quotes, most) = (2 * self.quoting.quote_len(), 7 * word.len());
        (0..).zip(&self.nodes).any(|(id, node)| {
            let length = ((node.end - node.start) as usize).wrapping_sub(quotes);
            let may_be = if node.flags & ESCAPED == 0 {
                length == word.len()
            } else {
                length > word.len() && length <= most
            };
            may_be && node.kind == Kind::String && self.value(id).is(word)
        })
    }

    pub(crate) fn value(&self, id: NodeId) -> Value<'_, 'a> {
        Value { doc: self, id }
    }

    /// Returns the number of values, keys included.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the JSON pointer of a value.
    pub fn pointer_to(&self, value: Value<'_, '_>) -> String {
        self.pointer(value.id())
    }

    /// Returns the JSON pointer of a node.
    pub(crate) fn pointer(&self, id: NodeId) -> String {
        let parents = self.parents.get_or_init(|| self.find_parents());
        let mut steps = Vec::new();
        let mut at = id;
        while let Some(&(parent, ordinal)) = parents.get(at as usize).filter(|_| at != 0) {
            steps.push(match self.nodes[parent as usize].kind {
                // The key comes right before its value.
                Kind::Object => {
                    let key = self.value(at - 1).str().map(|key| key.decode().into_owned());
                    key.unwrap_or_default().replace('~', "~0").replace('/', "~1")
                }
                _ => ordinal.to_string(),
            });
            at = parent;
        }
        steps.iter().rev().fold(String::new(), |pointer, step| pointer + "/" + step)
    }

    fn find_parents(&self) -> Vec<(NodeId, u32)> {
        let mut parents = vec![(0, 0); self.nodes.len()];
        let mut open: Vec<(NodeId, u32)> = Vec::new();
        for id in 0..self.nodes.len() as NodeId {
            while open.last().is_some_and(|&(parent, _)| self.nodes[parent as usize].next <= id) {
                open.pop();
            }
            if let Some((parent, children)) = open.last_mut() {
                parents[id as usize] = (*parent, *children);
                *children += 1;
            }
            if matches!(self.nodes[id as usize].kind, Kind::Array | Kind::Object) {
                open.push((id, 0));
            }
        }
        parents
    }
}

/// One value of a document.
#[derive(Clone, Copy, Debug)]
pub struct Value<'d, 'a> {
    doc: &'d Doc<'a>,
    id: NodeId,
}

impl<'d, 'a> Value<'d, 'a> {
    fn node(&self) -> Node {
        self.doc.nodes[self.id as usize]
    }

    pub(crate) const fn id(&self) -> NodeId {
        self.id
    }

    /// Returns the id of the node behind the value and all that is in it.
    pub(crate) fn next_id(&self) -> NodeId {
        self.node().next
    }

    /// Returns the kind of the value.
    pub fn kind(&self) -> Kind {
        self.node().kind
    }

    /// Returns its byte range in the text, quotes and brackets included.
    pub fn span(&self) -> std::ops::Range<usize> {
        let node = self.node();
        node.start as usize..node.end as usize
    }

    /// Returns `true` if the value is inside a JSON string, with its quotes escaped.
    pub(crate) fn is_escaped(&self) -> bool {
        self.doc.is_escaped()
    }

    /// Returns the bytes as they are in the text.
    pub fn raw(&self) -> &'a [u8] {
        &self.doc.text[self.span()]
    }

    /// Returns the bytes between the quotes of a string.
    pub(crate) fn inside(&self) -> Option<&'a [u8]> {
        let quote = self.doc.quoting.quote_len();
        let span = self.span();
        (self.kind() == Kind::String).then(|| &self.doc.text[span.start + quote..span.end - quote])
    }

    /// Scans the JSON inside this string. The string must belong to a plain document.
    pub(crate) fn parse_inside(&self) -> Option<Result<Doc<'a>, Stop>> {
        let inside = self.inside()?;
        let base = self.span().start + self.doc.quoting.quote_len();
        Some(Doc::parse_escaped_knowing(inside, Runs { list: &self.doc.runs, base }))
    }

    /// Returns the text of a string.
    pub fn str(&self) -> Option<Str<'a>> {
        let inside = self.inside()?;
        Some(match self.doc.quoting {
            Quoting::Escaped if self.node().flags & ESCAPED != 0 => {
                let once = Str::Escaped(inside).decode().into_owned();
                Str::plain(Str::Escaped(once.as_bytes()).decode().into_owned())
            }
            Quoting::Plain | Quoting::Escaped => Str::Escaped(inside),
        })
    }

    /// Returns `true` if the string is known to be base64 from its [`super::PROBE`]th byte on.
    pub(crate) fn has_base64_tail(&self) -> bool {
        self.node().flags & BASE64_TAIL != 0
    }

    pub(crate) fn has_escapes(&self) -> bool {
        self.node().flags & ESCAPED != 0
    }

    /// Returns `true` if this is the string `word`.
    pub fn is(&self, word: &str) -> bool {
        let node = self.node();
        if node.kind == Kind::String && node.flags & ESCAPED == 0 {
            return self.inside() == Some(word.as_bytes());
        }
        self.str().is_some_and(|text| text.is(word))
    }

    const fn no_children(self) -> Children<'d, 'a> {
        Children { doc: self.doc, at: 0, end: 0 }
    }

    fn is_object(self) -> bool {
        self.kind() == Kind::Object
    }

    pub(crate) fn is_list(self) -> bool {
        self.kind() == Kind::Array
    }

    pub(crate) fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    /// Returns the value of a boolean.
    pub fn bool(&self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.raw() == b"true")
    }

    pub(crate) fn u64(&self) -> Option<u64> {
        std::str::from_utf8(self.raw()).ok()?.parse().ok()
    }

    /// Returns the members of an object; nothing for other values.
    pub fn entries(self) -> impl Iterator<Item = (Str<'a>, Value<'d, 'a>)> {
        let inside = if self.kind() == Kind::Object { self.children() } else { self.no_children() };
        let mut children = inside;
        std::iter::from_fn(move || {
            let key = children.next()?;
            let value = children.next()?;
            Some((key.str()?, value))
        })
    }

    /// Returns the elements of an array; nothing for other values.
    pub fn items(self) -> impl Iterator<Item = Value<'d, 'a>> {
        if self.kind() == Kind::Array { self.children() } else { self.no_children() }
    }

    /// Returns the member of that name. If a name repeats, the last one counts, as most servers
    /// read it.
    pub fn get(self, name: &str) -> Option<Value<'d, 'a>> {
        self.named(name).last()
    }

    /// Returns the members of that name, in order.
    pub(crate) fn named(self, name: &str) -> impl Iterator<Item = Value<'d, 'a>> {
        let own = self.node();
        let end = if own.kind == Kind::Object { own.next } else { 0 };
        let (nodes, text) = (&self.doc.nodes, self.doc.text);
        let quote = self.doc.quoting.quote_len() as u32;
        let length = name.len() + 2 * quote as usize;
        let mut at = self.id + 1;
        std::iter::from_fn(move || {
            while at < end {
                let (id, key) = (at, nodes[at as usize]);
                at = nodes[at as usize + 1].next;
                // Nearly all keys differ in length or have no escapes, and are not decoded.
                let is_named = if key.flags & ESCAPED == 0 {
                    (key.end - key.start) as usize == length
                        && text[(key.start + quote) as usize..(key.end - quote) as usize]
                            == *name.as_bytes()
                } else {
                    self.doc.value(id).is(name)
                };
                if is_named {
                    return Some(self.doc.value(id + 1));
                }
            }
            None
        })
    }

    /// Returns the members of these names, as [`Self::get`] does for each, in one pass.
    pub(crate) fn members<const N: usize>(self, names: [&str; N]) -> [Option<Self>; N] {
        let mut members = [None; N];
        let quote = self.doc.quoting.quote_len();
        let mut children = if self.is_object() { self.children() } else { self.no_children() };
        while let (Some(key), Some(value)) = (children.next(), children.next()) {
            let is_escaped = key.has_escapes();
            let inside = &self.doc.text[key.span().start + quote..key.span().end - quote];
            for (member, name) in members.iter_mut().zip(names) {
                if is_escaped && key.is(name) || !is_escaped && inside == name.as_bytes() {
                    *member = Some(value);
                    break;
                }
            }
        }
        members
    }

    /// Returns [`Self::word`] of the member of that name, if it is a string.
    pub(crate) fn word_of(self, name: &str) -> Option<Cow<'a, [u8]>> {
        self.get(name).filter(|value| value.kind() == Kind::String).map(|value| value.word())
    }

    /// Returns the bytes of a string without escapes, or those that it decodes to. Returns an empty
    /// slice for other values. For comparing with words of ASCII, which no text that is not UTF-8
    /// decodes to.
    pub(crate) fn word(&self) -> Cow<'a, [u8]> {
        match self.inside() {
            Some(inside) if !self.has_escapes() => Cow::Borrowed(inside),
            Some(_) => {
                self.str().map_or(Cow::Borrowed(b"".as_slice()), |text| match text.decode() {
                    Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                    Cow::Owned(text) => Cow::Owned(text.into_bytes()),
                })
            }
            None => Cow::Borrowed(b""),
        }
    }

    /// Returns the number of elements of an array.
    pub(crate) fn count(self) -> usize {
        self.items().count()
    }

    fn children(self) -> Children<'d, 'a> {
        Children { doc: self.doc, at: self.id + 1, end: self.node().next }
    }
}

struct Children<'d, 'a> {
    doc: &'d Doc<'a>,
    at: NodeId,
    end: NodeId,
}

impl<'d, 'a> Iterator for Children<'d, 'a> {
    type Item = Value<'d, 'a>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        let value = self.doc.value(self.at);
        self.at = value.node().next;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_members_and_names_their_place() {
        let doc = Doc::parse(br#"{"a/b":[{"c":"x"},{"c":"y","c":"z"}],"n":12}"#).unwrap();
        let root = doc.root().unwrap();
        let members = root.get("a/b").unwrap();
        let last = members.items().last().unwrap().get("c").unwrap();
        assert!(last.is("z"));
        assert_eq!(doc.pointer(last.id()), "/a~1b/1/c");
        assert_eq!(root.get("n").unwrap().u64(), Some(12));
        assert!(root.get("missing").is_none());
        assert_eq!(members.raw(), br#"[{"c":"x"},{"c":"y","c":"z"}]"#);
    }

    #[test]
    fn names_and_words_are_compared_as_they_are_decoded() {
        let text = br#"{"ro\u006ce":"a","role":"us\u0065r","rol":"b","role":"tool","n":[],"":1}"#;
        let doc = Doc::parse(text).unwrap();
        let root = doc.root().unwrap();
        let named = |name: &str| root.named(name).map(|value| value.word()).collect::<Vec<_>>();
        assert_eq!(named("role"), [b"a".as_slice(), b"user", b"tool"]);
        assert_eq!(root.word_of("role").as_deref(), Some(b"tool".as_slice()));
        assert_eq!((named("rol").len(), named("").len(), named("ro").len()), (1, 1, 0));
        assert_eq!(root.word_of("n"), None);
        assert!(root.get("n").unwrap().get("role").is_none());
        let inner = serde_json::to_string(&String::from_utf8_lossy(text)).unwrap();
        let inner = Doc::parse_escaped(&inner.as_bytes()[1..inner.len() - 1]).unwrap();
        let root = inner.root().unwrap();
        let named = |name: &str| root.named(name).map(|value| value.word()).collect::<Vec<_>>();
        assert_eq!(named("role"), [b"a".as_slice(), b"user", b"tool"]);
    }

    #[test]
    fn strings_inside_strings_read_through_both_layers() {
        let inner = r#"{"t":"say \"hi\" \\ \n","d":"QUJD"}"#;
        let outer = serde_json::to_string(inner).unwrap();
        let doc = Doc::parse_escaped(&outer.as_bytes()[1..outer.len() - 1]).unwrap();
        let root = doc.root().unwrap();
        assert_eq!(root.get("t").unwrap().str().unwrap().decode(), "say \"hi\" \\ \n");
        assert!(matches!(root.get("d").unwrap().str(), Some(Str::Escaped(b"QUJD"))));
    }
}
