//! Edits the text of one record: the strings of a medium, its media type, or a block that becomes a
//! notice. Every other byte stays.

use std::ops::Range;

use photic::json::{Kind, Value};

use crate::block::Block;
use crate::media_in_record::LocatedMedia;

/// The change to a medium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Its media type is corrected.
    Label(String),
    /// Other bytes replace it.
    Bytes { media_type: String, base64: String },
    /// A notice replaces it.
    Words(String),
}

/// A picture that is removed from a list which may hold only pictures.
struct RemovedPicture<'c, 'd, 'a> {
    list: Value<'d, 'a>,
    span: Range<usize>,
    /// The value that takes the notice.
    host: Option<Value<'d, 'a>>,
    words: &'c str,
}

/// Applies the changes to a text.
pub(crate) fn apply(text: &[u8], changes: &[(LocatedMedia<'_, '_>, Change)]) -> Vec<u8> {
    let mut edits = Edits { text, list: Vec::new() };
    let mut gone = Vec::new();
    for (spot, change) in changes {
        match (change, spot.pictures_only) {
            (Change::Label(label), _) => edits.label(&spot.block, label),
            (Change::Bytes { media_type, base64 }, _) => {
                edits.bytes(&spot.block, media_type, base64);
            }
            (Change::Words(words), Some((list, host))) => {
                gone.push(RemovedPicture { list, span: spot.block.value.span(), host, words });
            }
            (Change::Words(words), None) => edits.words(&spot.block, words),
        }
    }
    edits.remove(&gone);
    edits.finish()
}

/// A JSON string.
pub(crate) fn quoted(text: &str) -> Vec<u8> {
    serde_json::to_vec(text).unwrap_or_default()
}

/// Replacements of ranges of a text.
struct Edits<'t> {
    text: &'t [u8],
    list: Vec<(Range<usize>, Vec<u8>)>,
}

impl Edits<'_> {
    /// Replaces the media type of a block.
    fn label(&mut self, block: &Block<'_, '_>, label: &str) {
        if let Some(value) = block.label {
            self.list.push((value.span(), quoted(label)));
        }
        if block.is_data_url() {
            let data = block.data.span();
            let comma =
                memchr::memchr(b',', block.data.raw()).map_or(data.end, |at| data.start + at + 1);
            self.list.push((data.start + 1..comma, format!("data:{label};base64,").into_bytes()));
        }
    }

    /// Replaces the bytes of a block.
    fn bytes(&mut self, block: &Block<'_, '_>, media_type: &str, base64: &str) {
        if let Some(value) = block.label {
            self.list.push((value.span(), quoted(media_type)));
        }
        let data = if block.is_data_url() {
            format!("\"data:{media_type};base64,{base64}\"")
        } else {
            format!("\"{base64}\"")
        };
        self.list.push((block.data.span(), data.into_bytes()));
    }

    /// Replaces a block by a notice.
    fn words(&mut self, block: &Block<'_, '_>, words: &str) {
        let (bytes, others) = block.members();
        let members: Vec<(Range<usize>, Value<'_, '_>, &str)> = block
            .value
            .entries()
            .map(|(key, value)| {
                let name = std::iter::once(bytes).chain(others.iter().copied());
                let name = name.chain(["type"]).find(|name| key.is(name)).unwrap_or_default();
                (self.member(value, key.len()), value, name)
            })
            .collect();
        for (range, value, name) in &members {
            if *name == bytes {
                let text = [b"\"text\":".to_vec(), quoted(words)].concat();
                self.list.push((range.clone(), text));
            } else if let Some(new) = block.notice_type().filter(|_| *name == "type") {
                self.list.push((value.span(), quoted(new)));
            }
        }
        let is_gone = |name: &str| others.contains(&name);
        self.without(members.iter().map(|(range, _, name)| (range.clone(), is_gone(name))));
    }

    /// The range of a member, from the quote of its key to the end of its value.
    fn member(&self, value: Value<'_, '_>, key: usize) -> Range<usize> {
        let before = self.text[..value.span().start].trim_ascii_end();
        let before = before.strip_suffix(b":").unwrap_or(before).trim_ascii_end();
        before.len() - key - 2..value.span().end
    }

    /// Removes some elements of a list, or members of an object.
    fn without(&mut self, elements: impl Iterator<Item = (Range<usize>, bool)>) {
        let elements: Vec<_> = elements.collect();
        let mut kept_before: Option<usize> = None;
        for (index, (range, is_gone)) in elements.iter().enumerate() {
            if !is_gone {
                kept_before = Some(range.end);
                continue;
            }
            // Removed with the separator before it; if nothing before it stays, with the one after
            // it.
            let gone = match (kept_before, index.checked_sub(1).map(|last| elements[last].0.end)) {
                (Some(_), Some(last)) => last..range.end,
                _ => range.start..elements.get(index + 1).map_or(range.end, |next| next.0.start),
            };
            self.list.push((gone, Vec::new()));
        }
    }

    /// Removes pictures from lists of pictures, and adds the notices to their host.
    fn remove(&mut self, gone: &[RemovedPicture<'_, '_, '_>]) {
        let mut rest = gone;
        while let Some(RemovedPicture { list, host, .. }) = rest.first() {
            let count = rest.iter().take_while(|other| other.list.span() == list.span()).count();
            let (here, others) = rest.split_at(count);
            let is_gone = |span: &Range<usize>| here.iter().any(|gone| gone.span == *span);
            self.without(list.items().map(|item| (item.span(), is_gone(&item.span()))));
            if let Some(host) = host {
                let words: Vec<&str> = here.iter().map(|gone| gone.words).collect();
                self.add_notice(*host, &words.join("\n"));
            }
            rest = others;
        }
    }

    /// Adds a notice to a string or an object.
    fn add_notice(&mut self, host: Value<'_, '_>, words: &str) {
        let span = host.span();
        let words = quoted(words);
        match host.kind() {
            Kind::String => {
                let separator: &[u8] = if span.len() > 2 { b"\\n" } else { b"" };
                let inside = [separator, &words[1..words.len() - 1]].concat();
                self.list.push((span.end - 1..span.end - 1, inside));
            }
            Kind::Object => {
                let comma: &[u8] = if host.entries().next().is_some() { b"," } else { b"" };
                let member = [b"\"not_shown\":", words.as_slice(), comma].concat();
                self.list.push((span.start + 1..span.start + 1, member));
            }
            Kind::Array | Kind::Null | Kind::Bool | Kind::Number => {}
        }
    }

    /// Applies all replacements.
    fn finish(mut self) -> Vec<u8> {
        self.list.sort_by_key(|(range, _)| (range.start, range.end));
        let mut out = Vec::with_capacity(self.text.len());
        let mut at = 0;
        for (range, with) in &self.list {
            out.extend_from_slice(&self.text[at..range.start.max(at)]);
            out.extend_from_slice(with);
            at = range.end.max(at);
        }
        out.extend_from_slice(&self.text[at..]);
        out
    }
}
