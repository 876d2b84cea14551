//! Rules about names and sentences: plain words that a stranger would search for.

use crate::sources::code_of;
use crate::tidy::{report, sources};

/// Names of types and traits that say nothing to a stranger.
const BANNED_TYPES: [&str; 31] = [
    "Addressee",
    "Apart",
    "Asked",
    "Away",
    "Carried",
    "Desk",
    "Dice",
    "Door",
    "Effort",
    "Eyes",
    "Gathered",
    "Held",
    "Kept",
    "May",
    "Memory",
    "Minted",
    "Minting",
    "Order",
    "Place",
    "Recalled",
    "Recent",
    "Room",
    "Shelf",
    "Standing",
    "Stretches",
    "Supply",
    "Unsaid",
    "Wants",
    "Way",
    "Workshop",
    "Woven",
];

/// Names of functions, modules and constants that say nothing to a stranger.
const BANNED_ITEMS: [&str; 11] = [
    "apart",
    "desk",
    "kin",
    "lift_knowing",
    "LONGEST",
    "mint",
    "MOST",
    "PATIENCE",
    "supply",
    "unmint",
    "woven",
];

/// Words that open a question. A doc comment asks none.
const QUESTIONS: [&str; 8] = ["What", "Whether", "Where", "Who", "Whom", "How", "Why", "When"];

/// Doc comments that quote a question: descriptions that models read.
const QUOTED: [&str; 1] = ["crates/photic-tools/src/arguments.rs"];

#[test]
fn names_are_words_that_a_stranger_would_search_for() {
    let mut complaints = Vec::new();
    for (path, text) in sources() {
        let code = code_of(&text);
        let words: Vec<&str> = code
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|w| !w.is_empty())
            .collect();
        for pair in words.windows(2) {
            let is_type = matches!(pair[0], "struct" | "enum" | "trait" | "type" | "union");
            let is_item = matches!(pair[0], "fn" | "mod" | "const" | "static");
            if (is_type && BANNED_TYPES.contains(&pair[1]))
                || (is_item && BANNED_ITEMS.contains(&pair[1]))
            {
                complaints.push(format!("{path}: `{} {}`", pair[0], pair[1]));
            }
        }
    }
    report("names say what a thing is", &complaints);
}

#[test]
fn doc_comments_say_first_what_a_thing_is_or_does() {
    let mut complaints = Vec::new();
    for (path, text) in sources() {
        let mut before = false;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_start();
            let doc = line.strip_prefix("/// ").or_else(|| line.strip_prefix("//! "));
            let opens = !before;
            before = doc.is_some();
            let Some(doc) = doc.filter(|_| opens && !QUOTED.contains(&path.as_str())) else {
                continue;
            };
            let first = doc.split_whitespace().next().unwrap_or_default();
            if QUESTIONS.contains(&first) || doc.starts_with("The same") {
                complaints.push(format!("{path}:{}: {doc}", number + 1));
            }
        }
    }
    report("a doc comment begins with what a thing is or does", &complaints);
}
