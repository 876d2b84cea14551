//! The list: a path a line, or a line of JSON.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use photic_tools::{InspectArguments, Model};
use serde::Deserialize;
use serde_json::Value;

use crate::style::Hint;

/// One line of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// Whatever the caller wants to see again.
    pub(super) id: Option<Value>,
    pub(super) image: String,
    pub(super) question: String,
}

impl Entry {
    pub(super) fn arguments(&self) -> InspectArguments {
        InspectArguments { source: self.image.clone(), question: self.question.clone() }
    }
}

/// A line of JSON. A key that is not known may be a question that was misspelled, and asking
/// another one a million times is dear.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineOutcome {
    image: String,
    question: Option<String>,
    id: Option<Value>,
}

/// Reads a file, or standard input.
pub(super) fn read(list: &Path, question: Option<&str>) -> anyhow::Result<Vec<Entry>> {
    let text = if list == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(list)
    };
    let text = text.with_context(|| format!("cannot read the list `{}`", list.display()))?;
    let entries = parse(&text, question)?;
    if entries.is_empty() {
        bail!("there is nothing in the list `{}`", list.display());
    }
    Ok(entries)
}

fn parse(text: &str, question: Option<&str>) -> anyhow::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let line = if line.trim_start().starts_with('{') {
            serde_json::from_str(line).with_context(|| format!("line {number} of the list"))?
        } else {
            LineOutcome { image: line.to_owned(), question: None, id: None }
        };
        let question = line.question.as_deref().or(question).filter(|one| !one.trim().is_empty());
        let question = question.ok_or_else(|| {
            anyhow!("there is no question for line {number} of the list")
                .context(Hint("say what to find out with `--question`"))
        })?;
        entries.push(Entry { id: line.id, image: line.image, question: question.to_owned() });
    }
    Ok(entries)
}

/// Of everything that the lines which come out depend on, but the pictures: those have names here,
/// and may change.
pub(super) fn digest(entries: &[Entry], model: &Model, original: bool) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key("photic 2026 list of pictures to inspect");
    let mut feed = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    };
    for text in [&model.provider, &model.id, &model.base_url, model.wire.name()] {
        feed(text);
    }
    feed(if original { "original" } else { "small" });
    for entry in entries {
        feed(&entry.image);
        feed(&entry.question);
        feed(&entry.id.as_ref().map(Value::to_string).unwrap_or_default());
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use photic_tools::Key;
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_are_paths_or_json() {
        let text =
            "a.png\n\n  b c.png \r\n{\"image\":\"{d}.png\",\"question\":\"Who?\",\"id\":7}\n";
        let entries = parse(text, Some("What?")).unwrap();
        let entry = |id, image: &str, question: &str| Entry {
            id,
            image: image.to_owned(),
            question: question.to_owned(),
        };
        let right = [
            entry(None, "a.png", "What?"),
            entry(None, "  b c.png ", "What?"),
            entry(Some(json!(7)), "{d}.png", "Who?"),
        ];
        assert_eq!(entries, right);
    }

    #[test]
    fn what_is_wrong_is_named_by_its_line() {
        let wrong = |text: &str, question| format!("{:?}", parse(text, question).unwrap_err());
        assert!(wrong("a.png", None).contains("no question for line 1"));
        assert!(wrong("a.png\n{\"image\":\"b\",\"qestion\":\"x\"}", Some("?")).contains("line 2"));
        assert!(wrong("{\"id\":1}", Some("?")).contains("missing field `image`"));
    }

    #[test]
    fn every_part_of_a_list_makes_another_job() {
        let model = |id: &str| {
            let wire = photic::Wire::OpenAiChat;
            Model::new("openai", id, wire, "http://127.0.0.1:1/v1", Key::Open)
        };
        let of = |text: &str, question| parse(text, Some(question)).unwrap();
        let digests = [
            digest(&of("a\nb", "?"), &model("m"), false),
            digest(&of("ab", "?"), &model("m"), false),
            digest(&of("b\na", "?"), &model("m"), false),
            digest(&of("a\nb", "!"), &model("m"), false),
            digest(&of("a\nb", "?"), &model("n"), false),
            digest(&of("a\nb", "?"), &model("m"), true),
            digest(&of("a\n{\"image\":\"b\",\"id\":1}", "?"), &model("m"), false),
        ];
        for (at, one) in digests.iter().enumerate() {
            assert!(!digests[at + 1..].contains(one), "{at}");
        }
        assert_eq!(digests[0], digest(&of("a\n\nb\n", "?"), &model("m"), false));
    }
}
