//! Titles of sessions: the first words of the user.

use photic::transcript::{Part, Role, Transcript};

/// Longest title in characters.
const MAX_TITLE_LENGTH: usize = 60;

/// Returns the title of a session that begins with this request: one line without control
/// characters.
pub fn title(transcript: &Transcript<'_>) -> String {
    let users = transcript.messages.iter().filter(|message| message.role == Role::User);
    let texts = users.flat_map(|message| &message.parts).filter_map(|part| match part {
        Part::Text(text) => Some(text.text.decode()),
        _ => None,
    });
    // Agents put tagged blocks first, which are not the user's words.
    let first =
        texts.map(|text| line(&text)).find(|text| !text.is_empty() && !text.starts_with('<'));
    first.unwrap_or_else(|| "untitled".to_owned())
}

/// Returns the first words of a text, in one line without control characters.
pub(super) fn line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        let word: String = word.chars().filter(|letter| !letter.is_control()).collect();
        if line.chars().count() + word.chars().count() >= MAX_TITLE_LENGTH {
            let room = MAX_TITLE_LENGTH.saturating_sub(line.chars().count() + 2);
            if line.is_empty() {
                line.extend(word.chars().take(room));
            }
            line.push('…');
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    line
}

#[cfg(test)]
mod tests {
    use photic::Wire;

    use super::*;

    fn of(content: &serde_json::Value) -> String {
        let body = serde_json::json!({"messages": [
            {"role": "system", "content": "You are."}, {"role": "user", "content": content}]});
        let body = body.to_string();
        title(&photic::lift(Wire::OpenAiChat, body.as_bytes()).0)
    }

    #[test]
    fn a_title_is_one_short_line_of_the_user() {
        assert_eq!(of(&"Look at\n\n the \u{1b}[31mscreen".into()), "Look at the [31mscreen");
        assert_eq!(of(&"".into()), "untitled");
        let long = of(&"word ".repeat(100).into());
        assert!(long.chars().count() <= MAX_TITLE_LENGTH && long.ends_with('…'), "{long}");
        let longer = of(&"w".repeat(100).into());
        assert!(longer.chars().count() <= MAX_TITLE_LENGTH && longer.ends_with('…'), "{longer}");
        let tagged = serde_json::json!([{"type": "text", "text": "<system-reminder>x"},
            {"type": "text", "text": "fix it"}]);
        assert_eq!(of(&tagged), "fix it");
    }
}
