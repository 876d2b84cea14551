//! Extracts text and pictures from HTML inside prose, and lists the rest.
//!
//! Nothing is run, and elements do not affect the layout. Broken HTML is not repaired as in
//! browsers.

/// A piece of HTML.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HtmlPiece {
    /// Text.
    Text(String),
    /// A line end.
    Break,
    /// A picture and its alternative text.
    Picture { reference: String, words: String },
    /// The start of an element that changes the style of text.
    Open(String),
    /// The end of such an element.
    Close(String),
    /// A script with its content.
    Script(String),
    /// A tag without meaning here.
    Tag(String),
}

/// Elements that begin and end lines.
const LINES: [&str; 22] = [
    "br",
    "p",
    "div",
    "li",
    "ul",
    "ol",
    "tr",
    "table",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "summary",
    "details",
    "blockquote",
    "pre",
    "dt",
    "dd",
    "section",
];
/// Elements that change the style of text.
const STYLES: [&str; 23] = [
    "a", "b", "strong", "i", "em", "cite", "var", "code", "kbd", "samp", "tt", "s", "del",
    "strike", "summary", "th", "h1", "h2", "h3", "h4", "h5", "h6", "span",
];
/// Elements whose content is not shown.
const HIDDEN: [&str; 7] = ["script", "style", "iframe", "object", "svg", "template", "head"];

/// Splits HTML into pieces.
pub(super) fn pieces(html: &str) -> Vec<HtmlPiece> {
    let mut pieces = Vec::new();
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        text(&rest[..open], &mut pieces);
        rest = &rest[open..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let Some(end) = tag_end(rest) else { break };
        let tag = &rest[1..end];
        rest = &rest[end + 1..];
        let closing = tag.starts_with('/');
        let name = name(tag);
        if name.is_empty() {
            continue;
        }
        if HIDDEN.contains(&name.as_str()) {
            if !closing {
                rest = after_element(rest, &name);
                let what =
                    if name == "script" { HtmlPiece::Script(name) } else { HtmlPiece::Tag(name) };
                pieces.push(what);
            }
            continue;
        }
        if has_handler(tag) {
            pieces.push(HtmlPiece::Script(format!("{name} with a handler")));
        }
        match name.as_str() {
            "img" => pieces.push(HtmlPiece::Picture {
                reference: attribute(tag, "src").unwrap_or_default(),
                words: attribute(tag, "alt").unwrap_or_default(),
            }),
            line if LINES.contains(&line) => pieces.push(HtmlPiece::Break),
            _ => {}
        }
        if STYLES.contains(&name.as_str()) {
            pieces.push(if closing { HtmlPiece::Close(name) } else { HtmlPiece::Open(name) });
        } else if !closing && !matches!(name.as_str(), "br" | "img" | "p" | "hr") {
            pieces.push(HtmlPiece::Tag(name));
        }
    }
    text(rest, &mut pieces);
    pieces
}

/// The level of a heading, by its element.
pub(super) fn heading(name: &str) -> Option<usize> {
    let level = name.strip_prefix('h')?.parse().ok()?;
    (1..=6).contains(&level).then_some(level)
}

/// Adds text with normalized white space.
fn text(words: &str, pieces: &mut Vec<HtmlPiece>) {
    let spaced = words.starts_with(char::is_whitespace);
    let trailing = words.ends_with(char::is_whitespace);
    let words: Vec<&str> = words.split_whitespace().collect();
    if words.is_empty() {
        return;
    }
    let before = if spaced { " " } else { "" };
    let after = if trailing { " " } else { "" };
    pieces.push(HtmlPiece::Text(format!("{before}{}{after}", entities(&words.join(" ")))));
}

/// The end of a tag, outside of quotes.
fn tag_end(tag: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in tag.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

/// The name of a tag.
fn name(tag: &str) -> String {
    let tag = tag.trim_start_matches('/');
    let name = tag.split(|c: char| c.is_whitespace() || c == '/' || c == '>').next();
    let name = name.unwrap_or_default().to_ascii_lowercase();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { String::new() }
}

/// The text after the end of an element.
fn after_element<'h>(rest: &'h str, name: &str) -> &'h str {
    let mut from = 0;
    while let Some(at) = rest[from..].find("</") {
        let begin = from + at + 2;
        let found = rest.get(begin..begin + name.len());
        if found.is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return rest[begin..].find('>').map_or("", |end| &rest[begin + end + 1..]);
        }
        from = begin;
    }
    ""
}

/// The value of an attribute.
fn attribute(tag: &str, wanted: &str) -> Option<String> {
    attributes(tag)
        .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
        .map(|(_, value)| entities(value))
}

/// Returns `true` if a tag has an event handler.
fn has_handler(tag: &str) -> bool {
    attributes(tag).any(|(name, _)| {
        name.len() > 4 && name.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("on"))
    })
}

/// The names and values of attributes, with any quotes.
fn attributes(tag: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = tag.find(char::is_whitespace).map_or("", |at| &tag[at..]);
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        let end = rest.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(rest.len());
        let name = &rest[..end];
        rest = rest[end..].trim_start();
        let Some(value) = rest.strip_prefix('=') else {
            return (!name.is_empty()).then_some((name, ""));
        };
        let value = value.trim_start();
        let quoted = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (value, after) = match quoted {
            Some(quote) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            None => value.split_at(value.find(char::is_whitespace).unwrap_or(value.len())),
        };
        rest = after;
        Some((name, value))
    })
}

/// Replaces common entities by their characters.
pub(super) fn entities(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        found.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(10).position(|byte| byte == b';');
        let character = end.and_then(|end| entity(&rest[1..end]));
        let (character, length) = match (end, character) {
            (Some(end), Some(character)) => (character, end + 1),
            _ => ('&', 1),
        };
        found.push(character);
        rest = &rest[length..];
    }
    found.push_str(rest);
    found
}

/// The character of an entity.
fn entity(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code);
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => '\u{a0}',
        "copy" => '©',
        "mdash" => '—',
        "ndash" => '–',
        "hellip" => '…',
        "rarr" => '→',
        "times" => '×',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_and_the_rest_is_named() {
        let html = "<div onclick='x()'>a &lt; b <b>bold</b></div><!-- no -->\
                    <SCRIPT>alert('</b>')</Script><img alt=\"a > b\" src=p.png>after";
        assert_eq!(
            pieces(html),
            [
                HtmlPiece::Script("div with a handler".to_owned()),
                HtmlPiece::Break,
                HtmlPiece::Tag("div".to_owned()),
                HtmlPiece::Text("a < b ".to_owned()),
                HtmlPiece::Open("b".to_owned()),
                HtmlPiece::Text("bold".to_owned()),
                HtmlPiece::Close("b".to_owned()),
                HtmlPiece::Break,
                HtmlPiece::Script("script".to_owned()),
                HtmlPiece::Picture { reference: "p.png".to_owned(), words: "a > b".to_owned() },
                HtmlPiece::Text("after".to_owned()),
            ]
        );
        assert_eq!(pieces("<script>never ends"), [HtmlPiece::Script("script".to_owned())]);
        assert_eq!(
            pieces("1 < 2"),
            [HtmlPiece::Text("1 ".to_owned()), HtmlPiece::Text("< 2".to_owned())]
        );
        assert_eq!(pieces("<é>"), []);
    }
}
