//! Detects pictures in source code, a style sheet, a diff or a listing of a file.
//!
//! Such a text is quoted, edited and written back, so it must stay exact. Only the text near the
//! picture is searched, so that the cost does not depend on the length of the text.

use std::ops::Range;

use memchr::memmem;

/// Number of bytes before the picture that are searched.
const BEFORE: usize = 512;
/// Number of bytes behind the picture that are searched.
const AFTER: usize = 128;

/// Strings that occur in code and style sheets and hardly anywhere else.
const MARKS: [&str; 30] = [
    "=>",
    "function(",
    "function (",
    "exports",
    "!important",
    "@font-face",
    "@media",
    "background:",
    "background-image",
    "px;",
    ");",
    "};",
    ";}",
    "){",
    ") {",
    "&&",
    "===",
    "#include",
    "#define",
    "decode(",
    "atob(",
    "Buffer.from(",
    "fromBase64",
    "FromBase64String",
    "<script",
    "<style",
    "</script",
    "</style",
    "diff --git",
    "\"\"\"",
];
/// Words that begin a declaration if a name and an equals sign follow.
const DECLARATIONS: [&str; 8] =
    ["const ", "let ", "var ", "static ", "final ", "val ", "export ", "return "];

/// Returns `true` if the picture at that position of a text is part of source code.
pub(super) fn is_source(text: &[u8], picture: Range<usize>) -> bool {
    let before = &text[picture.start.saturating_sub(BEFORE)..picture.start];
    let after = &text[picture.end..text.len().min(picture.end + AFTER)];
    let line = line_before(before);
    is_url_function(before)
        || is_assigned(before)
        || is_declared(line)
        || is_listed(line)
        || is_changed(before, line)
        || MARKS.iter().any(|mark| {
            [before, after].iter().any(|words| memmem::find(words, mark.as_bytes()).is_some())
        })
}

/// Returns the text without quotation marks, escapes and spaces at its end.
fn before_quote(before: &[u8]) -> &[u8] {
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b' ' | b'(');
    &before[..before.len() - before.iter().rev().take_while(|byte| is_quote(byte)).count()]
}

/// Returns `true` for `url(…)` of a style sheet.
fn is_url_function(before: &[u8]) -> bool {
    let words = before_quote(before);
    let quotes = &before[words.len()..];
    quotes.contains(&b'(')
        && words.len() >= 3
        && words[words.len() - 3..].eq_ignore_ascii_case(b"url")
}

/// Returns `true` for `NAME = "…"` and `a.b="…"`. An attribute of HTML or an argument of a Python
/// repr does not count: it has no space before the equals sign and no dot in its name.
fn is_assigned(before: &[u8]) -> bool {
    let words = before_quote(before);
    let Some(target) = words.strip_suffix(b"=") else { return false };
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$.[]".contains(byte);
    let name = target.iter().rev().take_while(|byte| is_name(byte)).count();
    let name = &target[target.len() - name..];
    target.ends_with(b" ") || target.ends_with(b":") || name.contains(&b'.') || name.contains(&b'[')
}

/// Returns `true` for `const NAME: &str = …` on the line of the picture.
fn is_declared(line: &[u8]) -> bool {
    DECLARATIONS.iter().any(|word| {
        memmem::find(line, word.as_bytes())
            .is_some_and(|at| line[at + word.len()..].contains(&b'='))
    })
}

/// Returns `true` for a line of a diff.
fn is_changed(before: &[u8], line: &[u8]) -> bool {
    let is_code = |next: u8| matches!(next, b' ' | b'"' | b'\'' | b'<' | b'\\');
    match line {
        [b'+', next, ..] => is_code(*next),
        // A dash also begins an item of a list.
        [b'-', next, ..] => is_code(*next) && memmem::find(before, b"@@ ").is_some(),
        _ => false,
    }
}

/// Returns `true` for a line with its number or file before it, as editors, `grep` and `cat -n`
/// print it.
fn is_listed(line: &[u8]) -> bool {
    let trimmed = line.trim_ascii_start();
    let digits = trimmed.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = &trimmed[digits..];
    let numbered = digits > 0
        && [&b"\t"[..], b"\\t", "→".as_bytes(), b"|", b" |", b": ", b"\\u2192"]
            .iter()
            .any(|sign| rest.starts_with(sign));
    let found = memchr::memchr(b':', line).is_some_and(|at| {
        let digits = line[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_path = line[..at].iter().all(|&byte| byte.is_ascii_graphic()) && at > 0;
        is_path && digits > 0 && matches!(line.get(at + 1 + digits), Some(b':' | b'-'))
    });
    numbered || found
}

/// Returns the text before the picture on its line.
fn line_before(before: &[u8]) -> &[u8] {
    let raw = memchr::memrchr2(b'\n', b'\r', before).map_or(0, |at| at + 1);
    let escaped = memmem::rfind(before, b"\\n").map_or(0, |at| at + 2);
    &before[raw.max(escaped)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(text: &str) -> bool {
        let at = text.find("PICTURE").unwrap();
        is_source(text.as_bytes(), at..at + "PICTURE".len())
    }

    #[test]
    fn code_is_source() {
        for text in [
            "const LOGO = \"PICTURE\";",
            "LOGO = 'PICTURE'\n",
            "export default \"PICTURE\" // = x\nmodule.exports = \"PICTURE\"",
            "e.exports=\"PICTURE\"",
            ".a{background:url(PICTURE)}",
            ".a { background-image: url(\"PICTURE\") }",
            "img = base64.b64decode(\"PICTURE\")",
            "pub const ICON: &str = \"PICTURE\";",
            "!function(){var a={icon:\"PICTURE\"}}",
            "     3\t\"icon\": \"PICTURE\"",
            "     3→  \"icon\": \"PICTURE\"",
            "src/app.css:12:  --logo: PICTURE",
            "@@ -1,2 +1,2 @@\n+  \"icon\": \"PICTURE\"",
            "\\n+  \\\"icon\\\": \\\"PICTURE\\\"",
        ] {
            assert!(judge(text), "{text}");
        }
    }

    #[test]
    fn words_and_reprs_are_not() {
        for text in [
            "PICTURE",
            "Here it is: PICTURE.",
            "![shot](PICTURE)",
            "<img src=\"PICTURE\" alt=\"x\"/>",
            "[ImageContent(type='image', data='PICTURE', mimeType='image/png', annotations=None)]",
            "ToolResult(output='ok', error=None, base64_image='PICTURE', system=None)",
            "('ok', 'PICTURE')",
            "screenshot: \"PICTURE\"\nurl: x\n",
            "id,img\n1,PICTURE\n",
            "<screenshot>PICTURE</screenshot>",
            "{\"shot\": \"PICTURE\"}\n{\"shot\": \"PICTURE\"}",
            "content=[{'type': 'image_url', 'image_url': {'url': 'PICTURE'}}] artifact=None",
            "let me show you: PICTURE",
            "- ![shot](PICTURE)",
            "- screenshot: \"PICTURE\"",
            "\u{1b}]1337;File=inline=1:PICTURE\u{7}",
        ] {
            assert!(!judge(text), "{text}");
        }
    }
}
