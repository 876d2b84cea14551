//! Positions: the place in a request that an error text names, as a JSON pointer.
//!
//! This module owns the spellings in use (`messages.3.content.1.image.source`, `messages[5]`,
//! `input[37].content[0].image_url`, `messages.[2].role`, and
//! `messages.1.member.content.2.member`, which counts from one). It must keep only steps that
//! exist in the request: type tags that validators insert into a path (`image`, `str`, `list[…]`)
//! are dropped.

/// The fields of a request that hold its conversation.
const ROOTS: [&str; 3] = ["messages", "input", "contents"];

/// Keys of a message or result that hold lists of parts.
const KEYS: [&str; 3] = ["content", "output", "parts"];

/// Returns the first place that the text names, if any.
pub(super) fn pointer(text: &str) -> Option<String> {
    let mut found: Option<(usize, String)> = None;
    for root in ROOTS {
        for (at, _) in text.match_indices(root) {
            if found.as_ref().is_some_and(|&(earlier, _)| earlier <= at) {
                break;
            }
            let bytes = text.as_bytes();
            // `user_input[3]` is the name of a variable, not a path in the request.
            if at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_') {
                continue;
            }
            if let Some(path) = path(root, &bytes[at + root.len()..]) {
                found = Some((at, path));
                break;
            }
        }
    }
    found.map(|(_, path)| path)
}

/// Follows a path from its root. It must begin with an index.
fn path(root: &str, mut rest: &[u8]) -> Option<String> {
    let mut pointer = format!("/{root}");
    let mut kept = 0;
    // The start of the index that was read last, as long as no step has followed it.
    let mut index_at = None;
    while let Some((segment, after)) = segment(rest) {
        rest = after;
        match segment {
            Segment::Index(digits) => {
                pointer.push('/');
                index_at = Some(pointer.len());
                pointer.push_str(digits);
                kept += 1;
                continue;
            }
            Segment::Name(_) if kept == 0 => return None,
            Segment::Name("member") => {
                if let Some(at) = index_at {
                    let counted: u32 = pointer[at..].parse().unwrap_or(0);
                    pointer.truncate(at);
                    pointer.push_str(&counted.saturating_sub(1).to_string());
                }
            }
            Segment::Name(name) if KEYS.contains(&name) => {
                pointer.push('/');
                pointer.push_str(name);
                kept += 1;
            }
            Segment::Name(_) => {}
        }
        index_at = None;
    }
    (kept > 0).then_some(pointer)
}

enum Segment<'a> {
    Index(&'a str),
    Name(&'a str),
}

/// Reads one step of a path: `.3`, `[3]`, `.[3]` or `.name`. `[tag|tag]` after a name is not a
/// step.
fn segment(rest: &[u8]) -> Option<(Segment<'_>, &[u8])> {
    let (&first, after) = rest.split_first()?;
    match first {
        b'.' => {
            if after.first() == Some(&b'[') {
                return segment(after);
            }
            let len = after.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
            let name = std::str::from_utf8(&after[..len]).ok().filter(|name| !name.is_empty())?;
            let segment = if is_index(name) { Segment::Index(name) } else { Segment::Name(name) };
            Some((segment, &after[len..]))
        }
        b'[' => {
            let len = after.iter().take(64).position(|&b| b == b']')?;
            let inner = std::str::from_utf8(&after[..len]).ok()?;
            let segment = if is_index(inner) { Segment::Index(inner) } else { Segment::Name("") };
            Some((segment, &after[len + 1..]))
        }
        _ => None,
    }
}

/// Returns `true` for a number small enough to be an index and not an id.
fn is_index(text: &str) -> bool {
    (1..=6).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::pointer;

    #[test]
    fn spellings() {
        for (text, expected) in [
            ("messages.3.content.1.image.source.base64.data: too big", "/messages/3/content/1"),
            ("Invalid 'messages[5]'. Image URLs", "/messages/5"),
            ("Invalid 'input[37].content[0].image_url'.", "/input/37/content/0"),
            ("aoai_error_param = messages.[12].role", "/messages/12"),
            (
                "messages.2.content.0.tool_result.content.1.image: no",
                "/messages/2/content/0/content/1",
            ),
            ("body.messages.1.content.str", "/messages/1/content"),
            ("messages.2.tool.content.list[TextChunk].1.type", "/messages/2/content/1"),
            ("input[4].output[1].image_url", "/input/4/output/1"),
            ("blocks at messages.3.content for the following", "/messages/3/content"),
            ("see messages.7.", "/messages/7"),
            ("contents[2].parts[1]: bad, not messages.9", "/contents/2/parts/1"),
            ("at 'messages.1.member.content.2.member.image.format'", "/messages/0/content/1"),
            ("messages.0.member.content.member", "/messages/0/content"),
        ] {
            assert_eq!(pointer(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn no_place_is_named() {
        for text in [
            "",
            "messages",
            "messages: at least one message is required",
            "messages.content.type is invalid",
            "user_input[3] is undefined",
            "input[",
            "input[]",
            "messages[12345678901]",
            "messages.\u{e9}",
            "Input should be a valid string",
        ] {
            assert_eq!(pointer(text), None, "{text}");
        }
    }
}
