//! `read`: returns text in lines, bounded, with the token that an edit requires.
//!
//! It never returns pixels or other binary data, and ignores file names when it detects the kind.

use serde::{Deserialize, Serialize};

use crate::arguments::{Lines, ReadArguments};
use crate::content::Content;
use crate::load::{head, renderer};
use crate::refusal::{Refusal, RefusalCode};
use crate::render::{PageText, RenderRequest};
use crate::source::{Source, shown};
use crate::tools::{Bounds, Inner, Tools, blocking};

/// Derivation context of the token digest.
const CONTEXT: &str = "photic 2026 read-before-edit token";

/// Text of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// The requested lines with their line ends, as far as they fit.
    pub text: String,
    /// Number of the first line, from 1; 0 for an empty file.
    pub first_line: usize,
    /// Number of the last line, complete or cut.
    pub last_line: usize,
    /// Number of lines of the file.
    pub total_lines: usize,
    /// The omitted part and how to get it; `None` if the text is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<String>,
    /// Proof that this content was read.
    pub fresh: FreshToken,
}

/// Proof that the text of a file was read, for edits that must not overwrite unseen content.
///
/// Only [`Tools::read`] creates one. It is a digest of the file's identity and content, so it
/// survives restarts and becomes invalid when a byte changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FreshToken(String);

impl Tools {
    /// Reads the text of a file.
    pub async fn read(&self, arguments: &ReadArguments) -> Result<Reading, Refusal> {
        let arguments = arguments.clone();
        blocking(&self.inner, move |inner| {
            let file = File::open(inner, &arguments.source)?;
            reading(inner, &file, &arguments)
        })
        .await
    }

    /// Reads text that is in memory, such as standard input. `arguments.source` is its name in
    /// sentences.
    pub async fn read_bytes(
        &self,
        bytes: Vec<u8>,
        arguments: &ReadArguments,
    ) -> Result<Reading, Refusal> {
        let arguments = arguments.clone();
        blocking(&self.inner, move |inner| {
            let file = File::in_memory(inner, &arguments.source, bytes)?;
            reading(inner, &file, &arguments)
        })
        .await
    }

    /// Checks that a file is unchanged since it was read. Call it before an edit.
    pub async fn check_fresh(&self, source: &str, token: &FreshToken) -> Result<(), Refusal> {
        let (source, token) = (source.to_owned(), token.clone());
        blocking(&self.inner, move |inner| {
            let stale = || {
                Refusal::new(
                    RefusalCode::Stale,
                    format!("`{}` is not as it was when it was read", shown(&source)),
                    "call `read` again before editing",
                )
            };
            let file = File::open(inner, &source)?;
            (file.token() == token).then_some(()).ok_or_else(stale)
        })
        .await
    }
}

/// Reads the requested lines or the requested page.
fn reading(inner: &Inner, file: &File, arguments: &ReadArguments) -> Result<Reading, Refusal> {
    let page = arguments.page.unwrap_or(1);
    let Some(words) = layer(inner, file, page) else {
        if arguments.page.is_some() {
            return Err(no_pages(&file.name));
        }
        return cut(&decoded(file)?, arguments.lines, file.token(), &inner.bounds);
    };
    let PageText { text, page, pages } = words?;
    if text.trim().is_empty() {
        return Err(no_words(&file.name, page));
    }
    let reading = cut(&text, arguments.lines, file.token(), &inner.bounds)?;
    Ok(Reading { truncated: rest_of(page, pages, reading.truncated), ..reading })
}

/// Returns the text of a page, if a renderer can open the document.
fn layer(inner: &Inner, file: &File, page: u32) -> Option<Result<PageText, Refusal>> {
    let File { content, bytes, name, .. } = file;
    let renderer = renderer(*content, head(bytes, inner), name, inner);
    let renderer = renderer.filter(|_| is_document(*content))?;
    Some(renderer.words(&RenderRequest {
        bytes,
        content: *content,
        name,
        page,
        region: None,
        longest: None,
        beside: &|_| None,
    }))
}

/// Returns whether a format stores its text separately from its bytes.
fn is_document(content: Content) -> bool {
    matches!(content, Content::Pdf | Content::Binary(_))
}

fn rest_of(page: u32, pages: u32, truncated: Option<String>) -> Option<String> {
    let on = if page < pages { format!("; ask for page {}", page + 1) } else { String::new() };
    let here = (pages > 1).then(|| format!("page {page} of {pages} is here{on}"));
    match (here, truncated) {
        (Some(here), Some(truncated)) => Some(format!("{here}; {truncated}")),
        (here, truncated) => here.or(truncated),
    }
}

fn no_words(name: &str, page: u32) -> Refusal {
    Refusal::new(
        RefusalCode::NotText,
        format!("page {page} of `{name}` holds no text: it is a picture, it seems"),
        format!("call `view` with page {page} to see it"),
    )
}

fn no_pages(name: &str) -> Refusal {
    Refusal::new(
        RefusalCode::BadArguments,
        format!("`{name}` is read in lines, not in pages"),
        "leave `page` out, and ask for `lines`",
    )
}

/// A file in memory.
struct File {
    name: String,
    identity: String,
    content: Content,
    bytes: Vec<u8>,
}

impl File {
    /// Opens a text file. Refuses pictures and other formats by their first bytes.
    fn open(inner: &Inner, source: &str) -> Result<Self, Refusal> {
        match Source::of(source)? {
            Source::Path(_) => {}
            Source::Handle(_) => {
                let says = format!("`{source}` is the handle of a picture; `read` returns text");
                return Err(Refusal::new(RefusalCode::NotText, says, "call `view` to see it"));
            }
            Source::Address(_) => {
                let says = "the source is an address; `read` reads files";
                let hint = "call `view` if a picture is there; save it below a root otherwise";
                return Err(Refusal::new(RefusalCode::BadSource, says, hint));
            }
        }
        let mut opened = inner.roots.file(source)?;
        let head = opened.head(inner.bounds.sniff_bytes)?;
        let content = Content::of(&head);
        let opens = || renderer(content, &head, &opened.name, inner).is_some();
        if !(is_document(content) && opens()) {
            refuse(content, &opened.name)?;
        }
        let bytes = opened.bytes(inner.bounds.text_bytes)?;
        Ok(Self { name: opened.name, identity: opened.identity, content, bytes })
    }

    /// Checks bytes that come from no file as those of a file are checked.
    fn in_memory(inner: &Inner, name: &str, bytes: Vec<u8>) -> Result<Self, Refusal> {
        let head = head(&bytes, inner);
        let content = Content::of(head);
        let opens = is_document(content) && renderer(content, head, "", inner).is_some();
        if !opens {
            refuse(content, name)?;
        }
        let most = inner.bounds.text_bytes;
        if bytes.len() as u64 > most {
            let says = format!("`{name}` has {} bytes; {most} are allowed", bytes.len());
            let hint = "pass a smaller part of it, such as its first lines";
            return Err(Refusal::new(RefusalCode::TooLarge, says, hint));
        }
        Ok(Self { name: name.to_owned(), identity: String::new(), content, bytes })
    }

    fn token(&self) -> FreshToken {
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        hasher.update(self.identity.as_bytes()).update(b"\0").update(&self.bytes);
        FreshToken(format!("fresh_{}", &hasher.finalize().to_hex()[..32]))
    }
}

/// Refuses everything that is not text.
fn refuse(content: Content, name: &str) -> Result<(), Refusal> {
    let (code, says, hint) = match content {
        Content::Svg | Content::Text | Content::Utf16 { .. } | Content::Empty => return Ok(()),
        Content::Bitmap(format) => (
            RefusalCode::NotText,
            format!("`{name}` is a picture ({}); `read` returns text", format.name()),
            "call `view` to see it",
        ),
        Content::Torn => (
            RefusalCode::NotText,
            format!("`{name}` is a picture, incomplete it seems; `read` returns text"),
            "call `view` to see what there is of it",
        ),
        Content::Pdf => (
            RefusalCode::NotText,
            format!("`{name}` is a PDF document; `read` returns text"),
            "its text takes the capability `render`, which was not given; extract it first",
        ),
        Content::Binary(what) => (
            RefusalCode::NotText,
            format!("`{name}` is {what}; `read` returns text"),
            "use a tool made for that format; `view` shows pictures",
        ),
        Content::OddText => return Err(bad_encoding(name)),
    };
    Err(Refusal::new(code, says, hint))
}

fn bad_encoding(name: &str) -> Refusal {
    Refusal::new(
        RefusalCode::BadEncoding,
        format!("`{name}` is neither UTF-8 nor UTF-16 with a byte order mark"),
        "convert it to UTF-8: `iconv -f latin1 -t utf-8`, if Latin-1 is what it is",
    )
}

/// Decodes the whole file. Before this, only its beginning was checked.
fn decoded(file: &File) -> Result<String, Refusal> {
    if let Content::Utf16 { big } = file.content {
        let units = file.bytes[2..].chunks_exact(2);
        let whole = units.remainder().is_empty();
        let unit = |pair: &[u8]| {
            let pair = [pair[0], pair[1]];
            if big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
        };
        let text: Result<String, _> = char::decode_utf16(units.map(unit)).collect();
        return text.ok().filter(|_| whole).ok_or_else(|| bad_encoding(&file.name));
    }
    let text = std::str::from_utf8(&file.bytes).map_err(|_| bad_encoding(&file.name))?;
    if text.contains('\0') {
        refuse(Content::Binary("binary data"), &file.name)?;
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned())
}

/// Cuts out the requested lines, as far as they fit.
fn cut(
    text: &str,
    asked: Option<Lines>,
    fresh: FreshToken,
    bounds: &Bounds,
) -> Result<Reading, Refusal> {
    let total_lines = text.split_inclusive('\n').count();
    let first = asked.map_or(1, |lines| lines.first);
    if total_lines == 0 && asked.is_none_or(|lines| lines.first == 1) {
        let text = String::new();
        let (first_line, last_line) = (0, 0);
        return Ok(Reading { text, first_line, last_line, total_lines, truncated: None, fresh });
    }
    if first > total_lines {
        return Err(Refusal::new(
            RefusalCode::BadArguments,
            format!("the file ends with line {total_lines}; line {first} was asked for"),
            format!("ask for lines 1-{}", total_lines.max(1)),
        ));
    }
    let last = asked.and_then(|lines| lines.last).unwrap_or(total_lines).min(total_lines);
    let wanted = text.split_inclusive('\n').skip(first - 1).take(last + 1 - first);
    let mut taken = String::new();
    let mut lines = 0;
    let mut truncated = None;
    for line in wanted {
        if lines == bounds.reply_lines || taken.len() + line.len() > bounds.reply_bytes {
            if lines == 0 {
                taken.push_str(&line[..line.floor_char_boundary(bounds.reply_bytes)]);
                truncated = Some(long_line(first, last, taken.len(), line.len()));
                lines = 1;
            } else {
                let next = Lines { first: first + lines, last: Some(last) };
                let shown = Lines { first, last: Some(first + lines - 1) };
                truncated = Some(format!(
                    "truncated: lines {shown} of {total_lines} are here; ask for lines {next}"
                ));
            }
            break;
        }
        taken.push_str(line);
        lines += 1;
    }
    Ok(Reading {
        text: taken,
        first_line: first,
        last_line: first + lines - 1,
        total_lines,
        truncated,
        fresh,
    })
}

/// Describes a line that is too long. The rest of it cannot be requested, but the following lines
/// can.
fn long_line(line: usize, last: usize, shown: usize, bytes: usize) -> String {
    let next = Lines { first: line + 1, last: Some(last) };
    let on = if line < last { format!("; ask for lines {next} to go on") } else { String::new() };
    format!(
        "truncated: line {line} has {bytes} bytes, of which the first {shown} are here; \
         the rest of it cannot be read with this tool{on}"
    )
}
