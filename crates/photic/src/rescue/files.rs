//! Keeps files that an agent reads whole. The agent will write them back, and an icon that was
//! replaced by a marker would be lost.
//!
//! A call reads a file if the name of its tool says so (`read_file`, `Read`, `view_file`), or if
//! it is a shell command that prints files (`cat`, `head`, `sed -n`, `git show`, …). It does not
//! if the file it names is a picture. A result that is exactly one picture, or exactly a list of
//! typed parts, was made by the tool from a file, and is shown. Everything else stays unchanged.

use std::collections::BTreeMap;

use crate::json::{Doc, Kind, NodeId, Str, Value};
use crate::media::Media;
use crate::transcript::{Arguments, Call, MediaId, Message, Part, Text};

/// Words in the name of a tool for reading.
const READS: [&str; 12] = [
    "read", "view", "open", "cat", "show", "get", "load", "fetch", "head", "tail", "grep", "search",
];
/// Words in the name of a tool for files.
const FILES: [&str; 5] = ["file", "files", "path", "document", "notebook"];
/// Arguments that name a file.
const NAMES: [&str; 12] = [
    "path",
    "file_path",
    "filepath",
    "file",
    "filename",
    "file_name",
    "target_file",
    "absolute_path",
    "notebook_path",
    "uri",
    "paths",
    "files",
];
/// Arguments that hold a command for a shell.
const COMMANDS: [&str; 5] = ["command", "cmd", "commands", "script", "action"];
/// Programs that print files.
const PRINTERS: [&str; 15] = [
    "cat",
    "head",
    "tail",
    "less",
    "more",
    "bat",
    "sed",
    "awk",
    "grep",
    "rg",
    "jq",
    "nl",
    "type",
    "Get-Content",
    "git",
];
/// File extensions of pictures.
const PICTURES: [&str; 13] = [
    "png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "heic", "avif", "ico", "b64",
    "base64",
];

/// Restores the text of files from which pictures were taken. Returns the strings that held them.
pub(crate) fn keep_files_whole<'a>(
    doc: &Doc<'a>,
    messages: &mut [Message<'a>],
    media: &mut Vec<Media<'a>>,
) -> Vec<NodeId> {
    let has_woven = |message: &Message<'_>| {
        message
            .results()
            .any(|result| result.content.iter().any(|part| matches!(part, Part::TextWithMedia(_))))
    };
    if !messages.iter().any(has_woven) {
        return Vec::new();
    }
    let mut reads: BTreeMap<String, bool> = BTreeMap::new();
    let (mut kept, mut gone) = (Vec::new(), Vec::new());
    for message in messages.iter_mut() {
        reads.extend(message.calls().map(|call| (call.id.decode().into_owned(), reads_file(call))));
        for part in &mut message.parts {
            let Part::Result(result) = part else { continue };
            if !reads.get(&*result.call_id.decode()).is_some_and(|reads| *reads) {
                continue;
            }
            for part in &mut result.content {
                // A part that is labeled as a picture was made by the tool.
                let Part::TextWithMedia(mixed) = part else { continue };
                if mixed.typed {
                    continue;
                }
                let value = doc.value(mixed.value);
                let raw = || Str::Plain(String::from_utf8_lossy(value.raw()));
                let text = value.str().unwrap_or_else(raw);
                kept.push(mixed.value);
                gone.extend(mixed.media.iter().copied());
                *part = Part::Text(Text { text, node: mixed.node });
            }
        }
    }
    forget(messages, media, &gone);
    kept
}

/// Removes media from the list that parts refer to.
fn forget(messages: &mut [Message<'_>], media: &mut Vec<Media<'_>>, gone: &[MediaId]) {
    if gone.is_empty() {
        return;
    }
    let mut next = 0;
    let stays: Vec<bool> = MediaId::first(media.len()).map(|id| !gone.contains(&id)).collect();
    let ids: Vec<MediaId> = stays
        .iter()
        .map(|&stays| {
            let own = MediaId::new(next);
            next += usize::from(stays);
            own
        })
        .collect();
    let mut stays = stays.into_iter();
    media.retain(|_| stays.next().unwrap_or(true));
    messages
        .iter_mut()
        .flat_map(|message| &mut message.parts)
        .for_each(|part| renumber(part, &ids));
}

fn renumber(part: &mut Part<'_>, ids: &[MediaId]) {
    match part {
        Part::Media(medium) => medium.id = ids[medium.id.index()],
        Part::TextWithMedia(mixed) => mixed.media.iter_mut().for_each(|id| *id = ids[id.index()]),
        Part::Result(result) => result.content.iter_mut().for_each(|part| renumber(part, ids)),
        Part::Nested(nested) => nested.parts.iter_mut().for_each(|part| renumber(part, ids)),
        Part::Text(_)
        | Part::Call(_)
        | Part::Thinking(_)
        | Part::Mark(_)
        | Part::Refusal(_)
        | Part::Opaque(_) => {}
    }
}

/// Returns `true` if a call asks for the text of a file.
fn reads_file(call: &Call<'_>) -> bool {
    let name = call.name.decode();
    let words = words(&name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&&**word));
    let arguments = match &call.arguments {
        Arguments::Text(text) | Arguments::Free(text) => text.decode().into_owned(),
        Arguments::Json(raw) | Arguments::Wrapped(_, raw) => {
            String::from_utf8_lossy(raw).into_owned()
        }
    };
    let doc = Doc::read(arguments.as_bytes());
    let root = doc.as_ref().and_then(Doc::root);
    let named = root.and_then(|root| first_string(root, &NAMES));
    if named.as_deref().is_some_and(is_picture) {
        return false;
    }
    let command = match (root, &call.arguments) {
        (Some(root), _) => first_string(root, &COMMANDS),
        (None, Arguments::Free(text)) => Some(text.decode().into_owned()),
        (None, Arguments::Text(_) | Arguments::Json(_) | Arguments::Wrapped(..)) => None,
    };
    (has(&READS) && (has(&FILES) || named.is_some())) || command.is_some_and(|line| prints(&line))
}

/// Splits a name into lower-case words: `readFile`, `read_file` and `mcp__fs__read-file` alike.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        let begins = !letter.is_ascii_alphanumeric() || (letter.is_ascii_uppercase() && was_lower);
        if begins {
            words.push(String::new());
        }
        was_lower = letter.is_ascii_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter.is_ascii_alphanumeric()) {
            word.push(letter.to_ascii_lowercase());
        }
    }
    words
}

/// Returns the first string under one of some names, or in the list or object there.
fn first_string(root: Value<'_, '_>, names: &[&str]) -> Option<String> {
    let value = names.iter().find_map(|name| root.get(name))?;
    match value.kind() {
        Kind::String => Some(value.str()?.decode().into_owned()),
        Kind::Array => {
            let words: Vec<_> = value.items().filter_map(|item| item.str()).collect();
            Some(words.iter().map(Str::decode).collect::<Vec<_>>().join(" "))
        }
        Kind::Object => first_string(value, names),
        Kind::Null | Kind::Bool | Kind::Number => None,
    }
}

fn is_picture(name: &str) -> bool {
    let ending = name.trim().rsplit_once('.').map_or("", |(_, ending)| ending);
    PICTURES.iter().any(|picture| ending.eq_ignore_ascii_case(picture))
}

/// Returns `true` if a command prints a file that is not a picture.
fn prints(command: &str) -> bool {
    let mut words = command.split_ascii_whitespace();
    // A shell that is called with the command as a string.
    let mut program = words.next();
    while program.is_some_and(|word| {
        matches!(word.rsplit('/').next(), Some("bash" | "sh" | "zsh" | "env" | "sudo"))
            || word.starts_with('-')
    }) {
        program = words.next();
    }
    let program = program.map(|word| word.trim_matches(|sign| matches!(sign, '"' | '\'')));
    let rest: Vec<&str> = words.collect();
    program.is_some_and(|program| PRINTERS.contains(&program))
        && !rest.iter().any(|word| is_picture(word) || *word == "base64" || *word == "|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::CallKind;

    fn reads(name: &'static str, arguments: &'static str) -> bool {
        reads_file(&Call {
            id: Str::plain("a"),
            name: Str::plain(name),
            namespace: None,
            arguments: Arguments::Text(Str::plain(arguments)),
            kind: CallKind::Function,
            renamed: false,
            node: None,
        })
    }

    #[test]
    fn calls_that_read_files_are_known() {
        for (name, arguments) in [
            ("read_file", "{}"),
            ("Read", r#"{"file_path":"/a/manifest.json"}"#),
            ("readFile", r#"{"path":"a.html"}"#),
            ("mcp__filesystem__read_text_file", r#"{"path":"a"}"#),
            ("view", r#"{"path":"src/app.css"}"#),
            ("bash", r#"{"command":"cat manifest.json"}"#),
            ("shell", r#"{"command":["bash","-lc","sed -n 1,40p a.py"]}"#),
            ("exec_command", r#"{"cmd":"git show HEAD:a.svg"}"#),
            ("open_notebook", r#"{"notebook_path":"a.ipynb"}"#),
        ] {
            assert!(reads(name, arguments), "{name} {arguments}");
        }
    }

    #[test]
    fn calls_that_make_pictures_are_not() {
        for (name, arguments) in [
            ("shot", "{}"),
            ("screenshot", r#"{"path":"page.html"}"#),
            ("read_file", r#"{"path":"a.png"}"#),
            ("Read", r#"{"file_path":"photo.JPG"}"#),
            ("bash", r#"{"command":"cat shot.png"}"#),
            ("bash", r#"{"command":"python plot.py"}"#),
            ("bash", r#"{"command":"cat a.bin | base64"}"#),
            ("render_file", r#"{"path":"a.html"}"#),
            ("get_screenshot", "{}"),
            ("browser_view", "{}"),
            ("fetch", r#"{"url":"https://a.example/"}"#),
        ] {
            assert!(!reads(name, arguments), "{name} {arguments}");
        }
    }
}
